// The third role of a store: keeping what is beside the rows, and closing.

import Foundation

/// Knows a store's identity, metadata, history and files.
package protocol StoreKeeper: StoreRole {
    /// The store's identity (`NSStoreUUID`) as it was when the store was opened; costs nothing.
    var identifier: String { get }
    /// The store's identity (`NSStoreUUID`) and what else is recorded beside the rows.
    func metadata() throws -> StoreMetadata
    /// Replaces the application's own metadata; written with the next commit or at once.
    func setMetadata(_ metadata: StoreMetadata) throws
    /// What becomes of history; known when the store is open.
    var history: HistoryKeeping { get }
    /// The number of the last transaction in the history, 0 for none; nil for a store that records none.
    func lastTransaction() throws -> Int64?
    /// What is left of the history; nil for a store that records none.
    func historyExtent() throws -> HistoryExtent?
    /// Reads a part of the history; nothing for a store that records none.
    func openHistory(_ query: HistoryQuery) throws -> any ReadCursor<HistoryTransaction>
    /// Removes the transactions before one and answers how many there were. Numbers are not given again.
    ///
    /// - Throws: 134030 for a store that was opened read-only.
    func deleteHistory(upTo number: Int64) throws -> Int
    /// The same for those before the first one that is not older than a time, in seconds since 2001; for all where all are older.
    func deleteHistory(before time: Double) throws -> Int
    /// What rows had before a transaction; nil where nobody kept it.
    func formerValues(of transaction: Int64) throws -> [FormerCell]?
    /// Named places in the history.
    func historyMarks() throws -> [HistoryMark]
    /// Moves a named place forward, and makes it where there is none; answers where it is then. One that is ahead of the last transaction is
    /// moved back.
    ///
    /// - Throws: 134301 for a number that was never given.
    func moveHistoryMark(_ name: String, to number: Int64, at time: Double) throws -> Int64
    /// Answers whether there was one.
    func removeHistoryMark(_ name: String) throws -> Bool
    /// Removes the transactions that are older than a time, but for what marks wait for that were moved since another; answers how many.
    func purgeHistory(before time: Double, keepingForMarksSince age: Double) throws -> Int
    /// The file that changes whenever somebody writes to the store; nil for a store that no other process can have open.
    var changingFile: URL? { get }
    /// How often the store was written; nil where nobody counts.
    func writeCount() throws -> WriteCount?
    /// The files of large values; nil for a store that keeps every value in its row.
    var valueFiles: (any ValueFiles)? { get }
    /// Makes copies while the store is in use; nil for a store of which there are none.
    var copier: (any StoreCopier)? { get }
    /// Brings the rows from one schema to another; nil for a store that cannot.
    var migrator: (any StoreMigrator)? { get }
    /// Does what a migration has put off; nil for a store that puts nothing off.
    var cleaner: (any StoreCleaner)? { get }
    /// Ends the work that has begun, then releases files and connections. Later calls throw.
    func close() throws
}

/// The side files of values that cells only refer to (`ExternalReference`).
package protocol ValueFiles: Sendable {
    func read(_ name: String) throws -> Data
    /// How many bytes that would be, without reading them; nil when there is no such file.
    func size(_ name: String) -> Int?
}

package protocol StoreCopier: AnyObject, Sendable {
    /// Writes a copy of the store, as it is at one moment, to a file that does not exist yet.
    func backup(to target: URL) throws
}

package protocol StoreMigrator: AnyObject, Sendable {
    /// Performs a plan whose source is the store's schema: rows, members, history and metadata in one transaction, or nothing at all.
    ///
    /// Ends paused cursors and pinned views, waits for the work that has begun, and refuses other work meanwhile. When it returns, the
    /// store is the destination's and closed: open it with that schema. When it throws, it is as it was and open.
    ///
    /// - Parameter configuration: the configuration of the destination whose entities the store keeps, nil for all.
    /// - Throws: 134110 for a plan that does not fit the store, 134111 where rows break a uniqueness constraint of the destination, 1570
    ///   where one is left without a required value, 134030 for a store that was opened read-only, 134090 when others use it too long.
    /// - Returns: what of a program's own definitions over the rows could not stay, in words, for the caller to tell of.
    func migrate(_ plan: MigrationPlan, configuration: String?) throws -> [String]
}

package protocol StoreCleaner: AnyObject, Sendable {
    /// Does one step of what migrations have put off, in a transaction of its own.
    ///
    /// - Returns: what of a program's own definitions over the rows could not stay, in words; nil where there was nothing to do, and the
    ///   metadata do not say otherwise any more.
    /// - Throws: 134030 for a store that was opened read-only and has something to do.
    func cleanUp() throws -> [String]?
}

extension StoreKeeper {
    /// Reads the history after one of its transactions, 0 for all of it.
    package func openHistory(after number: Int64) throws -> any ReadCursor<HistoryTransaction> {
        try openHistory(HistoryQuery(after: number))
    }

    package var history: HistoryKeeping { .none }
    package func lastTransaction() throws -> Int64? { nil }
    package func historyExtent() throws -> HistoryExtent? { nil }
    package func openHistory(_ query: HistoryQuery) throws -> any ReadCursor<HistoryTransaction> { StepCursor([]) }
    package func deleteHistory(upTo number: Int64) throws -> Int { 0 }
    package func deleteHistory(before time: Double) throws -> Int { 0 }
    package func formerValues(of transaction: Int64) throws -> [FormerCell]? { nil }
    package func historyMarks() throws -> [HistoryMark] { [] }
    package func moveHistoryMark(_ name: String, to number: Int64, at time: Double) throws -> Int64 { number }
    package func removeHistoryMark(_ name: String) throws -> Bool { false }
    package func purgeHistory(before time: Double, keepingForMarksSince age: Double) throws -> Int { 0 }
    package var changingFile: URL? { nil }
    package func writeCount() throws -> WriteCount? { nil }
    package var valueFiles: (any ValueFiles)? { nil }
    package var copier: (any StoreCopier)? { nil }
    package var migrator: (any StoreMigrator)? { nil }
    package var cleaner: (any StoreCleaner)? { nil }

    /// Reads the side file of a value.
    ///
    /// - Throws: 134060 for a store that has no such files.
    package func externalData(named name: String) throws -> Data {
        guard let valueFiles else {
            throw StoreError(134060, "This kind of store keeps every value in its row and has no file \(name).")
        }
        return try valueFiles.read(name)
    }

    /// How many bytes that would be, without reading them; nil when there is no such file.
    package func externalSize(named name: String) -> Int? { valueFiles?.size(name) }
}
