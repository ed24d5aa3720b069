// What an asynchronous fetch found.

import CoreDataValues
import Foundation

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
    final func run() {
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
