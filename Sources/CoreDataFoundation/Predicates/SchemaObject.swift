// Predicates asked about objects of a schema: in the form in which stores answer them.

import CoreDataValues
import Foundation
import Synchronization

/// Something that names a row: a managed object, or its ID.
package protocol RowNaming {
    var rowKey: ObjectKey { get }
    /// Among whose keys the row's is one; nil for a row of no store yet.
    var rowSpace: AnyObject? { get }
}

/// What predicates take for an entity's name.
package protocol EntityNaming {
    var entityName: String { get }
}

/// An object that an entity of a schema describes.
package protocol SchemaObject: KeyPathOwner, RowNaming {
    var schemaPlace: (schema: Schema, entity: EntityIndex) { get }
    /// What constants become beside transformable attributes; nil for a schema that has none.
    var constantTransforming: (any ConstantTransforming)? { get }
    /// What a store has for a transformable attribute; nil for any other key.
    func transformedOperand(forKey key: String) -> Operand?
}

/// A managed object as a bound condition sees it: by key-value coding, known by its key.
private struct SchemaSource: EvaluationSource {
    let object: any SchemaObject
    /// Whether there are transformable attributes.
    let isTransforming: Bool

    var identity: Value { .key(object.rowKey) }

    func operand(forKey key: String) -> Operand {
        if isTransforming, let operand = object.transformedOperand(forKey: key) { return operand }
        return known(Operand(any: object.valueIfKnown(forKey: key)))
    }

    private func known(_ operand: Operand) -> Operand {
        switch operand {
        case .source(let source):
            guard let object = (source as? KeyedObject)?.object else { return operand }
            if let object = object as? any SchemaObject {
                return .source(SchemaSource(object: object, isTransforming: isTransforming))
            }
            return (object as? any EntityNaming).map { .value(.text($0.entityName)) } ?? operand
        case .collection(let members): return .collection(members.map(known))
        case .value, .float, .opaque: return operand
        }
    }
}

/// A comparison bound to an entity whose objects it was asked about.
struct EntityComparison: @unchecked Sendable {
    let schema: Schema
    let entity: EntityIndex
    /// Whose objects it names; nil where it names none.
    let space: ObjectIdentifier?
    /// nil for what no store answers either.
    let evaluator: BoundEvaluator?
    /// Whether the schema has transformable attributes.
    let isTransforming: Bool
    /// Entities of one hierarchy, or of few.
    static let mostKept = 8
}

extension NSComparisonPredicate {
    /// What a fetch would say of an object; nil where it would refuse: then key-value coding alone decides.
    ///
    /// - Parameter hasObjects: whether the comparison names objects, which belong to one coordinator.
    final func answer(of object: any SchemaObject, hasObjects: Bool) -> Bool? {
        let (schema, entity) = object.schemaPlace
        let space = hasObjects ? object.rowSpace.map { ObjectIdentifier($0) } : nil
        let known = entityComparisons.withLock {
            $0.first { $0.schema === schema && $0.entity == entity && $0.space == space }
        }
        // Asked outside the lock: the parts and getters may be a program's own.
        let bound = known ?? bind(schema, entity, space, object.constantTransforming)
        return bound.evaluator?.matches(SchemaSource(object: object, isTransforming: bound.isTransforming))
    }

    private func bind(
        _ schema: Schema, _ entity: EntityIndex, _ space: ObjectIdentifier?, _ transforming: (any ConstantTransforming)?
    ) -> EntityComparison {
        let named = NamedRows(space: space)
        var translation = Translation(.converting(named.value), fetching: true)
        translation.constants = transforming.map { TransformedConstants($0, entity) }
        var evaluator: BoundEvaluator?
        if let tree = try? translation.predicate(self) {
            var plan = FetchPlan(entity: entity)
            plan.predicate = tree
            evaluator = (try? Query(plan, in: schema)).map { BoundEvaluator($0) }
        }
        let bound = EntityComparison(
            schema: schema, entity: entity, space: space, evaluator: evaluator, isTransforming: transforming != nil)
        // The key of an object changes when it is saved first, and a fetch finds other rows another time.
        guard !named.haveTemporary, translation.fetchCount == 0 else { return bound }
        entityComparisons.withLock { kept in
            if kept.count >= EntityComparison.mostKept { kept.removeAll() }
            kept.append(bound)
        }
        return bound
    }
}

/// The rows that a comparison names.
private final class NamedRows {
    private let space: ObjectIdentifier?
    private(set) var haveTemporary = false

    init(space: ObjectIdentifier?) { self.space = space }

    /// nil for an object of another coordinator.
    func value(_ object: Any) -> Value? {
        if let entity = object as? any EntityNaming { return .text(entity.entityName) }
        guard let row = object as? any RowNaming, row.rowSpace.map({ ObjectIdentifier($0) }) == space else {
            return nil
        }
        let key = row.rowKey
        if key.number <= 0 { haveTemporary = true }
        return .key(key)
    }
}
