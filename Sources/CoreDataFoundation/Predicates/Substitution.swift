// Constants in the place of variables.

import CoreDataValues
import Foundation

/// Puts constants in the place of variables.
struct Substitution {
    private let variables: [String: Any]
    init(_ variables: [String: Any]) { self.variables = variables }

    func predicate(_ predicate: NSPredicate) -> NSPredicate {
        if let comparison = predicate as? NSComparisonPredicate {
            return NSComparisonPredicate(
                leftExpression: expression(comparison.leftExpression),
                rightExpression: expression(comparison.rightExpression),
                modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
                options: comparison.options)
        }
        guard let compound = predicate as? NSCompoundPredicate else { return predicate }
        return NSCompoundPredicate(
            type: compound.compoundPredicateType, subpredicates: compound.parts.map(self.predicate))
    }

    /// `$person.name`: with the person given, what the path comes to now.
    private func path(_ items: [NSExpression]) -> NSExpression {
        let target = expression(items[0])
        if case .variable = items[0].content, case .constant(let object) = target.content,
            case .keyPath(let path) = items[1].content
        {
            return NSExpression(
                forConstantValue: KeyValue.value(of: object, forKeyPath: path.joined(separator: ".")))
        }
        // `$x.$key`, with the key path given.
        if case .variable = items[1].content, case .text(let path)? = Value(any: expression(items[1]).constantValue) {
            return self.path([items[0], NSExpression(forKeyPath: path)])
        }
        return NSExpression(content: .function("valueForKeyPath:", [target, items[1]]))
    }

    private func expression(_ expression: NSExpression) -> NSExpression {
        switch expression.content {
        case .constant, .evaluatedObject, .keyPath, .swiftKeyPath, .external: return expression
        case .variable(let name):
            guard let value = variables[name] else { return expression }
            return value as? NSExpression ?? NSExpression(forConstantValue: value)
        case .function("valueForKeyPath:", let items) where items.count == 2: return path(items)
        case .function(let name, let items): return NSExpression(content: .function(name, items.map(self.expression)))
        case .aggregate(let items): return NSExpression(content: .aggregate(items.map(self.expression)))
        case .subquery(let collection, let variable, let predicate):
            // The iterator hides a variable of the same name.
            let inner = Substitution(variables.filter { $0.key != variable })
            return NSExpression(
                content: .subquery(self.expression(collection), variable, inner.predicate(predicate)))
        case .sets(let type, let left, let right):
            return NSExpression(content: .sets(type, self.expression(left), self.expression(right)))
        case .conditional(let condition, let first, let second):
            return NSExpression(
                content: .conditional(predicate(condition), self.expression(first), self.expression(second)))
        case .block(let block, let arguments):
            return NSExpression(content: .block(block, arguments.map(self.expression)))
        }
    }
}
