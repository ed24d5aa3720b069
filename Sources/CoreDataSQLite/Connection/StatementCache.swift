// Prepared statements of one connection.

import CoreDataSQL
import CoreDataValues

/// Statements by key and by text. When it holds too many it drops them all: the ones in use live on with
/// their users.
struct StatementCache {
    private var byText: [String: Statement] = [:]
    private var byKey: [SQLShape: Statement] = [:]

    /// A statement takes a few kilobytes.
    static var limit: Int { SelectionCache.textLimit }

    subscript(text: String) -> Statement? { byText[text] }
    /// The same kinds of statements are asked for again and again; comparing keys is a tenth of hashing one.
    mutating func kept(_ key: SQLShape) -> Statement? {
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
    private var recent: ContiguousArray<(key: SQLShape, statement: Statement)> = []
    private var oldest = 0
    private static var recentLimit: Int { 4 }

    mutating func insert(_ statement: Statement, for text: String) {
        if byText.count >= Self.limit { byText = [:] }
        byText[text] = statement
    }

    mutating func insert(_ statement: Statement, for key: SQLShape) {
        forgetRecent()
        if byKey.count >= Self.limit { byKey = [:] }
        byKey[key] = statement
    }

    private mutating func forgetRecent() {
        recent = []
        oldest = 0
    }

    /// How each entity's new rows are bound, worked out once.
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
