// Values by name, as `Any`: numbers as `NSNumber`, to-manys as `NSSet` or `NSOrderedSet`.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject {
    // MARK: Reading

    /// Any property by its place.
    final func anyValue(_ place: PropertyPlace) -> Any? {
        switch place {
        case .slot(let slot):
            if kind(slot) == .toOne { return target(at: slot) }
            if kind(slot) == .transformable { return live(at: slot) }
            return value(at: slot).object
        case .toMany(let index):
            let members = members(at: index)
            return relationship(toMany: index).isOrdered
                ? NSOrderedSet(array: members) as Any : NSSet(array: members) as Any
        case .fetched(let index): return fetchedObjects(at: index)
        }
    }

    // MARK: Writing

    final func setAnyValue(_ value: Any?, _ place: PropertyPlace, key: String) {
        switch place {
        case .slot(let slot):
            if kind(slot) == .toOne { return setTarget(slot, object(value, key)) }
            if kind(slot) == .transformable { return setLive(value, at: slot) }
            setValue(converted(value, slot), at: slot)
        case .toMany(let index): setMembers(index, objects(value, key))
        case .fetched: misuse("\(entity.name ?? "").\(key) is a fetched property; it cannot be set.")
        }
    }

    /// A value of the wrong type is a broken contract, as on Apple's platforms.
    private func converted(_ value: Any?, _ slot: Int) -> Value {
        let property = _state.info.entity.slots[slot]
        guard let attribute = property.attribute, let value, !(value is NSNull) else { return .null }
        do {
            return try CoreData.value(value, as: attribute.type, entity: entity.name ?? "", property: attribute.name)
        } catch { misuse(error.sentence) }
    }

    private func object(_ value: Any?, _ key: String) -> NSManagedObject? {
        guard let value, !(value is NSNull) else { return nil }
        guard let object = value as? NSManagedObject else {
            misuse("\(entity.name ?? "").\(key) is a to-one relationship and was given \(type(of: value)).")
        }
        return object
    }

    private func objects(_ value: Any?, _ key: String) -> ContiguousArray<NSManagedObject> {
        switch value {
        case nil, is NSNull: return []
        case let set as NSSet: return ContiguousArray(set.compactMap { $0 as? NSManagedObject })
        case let set as NSOrderedSet: return ContiguousArray(set.array.compactMap { $0 as? NSManagedObject })
        case let set as Set<NSManagedObject>: return ContiguousArray(set)
        case let array as [NSManagedObject]: return ContiguousArray(array)
        case .some(let other):
            misuse("\(entity.name ?? "").\(key) is a to-many relationship and was given \(type(of: other)).")
        }
    }

    private func requirePlace(_ key: String) -> PropertyPlace {
        guard let place = place(of: key) else {
            misuse("the entity \(entity.name ?? "") is not key value coding-compliant for the key \"\(key)\".")
        }
        return place
    }

    // MARK: What changed

    /// The stored properties that differ from what was last read or saved, with their new values; nil as `NSNull`.
    public final func changedValues() -> [String: Any] {
        var changed: [String: Any] = [:]
        forEachChangedProperty { name, place in
            if case .slot(let slot) = place, let composite = _state.info.entity.slots[slot].composite {
                changed[composite] = value(forKey: composite) ?? NSNull()
            } else {
                changed[name] = anyValue(place) ?? NSNull()
            }
        }
        return changed
    }

    /// The values last read or saved, nil as `NSNull`; all of them for nil.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        var committed: [String: Any] = [:]
        for key in keys ?? Array(_state.info.entity.places.keys) {
            if let composite = compositePlace(of: key) {
                if !composite.isTransient { committed[key] = dictionary(of: composite, committed: true) ?? NSNull() as Any }
                continue
            }
            switch requirePlace(key) {
            case .slot(let slot):
                guard !_state.info.entity.slots[slot].isTransient else { continue }
                if keys == nil, let root = _state.info.entity.slots[slot].composite.flatMap({ compositePlace(of: $0) }) {
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
            if members.isChanged, !relationship(toMany: index).description.isTransient { body(relationship(toMany: index).name, .toMany(index)) }
        }
    }

    /// Values for `description`; relationships are left out.
    final func dictionaryOfValues() -> [String: String] {
        var values: [String: String] = [:]
        for (slot, property) in _state.info.entity.slots.enumerated() where property.attribute != nil {
            let value = value(at: slot)
            if case .date(let seconds) = value, !(seconds.magnitude < 1e11) {
                // Foundation traps when it prints NaN and infinities as a date.
                values[property.name] = "\(seconds) seconds since 2001"
            } else {
                values[property.name] = value.object.map { "\($0)" } ?? "nil"
            }
        }
        return values
    }
}

extension NSManagedObject: KeyValueCoding {
    /// The value of a property. Reads the row of a fault.
    ///
    /// Numbers come as `NSNumber` (`as? Int`, `as? Int16`, `as? Bool` all work), Decimal as `NSDecimalNumber`, to-manys as `NSSet` or
    /// `NSOrderedSet`. A key that the entity lacks goes to `value(forUndefinedKey:)`, which traps.
    public func value(forKey key: String) -> Any? {
        guard let place = place(of: key) else {
            if let composite = compositePlace(of: key) { return dictionary(of: composite) }
            return value(forUndefinedKey: key)
        }
        return anyValue(place)
    }

    /// Sets a property; nil and `NSNull` clear it. A relationship's inverse follows at once.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let place = place(of: key) else {
            guard let composite = compositePlace(of: key) else { return setValue(value, forUndefinedKey: key) }
            return setDictionary(value, of: composite) { setAnyValue($1, .slot($0), key: key) }
        }
        setAnyValue(value, place, key: key)
    }

    public func value(forUndefinedKey key: String) -> Any? { anyValue(requirePlace(key)) }
    public func setValue(_ value: Any?, forUndefinedKey key: String) { _ = requirePlace(key) }

    /// The value without notice to anyone.
    public func primitiveValue(forKey key: String) -> Any? {
        if let composite = compositePlace(of: key) { return dictionary(of: composite) }
        return anyValue(requirePlace(key))
    }

    /// Sets a value without logging it, marking the object changed, or keeping inverses.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) {
        if let composite = compositePlace(of: key) {
            let slots = _state.info.entity.slots
            return setDictionary(value, of: composite) { setPrimitiveValue($1, forKey: slots[$0].name) }
        }
        guard case .slot(let slot) = requirePlace(key) else { return setAnyValue(value, requirePlace(key), key: key) }
        if _state.isFault { fire() }
        let overlay = _state.makeOverlay()
        if kind(slot) == .toOne {
            if let target = object(value, key) { overlay.set(slot, target as AnyObject) } else { overlay.setNull(slot, .toOne) }
        } else if kind(slot) == .transformable {
            if let live = checkedLive(value, slot) { overlay.set(slot, live as AnyObject) } else { overlay.setNull(slot, .transformable) }
        } else {
            store(converted(value, slot), in: overlay, slot)
        }
    }
}
