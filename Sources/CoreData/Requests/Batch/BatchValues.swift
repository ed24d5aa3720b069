// What programs give for the properties of a row, as values.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The properties of one entity, by name.
struct BatchValues {
    private let info: EntityInfo
    private var entity: Entity { info.entity }
    /// The slots of attributes in which an object may have a value that no row has: a number that is none, or too large a one.
    let checked: [Int]
    init(_ info: EntityInfo) {
        self.info = info
        checked = info.entity.slots.indices.filter { slot in
            switch info.kinds[slot] {
            case .double, .float, .date, .decimal: !info.entity.slots[slot].isTransient
            case .int:
                !info.entity.slots[slot].isTransient && info.entity.slots[slot].attribute?.type.narrowRange != nil
            case .bool, .text, .data, .externalData, .uuid, .uri, .transformable, .toOne, .entityTag: false
            }
        }
    }

    func isTooLarge(_ number: Int64, at slot: Int) -> Bool {
        entity.slots[slot].attribute?.type.narrowRange?.contains(number) == false
    }

    /// The slot of an attribute, an element of a composite or a to-one.
    ///
    /// - Throws: 134060 for what is none.
    func slot(_ name: String) throws -> Int {
        if case .slot(let slot)? = entity.places[name] { return slot }
        let why =
            switch entity.places[name] {
            case .toMany?: "a to-many, which a batch request cannot set; set the to-one of its inverse, or save objects"
            case .fetched?: "a fetched property, which has no value of its own"
            case .slot?, nil:
                entity.composites[name] == nil ? "no property of it" : "a composite; name its elements, \(name).element"
            }
        throw CocoaError.coreData(134060, "A batch request for \(entity.name) names “\(name)”, which is \(why).")
    }

    /// - Throws: 134060 for a value that the property cannot have.
    func value(_ any: Any, for name: String, _ context: NSManagedObjectContext) throws -> Value {
        // What is no property the store refuses, with everything else that an update cannot assign.
        guard case .slot(let slot)? = entity.places[name], let any = KeyValue.unwrapped(any) else { return .null }
        if entity.slots[slot].relationship != nil { return try key(any, name, context) }
        return try value(any, at: slot)
    }

    func value(_ any: Any, at slot: Int) throws -> Value {
        guard let any = KeyValue.unwrapped(any), let attribute = entity.slots[slot].attribute else { return .null }
        if attribute.type == .transformable {
            return .data(try Transformation(attribute, of: entity.name).data(of: any))
        }
        let value: Value
        do throws(ValueMismatch) {
            value = try CoreData.value(any, as: attribute.type, entity: entity.name, property: entity.slots[slot].name)
        } catch { throw CocoaError.coreData(134060, error.sentence) }
        if value.isNaN { throw notANumber(value, at: slot) }
        return value
    }

    /// What a save says of a value that no store keeps.
    func notANumber(_ value: Value, at slot: Int) -> CocoaError {
        let name = entity.slots[slot].name
        let isDate = if case .date = value { true } else { false }
        return .coreData(
            isDate ? 1650 : 1550,
            "\(entity.name).\(name) is \(isDate ? "no date" : "not a number") (NaN), which no store can keep.",
            [NSValidationKeyErrorKey: name, NSEntityNameErrorKey: entity.name])
    }

    private func key(_ any: Any, _ name: String, _ context: NSManagedObjectContext) throws -> Value {
        let id = (any as? NSManagedObject)?.objectID ?? any as? NSManagedObjectID
        // A context above may have saved it since.
        guard let id, id.identity === context.identities, case let key = context.currentKey(id.key), key.number > 0
        else {
            throw CocoaError.coreData(
                134060,
                "A batch request for \(entity.name) gives “\(name)” a value of type \(type(of: any)); give a saved object of the same coordinator, or "
                    + "its ID.")
        }
        return .key(key)
    }
}

extension Value {
    /// Whether it is a number or a date that is none.
    var isNaN: Bool {
        switch self {
        case .double(let number), .date(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .null, .bool, .int, .text, .data, .uuid, .uri, .key: false
        }
    }
}
