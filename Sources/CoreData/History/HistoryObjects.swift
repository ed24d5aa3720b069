// Makes objects of what a cursor reads.

import CoreDataValues
import Foundation

/// Makes objects of what a cursor reads.
struct HistoryObjects {
    private let store: NSPersistentStore
    private let coordinator: NSPersistentStoreCoordinator
    private let cursor: any ReadCursor<HistoryTransaction>

    init(
        _ store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator,
        _ cursor: any ReadCursor<HistoryTransaction>
    ) {
        self.store = store
        self.coordinator = coordinator
        self.cursor = cursor
    }

    /// The next transaction, its parts put together; nil at the end.
    mutating func next(includesChanges: Bool = true) throws -> NSPersistentHistoryTransaction? {
        do {
            guard var part = try cursor.next() else { return nil }
            let origin = HistoryOrigin(part, of: store, coordinator)
            guard includesChanges else { return NSPersistentHistoryTransaction(origin, nil) }
            var changes: [NSPersistentHistoryChange] = []
            changes.reserveCapacity(part.changes.count)
            while true {
                for change in part.changes { changes.append(NSPersistentHistoryChange(origin, change)) }
                guard part.isContinued, let more = try cursor.next() else { break }
                part = more
            }
            return NSPersistentHistoryTransaction(origin, changes)
        } catch { throw CocoaError.reading(error) }
    }
}
