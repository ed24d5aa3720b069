// Rows in and out of a store.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("SQLite store")
struct StoreTests {
    let folder = Folder()
    let store: SQLiteStore

    init() throws {
        store = try folder.store()
    }

    @Test("A new store is found again with the same identity and rows")
    func reopening() throws {
        let uuid = try store.metadata().uuid
        try store.insert("Injury", [(1, ["kind": .text("cut"), "severity": .int(3)])])
        try store.close()
        let again = try folder.store()
        #expect(try again.metadata().uuid == uuid)
        #expect(UUID(uuidString: uuid)?.uuidString == uuid)
        let expected = TestRow(key: 1, entity: "Injury", values: ["kind": .text("cut"), "severity": .int(3)])
        #expect(try again.fetch("Injury") == [expected])
    }

    @Test("Every kind of value comes back as it went in, extremes included")
    func roundTrip() throws {
        let blob = Data((0..<102_400).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let rows: [[String: Value]] = [
            [:],
            [
                "name": .text(""), "link": .uri(""), "photo": .data(Data()), "weight": .decimal(0),
                "age": .int(0),
            ],
            [
                "name": .text("a\0b"), "age": .int(Int64(Int16.min)), "alive": .bool(true),
                "admittedAt": .date(0),
            ],
            ["name": .text("Zoë 🩺 e\u{301}"), "admittedAt": .date(.infinity), "alive": .bool(false)],
            ["admittedAt": .date(-63_114_076_800), "weight": .decimal(Decimal(string: "72.35") ?? 0)],
            [
                "admittedAt": .date(63_113_904_000.5),
                "weight": .decimal(Decimal(string: "-10000000000000000000000") ?? 0),
            ],
            [
                "photo": .data(blob),
                "tag": .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))),
            ],
            [
                "name": .text(String(repeating: "ü", count: 2000)),
                "link": .uri("https://example.org/ä?x=1#y"),
            ],
            ["weight": .decimal(Decimal(string: "0.000012") ?? 0), "station": .int(7), "station#": .int(5)],
        ]
        try store.insert("Casualty", rows.enumerated().map { (Int64($0.offset + 1), $0.element) })
        let found = try store.fetch("Casualty")
        #expect(found.map(\.key) == (1...9).map(Int64.init))
        for (row, values) in zip(found, rows) { #expect(row.values == values) }
    }

    @Test("Infinite and tiny reals survive")
    func reals() throws {
        let numbers = [
            Double.infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 3, -0.1,
        ]
        try store.insert(
            "Assessment",
            numbers.enumerated().map { (Int64($0.offset + 1), ["confidence": .double($0.element)]) })
        #expect(try store.fetch("Assessment").map { $0.values["confidence"] } == numbers.map { .double($0) })
    }

    @Test("NaN is refused with the attribute's name")
    func notANumber() throws {
        let error = #expect(throws: StoreError.self) {
            try store.insert("Assessment", [(1, ["confidence": .double(.nan)])])
        }
        #expect(error?.property == "confidence")
        #expect(try store.fetch("Assessment").isEmpty)
    }

    @Test("Thousands of rows arrive in order, a small batch first")
    func batches() throws {
        try store.insert(
            "Injury", (1...1003).map { (Int64($0), ["severity": .int(Int64($0)), "kind": .text("k\($0)")]) })
        var sizes: [Int] = []
        var keys: [Int64] = []
        try store.fetch(FetchPlan(entity: store.entity("Injury").index), .latest) { batch in
            sizes.append(batch.count)
            keys += store.schema.rows(batch).map(\.key)
            return .more
        }
        #expect(sizes == [32, 64, 128, 256, 256, 256, 11])
        #expect(keys == (1...1003).map(Int64.init))
    }

    @Test("A fetch can be stopped, and another started inside it")
    func stopping() throws {
        try store.insert("Injury", (1...100).map { (Int64($0), ["severity": .int(Int64($0))]) })
        var outer = 0
        var inner = 0
        try store.fetch(FetchPlan(entity: store.entity("Injury").index), .latest) { batch in
            outer += batch.count
            inner = try store.keys("Injury").count
            return .stop
        }
        #expect(outer == 32)
        #expect(inner == 100)
        #expect(try store.keys("Injury").count == 100)
    }

    @Test("A fetch of a parent finds its sub-entities in one order, a fetch without them does not")
    func inheritance() throws {
        try store.insert("Place", [(1, ["name": .text("b")]), (3, ["name": .text("d")])])
        try store.insert(
            "Station",
            [(2, ["name": .text("c"), "Name": .text("C"), "capacity": .int(9)]), (4, ["name": .text("a")])])
        let sorted = try store.fetch("Place") { $0.sort = [SortTerm(keyPath: ["name"])] }
        #expect(sorted.map(\.key) == [4, 1, 2, 3])
        #expect(sorted.map(\.entity) == ["Station", "Place", "Station", "Place"])
        #expect(sorted[2].values == ["name": .text("c"), "Name": .text("C"), "capacity": .int(9)])
        #expect(try store.keys("Place") { $0.includesSubentities = false } == [1, 3])
        #expect(try store.keys("Station") == [2, 4])
        #expect(try store.count(FetchPlan(entity: store.entity("Place").index), .latest) == 4)
        #expect(try store.rows("Place", [2]).map(\.entity) == ["Station"])
        #expect(try Set(store.rows("Place", [1, 2, 9]).map(\.entity)) == ["Station", "Place"])
    }

    @Test("Limit and offset cut the sorted result, and count respects them")
    func limits() throws {
        try store.insert("Injury", (1...50).map { (Int64($0), ["severity": .int(Int64($0 % 7))]) })
        let plan: (inout FetchPlan) -> Void = {
            $0.sort = [SortTerm(keyPath: ["severity"], isAscending: false)]
            $0.limit = 5
            $0.offset = 3
        }
        let all = try store.keys("Injury") { $0.sort = [SortTerm(keyPath: ["severity"], isAscending: false)] }
        #expect(try store.keys("Injury", nil, plan) == Array(all[3..<8]))
        var counted = FetchPlan(entity: try store.entity("Injury").index)
        counted.offset = 48
        #expect(try store.count(counted, .latest) == 2)
    }

    @Test("Without values only keys, versions and entities are read")
    func keysOnly() throws {
        try store.insert("Station", [(1, ["name": .text("x")])])
        let rows = try store.fetch("Place") { $0.includesValues = false }
        #expect(rows == [TestRow(key: 1, entity: "Station", values: [:])])
    }

    @Test("An update writes the changed slots and raises the version")
    func update() throws {
        try store.insert("Injury", [(1, ["kind": .text("cut"), "severity": .int(3)])])
        let outcome = try store.update("Injury", 1, ["severity": .int(4)], expected: 1)
        #expect(outcome.conflicts.isEmpty)
        let row = TestRow(
            key: 1, version: 2, entity: "Injury", values: ["kind": .text("cut"), "severity": .int(4)])
        #expect(try store.fetch("Injury") == [row])
    }

    @Test("A delete takes the row and its links")
    func delete() throws {
        try store.insert("Casualty", [(1, [:]), (2, [:])])
        try store.insert("Assessment", [(1, [:])])
        try store.link("Casualty", "assessments", 1, added: ["Assessment": [1]])
        try store.link("Casualty", "contacts", 1, added: ["Casualty": [2]])
        #expect(try store.members("Casualty", "contacts", of: 2) == [1])
        var batch = ChangeBatch()
        batch.deletes = [DeleteGroup(entity: try store.entity("Casualty").index, numbers: [1], expected: [1])]
        #expect(try store.commit(batch).conflicts.isEmpty)
        #expect(try store.keys("Casualty") == [2])
        #expect(try store.members("Assessment", "casualties", of: 1).isEmpty)
        #expect(try store.scalar("SELECT COUNT(*) FROM Z_2CONTACTS") == "0")
        #expect(try store.scalar("SELECT COUNT(*) FROM Z_1CASUALTIES") == "0")
    }
}

extension SQLiteStore {
    func update(_ entity: String, _ key: Int64, _ values: [String: Value], expected: Int32) throws
        -> CommitOutcome
    {
        let description = try self.entity(entity)
        let chunk = try schema.chunk(entity, [(key, values)], version: max(expected, 0) + 1)
        let slots = description.slots.indices.filter { values[description.slots[$0].name] != nil }
        var batch = ChangeBatch()
        batch.updates = [
            UpdateGroup(entity: description.index, slots: slots, chunk: chunk, expected: [expected])
        ]
        return try commit(batch)
    }

    func link(_ entity: String, _ name: String, _ owner: Int64, added: [String: [Int64]]) throws {
        var batch = ChangeBatch()
        let members = try added.flatMap { name, numbers in try numbers.map { try key(name, $0) } }
        batch.links = [
            LinkChange(
                relationship: try relationship(entity, name), owner: try key(entity, owner), added: members,
                removed: [])
        ]
        _ = try commit(batch)
    }

    /// Asks the file itself.
    func scalar(_ sql: String) throws -> String? {
        let connection = try Connection(
            path: url.path, access: .read, options: SQLiteOptions(), counter: StatementCounter())
        return try connection.run(sql)
    }
}
