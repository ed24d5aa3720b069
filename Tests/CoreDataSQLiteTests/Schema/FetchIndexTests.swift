// Partial indexes and R-trees in a file, kept by SQLite as rows come and go.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Fetch indexes")
struct FetchIndexTests {
    let folder = Folder()
    let schema: Schema

    init() throws {
        var pin = EntityDraft(name: "Pin")
        pin.attributes = [
            Triage.attribute("latitude", .double), Triage.attribute("longitude", .double),
            Triage.attribute("state", .integer16),
        ]
        pin.indexes = [
            FetchIndex(
                name: "where",
                elements: ["latitude", "longitude"].map { FetchIndex.Element(property: $0, isRTree: true) }),
            FetchIndex(name: "open", elements: [.init(property: "state")], partialPredicate: "state == 3"),
        ]
        schema = try Schema(checking: SchemaDraft(pin))
    }

    @Test("An R-tree follows inserted, changed and deleted rows, and commits count their own rows only")
    func tree() throws {
        let store = try folder.store(schema)
        var rows: [(key: Int64, values: [String: Value])] = []
        for key in Int64(1)...30 {
            rows.append((key, ["latitude": Value.double(Double(key)), "longitude": .double(7)]))
        }
        try store.insert("Pin", rows)
        #expect(try store.scalar("SELECT COUNT(*) FROM Z_RT_Pin_where") == "30")
        let near = "SELECT group_concat(Z_PK) FROM Z_RT_Pin_where WHERE ZLATITUDE_MIN >= 4 AND ZLATITUDE_MAX <= 5"
        #expect(try store.scalar(near) == "4,5")
        try store.close()
        let raw = try SQLiteFile(folder.file)
        try raw.run("UPDATE ZPIN SET ZLATITUDE = 100 WHERE Z_PK = 4; DELETE FROM ZPIN WHERE Z_PK = 6")
        let again = try folder.store(schema)
        #expect(try again.scalar(near) == "5")
        #expect(try again.scalar("SELECT COUNT(*) FROM Z_RT_Pin_where") == "29")
        #expect(try again.scalar("PRAGMA integrity_check") == "ok")
        #expect(try again.insert("Pin", [(40, ["latitude": .double(4.5)])]).conflicts.isEmpty)
        #expect(try again.scalar(near) == "5,40")
    }

