// The history of a SQLite store.

import CoreDataSQL
import CoreDataValues

extension SQLiteStore {
    package func historyExtent() throws -> HistoryExtent? { history == .recorded ? try reader.historyExtent() : nil }

    package func openHistory(_ query: HistoryQuery) throws -> any ReadCursor<HistoryTransaction> {
        history == .recorded ? try reader.openHistory(query, pinnedView()) : StepCursor([])
    }

    package func deleteHistory(upTo number: Int64) throws -> Int {
        guard history == .recorded else { return 0 }
        try refuseIfReadOnly("Its history cannot be shortened")
        return try writer.deleteHistory(upTo: number)
    }

    package func deleteHistory(before time: Double) throws -> Int {
        guard history == .recorded else { return 0 }
        try refuseIfReadOnly("Its history cannot be shortened")
        return try writer.deleteHistory(before: time)
    }

    package func lastTransaction() throws -> Int64? { history == .recorded ? try reader.lastTransaction() : nil }
}
