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
        return try pool.write { connection in
            var removed = 0
            try connection.transaction {
                removed = try HistoryReading(plan.map.dialect).shorten(before: number, connection, plan.writes)
                return true
            }
            return removed
        }
    }
}