    @Test("A fetch finds all rows, whatever a partial index leaves out")
    func partial() throws {
        let store = try folder.store(schema)
        var rows: [(key: Int64, values: [String: Value])] = []
        for key in Int64(1)...30 { rows.append((key, ["state": key % 3 == 0 ? Value.null : Value.int(key % 5)])) }
        try store.insert("Pin", rows)
        let three = Predicate.comparison(Comparison(.keyPath(["state"]), .equal, .constant(.int(3))))
        let other = Predicate.comparison(Comparison(.keyPath(["state"]), .notEqual, .constant(.int(3))))
        #expect(try store.keys("Pin", three).sorted() == [8, 13, 23, 28])
        #expect(try store.keys("Pin", other).count == 26)
        #expect(
            try store.scalar("SELECT COUNT(*) FROM sqlite_master WHERE sql LIKE '%Z_Pin_open%WHERE ZSTATE = 3'") == "1")
    }

    // MARK: Finding by an R-tree

    /// Numbers that 32 bits do not hold, none, and ones beyond all that they hold.
    private static let numbers: [Value] = [
        .null, .double(0), .double(-0.0), .double(0.1), .double(0.1.nextUp), .double(0.1.nextDown), .double(16_777_217),
        .double(1e300),
        .double(-1e300), .double(3.4e38), .double(3.5e38), .double(.infinity), .double(-.infinity),
        .double(.leastNonzeroMagnitude), .double(-7.25), .double(1e-46), .double(-1e-46),
    ]

    private func pins(_ store: any RowStore) throws {
        var rows: [(key: Int64, values: [String: Value])] = []
        for (a, latitude) in Self.numbers.enumerated() {
            for (b, longitude) in Self.numbers.enumerated() {
                rows.append(
                    (
                        Int64(a * Self.numbers.count + b + 1),
                        ["latitude": latitude, "longitude": longitude, "state": .int(Int64(b % 4))]
                    ))
            }
        }
        var batch = ChangeBatch()
        batch.inserts = [try schema.chunk("Pin", rows)]
        _ = try store.commit(batch)
    }

    private func keys(_ store: any RowStore, _ plan: FetchPlan) throws -> [Int64] {
        var keys: [Int64] = []
        try store.fetch(plan, .latest) { batch in
            keys += batch.keys(inStore: 1).map(\.number)
            return .more
        }
        return keys.sorted()
    }

    private func plan(_ text: String) throws -> FetchPlan {
        var plan = FetchPlan(entity: try #require(schema.entities.first { $0.name == "Pin" }).index)
        plan.predicate = try FormatParser.predicate(text)
        return plan
    }

    @Test("Ranges of its numbers are found by the R-tree, and rows that only its rounding lets in are not among them")
    func finding() throws {
        let (store, memory) = (try folder.store(schema), try MemoryStore(schema: schema))
        try pins(store)
        try pins(memory)
        for text in [
            "latitude BETWEEN {0, 0.1} AND longitude BETWEEN {-8, 1}", "latitude >= 0.1 AND latitude <= 0.1",
            "latitude > 0.1 AND longitude < 0.1",
            "latitude == 16777217", "latitude == 16777216", "latitude > 3e38 AND longitude < -3e38",
            "latitude <= 2e300 AND latitude >= 1e300",
            "latitude >= -2e300 AND latitude < -1e299 AND state == 1", "latitude BETWEEN {-1e-300, 1e-300}",
            "latitude < 3.4e38 AND longitude > -3.4e38", "latitude == 1e-46 AND longitude > 0",
            "latitude >= 1e-47 AND longitude <= -1e-47", "latitude BETWEEN {1e-301, 1} AND longitude <= 1e-300",
            "indexed:by:(latitude, 'where') BETWEEN {0, 1} AND indexed:by:(longitude, 'where') BETWEEN {0, 1}",
            "(latitude > 0 AND longitude > 0) AND NOT (state == 2)",
        ] {
            let plan = try plan(text)
            let told = try #require(try store.explanation(of: plan, counts: false, .latest))
            #expect(
                told.indexes == ["Z_RT_Pin_where"] && told.missing.isEmpty
                    && told.steps.contains { $0.contains("SEARCH") }, "\(text): \(told)")
            #expect(try keys(store, plan) == keys(memory, plan), "\(text)")
        }
        for text in [
            "latitude > 1", "latitude > 0 OR longitude > 0", "NOT (latitude BETWEEN {0, 1})", "latitude == nil",
            "latitude + 0 BETWEEN {0, 1}",
        ] {
            let plan = try plan(text)
            #expect(try store.explanation(of: plan, counts: false, .latest)?.indexes == [], "\(text)")
            #expect(try keys(store, plan) == keys(memory, plan), "\(text)")
        }
    }

    @Test("A set change that an R-tree finds the rows of changes these, and the tree follows")
    func changing() throws {
        let store = try folder.store(schema)
        try pins(store)
        let near = try plan("latitude BETWEEN {0, 1} AND longitude BETWEEN {0, 1}")
        let count = try keys(store, near).count
        let moved = try store.apply(
            SetChange(.update(near, [SetChange.Assignment("latitude", .constant(.double(-7)))])))
        #expect(count > 20 && moved.count == count)
        #expect(try keys(store, near).isEmpty)
        let gone = try plan("latitude BETWEEN {-7.1, -6.9} AND longitude <= 1")
        #expect(try store.apply(SetChange(.delete(gone))).count >= count)
        #expect(try keys(store, gone).isEmpty)
        #expect(try store.scalar("PRAGMA integrity_check") == "ok")
    }

    @Test("A file that lacks the R-tree of its model is read without it")
    func absent() throws {
        let store = try folder.store(schema)
        try pins(store)
        let near = try plan("latitude BETWEEN {0, 1} AND longitude BETWEEN {0, 1}")
        let found = try keys(store, near)
        try store.close()
        let raw = try SQLiteFile(folder.file)
        for event in ["INSERT", "UPDATE", "DELETE"] { try raw.run("DROP TRIGGER Z_RT_Pin_where_\(event)") }
        try raw.run("DROP TABLE Z_RT_Pin_where")
        let again = try folder.store(schema)
        #expect(try keys(again, near) == found && found.count > 20)
        #expect(try again.explanation(of: near, counts: false, .latest)?.indexes == [])
    }

    @Test("indexed:by: with an index that is not there, or not of the attribute, is refused by every store")
    func unknownIndexes() throws {
        let stores: [any RowStore] = [try folder.store(schema), try MemoryStore(schema: schema)]
        for text in [
            "indexed:by:(latitude, 'nope') > 1", "indexed:by:(state, 'where') > 1",
            "indexed:by:(latitude + 1, 'where') > 1",
        ] {
            let plan = try plan(text)
            let words = stores.map { store in
                #expect(throws: StoreError.self) { try store.count(plan, .latest) }?.sentence ?? ""
            }
            #expect(words[0] == words[1] && words[0].contains("indexed:by:"), "\(words)")
        }
    }
}
