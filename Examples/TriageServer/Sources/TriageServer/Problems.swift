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

    /// Of an entity tag that is not that of the row.
    static let changed = Problem(.preconditionFailed, "It was changed since you have read it. Read it again.")

    /// Of a body that cannot be read: the key whose value is of another type, or missing.
    init(_ error: DecodingError) {
        let context: DecodingError.Context? =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: nil
            }
        self.init(
            .badRequest, context?.debugDescription ?? "The body cannot be read.",
            keys: context?.codingPath.first.map { [$0.stringValue] } ?? [])
    }

    init(_ error: HTTPError) {
        self.init(error.status, error.body ?? error.status.reasonPhrase)
        headers = error.headers
    }

    /// Both in one.
    func joined(with other: Problem?) -> Problem {
        guard let other else { return self }
        return Problem(status, "\(message) \(other.message)", keys: Set(keys + other.keys).sorted())
    }

    /// nil for an error that is no business of the client.
    init?(_ error: CocoaError) {
        switch error.code {
        case .managedObjectMerge where !error.unmetExpectations.isEmpty:
            self = .changed
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
        var response = try context.responseEncoder.encode(
            Body(message: message, keys: keys), from: request, context: context)
        response.status = status
        response.headers.append(contentsOf: headers)
        return response
    }
}

extension Request {
    /// What a client has sent.
    ///
    /// - Throws: 400, by the key whose value is of another type.
    func body<T: Decodable>(_ type: T.Type, _ context: some RequestContext) async throws -> T {
        do { return try await context.requestDecoder.decode(type, from: self, context: context) } catch let error
            as DecodingError
        {
            throw Problem(error)
        }
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

/// Turns what the blocks of `read` and `write` throw, and what the router refuses, into problems. What is nobody's fault but ours is
/// logged, and told as 500 alone.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws
        -> Response
    {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return try problem.response(from: request, context: context)
        } catch let error as HTTPError {
            return try Problem(error).response(from: request, context: context)
        } catch let error as CocoaError {
            if let problem = Problem(error) { return try problem.response(from: request, context: context) }
            // Not the error as a whole, whose user info has objects with their values.
            context.logger.error(
                "\(request.method) \(request.uri.path): \(error.code.rawValue) \(error.localizedDescription)")
            return try Problem(.internalServerError, "Something went wrong here.").response(
                from: request, context: context)
        }
    }
}
