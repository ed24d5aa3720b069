// The save.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Writes all pending changes: one transaction a store, all or nothing.
    ///
    /// Processes pending changes first. Without changes, only programs' own stores write metadata that was set. A save
    /// that fails leaves the context, its objects and the file as they were at that point; save again once the cause is
    /// removed, or call `rollback()`.
    /// - Throws: validation errors (1550–1690, 1560 for several), 133020 when another writer changed or deleted a row,
    ///   133021 when a uniqueness constraint is broken, and what the store throws.
    public final func save() throws {
        checkQueue()
        try link.save(self)
    }

    /// Saves and reports the effect for each inserted object: `.inserted`; `.updated` if a merge policy has merged it
    /// into another one with the same unique values, which took its values; `.kept` if that one kept its own. Ours.
    ///
    /// In the order of insertion; each ID is that of the row that has the object's unique values now. Objects that a
    /// custom merge policy has deleted are left out. A context with a parent only hands objects on: all are inserted
    /// into the parent.
    /// - Throws: what `save()` throws; then there is no report.
    public final func saveReportingEffects() throws -> [(objectID: NSManagedObjectID, effect: NSBatchInsertEffect)] {
        checkQueue()
        let report = SaveReport()
        saveReport = report
        defer { saveReport = nil }
        try save()
        return report.effects
    }

    final var hasWork: Bool { hasChanges || !expectations.isEmpty }

    final func saveNow() throws {
        try faulting.throwReadError()
        // From here on delete rules that wait for the save are applied too.
        isSaving = true
        var news = SaveNews()
        // Posted last, since an observer may read, merge and save in this very context.
        defer {
            isSaving = false
            news.tell()
        }
        processPendingChanges()
        try faulting.throwReadError()
        guard hasWork else {
            return try link.saveMetadata(of: self)
        }
        var operation = SaveOperation(self)
        defer { news = operation.news }
        do { if coredata_is_observed() { try runObserved(&operation) } else { try operation.run() } } catch {
            if Retry.isConflict(error) { saveRecord.insert(.refused) }
            throw error
        }
        if let saveReport { saveReport.end(operation.inserted) }
    }
}
