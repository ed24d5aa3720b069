// What comparisons in predicates over a history mean in its tables.

import CoreDataSQL
import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import Foundation

/// What a predicate over a history can be about. A constant that is one is a key of a store that no store has.
enum HistoryKind: UInt16 {
    case transaction, change

    private static let place = UInt16.max

    /// - Parameter number: 0 for one of another store.
    func key(_ number: Int64) -> ObjectKey {
        ObjectKey(number: number, entity: EntityIndex(rawValue: rawValue), store: Self.place)
    }

    /// Its number, where a key is of this kind.
    func number(_ key: ObjectKey) -> Int64? {
        key.store == Self.place && key.entity.rawValue == rawValue ? key.number : nil
    }

    /// The attribute that has the number.
    var attribute: String { self == .transaction ? "transactionNumber" : "changeID" }
}

/// Rewrites comparisons with what the tables do not have as it is: an entity is a number there, an object ID an entity and a number, a
/// transaction and a change their numbers. What cannot be said so is refused: the database would find nothing.
struct HistoryComparisons {
    private let store: NSPersistentStore
    private let schema: Schema
    /// What `SELF` is, and what the variables of subqueries are.
    private let root: HistoryKind
    private var variables: [String: HistoryKind] = [:]

    /// - Parameter root: whether changes are asked for, and not transactions.
    init(store: NSPersistentStore, schema: Schema, root asksChanges: Bool) {
        self.store = store
        self.schema = schema
        root = asksChanges ? .change : .transaction
    }

    private enum Meaning { case object(HistoryKind), entity, objectID, other }

    /// An expression that leads somewhere: the object at its beginning, and the keys after that.
    private struct Path {
        let beginning: Expression
        let kind: HistoryKind
        let keys: [String]

        func appending(_ key: String, dropping count: Int = 0) -> Expression {
            let keys = keys.dropLast(count) + [key]
            if case .this = beginning { return .keyPath(Array(keys)) }
            return .function("valueForKeyPath:", [beginning, .keyPath(Array(keys))])
        }
    }

    private func path(_ expression: Expression) -> Path? {
        func plain(_ keys: [String]) -> [String] { keys.filter { $0.lowercased() != "self" } }
        switch expression {
        case .this: return Path(beginning: .this, kind: root, keys: [])
        case .keyPath(let keys): return Path(beginning: .this, kind: root, keys: plain(keys))
        case .variable(let name): return variables[name].map { Path(beginning: expression, kind: $0, keys: []) }
        case .function("valueForKeyPath:", let parts):
            guard parts.count == 2, case .keyPath(let keys) = parts[1], let start = path(parts[0]) else { return nil }
            return Path(beginning: start.beginning, kind: start.kind, keys: start.keys + plain(keys))
        case .constant, .list, .function, .subquery, .conditional: return nil
        }
    }

    private func meaning(_ path: Path?) -> Meaning {
        guard let path else { return .other }
        var kind = path.kind
        for (place, key) in path.keys.enumerated() {
            switch (kind, key) {
            case (.transaction, "changes"): kind = .change
            case (.change, "transaction"): kind = .transaction
            case (.change, "changedEntity") where place == path.keys.count - 1: return .entity
            case (.change, "changedObjectID") where place == path.keys.count - 1: return .objectID
            default: return .other
            }
        }
        return .object(kind)
    }

    private func title(_ path: Path) -> String {
        let keys = path.keys.joined(separator: ".")
        if case .variable(let name) = path.beginning { return keys.isEmpty ? "$" + name : "$\(name).\(keys)" }
        return keys.isEmpty ? "SELF" : keys
    }

    // MARK: Predicates and expressions

    func rewritten(_ predicate: Predicate) throws -> Predicate {
        switch predicate {
        case .constant: predicate
        case .and(let parts): .and(try parts.map(rewritten))
        case .or(let parts): .or(try parts.map(rewritten))
        case .not(let part): .not(try rewritten(part))
        case .comparison(let comparison): try rewritten(comparison)
        }
    }

