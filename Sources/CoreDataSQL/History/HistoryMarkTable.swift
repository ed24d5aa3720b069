// Named places in a history: a table of our own, unknown to Core Data.

import CoreDataValues

/// One row a name. Places only move forward, so that two who move one at once lose nothing; one that stands ahead of the history has to be
/// taken away first.
package struct HistoryMarkTable: Sendable {
    package static let name = "OCDHISTORYCURSOR"
    private let dialect: any SQLDialect
    package init(_ dialect: any SQLDialect) { self.dialect = dialect }

    private func name(_ name: String) -> String { dialect.defined(name) }
    private var table: String { name(Self.name) }
    private var mark: String { name("ZNAME") }
    private var number: String { name("ZTRANSACTIONID") }
    private var time: String { name("ZTIMESTAMP") }
    private func text(_ number: Int) -> String { dialect.parameter(number, like: .text("")) }

    package var definition: String {
        "CREATE TABLE IF NOT EXISTS \(table) ( \(mark) \(dialect.type(.text)) PRIMARY KEY, \(number) \(dialect.type(.int)), "
            + "\(time) \(dialect.type(.double)) )"
    }

    /// Name, number, time. Answers the number where it is then.
    package var move: String {
        let held = dialect.held(number, in: table)
        return
            "INSERT INTO \(table) (\(mark), \(number), \(time)) VALUES (\(text(1)), \(dialect.parameter(2, like: .int(0))), "
            + "\(dialect.parameter(3, like: .double(0)))) ON CONFLICT (\(mark)) DO UPDATE SET "
            + "\(number) = \(dialect.larger("COALESCE(\(held), 0)", "excluded.\(number)")), \(time) = excluded.\(time) RETURNING \(number)"
    }

    /// Name, number of the last transaction. What is ahead of that is no place of this history.
    package var removeAhead: String { "\(remove) AND \(number) > \(dialect.parameter(2, like: .int(0)))" }

    /// Name.
    package var remove: String { "DELETE FROM \(table) WHERE \(mark) = \(text(1))" }

    /// Answers name, number and time of all, by name.
    package var all: String { "SELECT \(mark), \(number), \(time) FROM \(table) ORDER BY \(mark)" }

    /// Time. Answers the number of the one farthest behind among those that were moved at that time or later.
    package var last: String {
        "SELECT MIN(\(number)) FROM \(table) WHERE \(time) >= \(dialect.parameter(1, like: .double(0)))"
    }
}

extension SQLReader {
    package func historyMarks() throws -> [HistoryMark] {
        var marks: [HistoryMark] = []
        try source.read(.latest) { session in
            guard try Catalogue(session).tables().contains(HistoryMarkTable.name) else { return }
            marks = try session.tuples(HistoryMarkTable(plan.map.dialect).all, []).compactMap { row in
                guard let name = row[0].word, case .int(let number) = row[1],
                    case .date(let time) = row[2].kept(as: .date)
                else { return nil }
                return HistoryMark(name: name, number: number, time: time)
            }
        }
        return marks
    }
}

extension SQLWriter {
    /// Answers where it is then.
    ///
    /// - Throws: 134301 for a number that was never given.
    package func moveHistoryMark(_ name: String, to number: Int64, at time: Double) throws -> Int64 {
        let marks = HistoryMarkTable(plan.map.dialect)
        var place = number
        try source.writing { session in
            try session.transaction {
                let last = try self.lastTransaction(session)
                if number > last { throw StoreError.neverGiven(number, after: last, to: name) }
                if try !Catalogue(session).tables().contains(HistoryMarkTable.name) {
                    try session.run(marks.definition, [])
                }
                try session.run(marks.removeAhead, [.text(name), .int(last)])
                let moved = try session.numbers(
                    .text(marks.move), each: 1, [.text(name), .int(number), .date(time)], plan.writes)
                place = moved.first.flatMap { $0 } ?? number
                return true
            }
        }
        return place
    }

    private func lastTransaction(_ session: any SQLSession) throws -> Int64 {
        let statement = HistoryStatements(plan.map.dialect).lastTransaction
        return try session.numbers(.text(statement), each: 1, [], plan.writes).first.flatMap { $0 } ?? 0
    }

    /// Answers whether there was one.
    package func removeHistoryMark(_ name: String) throws -> Bool {
        var count = 0
        try source.writing { session in
            try session.transaction {
                guard try Catalogue(session).tables().contains(HistoryMarkTable.name) else { return true }
                count = try session.run(HistoryMarkTable(plan.map.dialect).remove, [.text(name)])
                return true
            }
        }
        return count > 0
    }

    /// Removes the transactions that are older than a time and that no mark is waiting for that was moved since another.
    package func purgeHistory(before time: Double, keepingForMarksSince age: Double) throws -> Int {
        try deleteHistory { session in
            let first =
                try session.numbers(HistoryReading(plan.map.dialect).firstNotBefore, each: 1, [.date(time)]).first
                .flatMap { $0 } ?? 0
            guard try Catalogue(session).tables().contains(HistoryMarkTable.name) else { return first }
            let last = try session.numbers(HistoryMarkTable(plan.map.dialect).last, each: 1, [.date(age)]).first.flatMap
            { $0 }
            return last.map { min(first, $0 + 1) } ?? first
        }
    }
}

extension StoreError {
    fileprivate static func neverGiven(_ number: Int64, after last: Int64, to name: String) -> StoreError {
        StoreError(
            134301,
            "The history cursor “\(name)” cannot be moved to transaction \(number): the last one of the store is \(last), as after a return "
                + "to a backup. Take over the store as it is now, and move the cursor to its present token.")
    }
}
