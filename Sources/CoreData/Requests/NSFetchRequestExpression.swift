// Fetches inside of predicates and expressions.

import CoreDataFoundation
import Foundation

/// The type of expressions whose value is what a fetch finds.
public let NSFetchRequestExpressionType: NSExpression.ExpressionType = .fetchRequest

/// An expression whose value is what a fetch request finds in a context, or how many: `FETCH(request, context, countOnly)` in a text.
///
/// A fetch whose predicate has one carries it out first, once, and then asks every kind of store for its results; a request or a
/// context that depends on the object that is judged is refused (134060). Where one value is compared, a fetch of one row stands for
/// it, and of none for nil. Dictionaries stand for their only value. Evaluated in memory it fetches each time, on the context's queue.
open class NSFetchRequestExpression: NSExpression, @unchecked Sendable {
    /// - Parameters:
    ///   - fetch: an expression that comes to an `NSFetchRequest`.
    ///   - context: an expression that comes to an `NSManagedObjectContext`.
    ///   - countFlag: whether the value is the number of results.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        NSFetchRequestExpression(fetch: fetch, context: context, countOnly: countFlag)
    }

    /// Comes to the request.
    open var requestExpression: NSExpression { argument(0) }
    /// Comes to the context.
    open var contextExpression: NSExpression { argument(1) }
    /// Whether the value is the number of results.
    open var isCountOnlyRequest: Bool {
        (argument(2).constantValue as? NSNumber)?.boolValue ?? (argument(2).constantValue as? Bool ?? false)
    }

    private func argument(_ place: Int) -> NSExpression {
        arguments?.dropFirst(place).first ?? NSExpression(forConstantValue: nil)
    }
}

/// A fetch request of any results.
protocol AnyFetchRequest: NSPersistentStoreRequest {
    /// The results, or their number.
    func results(in context: NSManagedObjectContext, isCount: Bool) throws -> Any
}

extension NSFetchRequest: AnyFetchRequest {
    func results(in context: NSManagedObjectContext, isCount: Bool) throws -> Any {
        if isCount { return try context.count(for: self) }
        let results = try context.fetch(self)
        guard resultType == .dictionaryResultType else { return results }
        return try results.map { result -> Any in
            guard let dictionary = result as? NSDictionary, dictionary.count < 2 else {
                throw CocoaError.coreData(
                    134060,
                    "FETCH found dictionaries of several values in \(entityName ?? ""); fetch one property to compare with."
                )
            }
            return dictionary.allValues.first ?? NSNull()
        }
    }
}

extension NSManagedObjectContext: RequestFetching {
    package final func results(of request: Any, isCount: Bool) throws -> Any? {
        try (request as? any AnyFetchRequest)?.results(in: self, isCount: isCount)
    }

    package final func recordReadError(_ error: any Error) {
        faulting.recordReadError(error)
    }
}
