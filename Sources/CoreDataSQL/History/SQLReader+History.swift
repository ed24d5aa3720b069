// How the history of a store in a database is read.

import CoreDataValues

/// Of tables that are there.
extension SQLReader {
    private var dialect: any SQLDialect { plan.map.dialect }

    /// The number of the last transaction, 0 for none.
    package func lastTransaction(_ view: ReadView = .latest) throws -> Int64 {
        var last: Int64?
        try source.read(view) { session in
            let shape = SQLShape.text(HistoryStatements(dialect).lastTransaction)
            last = try session.numbers(shape, each: 1, [], plan.writes).first.flatMap { $0 }
        }
        return last ?? 0
    }

    /// A number that changes where new rows are numbered.
    package func numbering() throws -> Int64 {
        var sum: Int64?
        try source.read(.latest) { session in
            sum = try session.numbers(HistoryReading(dialect).numbering, each: 1, []).first.flatMap { $0 }
        }
        return sum ?? 0
    }

    /// What is left. The last number is asked for first, so that a save in between is in neither.
    package func historyExtent(_ view: ReadView = .latest) throws -> HistoryExtent {
        let last = try lastTransaction(view)
        var first: Int64?
        try source.read(view) { session in
            first = try session.numbers(HistoryReading(dialect).first, each: 1, []).first.flatMap { $0 }
        }
        return HistoryExtent(first: first, last: last)
    }

    /// - Parameter view: one state, since it takes several statements.
    /// - Throws: 134301 where the query wants more than what is left.
    package func openHistory(_ query: HistoryQuery, _ view: ReadView) throws -> any ReadCursor<HistoryTransaction> {
        if query.isWhole, try !historyExtent(view).reaches(after: query.after) { throw StoreError.expired(query.after) }
        if let search = query.search { return try find(search, of: query, view) }
        var after = query.after
        if let since = query.since {
            var first: Int64?
            try source.read(view) { session in
                first = try session.numbers(HistoryReading(dialect).firstSince, each: 1, [.date(since)]).first.flatMap {
                    $0
                }
            }
            guard let first else { return StepCursor([]) }
            after = max(after, first - 1)
        }
        let cursor = try cursor(view, HistorySteps(plan.map.schema)) { session in
            try open(.after, [.int(after)], includesChanges: query.includesChanges, session)
        }
        guard let since = query.since else { return cursor }
        // A clock that was set back leaves later times before earlier ones.
        return FilteredHistory(cursor) { $0.time > since }
    }

    private func open(
        _ part: HistoryReading.Part, _ values: [Value], includesChanges: Bool, _ session: any SQLReading,
        changes: (HistoryReading.Part, [Value])? = nil
    ) throws -> any SQLResult {
        let reading = HistoryReading(dialect, try HistoryLayout(session))
        let transactions = try session.open(reading.transactions(part), values)
        guard includesChanges else { return HistoryResult(transactions, nil) }
        let (part, values) = changes ?? (part, values)
        return HistoryResult(transactions, try session.open(reading.changes(part), values))
    }

    // MARK: Searching

    /// Numbers first, then what they name: all of it before the first is answered.
    private func find(
        _ search: HistoryQuery.Search, of query: HistoryQuery, _ view: ReadView
    ) throws -> any ReadCursor<HistoryTransaction> {
        var numbers: [Int64] = []
        try source.read(view) { session in
            let statement = try HistorySearch(dialect, HistoryLayout(session)).statement(query, search, source)
            numbers = try session.tuples(statement.sql, statement.values).compactMap { row in
                if case .int(let number)? = row.first { number } else { nil }
            }
        }
        return StepCursor(
            search.findsChanges ? try changes(numbers, view) : try transactions(numbers, query.includesChanges, view))
    }

    /// Transactions in the order of a list.
    private func transactions(_ numbers: [Int64], _ includesChanges: Bool, _ view: ReadView) throws
        -> [HistoryTransaction]
    {
        let places = Dictionary(zip(numbers, 0...), uniquingKeysWith: { first, _ in first })
        let list = [dialect.list(numbers)]
        let found = try all(view) { try open(.transactions, list, includesChanges: includesChanges, $0) }
        return found.sorted { places[$0.number] ?? 0 < places[$1.number] ?? 0 }
    }

    /// Changes in the order of a list, each run of one transaction under it.
    private func changes(_ numbers: [Int64], _ view: ReadView) throws -> [HistoryTransaction] {
        var owners: [Int64: Int64] = [:]
        var transactions: [Int64: HistoryTransaction] = [:]
        var changes: [Int64: HistoryChange] = [:]
        let list = dialect.list(numbers)
        var named: [Int64] = []
        try source.read(view) { session in
            named = try session.numbers(HistoryReading(dialect).owners, each: 1, [list]).compactMap { $0 }
        }
        let owner = [dialect.list(named)]
        for part in try all(
            view, { try open(.transactions, owner, includesChanges: true, $0, changes: (.changes, [list])) })
        {
            for change in part.changes { (owners[change.number], changes[change.number]) = (part.number, change) }
            transactions[part.number] = part
        }
        var parts: [HistoryTransaction] = []
        for number in numbers {
            guard let owner = owners[number], let change = changes[number], var transaction = transactions[owner] else {
                continue
            }
            if parts.last?.number == owner {
                parts[parts.count - 1].changes.append(change)
            } else {
                transaction.changes = [change]
                transaction.isContinued = false
                parts.append(transaction)
            }
        }
        return parts
    }

    private func all(_ view: ReadView, _ ready: (any SQLReading) throws -> any SQLResult) throws -> [HistoryTransaction]
    {
        var found: [HistoryTransaction] = []
        let cursor = try cursor(view, HistorySteps(plan.map.schema), ready)
        while let next = try cursor.next() { found.append(next) }
        return found
    }
}

/// Leaves out transactions of another time.
private final class FilteredHistory: ReadCursor {
    private let cursor: any ReadCursor<HistoryTransaction>
    private let isWanted: @Sendable (HistoryTransaction) -> Bool

    init(_ cursor: any ReadCursor<HistoryTransaction>, _ isWanted: @escaping @Sendable (HistoryTransaction) -> Bool) {
        self.cursor = cursor
        self.isWanted = isWanted
    }

    func next() throws -> HistoryTransaction? {
        while let next = try cursor.next() { if isWanted(next) { return next } }
        return nil
    }

    func close() { cursor.close() }
}

extension HistoryReading {
    /// Removes what came before a transaction, inside a transaction of the session; answers how many there were.
    package func shorten(before number: Int64, _ session: any SQLSession, _ texts: WriteCompiler) throws -> Int {
        let keepsValues = try Catalogue(session).tables().contains(FormerValueTable.name)
        if keepsValues { try session.run(formerValues, [.int(number)]) }
        let counts = try shortening.enumerated().map { place, sql in
            try session.run(.text(sql), place < 2 ? [.int(number)] : [], texts)
        }
        return counts[1]
    }
}

extension StoreError {
    /// Somebody shortened the history, or it never was that long.
    package static func expired(_ number: Int64) -> StoreError {
        StoreError(
            134301,
            "The history does not have all that came after transaction \(number): it was shortened, or the store is an earlier one again. Take "
                + "over the store as it is now, and go on from its present token; a history cursor is moved there.")
    }
}
