// A recorded change as the database has it.

import CoreDataValues
import Foundation

/// One row of `HistoryReading.changes`.
package struct HistoryRow: Sendable {
    package let transaction: Int64
    package let number: Int64
    package let kind: Int64
    package let entity: Int64
    package let row: Int64
    /// Empty for none.
    package let mask: [UInt8]
    /// By column; empty where the row keeps nothing.
    package let tombstones: [Value]

    package init(
        transaction: Int64, number: Int64, kind: Int64, entity: Int64, row: Int64, mask: [UInt8], tombstones: [Value]
    ) {
        self.transaction = transaction
        self.number = number
        self.kind = kind
        self.entity = entity
        self.row = row
        self.mask = mask
        self.tombstones = tombstones
    }

    /// Where its tombstones begin among the columns.
    package static var firstTombstone: Int { 6 }
}

/// Transactions and, beside them, their changes: two results of one session, which sees one state while the first is open.
final class HistoryResult: SQLResult {
    private let transactions: any SQLResult
    private let changes: (any SQLResult)?

    init(_ transactions: any SQLResult, _ changes: (any SQLResult)?) {
        self.transactions = transactions
        self.changes = changes
    }

    func tuples(_ count: Int) throws -> [[Value]] { try transactions.tuples(count) }
    func changes(_ count: Int) throws -> [HistoryRow] { try changes?.changes(count) ?? [] }
    func rows(_ count: Int, of shape: RowShape) throws -> RowBatch? { nil }
    func members(_ count: Int, of shape: RowShape) throws -> MemberBatch? { nil }
    func values(_ count: Int, of shape: ValueShape) throws -> ValueRows? { nil }

    func end() {
        changes?.end()
        transactions.end()
    }
}
