// Errors to HTTP: which status answers what went wrong, and what the client is told.

import CoreData
import Hummingbird

/// An answer that says what was wrong: `{"message": "…", "keys": ["name", "age"]}`.
struct Problem: HTTPResponseError {
    let status: HTTPResponse.Status
    let message: String
    /// The properties or parameters that were refused.
    let keys: [String]
    private var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ message: String, keys: [String] = []) {
        self.status = status
        self.message = message
        self.keys = keys
    }

    /// nil for an error that is no business of the client.
    init?(_ error: CocoaError) {
        switch error.code {
        case .managedObjectMerge where !error.unmetExpectations.isEmpty:
            self.init(.preconditionFailed, "It was changed since you have read it. Read it again.")
        case .managedObjectMerge:
            self.init(.conflict, "It was changed by somebody else at the same time. Try again.")
        case .managedObjectConstraintMerge:
            self.init(.conflict, "Another one has this value already.", keys: error.refusedKeys)
        case .persistentStoreTimeout:
            self.init(.serviceUnavailable, "The store is busy. Try again.")
            headers[.retryAfter] = "1"
        case _ where error.isValidationError:
            self.init(.unprocessableContent, error.localizedDescription, keys: error.refusedKeys)
        default:
            return nil
        }
    }

    private struct Body: Encodable {
        let message: String
        let keys: [String]
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try context.responseEncoder.encode(Body(message: message, keys: keys), from: request, context: context)
        response.status = status
        response.headers.append(contentsOf: headers)
        return response
    }
}

extension CocoaError {
    /// The key of this error, or those of the errors that it sums up.
    fileprivate var refusedKeys: [String] {
        let details = userInfo[NSDetailedErrorsKey] as? [any Error] ?? [self]
        return Set(details.compactMap { ($0 as? CocoaError)?.validationKey }).sorted()
    }
}

extension NSManagedObjectContext {
    /// Saves inside a block of `write`, and refuses a value that another row has at once: the block would run again, and find it again.
    func saveNew() throws {
        do { try save() } catch let error as CocoaError where error.code == .managedObjectConstraintMerge {
            throw Problem(error) ?? error
        }
    }
}

/// Turns what the blocks of `read` and `write` throw into problems. What is nobody's fault but ours is logged, and told as 500 alone.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return try problem.response(from: request, context: context)
        } catch let error as CocoaError {
            if let problem = Problem(error) { return try problem.response(from: request, context: context) }
            // Not the error as a whole, whose user info has objects with their values.
            context.logger.error("\(request.method) \(request.uri.path): \(error.code.rawValue) \(error.localizedDescription)")
            throw HTTPError(.internalServerError)
        }
    }
}
