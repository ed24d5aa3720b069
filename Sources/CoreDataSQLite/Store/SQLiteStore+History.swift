// The history of a SQLite store.

import CoreDataSQL
import CoreDataValues

extension SQLiteStore {
    package func openHistory(after number: Int64) throws -> any ReadCursor<HistoryTransaction> {
        history == .recorded ? try reader.openHistory(after: number) : StepCursor([])
    }

    package func deleteHistory(upTo number: Int64) throws -> Int {
        guard history == .recorded else { return 0 }
        try refuseIfReadOnly("Its history cannot be shortened")
        return try writer.deleteHistory(upTo: number)
    }

    package func lastTransaction() throws -> Int64? { history == .recorded ? try reader.lastTransaction() : nil }
}
