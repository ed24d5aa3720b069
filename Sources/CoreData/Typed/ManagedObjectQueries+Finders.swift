// Finding objects of a class in one call: short names for fetch requests that a program would write itself (Decisions/0008).

import CCoreDataRuntime
import CoreDataFoundation
import CoreDataValues
import Foundation

extension ManagedObjectQueries {
    /// All objects of the class, in an order.
    ///
    /// Like all that finds here it is a fetch: in `context`, else in the context whose block runs; where there is none it is a misuse.
    /// - Throws: what the fetch throws.
    public static func all(sortedBy order: [SortDescriptor<Self>] = [], in context: NSManagedObjectContext? = nil)
        throws -> [Self]
    {
        try find(where: nil, sortedBy: order, in: context)
    }

    /// The objects for which a predicate holds; a limit of 0 is none.
    public static func find(
        where predicate: NSPredicate?, sortedBy order: [SortDescriptor<Self>] = [], limit: Int = 0,
        in context: NSManagedObjectContext? = nil
    ) throws -> [Self] {
        let request = request(where: predicate, order)
        request.fetchLimit = limit
        return try NSManagedObjectContext.asked(context, for: Self.self).fetch(request)
    }

    /// The same with a closure: `Casualty.find { $0.age >= 18 }`.
    public static func find<Condition: PredicateCondition>(
        sortedBy order: [SortDescriptor<Self>] = [], limit: Int = 0, in context: NSManagedObjectContext? = nil,
        _ condition: (TypedExpression<Self>) throws -> Condition
    ) throws -> [Self] { try find(where: predicate(condition), sortedBy: order, limit: limit, in: context) }

    /// The objects with a text like a pattern of SQL: `Casualty.find(\.name, like: "Wash%")`.
    ///
    /// `%` is any text, `_` one character, and a backslash before either makes it stand for itself. Reads by an index of the property
    /// where the pattern is a beginning alone.
    public static func find<Text: PredicateText>(
        _ property: KeyPath<Self, Text>, like pattern: String, options: NSComparisonPredicate.Options = [],
        sortedBy order: [SortDescriptor<Self>] = [], in context: NSManagedObjectContext? = nil
    ) throws -> [Self] {
        try find(
            where: SQLPattern(pattern).predicate(of: property.predicateExpression, options), sortedBy: order,
            in: context)
    }

    /// The object with an ID; nil where there is none of this class.
    public static func find(id: NSManagedObjectID, in context: NSManagedObjectContext? = nil) throws -> Self? {
        let subject = NSExpression.expressionForEvaluatedObject()
        return try first(where: .comparing(subject, .equalTo, NSExpression(forConstantValue: id)), in: context)
    }

    /// The first object in an order for which a predicate holds.
    public static func first(
        where predicate: NSPredicate? = nil, sortedBy order: [SortDescriptor<Self>] = [],
        in context: NSManagedObjectContext? = nil
    ) throws -> Self? { try find(where: predicate, sortedBy: order, limit: 1, in: context).first }

    /// How many objects there are for which a predicate holds.
    public static func count(where predicate: NSPredicate? = nil, in context: NSManagedObjectContext? = nil) throws
        -> Int
    {
        try NSManagedObjectContext.asked(context, for: Self.self).count(for: request(where: predicate, []))
    }

    fileprivate static func request(where predicate: NSPredicate?, _ order: [SortDescriptor<Self>]) -> NSFetchRequest<
        Self
    > {
        let request = NSFetchRequest<Self>()
        request.predicate = predicate
        request.sortDescriptors = order.map { NSSortDescriptor($0) }
        return request
    }
}
