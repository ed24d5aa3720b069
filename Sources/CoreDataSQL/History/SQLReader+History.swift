// How the history of a store in a database is read.

import CoreDataValues

extension SQLReader {
    /// - Parameter tombstones: how many values of deleted rows the tables have room for.
    package func openHistory(after number: Int64, tombstones: Int) throws -> any ReadCursor<HistoryTransaction> {
        let text = HistoryReading(plan.map.dialect).transactions(tombstones: tombstones)
        return try cursor(.latest, HistorySteps(schema: plan.map.schema, tombstones: tombstones)) { session in
            try session.open(text, [.int(number)])
        }
    }
}

extension HistoryReading {
    /// Removes what came before a transaction, inside a transaction of the session; answers how many there were.
    package func shorten(before number: Int64, _ session: any SQLSession, _ texts: WriteCompiler) throws -> Int {
        let counts = try shortening.enumerated().map { place, sql in
            try session.run(.text(sql), place < 2 ? [.int(number)] : [], texts)
        }
        return counts[1]
    }
}
