// Saving.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Writes all pending changes: one transaction a store, all or nothing.
    ///
    /// Processes pending changes first. Without changes it only has programs' own stores write down metadata that was set. A save
    /// that fails leaves the context, its objects and the file as they were then; save again once the cause is removed, or
    /// `rollback()`.
    /// - Throws: validation errors (1550–1690, 1560 for several), 133020 when another writer changed or deleted a row, 133021 when
    ///   a uniqueness constraint is broken, and what the store says.
    public final func save() throws {
        checkQueue()
        if isChild, hasWork || readError != nil { return try withParent { _ in try saveNow() } }
        try saveNow()
    }

    /// Saves, and says of each inserted object what became of it: `.inserted`; `.updated`, where a merge policy has made one object of it
    /// and another with the same unique values, which took the new ones; `.kept`, where that one has its own. Ours.
    ///
    /// In the order in which the objects were inserted, each named by the row that has its unique values now. An object that a merge policy
    /// of the program's own has deleted is left out. A context with a parent only hands objects on: they are all inserted, into the parent.
    /// - Throws: what `save()` throws; then there is no report.
    public final func saveReportingEffects() throws -> [(objectID: NSManagedObjectID, effect: NSBatchInsertEffect)] {
        checkQueue()
        let report = SaveReport()
        saveReport = report
        defer { saveReport = nil }
        try save()
        return report.effects
    }

    private var hasWork: Bool { hasChanges || !expectations.isEmpty }

    private func saveNow() throws {
        try throwReadError()
        // From here on delete rules that wait for the save are applied too.
        isSaving = true
        var told: [NSPersistentStore] = []
        // Last of all: whoever is told may read, merge and save in this very context.
        defer {
            isSaving = false
            for store in told { store.tellRemoteChange() }
        }
        processPendingChanges()
        try throwReadError()
        guard hasWork else {
            if !isChild { try persistentStoreCoordinator?.saveNewMetadata() }
            return
        }
        var operation = SaveOperation(self)
        defer { told = operation.toTell }
        do { if coredata_is_observed() { try runObserved(&operation) } else { try operation.run() } } catch {
            if Retry.isConflict(error) { saveRecord.insert(.refused) }
            throw error
        }
        if let saveReport { saveReport.end(operation.inserted) }
    }
}
