// What predicates over a history mean in its tables.

import CoreDataFoundation
import CoreDataSQL
import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import struct CoreDataValues.PredicateError
import Foundation

/// Turns a fetch request over a history into a plan, for one store: an object ID is an entity and a number there, a token a number.
struct HistoryPredicate {
    let store: NSPersistentStore
    let schema: Schema
    let identities: StoreIdentities

    func search(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> HistoryQuery.Search {
        guard let history = HistoryModel.schema, let name = request.entityName,
            let entity = history.index(ofEntity: name)
        else {
            throw CocoaError.coreData(
                134060,
                "A history request was given a fetch request for \(request.entityName ?? "no entity"). Make it with "
                    + "NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange.fetchRequest.")
        }
        var plan = FetchPlan(entity: entity)
        plan.limit = max(0, request.fetchLimit)
        plan.offset = max(0, request.fetchOffset)
        do {
            plan.predicate = try request.predicate.map { try rewritten($0.tree(fetching: true, objects: value)) }
            plan.sort = try (request.sortDescriptors ?? []).map { descriptor in
                try descriptor.term { _ in
                    throw CocoaError.unsupported("a sort descriptor with a key path over a history; give it a key")
                }
            }
        } catch { throw CocoaError.reading(error) }
        return HistoryQuery.Search(findsChanges: name == HistorySchema.change, plan: plan)
    }

    /// What stands for a constant that is an object; nil for what is none of ours.
    private func value(of object: Any) throws -> Value? {
        switch object {
        case let token as NSPersistentHistoryToken: .int(token.transactions[store.identifier] ?? 0)
        case let transaction as NSPersistentHistoryTransaction:
            .int(transaction.storeID == store.identifier ? transaction.transactionNumber : 0)
        case let change as NSPersistentHistoryChange:
            .int(change.origin.storeID == store.identifier ? change.changeID : 0)
        case let entity as NSEntityDescription: .text(entity.name ?? "")
        case let type as NSPersistentHistoryChangeType: .int(Int64(type.rawValue))
        case let object as NSManagedObject: .key(try own(object.objectID))
        case let id as NSManagedObjectID: .key(try own(id))
        default: nil
        }
    }

    private func own(_ id: NSManagedObjectID) throws -> ObjectKey {
        guard id.identity === identities else { throw CocoaError.foreignID(id) }
        return id.key
    }

    // MARK: Rewriting

    private func rewritten(_ predicate: Predicate) throws -> Predicate {
        switch predicate {
        case .constant: predicate
        case .and(let parts): .and(try parts.map(rewritten))
        case .or(let parts): .or(try parts.map(rewritten))
        case .not(let part): .not(try rewritten(part))
        case .comparison(let comparison): try rewritten(comparison)
        }
    }

    private func rewritten(_ comparison: Comparison) throws -> Predicate {
        guard case .keyPath(let path) = comparison.left, let last = path.last else { return .comparison(comparison) }
        switch last {
        case "changedObjectID": return try objects(comparison, path)
        case "changedEntity":
            var numbered = comparison
            numbered.right = try entities(comparison.right)
            return .comparison(numbered)
        default: return .comparison(comparison)
        }
    }

    /// Names and descriptions of entities as their numbers.
    private func entities(_ expression: Expression) throws -> Expression {
        switch expression {
        case .constant(.text(let name)):
            guard let index = schema.index(ofEntity: name) else {
                throw CocoaError.coreData(
                    134060, "The model has no entity \(name), which a predicate over a history names.")
            }
            return .constant(.int(Int64(schema[index].index.number)))
        case .list(let members): return .list(try members.map(entities))
        case .constant, .this, .keyPath, .variable, .function, .subquery, .conditional: return expression
        }
    }

    /// Objects as entities and numbers.
    private func objects(_ comparison: Comparison, _ path: [String]) throws -> Predicate {
        let keys: [ObjectKey]
        switch comparison.right {
        case .constant(.key(let key)): keys = [key]
        case .list(let members):
            let named = members.compactMap { member -> ObjectKey? in
                if case .constant(.key(let key)) = member { key } else { nil }
            }
            guard named.count == members.count else { return .comparison(comparison) }
            keys = named
        case .constant, .this, .keyPath, .variable, .function, .subquery, .conditional: return .comparison(comparison)
        }
        guard path.count == 1 else {
            throw CocoaError.unsupported(
                "\(path.joined(separator: ".")) in a predicate over transactions; ask for changes instead")
        }
        let entity = Array(path.dropLast()) + ["changedEntity"]
        let groups = Dictionary(grouping: keys.filter { $0.store == store.number }, by: \.entity).sorted {
            $0.key < $1.key
        }
        let found = Predicate.or(
            groups.map { index, keys in
                .and([
                    .comparison(
                        Comparison(.keyPath(entity), .equal, .constant(.int(Int64(schema[index].index.number))))),
                    .comparison(Comparison(.keyPath(path), .in, .list(keys.map { .constant(.int($0.number)) }))),
                ])
            })
        let any = groups.isEmpty ? .constant(false) : found
        switch comparison.op {
        case .equal, .in: return any
        case .notEqual: return .not(any)
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .contains, .beginsWith, .endsWith, .like,
            .matches:
            throw CocoaError.unsupported("comparing changedObjectID by anything but ==, != and IN")
        }
    }
}
