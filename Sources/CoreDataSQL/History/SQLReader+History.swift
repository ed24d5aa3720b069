// How the history of a store in a database is read.

import CoreDataValues

extension SQLReader {
    /// The number of the last transaction of a history that is there, 0 for none.
    package func lastTransaction() throws -> Int64 {
        var last: Int64?
        try source.read(.latest) { session in
            let shape = SQLShape.text(HistoryStatements(plan.map.dialect).lastTransaction)
            last = try session.numbers(shape, each: 1, [], plan.writes).first.flatMap { $0 }
        }
        return last ?? 0
    }

    /// The transactions after one, of tables that are there.
    package func openHistory(after number: Int64) throws -> any ReadCursor<HistoryTransaction> {
        // How many values of deleted rows the file has room for.
        var tombstones = 0
        try source.read(.latest) { session in
            let columns = try Catalogue(session).columns(of: HistoryTables.Table.change.name)
            tombstones = columns.keys.count { $0.uppercased().hasPrefix("ZTOMBSTONE") }
        }
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
