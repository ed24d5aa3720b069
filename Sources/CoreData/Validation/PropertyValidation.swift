// Validates a value for one property, before it is set or when the object is saved.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// `validateValue(_:forKey:)`: *convert · check the model's rules · check the program's predicates · ask the class*.
struct PropertyValidation {
    private let object: NSManagedObject
    private let key: String
    private let info: EntityInfo

    init(_ object: NSManagedObject, _ key: String) {
        self.object = object
        self.key = key
        info = object._state.info
    }

    /// - Throws: one error, or 1560 with all of them.
    func run(_ value: UnsafeMutablePointer<AnyObject?>) throws {
        if value.pointee is NSNull { value.pointee = nil }
        var errors: [any Error] = []
        switch info.entity.places[key] {
        case .slot(let slot)? where object.kind(slot) == .toOne: checkTarget(value.pointee, slot, &errors)
        case .slot(let slot)?: checkAttribute(value, slot, &errors)
        case .toMany(let index)?: checkMembers(value.pointee, index, &errors)
        case .fetched?: break
        case nil:
            guard let composite = info.entity.composites[key] else {
                misuse(
                    "validateValue(_:forKey:) was given the key \"\(key)\", which \(info.entity.name) does not have.")
            }
            checkComposite(value, composite, &errors)
        }
        if errors.isEmpty, let rule = info.rules.first(where: { $0.key == key }) {
            for complaint in rule.complaints(about: value.pointee) { errors.append(error(complaint, value.pointee)) }
        }
        Validation.collect(&errors) { try object.validateProperty(key, value: value) }
        try Validation.throwing(errors)
    }

    private func error(_ complaint: Complaint, _ value: Any?) -> CocoaError {
        Validation.error(complaint, object, key, value)
    }

    // MARK: Attributes

    private func checkAttribute(
        _ value: UnsafeMutablePointer<AnyObject?>, _ slot: Int, _ errors: inout [any Error]
    ) {
        guard let attribute = info.entity.slots[slot].attribute, let rule = info.valueRules[slot] else { return }
        guard let given = value.pointee else {
            if info.needsValue(slot) {
                errors.append(error(Complaint(code: 1570, sentence: Validation.missing), nil))
            }
            return
        }
        switch attribute.type {
        case .transformable, .objectID, .composite, .undefined: return
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid,
            .uri:
            break
        }
        do {
            let converted = try convert(given, attribute)
            for complaint in rule.complaints(about: converted) {
                errors.append(error(complaint, Validation.printable(converted) ?? given))
            }
            if errors.isEmpty, let result = converted.object { replace(value, by: result as AnyObject) }
        } catch {
            errors.append(self.error(complaint(error, given, attribute), given))
        }
    }

    /// Converts a value; also a text for a URI, as forms have it.
    private func convert(_ given: AnyObject, _ attribute: Attribute) throws(ValueMismatch) -> Value {
        if attribute.type == .uri, let text = given as? String { return .uri(text) }
        return try value(given, as: attribute.type, entity: info.entity.name, property: key)
    }

    private func complaint(_ mismatch: ValueMismatch, _ given: AnyObject, _ attribute: Attribute) -> Complaint {
        switch attribute.type {
        case .integer16, .integer32, .integer64:
            guard let number = AnyNumber(given)?.double, number.magnitude > 32767 else { break }
            return Complaint(code: number > 0 ? 1610 : 1620, sentence: "cannot be set. \(mismatch.sentence)")
        case .undefined, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid, .uri, .transformable,
            .objectID,
            .composite:
            break
        }
        return Complaint(code: 1550, sentence: "cannot be set. \(mismatch.sentence)")
    }

    private func replace(_ value: UnsafeMutablePointer<AnyObject?>, by result: AnyObject) {
        if let given = value.pointee as? NSObject, given.isEqual(result) { return }
        value.pointee = result
    }

    // MARK: Composites