    /// Conditions inside an expression, which may be about other objects.
    private func rewritten(_ expression: Expression) throws -> Expression {
        switch expression {
        case .constant, .this, .keyPath, .variable: return expression
        case .list(let members): return .list(try members.map(rewritten))
        case .function(let name, let arguments): return .function(name, try arguments.map(rewritten))
        case .conditional(let condition, let first, let second):
            return .conditional(try rewritten(condition), try rewritten(first), try rewritten(second))
        case .subquery(let collection, let variable, let condition):
            var inner = self
            if case .object(let kind) = meaning(path(collection)) {
                inner.variables[variable] = kind
            } else {
                inner.variables[variable] = nil
            }
            return .subquery(
                collection: try rewritten(collection), variable: variable, predicate: try inner.rewritten(condition))
        }
    }

    private func rewritten(_ comparison: Comparison) throws -> Predicate {
        var comparison = comparison
        comparison.left = try rewritten(comparison.left)
        comparison.right = try rewritten(comparison.right)
        if case .other = meaning(path(comparison.left)) { comparison = flipped(comparison) }
        let left = path(comparison.left)
        let found: Predicate
        switch meaning(left) {
        case .objectID: found = try objects(comparison, left)
        case .entity:
            if comparison.op == .contains, comparison.modifier == .direct, left?.keys.contains("changes") == true {
                (comparison.op, comparison.modifier) = (.equal, .any)
            }
            comparison.right = try entities(comparison.right, comparison.op)
            found = .comparison(comparison)
        case .object(let kind): found = try numbers(comparison, left, kind)
        case .other:
            let kind: HistoryKind? =
                switch left?.keys.last {
                case "transactionNumber", "token": .transaction
                case "changeID", "changedID": .change
                default: nil
                }
            if let kind { comparison.right = numbered(comparison.right, kind) }
            found = .comparison(comparison)
        }
        if case .comparison(let left) = found, left.left.namesObject || left.right.namesObject {
            throw CocoaError.unsupported(
                "comparing \(path(left.left).map(title) ?? "a value") with an object in a predicate over a history")
        }
        return found
    }

    /// What the history knows stands on the left.
    private func flipped(_ comparison: Comparison) -> Comparison {
        if case .other = meaning(path(comparison.right)) { return comparison }
        let op: Comparison.Operator
        switch comparison.op {
        case .equal, .notEqual: op = comparison.op
        case .less: op = .greater
        case .lessOrEqual: op = .greaterOrEqual
        case .greater: op = .less
        case .greaterOrEqual: op = .lessOrEqual
        // An object is in a to-many, as the to-many contains it.
        case .in: op = .contains
        case .between, .contains, .beginsWith, .endsWith, .like, .matches: return comparison
        }
        return Comparison(
            comparison.right, op, comparison.left, modifier: comparison.modifier, options: comparison.options)
    }

    // MARK: Constants

    /// Names and descriptions of entities as their numbers.
    private func entities(_ expression: Expression, _ op: Comparison.Operator) throws -> Expression {
        switch expression {
        case .constant(.text(let name)):
            guard let index = schema.index(ofEntity: name) else {
                throw CocoaError.coreData(
                    134060, "The model has no entity \(name), which a predicate over a history names.")
            }
            switch op {
            case .equal, .notEqual, .in: return .constant(.int(Int64(schema[index].index.number)))
            case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .contains, .beginsWith, .endsWith, .like,
                .matches:
                throw CocoaError.unsupported("comparing changedEntity by anything but ==, != and IN")
            }
        case .list(let members): return .list(try members.map { try entities($0, op) })
        case .constant, .this, .keyPath, .variable, .function, .subquery, .conditional: return expression
        }
    }

