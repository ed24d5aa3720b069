// Values by name, as `Any`: numbers as `NSNumber`, to-manys as `NSSet` or `NSOrderedSet`.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject {
    // MARK: Reading

    /// The value of a property, given by its place.
    final func anyValue(_ place: PropertyPlace) -> Any? {
        switch place {
        case .slot(let slot):
            if kind(slot) == .toOne { return target(at: slot) }
            if kind(slot) == .transformable { return live(at: slot) }
            let value = value(at: slot)
            if kind(slot) == .float, case .double(let number) = value { return NSNumber(value: Float(number)) }
            return value.object
        case .toMany(let index):
            let members = shownMembers(at: index)
            return relationship(toMany: index).isOrdered
                ? NSOrderedSet(array: members) as Any : NSSet(array: members) as Any
        case .fetched(let index): return fetchedObjects(at: index)
        }
    }

    // MARK: Writing

    final func setAnyValue(_ value: Any?, _ place: PropertyPlace, key: String) {
        switch place {
        case .slot(let slot):
            if kind(slot) == .toOne { return fixup.setTarget(slot, object(value, key)) }
            if kind(slot) == .transformable { return setLive(value, at: slot) }
            setValue(converted(value, slot), at: slot)
        case .toMany(let index): fixup.setMembers(index, objects(value, key))
        case .fetched: misuse("\(entity.name ?? "").\(key) is a fetched property; it cannot be set.")
        }
    }

    /// Converts a value to the attribute's type. A value of the wrong type is a broken contract, as on Apple's
    /// platforms.
    private func converted(_ value: Any?, _ slot: Int) -> Value {
        let property = _state.info.entity.slots[slot]
        guard let attribute = property.attribute, let value = KeyValue.unwrapped(value) else { return .null }
        do {
            return try CoreData.value(
                NSManagedObject.widened(value, attribute.type), as: NSManagedObject.widened(attribute.type),
                entity: entity.name ?? "", property: attribute.name)
        } catch { misuse(error.sentence) }
    }

    /// Allows numbers that are too large for their attribute: they are kept until the save refuses them (1610, 1620).
    private static func widened(_ type: CoreDataValues.AttributeType) -> CoreDataValues.AttributeType {
        type == .integer16 || type == .integer32 ? .integer64 : type
    }

    /// Converts any number to a Boolean: true unless it is 0, as `NSNumber.boolValue` does.
    private static func widened(_ value: Any, _ type: CoreDataValues.AttributeType) -> Any {
        guard type == .boolean, let number = AnyNumber(value) else { return value }
        return number.double != 0
    }

    final func object(_ value: Any?, _ key: String) -> NSManagedObject? {
        if let object = value as? NSManagedObject { return object }
        guard let other = KeyValue.unwrapped(value) else { return nil }
        misuse("\(entity.name ?? "").\(key) is a to-one relationship and was given \(type(of: other)).")
    }

    final func objects(_ value: Any?, _ key: String) -> ContiguousArray<NSManagedObject> {
        // Before the casts to Foundation's classes, which would box these.
        if let collection = value as? any ManagedObjectCollection { return collection.managedObjects }
        switch KeyValue.unwrapped(value) {
        case nil: return []
        case let set as NSSet: return members(set.allObjects, key)
        case let set as NSOrderedSet: return members(set.array, key)
        case let array as [Any]: return members(array, key)
        case .some(let other):
            misuse("\(entity.name ?? "").\(key) is a to-many relationship and was given \(type(of: other)).")
        }
    }

    private func members(_ objects: [Any], _ key: String) -> ContiguousArray<NSManagedObject> {
        ContiguousArray(
            objects.map { member in
                guard let object = member as? NSManagedObject else {
                    misuse(
                        "\(entity.name ?? "").\(key) is a to-many relationship and was given a \(type(of: member)) in it."
                    )
                }
                return object
            })
    }

    final func requirePlace(_ key: String) -> PropertyPlace {
        guard let place = place(of: key) else { refuse(key) }
        return place
    }

    // MARK: What changed

    /// The stored properties that differ from what was last read or saved, with their new values (`NSNull` for nil).
    public final func changedValues() -> [String: Any] {
        checkQueue()
        var changed: [String: Any] = [:]
        forEachChangedProperty { name, place in
            if case .slot(let slot) = place, let composite = _state.info.entity.slots[slot].composite {
                changed[composite] = value(forKey: composite) ?? NSNull()
            } else {
                let value = anyValue(place)
                // Reading the members may have shown that another context has saved the same change.
                if case .toMany(let index) = place, toManyState(index)?.isChanged == false { return }
                changed[name] = value ?? NSNull()
            }
        }
        return changed
    }

    /// The values last read or saved, `NSNull` for nil. Without keys, those of all properties.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        checkQueue()
        var committed: [String: Any] = [:]
        for key in keys ?? Array(_state.info.entity.places.keys) {
            if let composite = compositePlace(of: key) {
                if !composite.isTransient {
                    committed[key] = dictionary(of: composite, committed: true) ?? NSNull() as Any
                }
                continue
            }
            switch requirePlace(key) {
            case .slot(let slot):
                guard !_state.info.entity.slots[slot].isTransient else { continue }
                if keys == nil, let root = _state.info.entity.slots[slot].composite.flatMap({ compositePlace(of: $0) })
                {
                    committed[root.path] = dictionary(of: root, committed: true) ?? NSNull() as Any
                    continue
                }
                if kind(slot) == .toOne {
                    committed[key] = committedTarget(at: slot) ?? NSNull() as Any
                } else {
                    committed[key] = committedAny(at: slot) ?? NSNull()
                }
            case .toMany(let index):
                let members = _state.has(.persistent) ? committedMembers(at: index) : []
                committed[key] =
                    relationship(toMany: index).isOrdered
                    ? NSOrderedSet(array: members) as Any : NSSet(array: members) as Any
            case .fetched: continue
            }
        }
        return committed
    }

    private func forEachChangedProperty(_ body: (String, PropertyPlace) -> Void) {
        let state = _state
        if let overlay = state.overlay {
            for (slot, property) in state.info.entity.slots.enumerated()
            where overlay.isPresent(slot) && !property.isTransient && differs(slot, overlay) {
                body(property.name, .slot(slot))
            }
        }
        forEachToMany { index, members in
            if members.isChanged, !relationship(toMany: index).description.isTransient {
                body(relationship(toMany: index).name, .toMany(index))
            }
        }
    }
}

