// Whether the statements that are checked in are those that a store runs.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

/// Uses a store of the same model in every way that has statements of its own.
@Suite("Statements that run")
struct RunStatementTests {
    let folder = Folder()

    /// Lists and rows of values of any length are one statement, and so are those that differ in numbers and texts alone.
    private static func form(_ sql: String) -> String {
        sql.replacing(/'[^']*'/, with: "''").replacing(/\b\d+\b/, with: "0")
            .replacing(/(\([^()]*\))(, \1)+/) { "\($0.1), …" }
            .replacing(/(\?0?)(, \1)+/) { "\($0.1), …" }
    }

    /// What is SQLite's alone: transactions, settings, and what a file is asked for before it is known to be a store.
    private static func isOwn(_ sql: String) -> Bool {
        ["BEGIN", "COMMIT", "ROLLBACK", "PRAGMA", "SELECT COUNT(*) FROM pragma_", "SELECT COUNT(*) FROM sqlite_master"]
            .contains { sql.hasPrefix($0) }
            || [
                "SELECT 1 FROM pragma_", "SELECT name FROM sqlite_master", "SELECT name, CASE WHEN",
                "SELECT group_concat(",
                "SELECT sql FROM sqlite_master",
            ]
            .contains { sql.hasPrefix($0) }
    }

    @Test(
        "What a store runs that is opened, filled, read, changed, emptied and migrated is among the statements that are checked in"
    )
    func run() throws {
        let seen = Mutex<[String]>([])
        let store = try folder.store(Ward.schema) { options in
            options.recordsHistory = true
            options.observer = { event in seen.withLock { $0.append(event.sql) } }
        }
        try fill(store)
        try change(store)
        try read(store)
        try changeSets(store)
        try keep(store)
        let pinned = try Set(
            StatementList(map: StoreMap(schema: Ward.schema, configuration: nil)).lines().map { Self.form($0.sql) })
        let all = Set(seen.withLock { $0 })
        #expect(all.count > 150, "\(all.count)")
        let unknown = all.filter { !Self.isOwn($0) && !pinned.contains(Self.form($0)) }.sorted()
        #expect(unknown.isEmpty, "\(unknown.joined(separator: "\n"))")
    }

    private func large(_ byte: UInt8) -> Value { .data(Data(repeating: byte, count: 150_000)) }

    private func fill(_ store: SQLiteStore) throws {
        for root in ["Casualty", "Place", "Injury", "Assessment", "Shelf", "Label"] {
            _ = try store.allocateKeys(100, in: store.entity(root).index)
        }
        try store.insert("Place", [(1, ["name": .text("north")])])
        try store.insert("Station", [(2, ["name": .text("south")]), (3, ["name": .text("east")])])
        let station = Value.int(Int64(try store.entity("Station").index.number))
        try store.insert(
            "Casualty",
            (1...7).map {
                ($0, ["name": .text("c\($0)"), "photo": large(UInt8($0)), "station": .int(2), "station#": station])
            })
        try store.insert("Injury", (1...4).map { ($0, ["severity": .int($0), "casualty": .int(1)]) })
        for name in ["Assessment", "Shelf", "Label"] { try store.insert(name, (1...3).map { ($0, [:]) }) }
    }

