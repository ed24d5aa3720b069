// Values of transformable attributes in predicates: constants become the bytes that their attribute keeps.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import Foundation

/// A transformable attribute beside which a constant stands.
package protocol AttributeTransforming {
    /// What the attribute keeps for a value.
    ///
    /// - Throws: for a value that the transformer does not take.
    func bytes(of value: Any) throws -> Data
    /// Whether equal values have equal bytes.
    var isDeterministic: Bool { get }
    /// The name by which stores ask whether two pieces of data stand for equal values (`TransformedEquality`).
    func equality() -> String
}

/// Knows which key paths lead to transformable attributes.
package protocol ConstantTransforming {
    /// The attribute at the end of a key path, nil for anything else, and how many keys lead to its last to-many.
    func transformable(at path: [String], from entity: EntityIndex) -> (
        attribute: any AttributeTransforming, membersEnd: Int
    )?
    /// The entity of the members of a to-many.
    func members(at path: [String], from entity: EntityIndex) -> EntityIndex?
}

/// Rewrites the comparisons of one predicate.
final class TransformedConstants {
    private let transforming: any ConstantTransforming
    private let entity: EntityIndex
    /// What variables of sub-queries stand for.
    var variables: [String: EntityIndex] = [:]
    private var count = 0

    init(_ transforming: any ConstantTransforming, _ entity: EntityIndex) {
        self.transforming = transforming
        self.entity = entity
    }

    /// Has a variable stand for the members of a collection. Answers what all variables stood for, to be put back.
    func enter(_ variable: String, _ collection: NSExpression) -> [String: EntityIndex] {
        let outer = variables
        variables[variable] = place(of: collection).flatMap { transforming.members(at: $0.path, from: $0.entity) }
        return outer
    }

    /// A comparison of a transformable attribute with values; nil for any other, and for bytes, which are compared as they are.
    func condition(_ comparison: NSComparisonPredicate, _ side: (NSExpression) throws -> Expression) throws
        -> Predicate?
    {
        let op = comparison.predicateOperatorType
        guard op == .equalTo || op == .notEqualTo || op == .in else { return nil }
        var (path, constant) = (comparison.leftExpression, comparison.rightExpression)
        if op != .in, place(of: path) == nil { swap(&path, &constant) }
        guard let place = place(of: path),
            let (attribute, membersEnd) = transforming.transformable(at: place.path, from: place.entity),
            let values = TransformedConstants.values(of: constant, isList: op == .in),
            !values.allSatisfy(TransformedConstants.isStored),
            membersEnd == 0 || comparison.comparisonPredicateModifier != .direct
        else { return nil }
        let stored = try values.map { try TransformedConstants.stored($0) ?? .data(attribute.bytes(of: $0 as Any)) }
        if attribute.isDeterministic {
            let right: Expression = op == .in ? .list(stored.map { .constant($0) }) : .constant(stored[0])
            return .comparison(
                Comparison(
                    try side(path), op == .in ? .in : op == .equalTo ? .equal : .notEqual, right,
                    modifier: comparison.comparisonPredicateModifier.tree))
        }
        func isOne(_ value: Expression) -> Predicate {
            let parts = stored.map { TransformedConstants.isEqual(value, $0, attribute) }
            let one: Predicate = parts.count == 1 ? parts[0] : .or(parts)
            return op == .notEqualTo ? .not(one) : one
        }
        guard membersEnd > 0 else { return isOne(try side(path)) }
        return members(place, membersEnd, isAll: comparison.comparisonPredicateModifier == .all, isOne)
    }

    private static func isEqual(_ side: Expression, _ value: Value, _ attribute: any AttributeTransforming) -> Predicate
    {
        guard case .data = value else { return .comparison(Comparison(side, .equal, .constant(value))) }
        let call = Expression.function(
            TransformedEquality.function, [side, .constant(value), .constant(.text(attribute.equality()))])
        return .comparison(Comparison(call, .equal, .constant(.bool(true))))
    }

    /// What holds for any or all members, as a sub-query.
    private func members(
        _ place: (entity: EntityIndex, path: [String], variable: String?), _ end: Int, isAll: Bool,
        _ condition: (Expression) -> Predicate
    ) -> Predicate {
        count += 1
        let name = "%member\(count)"
        let collection = Expression.keyPath(Array(place.path[..<end]))
        let value = Expression.function("valueForKeyPath:", [.variable(name), .keyPath(Array(place.path[end...]))])
        let holds = condition(value)
        let found = Expression.subquery(
            collection: place.variable.map { .function("valueForKeyPath:", [.variable($0), collection]) } ?? collection,
            variable: name,
            predicate: isAll ? .not(holds) : holds)
        let number = Expression.function("valueForKeyPath:", [found, .keyPath(["@count"])])
        return .comparison(Comparison(number, isAll ? .equal : .greater, .constant(.int(0))))
    }

    // MARK: Sides

    /// Where a key path begins, and its keys.
    private func place(of expression: NSExpression) -> (entity: EntityIndex, path: [String], variable: String?)? {
        switch expression.content {
        case .keyPath(let path): return (entity, path, nil)
        case .swiftKeyPath(let keyPath): return (try? keyPath.keys()).map { (entity, $0, nil) }
        case .function("valueForKeyPath:", let arguments):
            guard arguments.count == 2, case .variable(let name) = arguments[0].content,
                case .keyPath(let path) = arguments[1].content,
                let entity = variables[name]
            else { return nil }
            return (entity, path, name)
        case .constant, .evaluatedObject, .variable, .function, .aggregate, .subquery, .sets, .conditional, .block,
            .external:
            return nil
        }
    }

    /// The constants of a side; nil where it is not made of such.
    private static func values(of expression: NSExpression, isList: Bool) -> [Any?]? {
        switch expression.content {
        case .constant(let value):
            guard isList else { return [KeyValue.unwrapped(value)] }
            return value.flatMap(Operand.members).map { $0.map { KeyValue.unwrapped($0) } }
        case .aggregate(let items):
            var members: [Any?] = []
            for item in items {
                // Of a list in a list only the whole is a value.
                guard let values = values(of: item, isList: false) else { return nil }
                members.append(values[0])
            }
            return isList ? members : [members.map { $0 ?? NSNull() }]
        case .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .function, .subquery, .sets, .conditional, .block,
            .external:
            return nil
        }
    }

    private static func isStored(_ value: Any?) -> Bool { stored(value) != nil }

    /// Nil and data, which the column has as they are.
    private static func stored(_ value: Any?) -> Value? {
        guard let value else { return .null }
        if case .data(let data)? = Value(any: value) { return .data(data) }
        return nil
    }
}
