// Values that predicates written in Swift ask for.

import CoreDataFoundation
import Foundation

/// Something of which a predicate can ask: a key path of a managed object class, or what was made of one.
public protocol PredicateOperand<Value> {
    associatedtype Value
    var predicateExpression: NSExpression { get }
}

extension KeyPath: PredicateOperand {
    public var predicateExpression: NSExpression { NSExpression(forKeyPath: self) }
}

/// The value at the end of a key path from the object that is asked about; it has the properties of the object as its own.
///
/// It holds no value: what is made of it is a part of an `NSPredicate`. Names are looked for when that is first used.
@dynamicMemberLookup
public struct TypedExpression<Value>: PredicateOperand {
    public let predicateExpression: NSExpression

    package init(computing expression: NSExpression) { predicateExpression = expression }

    /// The object that is asked about.
    static var subject: TypedExpression { TypedExpression(computing: NSExpression.expressionForEvaluatedObject()) }

    func appending<T>(_ keyPath: AnyKeyPath) -> TypedExpression<T> {
        TypedExpression<T>(computing: predicateExpression.appending(keyPath))
    }
}

extension TypedExpression where Value: NSManagedObject {
    public subscript<T>(dynamicMember keyPath: KeyPath<Value, T>) -> TypedExpression<T> { appending(keyPath) }
}

extension TypedExpression {
    /// A property of an object that may be nil, and is nil then.
    public subscript<Object: NSManagedObject, T>(
        dynamicMember keyPath: KeyPath<Object, T>
    ) -> TypedExpression<T?> where Value == Object? { appending(keyPath) }

    public subscript<Object: NSManagedObject, T>(
        dynamicMember keyPath: KeyPath<Object, T?>
    ) -> TypedExpression<T?> where Value == Object? { appending(keyPath) }
}

/// A condition: a predicate, or a Boolean property.
public protocol PredicateCondition {
    var asPredicate: NSPredicate { get }
}

extension NSPredicate: PredicateCondition {
    public var asPredicate: NSPredicate { self }
}

extension TypedExpression: PredicateCondition where Value == Bool {
    public var asPredicate: NSPredicate {
        .comparing(predicateExpression, .equalTo, NSExpression(forConstantValue: true))
    }
}

/// Lets functions of a class name key paths of the class itself.
public protocol ManagedObjectQueries: NSManagedObject {}

extension NSManagedObject: ManagedObjectQueries {}

extension ManagedObjectQueries {
    /// The predicate that a closure makes: `Casualty.predicate { $0.age >= 18 && $0.name.contains("x") }`.
    ///
    /// An ordinary `NSPredicate`, which prints as a format text. The operators come with `import CoreDataOperators`.
    public static func predicate<Condition: PredicateCondition>(
        _ make: (TypedExpression<Self>) throws -> Condition
    ) rethrows -> NSPredicate { try make(.subject).asPredicate }
}
