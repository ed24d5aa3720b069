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
