// Named places in histories, kept in the stores.

import CoreDataValues
import Foundation

/// Where somebody is in the history of a store, under a name that outlives him. Ours; Core Data has no such thing.
public struct HistoryCursor: Sendable, Hashable {
    public let name: String
    /// The UUID of the store that keeps it.
    public let storeID: String
    /// The last transaction that was dealt with.
    public let transactionNumber: Int64
    /// When it was moved there.
    public let date: Date

    /// The place, to go on from.
    public var token: NSPersistentHistoryToken { NSPersistentHistoryToken(transactions: [storeID: transactionNumber]) }
}

/// Cursors lie in a table of our own beside Core Data's, so that processes share them.
extension NSPersistentStoreCoordinator {
    /// All cursors, store by store, by name.
    ///
    /// - Throws: 134091 where no store keeps a history; what the store says.
    public final func historyCursors() throws -> [HistoryCursor] {
        try storesWithHistory(nil).flatMap { store in
            try presenting { try store.rows.historyMarks() }.map {
                HistoryCursor(
                    name: $0.name, storeID: store.identifier, transactionNumber: $0.number,
                    date: Date(timeIntervalSinceReferenceDate: $0.time))
            }
        }
    }

    /// Where a cursor is; nil where there is none of this name.
    ///
    /// - Throws: 134301 where `purgeHistory` has passed it, or it is ahead of the last transaction; 134091 where no store keeps a history.
    public final func historyToken(ofCursor name: String) throws -> NSPersistentHistoryToken? {
        var numbers: [String: Int64] = [:]
        for store in try storesWithHistory(nil) {
            guard let mark = try presenting({ try store.rows.historyMarks() }).first(where: { $0.name == name }) else {
                continue
            }
            if let extent = try presenting({ try store.rows.historyExtent() }), !extent.reaches(after: mark.number) {
                throw CocoaError.presenting(StoreError.misplaced(name, mark.number, extent))
            }
            numbers[store.identifier] = mark.number
        }
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(transactions: numbers)
    }

    /// Moves a cursor forward to a token, and makes it where there is none; answers where it is then. A short transaction for each store
    /// that the token names.
    ///
    /// A cursor never goes back: of two that move it at once, in whatever processes, the one farther on holds. Only one that is ahead of
    /// its store's last transaction goes where the token says.
    /// - Throws: 134301 for a token with a number that its store never gave, as one from before a return to a backup may have, until the
    ///   store gives that number again; 134060 for a token that names none of the stores; 134030 for a store that was opened read-only.
    ///   In the stores before that one the cursor was moved.
    @discardableResult
    public final func moveHistoryCursor(_ name: String, to token: NSPersistentHistoryToken) throws
        -> NSPersistentHistoryToken
    {
        let stores = try storesWithHistory(nil)
        try token.requireAny(of: stores)
        var numbers: [String: Int64] = [:]
        let now = Date().timeIntervalSinceReferenceDate
        for store in stores {
            guard let number = token.transactions[store.identifier] else { continue }
            numbers[store.identifier] = try presenting {
                try writes.write { try store.rows.moveHistoryMark(name, to: number, at: now) }
            }
        }
        return NSPersistentHistoryToken(transactions: numbers)
    }

    /// Forgets a cursor; answers whether there was one.
    @discardableResult
    public final func removeHistoryCursor(_ name: String) throws -> Bool {
        var isRemoved = false
        for store in try storesWithHistory(nil) {
            if try presenting({ try writes.write { try store.rows.removeHistoryMark(name) } }) { isRemoved = true }
        }
        return isRemoved
    }

    /// Removes the transactions that were made before a date, as far as no cursor waits for them; answers how many.
    ///
    /// - Parameters:
    ///   - date: what was made at it or later stays.
    ///   - age: cursors that were not moved for so many seconds are not waited for; asking for one that was passed throws 134301.
    ///     nil waits for all.
    public final func purgeHistory(olderThan date: Date, passingCursorsIdleFor age: TimeInterval? = nil) throws -> Int {
        try NSPersistentHistoryToken.requireDate(date)
        let since = age.map { Date().timeIntervalSinceReferenceDate - $0 } ?? -.greatestFiniteMagnitude
        return try storesWithHistory(nil).reduce(0) { count, store in
            try count
                + presenting {
                    try writes.write {
                        try store.rows.purgeHistory(
                            before: date.timeIntervalSinceReferenceDate, keepingForMarksSince: since)
                    }
                }
        }
    }

    private func presenting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw CocoaError.presenting(error) }
    }
}

extension StoreError {
    fileprivate static func misplaced(_ name: String, _ number: Int64, _ extent: HistoryExtent) -> StoreError {
        let reason =
            number > extent.last
            ? "but the last one of the store is \(extent.last), as after a return to a backup"
            : "and what came after it was removed"
        return StoreError(
            134301,
            "The history cursor “\(name)” is at transaction \(number), \(reason). Take over the store as it is now, and move the cursor to its "
                + "present token.")
    }
}
