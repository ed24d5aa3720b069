// What executing a request answers.

import CoreDataValues
import Foundation

/// The answer to a request.
open class NSPersistentStoreResult: NSObject {}

/// The answer to a request that is carried out later.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context that carries the request out. Read the result on its queue.
    public final let managedObjectContext: NSManagedObjectContext
    /// What went wrong; nil until then.
    open internal(set) var operationError: (any Error)?
    /// How far the request is, in results; of an unknown number unless the request says how many to expect. Cancelling it cancels
    /// the request.
    public final let progress: Progress?
    let cancellation = Cancellation()

    init(_ context: NSManagedObjectContext, expecting count: Int) {
        managedObjectContext = context
        let progress = Progress(totalUnitCount: count > 0 ? Int64(count) : -1)
        self.progress = progress
        super.init()
        let cancellation = cancellation
        progress.cancellationHandler = { cancellation.cancel() }
    }

    /// Gives the request up if it is not done: its statement is broken off, and `operationError` is a `CancellationError`. May be
    /// called from any thread.
    public final func cancel() {
        cancellation.cancel()
        progress?.cancel()
    }
}
