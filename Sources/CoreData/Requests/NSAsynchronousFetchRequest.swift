// Fetches that a context carries out later.

import CoreDataValues
import Foundation

/// A fetch that `NSManagedObjectContext.execute(_:)` starts and does not wait for.
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
    public final let fetchRequest: NSFetchRequest<ResultType>
    /// Called once on the context's queue, with results or an error.
    public final let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// How many results to expect, for the progress; 0 for unknown.
    open var estimatedResultCount = 0

    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        fetchRequest = request
        completionBlock = blk
        super.init()
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAsynchronousFetchRequest(fetchRequest: fetchRequest.duplicate(), completionBlock: completionBlock)
        copy.estimatedResultCount = estimatedResultCount
        copy.affectedStores = affectedStores
        return copy
    }

    open override var description: String { "<\(Swift.type(of: self)): \(fetchRequest.summary)>" }

    /// The fetch, in the stores that both requests allow.
    var requestToRun: NSFetchRequest<ResultType> {
        guard let affectedStores else { return fetchRequest }
        let request = fetchRequest.duplicate()
        request.affectedStores = affectedStores.filter { store in
            fetchRequest.affectedStores?.contains { $0 === store } ?? true
        }
        return request
    }

    override func executed(in context: NSManagedObjectContext) throws -> Any { try result(in: context) }

    override func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(self, context)
        // Only the context's queue touches it from here on, as a program must not before the end.
        nonisolated(unsafe) let running = result
        context.perform { running.run() }
        return result
    }
}

extension NSManagedObjectContext {
    /// The results of an asynchronous fetch, once they are there; its completion block is called before.
    ///
    /// They belong to the context: use them where it does, as on the main actor. Elsewhere `values(of:_:)` and `perform` hand out values.
    /// - Throws: what fetching throws; `CancellationError` where the caller's task, or the progress, was cancelled: the statement is broken
    ///   off then.
    public nonisolated(nonsending) final func results<T>(of request: NSAsynchronousFetchRequest<T>) async throws -> [T]
    {
        // Only the context's queue touches the result until it is done.
        nonisolated(unsafe) let result = NSAsynchronousFetchResult(request, self)
        try Task.checkCancellation()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                perform {
                    result.run()
                    continuation.resume()
                }
            }
        } onCancel: {
            result.cancel()
        }
        if let error = result.operationError { throw error }
        return result.finalResult ?? []
    }
}

/// What is called with the results of an asynchronous fetch of no particular type.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (
    NSAsynchronousFetchResult<any NSFetchRequestResult>
) -> Void
