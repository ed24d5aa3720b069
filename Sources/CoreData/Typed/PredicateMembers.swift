// What typed expressions can be asked of the members of to-many relationships.

import CoreDataFoundation
import Foundation

/// A to-many relationship, or an optional one.
public protocol PredicateMembers {
    associatedtype Member
}

extension Set: PredicateMembers {
    public typealias Member = Element
}

extension Array: PredicateMembers {
    public typealias Member = Element
}

extension NSSet: PredicateMembers {
    public typealias Member = NSManagedObject
}

extension NSOrderedSet: PredicateMembers {
    public typealias Member = NSManagedObject
}

extension Optional: PredicateMembers where Wrapped: PredicateMembers {
    public typealias Member = Wrapped.Member
}

/// How many closures are about members of members, which names them apart.
private enum MemberNames {
    @TaskLocal static var depth = 0
}

extension PredicateOperand where Value: PredicateMembers {
    public var count: TypedExpression<Int> {
        TypedExpression(computing: predicateExpression.appending(operator: "@count"))
    }
    public var isEmpty: NSPredicate { count.compared(.equalTo) }

    /// That a condition holds for a member.
    public func any(_ condition: (TypedExpression<Value.Member>) throws -> some PredicateCondition) rethrows
        -> NSPredicate
    {
        try count(where: condition).compared(.greaterThan)
    }

    /// That a condition holds for no member.
    public func none(_ condition: (TypedExpression<Value.Member>) throws -> some PredicateCondition) rethrows
        -> NSPredicate
    {
        try count(where: condition).compared(.equalTo)
    }

    /// That a condition holds for all members; it does where there are none.
    public func all(_ condition: (TypedExpression<Value.Member>) throws -> some PredicateCondition) rethrows
        -> NSPredicate
    {
        try none { NSPredicate.not(try condition($0).asPredicate) }
    }

    /// For how many members a condition holds.
    public func count(
        where condition: (TypedExpression<Value.Member>) throws -> some PredicateCondition
    ) rethrows -> TypedExpression<Int> {
        let depth = MemberNames.depth
        let name = depth == 0 ? "x" : "x\(depth + 1)"
        let predicate = try MemberNames.$depth.withValue(depth + 1) {
            try condition(TypedExpression(computing: NSExpression(forVariable: name))).asPredicate
        }
        let members = NSExpression(forSubquery: predicateExpression, usingIteratorVariable: name, predicate: predicate)
        return TypedExpression<Int>(computing: members.appending(operator: "@count"))
    }

    /// That an object is a member.
    public func contains(_ member: Value.Member) -> NSPredicate {
        .comparing(NSExpression(captured: member), .in, predicateExpression)
    }
}

extension TypedExpression<Int> {
    /// A number compared with none.
    fileprivate func compared(_ op: NSComparisonPredicate.Operator) -> NSPredicate {
        .comparing(predicateExpression, op, NSExpression(forConstantValue: 0))
    }
}

extension PredicateOperand where Value: PredicateMembers, Value.Member: NSManagedObject {
    private func collected<T>(_ name: String, _ keyPath: AnyKeyPath) -> TypedExpression<T> {
        TypedExpression<T>(computing: predicateExpression.appending(operator: name).appending(keyPath))
    }

    /// The sum of a property of the members; 0 of none.
    public func sum<T>(of keyPath: KeyPath<Value.Member, T>) -> TypedExpression<T> { collected("@sum", keyPath) }
    /// The average of a property of the members; nil of none.
    public func average<T>(of keyPath: KeyPath<Value.Member, T>) -> TypedExpression<Double?> {
        collected("@avg", keyPath)
    }
    public func min<T>(of keyPath: KeyPath<Value.Member, T>) -> TypedExpression<T?> { collected("@min", keyPath) }
    public func max<T>(of keyPath: KeyPath<Value.Member, T>) -> TypedExpression<T?> { collected("@max", keyPath) }
}

extension TypedExpression where Value: NSManagedObject {
    /// That the object is of a class.
    public func isKind<Object: NSManagedObject>(of type: Object.Type) -> NSPredicate {
        predicateExpression.isEntity(of: type)
    }
}

extension TypedExpression {
    public func isKind<Wrapped: NSManagedObject, Object: NSManagedObject>(of type: Object.Type) -> NSPredicate
    where Value == Wrapped? {
        predicateExpression.isEntity(of: type)
    }
}