    private func change(_ store: SQLiteStore) throws {
        var batch = ChangeBatch()
        for name in ["Casualty", "Injury"] {
            let entity = try store.entity(name)
            let slots = Array(WriteCompiler(store.plan.map).stored(of: entity.index).prefix(2))
            batch.updates.append(
                UpdateGroup(
                    entity: entity.index, slots: slots, chunk: try store.schema.chunk(name, [(2, [:])], version: 2),
                    expected: [1]))
            batch.updates.append(
                UpdateGroup(
                    entity: entity.index, slots: [], chunk: try store.schema.chunk(name, [(3, [:])], version: 2),
                    expected: [1]))
        }
        func links(_ entity: String, _ name: String, _ member: String) throws -> LinkChange {
            LinkChange(
                relationship: try store.relationship(entity, name), owner: try store.key(entity, 1),
                added: [try store.key(member, 1), try store.key(member, 2)], removed: [try store.key(member, 3)])
        }
        batch.links = [
            try links("Casualty", "assessments", "Assessment"), try links("Casualty", "contacts", "Casualty"),
            try links("Shelf", "labels", "Label"),
        ]
        batch.adoptions = [
            AdoptionChange(
                relationship: try store.relationship("Place", "visits"), owner: try store.key("Place", 1),
                added: [try store.key("Assessment", 1)], removed: [try store.key("Assessment", 2)]),
            AdoptionChange(
                relationship: try store.relationship("Shelf", "notes"), owner: try store.key("Shelf", 1),
                added: [try store.key("Assessment", 3)], removed: []),
        ]
        batch.orders = [
            OrderChange(
                relationship: try store.relationship("Casualty", "injuries"), owner: try store.key("Casualty", 1),
                members: try [4, 3, 2, 1].map { try store.key("Injury", $0) }),
            OrderChange(
                relationship: try store.relationship("Shelf", "labels"), owner: try store.key("Shelf", 1),
                members: try [2, 1].map { try store.key("Label", $0) }),
        ]
        batch.checks = [VersionCheck(entity: try store.entity("Label").index, numbers: [1], expected: [1])]
        #expect(try store.commit(batch).isCommitted)
        var last = ChangeBatch()
        let casualty = try store.entity("Casualty").index
        last.deletes = [
            DeleteGroup(entity: casualty, numbers: [5, 6], expected: [1, 1]),
            DeleteGroup(entity: casualty, numbers: [7], expected: [1]),
        ]
        #expect(try store.commit(last).isCommitted)
    }

    private func read(_ store: SQLiteStore) throws {
        let schema = store.schema
        #expect(try store.fetch("Injury").count == 4 && store.keys("Casualty") { $0.includesValues = false }.count == 4)
        #expect(try store.fetch("Casualty") { ($0.limit, $0.offset) = (10, 1) }.count == 3)
        let plan = FetchPlan(entity: try store.entity("Injury").index)
        #expect(try store.count(plan, .latest) == 4)
        #expect(try store.rows("Casualty", [1]).count == 1 && store.rows("Casualty", [1, 2]).count == 2)
        for relationship in schema.relationships where relationship.isToMany {
            let owner = RowKey(entity: relationship.owner, number: 1)
            try store.members(of: relationship.index, owner: owner, .latest) { _ in .more }
            try store.targets(of: relationship.index, from: [1, 2], .latest) { _ in .more }
            try store.targets(of: relationship.index, fromAll: [1, 2], .latest) { _ in .more }
            _ = try store.isMember(
                RowKey(entity: relationship.destination, number: 1), of: relationship.index, owner: owner, .latest)
        }
    }

    private func changeSets(_ store: SQLiteStore) throws {
        var update = SetChange(
            .update(FetchPlan(entity: try store.entity("Casualty").index), [.init("age", .constant(.int(1)))]))
        update.answer = .keys
        #expect(try store.apply(update).count == 4)
        for name in ["Casualty", "Shelf", "Assessment", "Place"] {
            var delete = SetChange(.delete(FetchPlan(entity: try store.entity(name).index)))
            delete.answer = name == "Shelf" ? .count : .keys
            _ = try store.apply(delete)
        }
        for uniqueness in [SetChange.Uniqueness.fail, .keep] {
            var chunks = [try store.schema.chunk("Station", [(0, ["name": .text("a"), "capacity": .int(1)])])]
            var insert = SetChange(.insert { chunks.popLast() })
            insert.uniqueness = uniqueness
            #expect(try store.apply(insert).count == (uniqueness == .fail ? 1 : 0))
        }
    }

    private func keep(_ store: SQLiteStore) throws {
        try store.setMetadata(store.metadata())
        let last = try #require(try store.lastTransaction())
        try store.openHistory(after: 0).forEach { _ in .more }
        #expect(try store.deleteHistory(upTo: last) > 0)
        _ = try #require(store.migrator).migrate(Ward.migration, configuration: nil)
    }
}
