// The parts of expressions that other modules evaluate themselves.

import CoreDataValues
import Foundation

extension NSExpression {
    /// Of `FUNCTION(target, 'name:', …)`; nil for anything else.
    package var method: (target: NSExpression, name: String, arguments: [NSExpression])? {
        guard case .function("FUNCTION", let items) = content, items.count >= 2,
            let name = items[1].constantValue as? String
        else { return nil }
        return (items[0], name, Array(items.dropFirst(2)))
    }

    /// Of a key path of something else than the object that is asked about, as `$x.name`; nil for anything else.
    package var pathOfTarget: (target: NSExpression, path: [String])? {
        guard case .function("valueForKeyPath:", let items) = content, items.count == 2,
            case .keyPath(let path) = items[1].content
        else { return nil }
        return (items[0], path)
    }

    /// The three arguments of `FETCH`; nil for anything else.
    package var fetchParts: (request: NSExpression, context: NSExpression, countOnly: NSExpression)? {
        guard case .function("FETCH", let items) = content, items.count == 3 else { return nil }
        return (items[0], items[1], items[2])
    }

    /// The name of a variable; nil for anything else.
    package var variableName: String? { if case .variable(let name) = content { name } else { nil } }

    /// What a tree says.
    package convenience init(tree: CoreDataValues.Expression) {
        self.init(content: FormatReader([], keepsBooleans: true).object(tree).content)
    }

    /// A key path of another expression.
    package convenience init(path: [String], of target: NSExpression) {
        self.init(content: .function("valueForKeyPath:", [target, NSExpression(content: .keyPath(path))]))
    }

    /// The expression with others in the place of parts; what the closure answers nil for is kept and looked into.
    package func replacing(_ other: (NSExpression) throws -> NSExpression?) rethrows -> NSExpression {
        if let other = try other(self) { return other }
        func all(_ items: [NSExpression]) throws -> [NSExpression] { try items.map { try $0.replacing(other) } }
        switch content {
        case .constant, .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .external: return self
        case .function(let name, let items): return NSExpression(content: .function(name, try all(items)))
        case .aggregate(let items): return NSExpression(content: .aggregate(try all(items)))
        case .subquery(let items, let variable, let predicate):
            return NSExpression(
                content: .subquery(try items.replacing(other), variable, try predicate.replacing(other)))
        case .sets(let type, let left, let right):
            return NSExpression(content: .sets(type, try left.replacing(other), try right.replacing(other)))
        case .conditional(let condition, let first, let second):
            return NSExpression(
                content: .conditional(
                    try condition.replacing(other), try first.replacing(other), try second.replacing(other)))
        case .block(let block, let items): return NSExpression(content: .block(block, try all(items)))
        }
    }
}

extension NSPredicate {
    /// The predicate with others in the place of its expressions.
    package func replacing(_ other: (NSExpression) throws -> NSExpression?) rethrows -> NSPredicate {
        if let comparison = self as? NSComparisonPredicate {
            return NSComparisonPredicate(
                leftExpression: try comparison.leftExpression.replacing(other),
                rightExpression: try comparison.rightExpression.replacing(other),
                modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
                options: comparison.options)
        }
        guard let compound = self as? NSCompoundPredicate else { return self }
        return NSCompoundPredicate(
            type: compound.compoundPredicateType, subpredicates: try compound.parts.map { try $0.replacing(other) })
    }
}
