// A predicate builder as packages of others have them: operators on key paths, over Foundation's names alone.

import CoreData
import Foundation

private func compare<Root: NSManagedObject, Value>(
    _ path: KeyPath<Root, Value>, _ type: NSComparisonPredicate.Operator, _ value: Any?,
    _ options: NSComparisonPredicate.Options = []
) -> NSPredicate {
    NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: path), rightExpression: NSExpression(forConstantValue: value),
        modifier: .direct, type: type,
        options: options)
}

// MARK: Comparisons

public func == <Root: NSManagedObject, Value: Equatable>(lhs: KeyPath<Root, Value>, rhs: Value) -> NSPredicate {
    compare(lhs, .equalTo, rhs)
}
public func != <Root: NSManagedObject, Value: Equatable>(lhs: KeyPath<Root, Value>, rhs: Value) -> NSPredicate {
    compare(lhs, .notEqualTo, rhs)
}
public func < <Root: NSManagedObject, Value: Comparable>(lhs: KeyPath<Root, Value>, rhs: Value) -> NSPredicate {
    compare(lhs, .lessThan, rhs)
}
public func > <Root: NSManagedObject, Value: Comparable>(lhs: KeyPath<Root, Value>, rhs: Value) -> NSPredicate {
    compare(lhs, .greaterThan, rhs)
}
public func <= <Root: NSManagedObject, Value: Comparable>(lhs: KeyPath<Root, Value>, rhs: Value) -> NSPredicate {
    compare(lhs, .lessThanOrEqualTo, rhs)
}
public func >= <Root: NSManagedObject, Value: Comparable>(lhs: KeyPath<Root, Value>, rhs: Value) -> NSPredicate {
    compare(lhs, .greaterThanOrEqualTo, rhs)
}
public func > <Root: NSManagedObject, Value: Comparable>(lhs: KeyPath<Root, Value?>, rhs: Value) -> NSPredicate {
    compare(lhs, .greaterThan, rhs)
}

infix operator <- : ComparisonPrecedence

/// Whether a value is one of a list.
public func <- <Root: NSManagedObject, Value>(lhs: KeyPath<Root, Value>, rhs: [Value]) -> NSPredicate {
    compare(lhs, .in, rhs)
}

/// Whether a text begins with another, in any case.
public func ~= <Root: NSManagedObject>(lhs: KeyPath<Root, String>, rhs: String) -> NSPredicate {
    compare(lhs, .beginsWith, rhs, .caseInsensitive)
}

// MARK: Logic

public func && (lhs: NSPredicate, rhs: NSPredicate) -> NSPredicate {
    NSCompoundPredicate(andPredicateWithSubpredicates: [lhs, rhs])
}
public func || (lhs: NSPredicate, rhs: NSPredicate) -> NSPredicate {
    NSCompoundPredicate(orPredicateWithSubpredicates: [lhs, rhs])
}
public prefix func ! (predicate: NSPredicate) -> NSPredicate {
    NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
}

// MARK: Requests

/// A query that is put together step by step.
public struct Query<Object: NSManagedObject> {
    private var predicates: [NSPredicate] = []
    private var order: [NSSortDescriptor] = []

    public init() {}

    public func filter(_ predicate: NSPredicate) -> Query {
        var query = self
        query.predicates.append(predicate)
        return query
    }

    public func sort<Value>(_ path: KeyPath<Object, Value>, ascending: Bool = true) -> Query {
        var query = self
        query.order.append(NSSortDescriptor(keyPath: path, ascending: ascending))
        return query
    }

    public func request(_ entityName: String) -> NSFetchRequest<Object> {
        let request = NSFetchRequest<Object>(entityName: entityName)
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
        request.sortDescriptors = order
        return request
    }

    /// The sum of a property, by an expression on its key path.
    public func sum<Value: Numeric>(
        _ path: KeyPath<Object, Value>, _ entityName: String, _ context: NSManagedObjectContext
    ) throws -> Double {
        let description = NSExpressionDescription()
        description.name = "sum"
        description.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: path)])
        description.expressionResultType = .doubleAttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: entityName)
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [description]
        return try (context.fetch(request).first?["sum"] as? NSNumber)?.doubleValue ?? 0
    }

    /// The values of a property by the name that its expression has.
    public func values<Value>(of path: KeyPath<Object, Value>, _ entityName: String, _ context: NSManagedObjectContext)
        throws -> [Value]
    {
        let name = NSExpression(forKeyPath: path).keyPath
        let request = NSFetchRequest<NSDictionary>(entityName: entityName)
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
        request.sortDescriptors = order
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [name]
        return try context.fetch(request).compactMap { $0[name] as? Value }
    }
}
