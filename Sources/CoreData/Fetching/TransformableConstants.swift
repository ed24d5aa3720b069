// Finds the transformable attributes whose values appear in predicates.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// Looks up key paths of predicates in a schema.
struct TransformableConstants: ConstantTransforming {
    let schema: Schema

    func transformable(at path: [String], from entity: EntityIndex) -> (
        attribute: any AttributeTransforming, membersEnd: Int
    )? {
        guard let (owner, key, end) = walk(path, from: entity), case .slot(let slot)? = owner.places[key],
            owner.slots[slot].kind == .transformable, !owner.slots[slot].isTransient,
            let attribute = owner.slots[slot].attribute
        else { return nil }
        return (TransformableAttribute(attribute, of: owner.name), end)
    }

    func members(at path: [String], from entity: EntityIndex) -> EntityIndex? {
        guard let (owner, key, _) = walk(path, from: entity), case .toMany(let place)? = owner.places[key] else {
            return nil
        }
        return schema[owner.toMany[place]].destination
    }

    /// The entity that owns the last key of a path, that key, and how many keys lead to the last to-many before it; nil
    /// if other properties than relationships come before.
    private func walk(_ path: [String], from entity: EntityIndex) -> (owner: Entity, key: String, membersEnd: Int)? {
        var owner = schema[entity]
        var rest = path[...]
        var end = 0
        while let name = rest.first {
            let composite = owner.compositeKey(of: rest)
            let key = composite?.key ?? name
            rest = rest.dropFirst(composite?.length ?? 1)
            if rest.isEmpty { return (owner, key, end) }
            switch owner.places[key] {
            case .slot(let slot)?:
                guard let relationship = owner.slots[slot].relationship else { return nil }
                owner = schema[schema[relationship].destination]
            case .toMany(let place)?:
                owner = schema[schema[owner.toMany[place]].destination]
                end = rest.startIndex
            case .fetched?, nil: return nil
            }
        }
        return nil
    }
}

/// One transformable attribute, for the constants compared with it.
private struct TransformableAttribute: AttributeTransforming {
    private let attribute: Attribute
    private let transformation: Transformation

    init(_ attribute: Attribute, of entity: String) {
        self.attribute = attribute
        transformation = Transformation(attribute, of: entity)
    }

    func bytes(of value: Any) throws -> Data { try transformation.data(of: value) }

    var isDeterministic: Bool { transformation.isDeterministic }

    /// Registers the comparison by a name that attributes of one transformer and class share, and returns the name.
    func equality() -> String {
        let name = "\(attribute.valueTransformerName ?? "") \(attribute.customClassName ?? "")"
        let transformation = UncheckedTransformation(transformation)
        TransformedEquality.register(name) { transformation.areEqual($0, $1) }
        return name
    }
}

/// A transformation for use on any thread: it holds only names of the model, and transformers are used on all threads.
private final class UncheckedTransformation: @unchecked Sendable {
    private let transformation: Transformation
    /// The last constant and its value, as thousands of rows are compared with one constant.
    private let last = Mutex<(data: Data, value: Known)?>(nil)
    private struct Known: @unchecked Sendable { let value: Any? }

    init(_ transformation: Transformation) { self.transformation = transformation }

    func areEqual(_ row: Data, _ constant: Data) -> Bool {
        guard let wanted = value(of: constant), let found = try? transformation.value(of: row) else { return false }
        return Transformation.areEqual(found, wanted)
    }

    private func value(of constant: Data) -> Any? {
        if let last = last.withLock({ $0 }), last.data == constant { return last.value.value }
        let made = Known(value: try? transformation.value(of: constant))
        last.withLock { $0 = (constant, made) }
        return made.value
    }
}
