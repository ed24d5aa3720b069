// A managed object as the source of values for predicates and sort orders.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject: SchemaObject {
    package final var schemaPlace: (schema: Schema, entity: EntityIndex) {
        (_state.info.schema, _state.info.entity.index)
    }
    package final var rowKey: ObjectKey { _state.key }
    package final var rowSpace: AnyObject? { objectID.identity }

    package final var constantTransforming: (any ConstantTransforming)? {
        _state.info.schema.hasTransformables ? TransformableConstants(schema: _state.info.schema) : nil
    }

    package final func transformedOperand(forKey key: String) -> Operand? {
        guard case .slot(let slot)? = place(of: key), _state.info.entity.slots[slot].attribute?.type == .transformable,
            !_state.info.entity.slots[slot].isTransient
        else { return nil }
        return Operand(value(at: slot), kind(slot))
    }
}

extension NSManagedObjectID: RowNaming {
    package var rowKey: ObjectKey { key }
    package var rowSpace: AnyObject? { identity }
}

extension NSEntityDescription: EntityNaming {
    package final var entityName: String { name ?? "" }
}

struct ObjectSource: EvaluationSource {
    let object: NSManagedObject
    init(_ object: NSManagedObject) { self.object = object }

    var identity: Value { .key(object._state.key) }

    func operand(forKey key: String) -> Operand {
        switch object.place(of: key) {
        case .slot(let slot):
            if object.kind(slot) == .toOne {
                return object.target(at: slot).map { .source(ObjectSource($0)) } ?? .value(.null)
            }
            return Operand(object.value(at: slot), object.kind(slot))
        case .toMany(let index): return .collection(object.shownMembers(at: index).map { .source(ObjectSource($0)) })
        case nil where key == "objectID": return .value(identity)
        case nil where key == "entity": return .value(.text(object._state.info.entity.name))
        case nil where object.compositePlace(of: key) != nil:
            guard let composite = object.compositePlace(of: key) else { return .value(.null) }
            return .source(CompositeSource(composite) { [object] in Operand(object.value(at: $0), object.kind($0)) })
        case .fetched(let index): return .collection(object.fetchedObjects(at: index).map { .source(ObjectSource($0)) })
        case nil: return .value(.null)
        }
    }

    /// The value at the end of a key path through to-ones.
    func value(along path: [String]) -> Value {
        var source: any EvaluationSource = self
        for (index, key) in path.enumerated() {
            switch source.operand(forKey: key) {
            case .value(let value): return index == path.count - 1 ? value : .null
            case .float(let float): return index == path.count - 1 ? .double(Double(float)) : .null
            case .source(let next):
                if index == path.count - 1 { return next.identity }
                source = next
            case .collection(let members): return .int(Int64(members.count))
            case .opaque: return .null
            }
        }
        return identity
    }
}