    /// Transactions or changes as their numbers.
    private func numbered(_ expression: Expression, _ kind: HistoryKind) -> Expression {
        switch expression {
        case .constant(.key(let key)): kind.number(key).map { .constant(.int($0)) } ?? expression
        case .list(let members): .list(members.map { numbered($0, kind) })
        case .constant, .this, .keyPath, .variable, .function, .subquery, .conditional: expression
        }
    }

    /// A transaction or a change by its number.
    private func numbers(_ comparison: Comparison, _ left: Path?, _ kind: HistoryKind) throws -> Predicate {
        guard let left, comparison.right != .constant(.null) else { return .comparison(comparison) }
        var numbered = comparison
        numbered.left = left.appending(kind.attribute)
        if let right = path(comparison.right), case .object(kind) = meaning(right) {
            numbered.right = right.appending(kind.attribute)
        } else {
            numbered.right = self.numbered(comparison.right, kind)
            guard numbered.right.isNumbered(comparison.right) else {
                throw CocoaError.unsupported(
                    "comparing \(title(left)) with anything but \(kind == .change ? "changes" : "transactions") in a predicate over a "
                        + "history")
            }
        }
        switch comparison.op {
        case .equal, .notEqual, .in: return .comparison(numbered)
        case .contains where comparison.modifier == .direct && left.keys.last == "changes":
            (numbered.op, numbered.modifier) = (.equal, .any)
            return .comparison(numbered)
        case .contains, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .beginsWith, .endsWith, .like,
            .matches:
            throw CocoaError.unsupported(
                "comparing \(title(left)) in a predicate over a history by anything but ==, != and IN")
        }
    }

    /// Objects as entities and numbers.
    private func objects(_ comparison: Comparison, _ left: Path?) throws -> Predicate {
        let keys: [ObjectKey]
        switch comparison.right {
        case .constant(.key(let key)): keys = [key]
        case .list(let members):
            keys = members.compactMap { if case .constant(.key(let key)) = $0 { key } else { nil } }
            guard keys.count == members.count else { throw Self.noObjects }
        case .constant(.null), .constant(.int): return .comparison(comparison)
        case .constant: throw Self.noObjects
        case .this, .keyPath, .variable, .function, .subquery, .conditional: return .comparison(comparison)
        }
        guard let left, comparison.modifier == .direct, !left.keys.contains("changes") else {
            throw CocoaError.unsupported(
                "\(left.map(title) ?? "changedObjectID") in a predicate over transactions; ask for changes instead, or by SUBQUERY"
            )
        }
        if keys.contains(where: { HistoryKind.transaction.number($0) ?? HistoryKind.change.number($0) != nil }) {
            throw Self.noObjects
        }
        let groups = Dictionary(grouping: keys.filter { $0.store == store.number }, by: \.entity).sorted {
            $0.key < $1.key
        }
        let (entity, number) = (left.appending("changedEntity", dropping: 1), comparison.left)
        let found = Predicate.or(
            groups.map { index, keys in
                .and([
                    .comparison(Comparison(entity, .equal, .constant(.int(Int64(schema[index].index.number))))),
                    .comparison(Comparison(number, .in, .list(keys.map { .constant(.int($0.number)) }))),
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

    private static var noObjects: CocoaError {
        CocoaError.unsupported("comparing changedObjectID with anything but objects and their IDs")
    }
}

extension Expression {
    /// Whether an object is among its constants.
    fileprivate var namesObject: Bool {
        switch self {
        case .constant(.key): true
        case .list(let parts), .function(_, let parts): parts.contains(where: \.namesObject)
        case .conditional(_, let first, let second): first.namesObject || second.namesObject
        case .constant, .this, .keyPath, .variable, .subquery: false
        }
    }

    /// Whether all constants of an expression were made numbers.
    fileprivate func isNumbered(_ former: Expression) -> Bool {
        if case .list(let members) = self, case .list(let others) = former {
            return zip(members, others).allSatisfy { $0.isNumbered($1) }
        }
        if case .constant(.int) = self, case .constant(.key) = former { return true }
        return false
    }
}
