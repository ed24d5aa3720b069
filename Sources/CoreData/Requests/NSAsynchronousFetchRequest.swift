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
    fileprivate var requestToRun: NSFetchRequest<ResultType> {
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

/// What an asynchronous fetch found.
open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>: NSPersistentStoreAsynchronousResult {
    public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// The results; nil until they are there, and after an error.
    open internal(set) var finalResult: [ResultType]?

    init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext) {
        fetchRequest = request
        super.init(context, expecting: request.estimatedResultCount)
    }

    final func deliver(_ results: [ResultType]) {
        finalResult = results
        progress?.totalUnitCount = Int64(results.count)
        progress?.completedUnitCount = Int64(results.count)
    }

    /// Fetches, on the context's queue.
    fileprivate final func run() {
        do {
            // The progress tells of its cancellation some time later.
            if cancellation.isCancelled || progress?.isCancelled == true { throw CancellationError() }
            deliver(try cancellation.covering { try fetchTellingProgress() })
        } catch { operationError = error }
        fetchRequest.completionBlock?(self)
    }

    private final func fetchTellingProgress() throws -> [ResultType] {
        let former = managedObjectContext.fetchProgress
        managedObjectContext.fetchProgress = progress.map(FetchProgress.init)
        defer { managedObjectContext.fetchProgress = former }
        return try managedObjectContext.fetch(fetchRequest.requestToRun)
    }
}

/// How many objects an asynchronous fetch has found so far.
final class FetchProgress {
    private let progress: Progress

    init(_ progress: Progress) { self.progress = progress }

    /// More than were expected leave the number unknown, until all are there.
    func add(_ count: Int) {
        let found = progress.completedUnitCount + Int64(count)
        if progress.totalUnitCount < found { progress.totalUnitCount = -1 }
        progress.completedUnitCount = found
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
