// How SQLite answers a fetch.

import CoreDataSQL
import CoreDataValues

extension SQLiteStore {
    package func explanation(of plan: FetchPlan, counts: Bool, _ view: ReadView) throws -> ReadExplanation? {
        let (sql, values, query) = try reader.statement(of: plan, counts: counts)
        var plan = QueryPlan(sql)
        var missing: [IndexCandidate] = []
        try pool.read(view) { session in
            plan.add(try session.tuples("EXPLAIN QUERY PLAN " + sql, values))
            if plan.readsAll || plan.sorts { missing = try self.missing(query.bound.indexCandidates, plan, session) }
        }
        return ReadExplanation(
            sql: sql, bindings: values.map(\.bindingText), steps: plan.steps, indexes: plan.indexes, missing: missing)
    }

    /// The properties that no index of the file begins with, each once, though rows are found and sorted by it.
    private func missing(_ candidates: [IndexCandidate], _ plan: QueryPlan, _ session: any SQLReading) throws
        -> [IndexCandidate]
    {
        var seen: Set<[String]> = []
        return try candidates.filter { candidate in
            let table = try self.plan.map.table(of: candidate.entity)
            guard candidate.isOrder ? plan.sorts : plan.readsAll,
                let column = table.column(of: candidate.slot, in: candidate.entity)
            else { return false }
            let names = [table.name, table.columns[column].name]
            return try seen.insert(names).inserted && session.tuples(Self.firsts, names.map(Value.text)).isEmpty
        }
    }

    /// Whether an index begins with a column of a table.
    private static let firsts = """
        SELECT c.name FROM pragma_index_list(?1) i, pragma_index_info(i.name) c WHERE c.seqno = 0 AND c.name = ?2 AND NOT i.partial
        """
}

/// The plan of one statement, as SQLite tells it.
private struct QueryPlan {
    private(set) var steps: [String] = []
    private(set) var indexes: [String] = []
    /// Whether some table is read from its first row to its last, or all rows of an entity.
    private(set) var readsAll = false
    private(set) var sorts = false
    /// The tables by the names that the statement gives them.
    private var tables: [String: String] = [:]

    init(_ sql: String) {
        for match in sql.matches(of: /"([^"]+)" (t[0-9]+)/) { tables[String(match.2)] = String(match.1) }
    }

    /// - Parameter rows: number, parent, a number that says nothing, and words.
    mutating func add(_ rows: [[Value]]) {
        var depths: [Int64: Int] = [:]
        for row in rows {
            guard row.count == 4, case .int(let number) = row[0], case .int(let parent) = row[1],
                case .text(let words) = row[3]
            else { continue }
            let depth = depths[parent].map { $0 + 1 } ?? 0
            depths[number] = depth
            note(words)
            steps.append(String(repeating: "  ", count: depth) + named(words))
        }
    }

    private mutating func note(_ words: String) {
        if let match = words.firstMatch(of: /USING (?:COVERING )?INDEX (.+?)(?: \(|$)/) {
            if !indexes.contains(String(match.1)) { indexes.append(String(match.1)) }
        }
        if let match = words.firstMatch(of: /^SCAN (Z_RT_.+) VIRTUAL TABLE/), !indexes.contains(String(match.1)) {
            indexes.append(String(match.1))
        }
        // A list that is bound is read as a whole, too.
        if let match = words.wholeMatch(of: /SCAN (t[0-9]+)(?: .*)?/), tables[String(match.1)] != nil {
            readsAll = true
        }
        if words.contains(/^SEARCH .* \(Z_ENT[=<>]/) { readsAll = true }
        if words.hasPrefix("USE TEMP B-TREE FOR") && words.hasSuffix("ORDER BY") { sorts = true }
    }

    private func named(_ words: String) -> String {
        guard let match = words.firstMatch(of: /\b(t[0-9]+)\b/), let table = tables[String(match.1)] else {
            return words
        }
        return words[..<match.1.startIndex] + "\(table) " + words[match.1.startIndex...]
    }
}
