// Carries out `fetchBatchSize`: a fetch asks for keys alone and makes faults, and firing one reads its batch.

import CoreDataValues

extension NSManagedObjectContext {
    /// How many rows a fetch of objects reads at a time; nil for all at once.
    final func batchSize<T>(of request: NSFetchRequest<T>) -> Int? {
        let size = request.fetchBatchSize
        guard size > 0, request.resultType == .managedObjectResultType, !request.shouldRefreshRefetchedObjects,
            request.fetchLimit <= 0 || size < request.fetchLimit
        else { return nil }
        return size
    }

    /// Appends the objects of rows that were read without values: faults, unless they are registered.
    final func appendFaults(
        for batch: RowBatch, of store: NumberedStore, to objects: inout ContiguousArray<NSManagedObject>
    ) {
        for key in batch.keys(inStore: store.number) { objects.append(object(for: key)) }
    }

    /// Makes siblings of the faults that one fetch found, by the batch: firing one reads the rows of all of them.
    final func joinBatches(of objects: borrowing ContiguousArray<NSManagedObject>, _ size: Int) {
        faulting.join(objects, size)
    }
}
