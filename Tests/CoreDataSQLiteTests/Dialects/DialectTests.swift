// Every statement in the words of each dialect, against the texts that are checked in.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Dialects")
struct DialectTests {
    /// Set to 1, it writes the texts anew instead of comparing them.
    private static let rewrites = ProcessInfo.processInfo.environment["OPENCOREDATA_WRITE_STATEMENTS"] == "1"

    /// A title and a statement a pair of lines; `=` before the title of a definition, `-` before that of others.
    private func compare(_ map: StoreMap, _ file: String, _ location: SourceLocation = #_sourceLocation) throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(file)
        let now = try StatementList(map: map).lines().flatMap { ["\($0.defines ? "=" : "-") \($0.title)", $0.sql] }
        #expect(!now.contains { $0.contains("\n") }, "A statement is one line.", sourceLocation: location)
        if Self.rewrites { try (now.joined(separator: "\n") + "\n").write(to: url, atomically: true, encoding: .utf8) }
        let pinned = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
        for (place, pair) in zip(pinned, now).enumerated() where pair.0 != pair.1 {
            Issue.record("\(file):\(place + 1) has\n\(pair.0)\nand now it is\n\(pair.1)", sourceLocation: location)
        }
        #expect(pinned.count == now.count, sourceLocation: location)
    }

    private typealias SourceLocation = Testing.SourceLocation

    @Test("SQLite's statements are those that are checked in")
    func sqlite() throws {
        try compare(StoreMap(schema: Ward.schema, configuration: nil), "Statements.sqlite.txt")
    }

    @Test("PostgreSQL's statements are those that are checked in, which Scripts/postgres-words has a PostgreSQL take")
    func postgres() throws {
        try compare(
            StoreMap(schema: Ward.schema, configuration: nil, dialect: PostgresDialect()), "Statements.postgres.txt")
    }

    @Test("Both statement lists have the same titles, but for the number of statements of a definition")
    func titles() throws {
        func titles(_ dialect: any SQLDialect) throws -> [String] {
            let map = try StoreMap(schema: Ward.schema, configuration: nil, dialect: dialect)
            return try StatementList(map: map).lines().filter { !$0.defines }.map(\.title)
        }
        #expect(try titles(SQLiteDialect()) == titles(PostgresDialect()))
    }

    /// Each member of a dialect with an example of what it makes.
    private func members(_ dialect: any SQLDialect) -> [(name: String, words: String)] {
        let trigger = SQLTrigger(
            name: "t", watched: "a", event: .insert, condition: nil, table: "b", column: "c", attribute: "d",
            expression: "1", rows: "e",
            isInsertion: true)
        let list = SQLList("p")
        let reference = dialect.fileReference("c")
        return [
            ("quoted", dialect.quoted(String(repeating: "long ", count: 20))), ("defined", dialect.defined("ZNAME")),
            ("type", dialect.type(.int)), ("condition", dialect.condition(true)), ("literal", dialect.literal(true)),
            ("parameter", dialect.parameter(1, like: .int(1))), ("next", dialect.next(1)),
            ("list of keys", "\(dialect.list([Int64(1)]))"),
            ("list", "\(String(describing: dialect.list([Value.int(1)])))"), ("isIn", dialect.isIn(list)),
            ("rows", dialect.rows(of: list, as: nil).source), ("isSame", dialect.isSame("a", "b")),
            ("isOther", dialect.isOther("a", "b")),
            ("isPresent", dialect.isPresent("a")), ("value", dialect.value("a", or: "b")),
            ("risen", dialect.risen("a")),
            ("larger", dialect.larger("a", "b")), ("folded", dialect.folded("a", [])),
            ("isLike", dialect.isLike("a", "b", [])),
            ("matches", dialect.matches("a", "b", [])), ("contains", dialect.contains("a", "b")),
            ("hasSuffix", dialect.hasSuffix("a", "b") { "\($0)" }), ("call", dialect.call("f", ["a"], result: .int)),
            ("test", dialect.test(.equal, [], "a", "b")), ("content", dialect.content("a", length: "1")),
            ("random", dialect.random), ("now", dialect.now),
            ("wideSum", dialect.wideSum("a")), ("mixedList", "\(String(describing: dialect.mixedList([.int(1)])))"),
            ("isIn of mixed values", dialect.isIn(SQLList("p", .mixed))), ("decimalSum", dialect.decimalSum("a")),
            ("decimalAverage", dialect.decimalAverage("a")),
            ("derived", dialect.derived(.uppercase, of: "a")), ("tombstone", dialect.tombstone("a")),
            ("fileReference.condition", reference.condition), ("fileReference.name", reference.name),
            ("collation", dialect.collation(.caseInsensitive)), ("nullOrder", dialect.nullOrder(isAscending: true)),
            ("unindexed", dialect.unindexed("a")), ("part", dialect.part(limit: "a", offset: "b")),
            ("count", dialect.count(of: "a")),
            ("distinct", dialect.distinct(["a"], from: "b", by: [])),
            ("insertNew", dialect.insertNew(into: "t", ["a"], ["b"])),
            ("replace", dialect.replace(in: "t", ["a", "b"], ["c", "d"])), ("held", dialect.held("a", in: "t")),
            ("metadata", "\(dialect.metadata)"), ("tables", dialect.tables), ("columns", dialect.columns(of: "t")),
            ("uniqueIndexes", dialect.uniqueIndexes(of: "t")), ("indexes", dialect.indexes(of: "t")),
            ("triggers", dialect.triggers), ("joinColumns", dialect.joinColumns),
            ("indexed", dialect.indexed("a", .text, isAscending: true)), ("trigger", dialect.trigger(trigger).joined()),
            ("dropTrigger", dialect.dropTrigger(trigger)),
            (
                "dropSpatialIndex",
                dialect.dropSpatialIndex(SQLSpatialIndex(name: "n", table: "t", columns: ["a", "b"])).joined()
            ),
            (
                "spatialIndex",
                dialect.spatialIndex(SQLSpatialIndex(name: "n", table: "t", columns: ["a", "b"])).joined()
            ),
        ]
    }

    @Test("The two dialects differ in every member")
    func difference() {
        for (one, other) in zip(members(SQLiteDialect()), members(PostgresDialect())) {
            #expect(one.words != other.words, "\(one.name)")
        }
    }

    @Test("Of SQLite's own words none is in the files that are for every database")
    func words() throws {
        let words = [
            "rowid", "json_each", "INSERT OR ", "IFNULL", "ifnull", "NOCASE", "COLLATE BINARY", " GLOB ",
            "AUTOINCREMENT", "PRAGMA", "pragma_",
            "sqlite_", "?1", "= ?", "IS ?", "instr(", "COREDATA_", "NSCoreData", "WITHOUT ROWID", "json_group",
            "group_concat", "VIRTUAL TABLE", "import CCore",
        ]
        var sources = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { sources.deleteLastPathComponent() }
        sources.appendPathComponent("Sources/CoreDataSQL")
        let files =
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
            ?? []
        #expect(files.count { $0.pathExtension == "swift" } > 20)
        for file in files where file.pathExtension == "swift" {
            for (line, text) in try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false
            ).enumerated() {
                for word in words where text.contains(word) {
                    Issue.record("\(file.lastPathComponent):\(line + 1) has \(word)")
                }
            }
        }
    }
}