extension NSManagedObject: KeyValueCoding {
    /// A property by name, or another key that the class answers.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    final func anyValue(forKey key: String) -> Any? {
        checkQueue()
        guard let place = place(of: key) else {
            if let composite = compositePlace(of: key) { return dictionary(of: composite) }
            return value(forUndefinedKey: key)
        }
        return anyValue(place)
    }

    final func setAnyValue(_ value: Any?, forKey key: String) {
        checkQueue()
        guard let place = place(of: key) else {
            guard let composite = compositePlace(of: key) else { return setValue(value, forUndefinedKey: key) }
            return setDictionary(value, of: composite) { setAnyValue($1, .slot($0), key: key) }
        }
        if case .slot(let slot) = place {
            switch kind(slot) {
            case .int, .bool, .double, .float:
                if KeyValue.unwrapped(value) == nil { return setNilValueForKey(key) }
            case .decimal, .date, .text, .data, .externalData, .uuid, .uri, .transformable, .toOne, .entityTag: break
            }
        }
        setAnyValue(value, place, key: key)
    }

    final func clearValue(_ key: String) { setAnyValue(nil, requirePlace(key), key: key) }

    final func values(of keys: [String]) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values[key] = value(forKey: key) ?? NSNull() }
        return values
    }

    final func setValues(_ values: [String: Any]) {
        for (key, value) in values { setValue(KeyValue.unwrapped(value), forKey: key) }
    }

    final func primitive(_ key: String) -> Any? {
        checkQueue()
        if let composite = compositePlace(of: key) { return dictionary(of: composite) }
        return anyValue(requirePlace(key))
    }

    final func setPrimitive(_ value: Any?, _ key: String) {
        checkQueue()
        if let composite = compositePlace(of: key) {
            let slots = _state.info.entity.slots
            return setDictionary(value, of: composite) { setPrimitive($1, slots[$0].name) }
        }
        switch requirePlace(key) {
        case .slot(let slot):
            if kind(slot) == .toOne { return setTargetSilently(slot, object(value, key)) }
            if _state.isFault { fire(reading: slot) }
            let overlay = _state.makeOverlay()
            guard kind(slot) == .transformable else { return store(converted(value, slot), in: overlay, slot) }
            if let live = checkedLive(value, slot) {
                overlay.set(slot, live as AnyObject)
            } else {
                overlay.setNull(slot, .transformable)
            }
        case .toMany(let index): fixup.setMembersSilently(index, objects(value, key))
        case .fetched: misuse("\(entity.name ?? "").\(key) is a fetched property; it cannot be set.")
        }
    }
}
