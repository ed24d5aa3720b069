// FETCH(request, context, countOnly): what a request finds, as a value.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

/// Carries fetch requests out: a context.
package protocol RequestFetching: AnyObject {
    /// The results, or how many there are; nil for what is no request.
    func results(of request: Any, isCount: Bool) throws -> Any?
    /// Takes an error for the next call that can throw it.
    func recordReadError(_ error: any Error)
}

/// What `FETCH` was given.
struct FetchArguments {
    private let request: Any?
    private let context: Any?
    private let isCount: Bool

    /// nil where an argument is no constant.
    init?(constants arguments: [NSExpression]) {
        guard arguments.count == 3, arguments.allSatisfy({ $0.expressionType == .constantValue }) else { return nil }
        self.init(arguments.map(\.constantValue))
    }

    /// The values of the three arguments.
    init(_ values: [Any?]) {
        request = FetchArguments.unwrapped(values[0])
        context = FetchArguments.unwrapped(values[1])
        isCount = Value(any: values[2]).map { $0 == .bool(true) || $0 == .int(1) } ?? false
    }

    /// An expression may be the constant of another.
    private static func unwrapped(_ value: Any?) -> Any? {
        (value as? NSExpression).map { $0.expressionType == .constantValue ? unwrapped($0.constantValue) : $0 } ?? value
    }

    /// Who carries the request out.
    var fetching: (any RequestFetching)? { context as? any RequestFetching }

    /// - Throws: `PredicateError` for what is no request and no context, and what fetching throws.
    func results() throws -> Any? {
        guard let fetching else {
            throw PredicateError("FETCH needs a context, and was given \(FetchArguments.words(context)).")
        }
        guard let request, let results = try fetching.results(of: request, isCount: isCount) else {
            throw PredicateError("FETCH needs a fetch request, and was given \(FetchArguments.words(request)).")
        }
        return results
    }

    private static func words(_ value: Any?) -> String { value.map { "one of type \(type(of: $0))" } ?? "nil" }
}

extension NSExpression {
    var isFetch: Bool { if case .function("FETCH", _) = content { true } else { false } }

    /// Whether it is a fetch that no object has part in.
    var isClosedFetch: Bool {
        guard case .function("FETCH", let arguments) = content else { return false }
        return FetchArguments(constants: arguments) != nil
    }

    /// What a fetch finds for an object. An error of the fetch is kept by its context, and the value is nil.
    final func fetchedValue(_ arguments: [NSExpression], with object: Any?, context: NSMutableDictionary?) -> Any? {
        guard arguments.count == 3 else {
            misuse("“\(description)” needs a request, a context and whether only the number counts.")
        }
        let fetch = FetchArguments(arguments.map { $0.expressionValue(with: object, context: context) })
        do {
            return try fetch.results()
        } catch let error as PredicateError {
            misuse(error.sentence)
        } catch {
            fetch.fetching?.recordReadError(error)
            return nil
        }
    }
}
