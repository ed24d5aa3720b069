// An expression that is evaluated for many objects.

import CoreDataValues
import Foundation

/// An expression translated and compiled once. It comes to what `expressionValue(with:context:)` comes to, without a dictionary of
/// variables for each object.
package struct PreparedExpression {
    private let evaluator: ExpressionEvaluator
    private let asksObject: Bool

    /// nil for one that is asked anew for each object: a subclass's, one with a block or a fetch inside or with constants that are
    /// objects, and one that cannot be evaluated at all.
    ///
    /// - Parameter variables: the names of those that are given, in the order in which they are.
    package init?(_ expression: NSExpression, variables: [String]) {
        guard type(of: expression) == NSExpression.self else { return nil }
        var translation = Translation(.bindingForeign, fetching: true)
        guard let tree = try? translation.expression(expression), translation.bound.isEmpty,
            let evaluator = try? ExpressionEvaluator(tree, isLenient: true, placed: variables)
        else { return nil }
        self.evaluator = evaluator
        asksObject = tree.asksObject
    }

    /// A variable's value as a dictionary of variables hands it on, in which Foundation's flags and collections become Swift's.
    package static func operand(_ value: Any?) -> Operand {
        guard let value else { return .value(.null) }
        switch PlainType(of: value) {
        case .string, .int, .double, .date, .dateObject, .uuid: return Operand(any: value)
        case .number, nil: return Operand(any: NSArray(array: [value]).object(at: 0))
        }
    }

    /// - Parameters:
    ///   - object: what key paths of the expression lead from; asked for only where there are some.
    ///   - variables: one for each name; see `operand`.
    package func value(with object: @autoclosure () -> Any?, _ variables: [Operand]) -> Operand {
        evaluator.value(asksObject ? Operand(any: object()) : .value(.null), placed: variables)
    }
}
