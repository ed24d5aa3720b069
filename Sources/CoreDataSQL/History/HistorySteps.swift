// Reads the history of a store back.

import CoreDataValues
import Foundation

/// Transactions of a `HistoryResult`.
struct HistorySteps: ResultSteps {
    private let decoder: HistoryDecoder
    /// The transaction whose changes go on.
    private var continued: HistoryTransaction?
    // What was read and not taken yet.
    private var transactions: ArraySlice<[Value]> = []
    private var changes: ArraySlice<HistoryRow> = []
    private var isRead = false

    init(_ schema: Schema) { decoder = HistoryDecoder(schema) }

    mutating func next(_ result: any SQLResult) throws -> HistoryTransaction? {
        guard var transaction = try continued ?? nextTransaction(result) else { return nil }
        continued = nil
        while let row = try change(result) {
            if row.transaction > transaction.number { break }
            if row.transaction == transaction.number {
                if transaction.changes.count == HistoryTransaction.maximumCount {
                    continued = transaction
                    continued?.changes = []
                    transaction.isContinued = true
                    return transaction
                }
                if let change = decoder.change(row) { transaction.changes.append(change) }
            }
            changes.removeFirst()
        }
        return transaction
    }

    private mutating func nextTransaction(_ result: any SQLResult) throws -> HistoryTransaction? {
        if transactions.isEmpty { transactions = try result.tuples(64)[...] }
        return transactions.popFirst().map(HistoryDecoder.transaction)
    }

    /// The next row of changes; nil at the end.
    private mutating func change(_ result: any SQLResult) throws -> HistoryRow? {
        if changes.isEmpty, !isRead {
            changes = try result.changes(256)[...]
            isRead = changes.isEmpty
        }
        return changes.first
    }
}
