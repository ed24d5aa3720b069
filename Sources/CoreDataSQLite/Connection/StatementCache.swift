// Prepared statements of one connection.

import CoreDataSQL
import CoreDataValues
import Foundation
import Synchronization

/// What a kept statement is for.
typealias StatementKey = SQLShape

/// Statements by key and by text. When it holds too many it drops them all: the ones in use live on with
/// their users.
struct StatementCache {
    private var byText: [String: Statement] = [:]
    private var byKey: [StatementKey: Statement] = [:]

    /// A statement takes a few kilobytes.
    static var limit: Int { SelectionCache.textLimit }

    subscript(text: String) -> Statement? { byText[text] }
    /// The same kinds of statements are asked for again and again; comparing keys is a tenth of hashing one.
    mutating func kept(_ key: StatementKey) -> Statement? {
        for place in recent.indices where recent[place].key == key { return recent[place].statement }
        guard let found = byKey[key] else { return nil }
        if recent.count < Self.recentLimit {
            recent.append((key, found))
        } else {
            recent[oldest] = (key, found)
            oldest = (oldest + 1) % Self.recentLimit
        }
        return found
    }
    private var recent: ContiguousArray<(key: StatementKey, statement: Statement)> = []
    private var oldest = 0
    private static var recentLimit: Int { 4 }

    mutating func insert(_ statement: Statement, for text: String) {
        if byText.count >= Self.limit { byText = [:] }
        byText[text] = statement
    }

    mutating func insert(_ statement: Statement, for key: StatementKey) {
        forgetRecent()
        if byKey.count >= Self.limit { byKey = [:] }
        byKey[key] = statement
    }

    private mutating func forgetRecent() {
        recent = []
        oldest = 0
    }

    /// How each entity's new rows are bound, as far as there were some.
    private var binders: ContiguousArray<RowBinder?> = []

    mutating func binder(of entity: Entity, _ slots: () throws -> [Int]) rethrows -> RowBinder {
        let place = entity.index.value
        while binders.count <= place { binders.append(nil) }
        if let known = binders[place] { return known }
        let made = RowBinder(entity: entity, slots: try slots())
        binders[place] = made
        return made
    }

    mutating func removeAll() {
        byText = [:]
        byKey = [:]
        forgetRecent()
    }
}

extension Connection {
    /// A statement kept for the next use of the same text.
    func statement(_ sql: String) throws -> Statement {
        if let known = cache[sql], !(isNested && known.isRunning) { return known }
        let statement = try Statement(sql, on: self)
        cache.insert(statement, for: sql)
        return statement
    }

    /// A statement kept under a small key, so that its text is neither built nor hashed again.
    func statement(_ key: StatementKey, _ sql: () throws -> String) throws -> Statement {
        if let known = cache.kept(key), !(isNested && known.isRunning) { return known }
        let statement = try Statement(sql(), on: self)
        cache.insert(statement, for: key)
        return statement
    }

    /// The statement that reads one row of a tree, found without a look at the others.
    func rowStatement(_ root: EntityIndex, _ sql: () throws -> String) throws -> Statement {
        if root.value < rowStatements.count, let known = rowStatements[root.value], !(isNested && known.isRunning) {
            return known
        }
        let statement = try Statement(sql(), on: self)
        while rowStatements.count <= root.value { rowStatements.append(nil) }
        rowStatements[root.value] = statement
        return statement
    }

    /// How new rows of an entity are bound, worked out once.
    func binder(of entity: Entity, _ slots: () throws -> [Int]) rethrows -> RowBinder {
        try cache.binder(of: entity, slots)
    }
}

/// How many statements a store has prepared and run.
package struct StatementCounts: Sendable, Equatable {
    package var prepared = 0
    package var run = 0
    /// Rows read for objects, and rows of objects written.
    package var rows = 0
    /// How often somebody waited for a connection.
    package var waits = 0
    /// How often a long log was to start anew.
    package var logRestarts = 0
    /// Views that are pinned now.
    package var pinnedViews = 0
    package init() {}
}

/// Counts over all connections of a store.
final class StatementCounter: Sendable {
    private let preparedCount = Atomic<Int>(0)
    private let runCount = Atomic<Int>(0)
    private let rowCount = Atomic<Int>(0)
    private let waitCount = Atomic<Int>(0)
    private let restartCount = Atomic<Int>(0)
    private let commitCount = Atomic<Int>(0)

    var counts: StatementCounts {
        var counts = StatementCounts()
        counts.prepared = preparedCount.load(ordering: .relaxed)
        counts.run = runCount.load(ordering: .relaxed)
        counts.rows = rowCount.load(ordering: .relaxed)
        counts.waits = waitCount.load(ordering: .relaxed)
        counts.logRestarts = restartCount.load(ordering: .relaxed)
        return counts
    }
    func prepared() { preparedCount.wrappingAdd(1, ordering: .relaxed) }
    func moved(_ rows: Int) { rowCount.wrappingAdd(rows, ordering: .relaxed) }
    func waited() { waitCount.wrappingAdd(1, ordering: .relaxed) }
    func emptiedLog() { restartCount.wrappingAdd(1, ordering: .relaxed) }
    /// How often the log has had a commit of the connection that writes.
    var commits: Int { commitCount.load(ordering: .acquiring) }
    func committed() { commitCount.wrappingAdd(1, ordering: .releasing) }
    func ran() { runCount.wrappingAdd(1, ordering: .relaxed) }
}
