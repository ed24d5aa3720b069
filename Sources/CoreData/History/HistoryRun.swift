// Carrying out a history request.

import CoreDataValues
import Foundation

/// Reads or shortens the histories of the stores that a request is for.
struct HistoryRun {
    private let request: NSPersistentHistoryChangeRequest
    private let coordinator: NSPersistentStoreCoordinator
    private let stores: [NSPersistentStore]

    /// - Throws: 134091 for a store without history; 134060 for a token that names none of the stores, and for what no store can do.
    init(_ request: NSPersistentHistoryChangeRequest, _ coordinator: NSPersistentStoreCoordinator) throws {
        self.request = request
        self.coordinator = coordinator
        stores = try coordinator.storesWithHistory(request.affectedStores)
        if let token = request.token { try token.requireAny(of: stores) }
        if case .date(let date) = request.point { try NSPersistentHistoryToken.requireDate(date) }
        guard stores.count > 1, let fetch = request.fetchRequest else { return }
        if fetch.fetchLimit > 0 || fetch.fetchOffset > 0 || fetch.sortDescriptors?.isEmpty == false {
            throw CocoaError.unsupported(
                "a limit, an offset or an order of a history of several stores; ask each one (affectedStores)")
        }
    }

    // MARK: Fetching

    func fetch() throws -> Any {
        switch request.resultType {
        case .statusOnly:
            return NSNumber(value: try stores.contains { try cursor($0, includesChanges: false).next() != nil })
        case .count:
            var count = 0
            for store in stores {
                try cursor(store).forEach {
                    count += $0.changes.count; return .more
                }
            }
            return NSNumber(value: count)
        case .objectIDs:
            var seen: Set<NSManagedObjectID> = []
            return try changes().map(\.changedObjectID).filter { seen.insert($0).inserted }
        case .transactionsOnly: return try transactions(includesChanges: false)
        case .changesOnly: return try changes()
        case .transactionsAndChanges: return try transactions(includesChanges: true)
        }
    }

    private func cursor(_ store: NSPersistentStore, includesChanges: Bool = true) throws -> any ReadCursor<
        HistoryTransaction
    > {
        var query = HistoryQuery()
        query.includesChanges = includesChanges
        switch request.point {
        case .everything: break
        case .date(let date): query.since = date.timeIntervalSinceReferenceDate
        case .token(let token):
            guard let number = token.transactions[store.identifier] else { break }
            (query.after, query.isWhole) = (number, true)
        }
        if let fetch = request.fetchRequest {
            query.search = try HistoryPredicate(
                store: store, schema: coordinator.runtime.schema, identities: coordinator.identities
            ).search(fetch)
        }
        do { return try store.rows.openHistory(query) } catch { throw CocoaError.reading(error) }
    }

    private func transactions(includesChanges: Bool) throws -> [NSPersistentHistoryTransaction] {
        var all = try stores.map { store -> ArraySlice<NSPersistentHistoryTransaction> in
            var own: [NSPersistentHistoryTransaction] = []
            var reader = HistoryObjects(store, coordinator, try cursor(store, includesChanges: includesChanges))
            while let next = try reader.next(includesChanges: includesChanges) { own.append(next) }
            return own[...]
        }
        if all.count == 1 { return Array(all[0]) }
        var merged: [NSPersistentHistoryTransaction] = []
        while let next = all.popEarliest() { merged.append(next) }
        return merged
    }

    private func changes() throws -> [NSPersistentHistoryChange] {
        try transactions(includesChanges: true).flatMap { $0.changes ?? [] }
    }

    // MARK: Deleting

    func delete() throws -> Any {
        if request.fetchRequest != nil {
            throw CocoaError.unsupported(
                "fetchRequest of a deletion of history; it deletes all up to a date, token or transaction")
        }
        var count = 0
        do {
            try coordinator.writes.write {
                for store in stores {
                    switch request.point {
                    case .everything: count += try store.rows.deleteHistory(upTo: .max)
                    case .date(let date):
                        count += try store.rows.deleteHistory(before: date.timeIntervalSinceReferenceDate)
                    case .token(let token):
                        guard let number = token.transactions[store.identifier] else { continue }
                        count += try store.rows.deleteHistory(upTo: number)
                    }
                }
            }
        } catch { throw CocoaError.saving(error) }
        return request.resultType == .count ? NSNumber(value: count) : NSNumber(value: true)
    }
}

extension NSPersistentStoreCoordinator {
    /// The stores whose histories are asked for.
    ///
    /// - Parameter asked: nil for all that keep one.
    /// - Throws: 134091, naming a store that keeps none.
    final func storesWithHistory(_ asked: [NSPersistentStore]?) throws -> [NSPersistentStore] {
        let stores = persistentStores
        for store in asked ?? [] { try requireOwn(store) }
        let kept = (asked ?? stores).filter(\.recordsHistory)
        if let asked, let other = asked.first(where: { !$0.recordsHistory }) { throw CocoaError.noHistory(other) }
        if kept.isEmpty, asked?.isEmpty != true {
            guard let first = stores.first else {
                throw CocoaError.coreData(134091, "The coordinator has no store, and so no history.")
            }
            throw CocoaError.noHistory(first)
        }
        return kept
    }
}

extension NSPersistentHistoryToken {
    /// - Throws: 134060 for a date that is no number.
    static func requireDate(_ date: Date) throws {
        guard date.timeIntervalSinceReferenceDate.isNaN else { return }
        throw CocoaError.coreData(134060, "A history is asked for by a date that is none (NaN).")
    }

    /// - Throws: 134060 where it names none of some stores.
    final func requireAny(of stores: [NSPersistentStore]) throws {
        if stores.contains(where: { transactions[$0.identifier] != nil }) { return }
        throw CocoaError.coreData(
            134060,
            "The history token \(self) is of another store; this coordinator has \(stores.map { $0.identifier }.joined(separator: ", ")). "
                + "Use a token of one of these.")
    }
}

extension CocoaError {
    static func noHistory(_ store: NSPersistentStore) -> CocoaError {
        let place = store.url.map { " at \($0.path)" } ?? ""
        return coreData(
            134091,
            "The \(store.type) store \(store.identifier ?? "")\(place) is open without a history. Add it with NSPersistentHistoryTrackingKey; only "
                + "SQLite stores keep one.", [NSAffectedStoresErrorKey: [store]])
    }
}
