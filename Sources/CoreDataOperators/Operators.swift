// Operators that make predicates of key paths and typed expressions.
//
// A module of their own, since an `==` that is no Bool slows the type checker down in every file that sees it (Decisions/0009). All stand
// behind those of programs: a program that brings its own predicate builder goes on using that.

import CoreData
import CoreDataFoundation
import Foundation

private func compare(
    _ left: some PredicateOperand, _ op: NSComparisonPredicate.Operator, value: Any?
) -> NSPredicate { .comparing(left.predicateExpression, op, NSExpression(captured: value)) }

private func compare(
    _ left: some PredicateOperand, _ op: NSComparisonPredicate.Operator, _ right: some PredicateOperand
) -> NSPredicate { .comparing(left.predicateExpression, op, right.predicateExpression) }

// MARK: Logic

@_disfavoredOverload
public func && (left: some PredicateCondition, right: @autoclosure () -> some PredicateCondition) -> NSPredicate {
    .joined(.and, left.asPredicate, right().asPredicate)
}

@_disfavoredOverload
public func || (left: some PredicateCondition, right: @autoclosure () -> some PredicateCondition) -> NSPredicate {
    .joined(.or, left.asPredicate, right().asPredicate)
}

@_disfavoredOverload
public prefix func ! (condition: some PredicateCondition) -> NSPredicate { .not(condition.asPredicate) }

// MARK: With values

@_disfavoredOverload
public func == <L: PredicateOperand>(left: L, right: L.Value) -> NSPredicate where L.Value: Equatable {
    compare(left, .equalTo, value: right)
}

@_disfavoredOverload
public func != <L: PredicateOperand>(left: L, right: L.Value) -> NSPredicate where L.Value: Equatable {
    compare(left, .notEqualTo, value: right)
}

// A property that always has a value beside one that may have none.

@_disfavoredOverload
public func == <L: PredicateOperand, V: Equatable>(left: L, right: V?) -> NSPredicate where L.Value == V {
    compare(left, .equalTo, value: right)
}

@_disfavoredOverload
public func != <L: PredicateOperand, V: Equatable>(left: L, right: V?) -> NSPredicate where L.Value == V {
    compare(left, .notEqualTo, value: right)
}

// Nothing is less or greater than nil: such a predicate selects no row.

@_disfavoredOverload
public func < <L: PredicateOperand>(left: L, right: L.Value?) -> NSPredicate where L.Value: Comparable {
    compare(left, .lessThan, value: right)
}

@_disfavoredOverload
public func <= <L: PredicateOperand>(left: L, right: L.Value?) -> NSPredicate where L.Value: Comparable {
    compare(left, .lessThanOrEqualTo, value: right)
}

@_disfavoredOverload
public func > <L: PredicateOperand>(left: L, right: L.Value?) -> NSPredicate where L.Value: Comparable {
    compare(left, .greaterThan, value: right)
}

@_disfavoredOverload
public func >= <L: PredicateOperand>(left: L, right: L.Value?) -> NSPredicate where L.Value: Comparable {
    compare(left, .greaterThanOrEqualTo, value: right)
}

@_disfavoredOverload
public func < <L: PredicateOperand, V: Comparable>(left: L, right: V?) -> NSPredicate where L.Value == V? {
    compare(left, .lessThan, value: right)
}

@_disfavoredOverload
public func <= <L: PredicateOperand, V: Comparable>(left: L, right: V?) -> NSPredicate where L.Value == V? {
    compare(left, .lessThanOrEqualTo, value: right)
}

@_disfavoredOverload
public func > <L: PredicateOperand, V: Comparable>(left: L, right: V?) -> NSPredicate where L.Value == V? {
    compare(left, .greaterThan, value: right)
}

@_disfavoredOverload
public func >= <L: PredicateOperand, V: Comparable>(left: L, right: V?) -> NSPredicate where L.Value == V? {
    compare(left, .greaterThanOrEqualTo, value: right)
}

// MARK: With other properties
//
// On the left stands no key path: `==` of two key paths is whether they are the same.

@_disfavoredOverload
public func == <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .equalTo, right)
}

@_disfavoredOverload
public func == <V, R: PredicateOperand>(left: TypedExpression<V?>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .equalTo, right)
}

@_disfavoredOverload
public func == <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V? {
    compare(left, .equalTo, right)
}

@_disfavoredOverload
public func != <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .notEqualTo, right)
}

@_disfavoredOverload
public func != <V, R: PredicateOperand>(left: TypedExpression<V?>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .notEqualTo, right)
}

@_disfavoredOverload
public func != <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V? {
    compare(left, .notEqualTo, right)
}

@_disfavoredOverload
public func < <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .lessThan, right)
}

@_disfavoredOverload
public func < <V, R: PredicateOperand>(left: TypedExpression<V?>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .lessThan, right)
}

@_disfavoredOverload
public func < <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V? {
    compare(left, .lessThan, right)
}

@_disfavoredOverload
public func <= <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .lessThanOrEqualTo, right)
}

@_disfavoredOverload
public func <= <V, R: PredicateOperand>(left: TypedExpression<V?>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .lessThanOrEqualTo, right)
}

@_disfavoredOverload
public func <= <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V? {
    compare(left, .lessThanOrEqualTo, right)
}

@_disfavoredOverload
public func > <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .greaterThan, right)
}

@_disfavoredOverload
public func > <V, R: PredicateOperand>(left: TypedExpression<V?>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .greaterThan, right)
}

@_disfavoredOverload
public func > <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V? {
    compare(left, .greaterThan, right)
}

@_disfavoredOverload
public func >= <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .greaterThanOrEqualTo, right)
}

@_disfavoredOverload
public func >= <V, R: PredicateOperand>(left: TypedExpression<V?>, right: R) -> NSPredicate where R.Value == V {
    compare(left, .greaterThanOrEqualTo, right)
}

@_disfavoredOverload
public func >= <V, R: PredicateOperand>(left: TypedExpression<V>, right: R) -> NSPredicate where R.Value == V? {
    compare(left, .greaterThanOrEqualTo, right)
}

// MARK: Arithmetic

extension TypedExpression where Value: Numeric {
    private func calculated(_ function: String, _ other: NSExpression) -> TypedExpression {
        TypedExpression(computing: NSExpression(forFunction: function, arguments: [predicateExpression, other]))
    }

    public static func + (left: TypedExpression, right: Value) -> TypedExpression {
        left.calculated("add:to:", NSExpression(captured: right))
    }
    public static func - (left: TypedExpression, right: Value) -> TypedExpression {
        left.calculated("from:subtract:", NSExpression(captured: right))
    }
    public static func * (left: TypedExpression, right: Value) -> TypedExpression {
        left.calculated("multiply:by:", NSExpression(captured: right))
    }
    public static func / (left: TypedExpression, right: Value) -> TypedExpression {
        left.calculated("divide:by:", NSExpression(captured: right))
    }
    public static func + (left: TypedExpression, right: TypedExpression) -> TypedExpression {
        left.calculated("add:to:", right.predicateExpression)
    }
    public static func - (left: TypedExpression, right: TypedExpression) -> TypedExpression {
        left.calculated("from:subtract:", right.predicateExpression)
    }
    public static func * (left: TypedExpression, right: TypedExpression) -> TypedExpression {
        left.calculated("multiply:by:", right.predicateExpression)
    }
    public static func / (left: TypedExpression, right: TypedExpression) -> TypedExpression {
        left.calculated("divide:by:", right.predicateExpression)
    }
}