    /// Validates elements as attributes with their own keys (`location.latitude`); the dictionary gets converted ones.
    private func checkComposite(
        _ value: UnsafeMutablePointer<AnyObject?>, _ composite: CompositePlace, _ errors: inout [any Error]
    ) {
        guard let given = value.pointee else {
            if !composite.isOptional { errors.append(error(Complaint(code: 1570, sentence: Validation.missing), nil)) }
            return
        }
        guard let entries = given as? [String: Any] else {
            let sentence = "is a composite attribute; set a dictionary of its elements, not \(Swift.type(of: given))"
            return errors.append(error(Complaint(code: 1550, sentence: sentence), given))
        }
        for name in entries.keys.sorted() where composite.element(named: name) == nil {
            errors.append(error(Complaint(code: 1550, sentence: "has no element \(name)"), given))
        }
        var checked = entries
        for element in composite.elements {
            var part = entries[element.name].map { $0 as AnyObject }
            if part is NSNull { part = nil }
            let former = part
            switch element.content {
            case .slot(let slot):
                let validation = PropertyValidation(object, info.entity.slots[slot].name)
                validation.checkAttribute(&part, slot, &errors)
                if part == nil, composite.required.contains(slot), !info.entity.slots[slot].isRequired {
                    errors.append(validation.error(Complaint(code: 1570, sentence: Validation.missing), nil))
                }
            case .composite(let inner):
                PropertyValidation(object, inner.path).checkComposite(&part, inner, &errors)
            }
            if part !== former { checked[element.name] = part }
        }
        if errors.isEmpty { replace(value, by: checked as AnyObject) }
    }

    // MARK: Relationships

    private func checkTarget(_ value: AnyObject?, _ slot: Int, _ errors: inout [any Error]) {
        guard let value else {
            if info.entity.slots[slot].isRequired {
                errors.append(error(Complaint(code: 1570, sentence: Validation.missing), nil))
            }
            return
        }
        let relationship = object.relationship(at: slot)
        if (value as? NSManagedObject).map({ relationship.accepts($0._state.pointee.entity) }) != true {
            errors.append(error(wrongMember(relationship), value))
        }
    }

    private func checkMembers(_ value: AnyObject?, _ index: Int, _ errors: inout [any Error]) {
        let relationship = object.relationship(toMany: index)
        let members: [Any]
        switch value {
        case nil: members = []
        case let set as NSSet: members = set.allObjects
        case let set as NSOrderedSet: members = set.array
        case let array as [Any]: members = array
        case .some: return errors.append(error(wrongMember(relationship), value))
        }
        for member in members {
            if (member as? NSManagedObject).map({ relationship.accepts($0._state.pointee.entity) }) != true {
                return errors.append(error(wrongMember(relationship), value))
            }
        }
        if let complaint = Validation.complaint(aboutCount: members.count, of: relationship) {
            errors.append(error(complaint, value))
        }
    }

    private func wrongMember(_ relationship: ResolvedRelationship) -> Complaint {
        Complaint(code: 1550, sentence: "leads to \(info.schema[relationship.destination].name) and to nothing else")
    }
}

extension Validation {
    /// Validates every property by key, for classes that override `validateValue` or `validateProperty`.
    static func checkByKey(_ object: NSManagedObject, _ info: EntityInfo) throws {
        var errors: [any Error] = []
        let keys =
            info.entity.slots.filter { $0.kind != .entityTag && $0.composite == nil }.map(\.name)
            + info.entity.composites.keys.filter { !$0.contains(".") }.sorted() + info.toManyRelationships.map(\.name)
        for key in keys {
            let former = object.value(forKey: key).map { $0 as AnyObject }
            var value = former
            collect(&errors) { try object.validateValue(&value, forKey: key) }
            // A value that the class substitutes is set.
            guard value !== former, !((value as? NSObject)?.isEqual(former) ?? false) else { continue }
            object.setValue(value, forKey: key)
        }
        // Stores cannot keep NaN, whatever the class accepts.
        let complained = Set(errors.compactMap { ($0 as? CocoaError)?.validationKey })
        for slot in info.plainReals where !complained.contains(info.entity.slots[slot].name) {
            checkValue(object, slot, &errors)
        }
        try throwing(errors)
    }
}
