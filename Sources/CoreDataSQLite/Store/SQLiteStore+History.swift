// The history of a SQLite store.

import CoreDataSQL
import CoreDataValues

extension SQLiteStore {
    package func historyExtent() throws -> HistoryExtent? { history == .recorded ? try reader.historyExtent() : nil }

    package func openHistory(_ query: HistoryQuery) throws -> any ReadCursor<HistoryTransaction> {
        guard history == .recorded else { return StepCursor([]) }
        if case .pinned(let view) = try pinnedView() { return try reader.openHistory(query, .pinned(view)) }
        return pool.isSingle ? try reader.openHistory(query, .latest) : StepCursor(try wholeHistory(query))
    }

    /// Without a log a state stays as long as it keeps writers out, so it is read at once: a purge between its statements would take what
    /// nobody misses then.
    private func wholeHistory(_ query: HistoryQuery) throws -> [HistoryTransaction] {
        guard let lease = try pool.leaseView(keepsWritersOut: true) else { return [] }
        defer { lease.end() }
        let cursor = try reader.openHistory(query, .pinned(SQLiteView(of: self, lease)))
        defer { cursor.close() }
        var all: [HistoryTransaction] = []
        while let next = try cursor.next() { all.append(next) }
        return all
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

    package func formerValues(of transaction: Int64) throws -> [FormerCell]? {
        history == .recorded ? try reader.formerValues(of: transaction) : nil
    }

    package func historyMarks() throws -> [HistoryMark] { history == .recorded ? try reader.historyMarks() : [] }

    package func moveHistoryMark(_ name: String, to number: Int64, at time: Double) throws -> Int64 {
        try refuseIfReadOnly("A place in its history cannot be named")
        return try writer.moveHistoryMark(name, to: number, at: time)
    }

    package func removeHistoryMark(_ name: String) throws -> Bool {
        try refuseIfReadOnly("A place in its history cannot be forgotten")
        return try writer.removeHistoryMark(name)
    }

    package func purgeHistory(before time: Double, keepingForMarksSince age: Double) throws -> Int {
        try refuseIfReadOnly("Its history cannot be shortened")
        return try writer.purgeHistory(before: time, keepingForMarksSince: age)
    }

    package func lastTransaction() throws -> Int64? { history == .recorded ? try reader.lastTransaction() : nil }
}
