// Orders, links, adoptions, names beyond ASCII, configurations, and what an observer sees.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Relationships")
struct RelationshipTests {
    let folder = Folder()
    let store: SQLiteStore

    init() throws {
        store = try folder.store()
    }

    private func keys(_ entity: String, _ numbers: [Int64]) throws -> [RowKey] {
        try numbers.map { try store.key(entity, $0) }
    }

    @Test("An ordered one-to-many comes back in its order, 1024 apart in the file")
    func orderedOneToMany() throws {
        try store.insert("Casualty", [(1, [:])])
        try store.insert("Injury", (1...4).map { (Int64($0), ["casualty": .int(1)]) })
        var batch = ChangeBatch()
        batch.orders = [
            OrderChange(
                relationship: try store.relationship("Casualty", "injuries"),
                owner: try store.key("Casualty", 1),
                members: try keys("Injury", [3, 1, 4, 2]))
        ]
        #expect(try store.commit(batch).conflicts.isEmpty)
        #expect(try store.members("Casualty", "injuries", of: 1) == [3, 1, 4, 2])
        #expect(try store.scalar("SELECT group_concat(Z_FOK_CASUALTY) FROM ZINJURY") == "2048,4096,1024,3072")
    }

    @Test("An ordered many-to-many: new members go to the end, an order can be written, members leave")
    func orderedManyToMany() throws {
        let list = EntityDraft("List", [], [Triage.toMany("songs", "Song", "lists", ordered: true)])
        let song = EntityDraft("Song", [], [Triage.toMany("lists", "List", "songs")])
        let folder = Folder()
        let store = try folder.store(Schema(checking: SchemaDraft(list, song)))
        try store.insert("List", [(1, [:])])
        try store.insert("Song", (1...4).map { (Int64($0), [:]) })
        try store.link("List", "songs", 1, added: ["Song": [2, 1]])
        try store.link("Song", "lists", 4, added: ["List": [1]])
        try store.link("List", "songs", 1, added: ["Song": [3, 2]])
        #expect(try store.members("List", "songs", of: 1) == [2, 1, 4, 3])
        var batch = ChangeBatch()
        let owner = try store.key("List", 1)
        let songs = try store.relationship("List", "songs")
        batch.links = [
            LinkChange(relationship: songs, owner: owner, added: [], removed: [try store.key("Song", 4)])
        ]
        batch.orders = [
            OrderChange(
                relationship: songs, owner: owner, members: try [3, 1, 2].map { try store.key("Song", $0) })
        ]
        #expect(try store.commit(batch).conflicts.isEmpty)
        #expect(try store.members("List", "songs", of: 1) == [3, 1, 2])
        #expect(try store.members("Song", "lists", of: 4).isEmpty)
        #expect(try store.members("Song", "lists", of: 3) == [1])
    }

    @Test("A relationship that is its own inverse is stored in both directions")
    func reflexive() throws {
        try store.insert("Casualty", (1...3).map { (Int64($0), [:]) })
        try store.link("Casualty", "contacts", 1, added: ["Casualty": [2, 3]])
        #expect(try store.members("Casualty", "contacts", of: 1) == [2, 3])
        #expect(try store.members("Casualty", "contacts", of: 3) == [1])
        var batch = ChangeBatch()
        batch.links = [
            LinkChange(
                relationship: try store.relationship("Casualty", "contacts"),
                owner: try store.key("Casualty", 3),
                added: [], removed: try keys("Casualty", [1]))
        ]
        _ = try store.commit(batch)
        #expect(try store.members("Casualty", "contacts", of: 1) == [2])
        #expect(try store.scalar("SELECT COUNT(*) FROM Z_2CONTACTS") == "2")
    }

    @Test("A to-many without inverse keeps its owner in the member's table")
    func adoption() throws {
        try store.insert("Station", [(1, [:]), (2, [:])])
        try store.insert("Assessment", (1...3).map { (Int64($0), [:]) })
        let visits = try store.relationship("Place", "visits")
        func adopt(_ owner: Int64, _ added: [Int64], _ removed: [Int64]) throws {
            var batch = ChangeBatch()
            batch.adoptions = [
                AdoptionChange(
                    relationship: visits, owner: try store.key("Station", owner),
                    added: try keys("Assessment", added), removed: try keys("Assessment", removed))
            ]
            _ = try store.commit(batch)
        }
        try adopt(1, [1, 2, 3], [])
        try adopt(2, [3], [])
        try adopt(1, [], [2, 3])
        #expect(try store.members("Place", "visits", of: 1) == [1])
        #expect(try store.members("Place", "visits", of: 2) == [3])
    }

    @Test("Members of a relationship to a parent entity come with their own entities")
    func taggedToOne() throws {
        try store.insert("Station", [(1, ["name": .text("North")])])
        try store.insert(
            "Casualty",
            [
                (1, ["station": .int(1), "station#": .int(5)]),
                (2, ["station": .int(1), "station#": .int(99)]),
            ])
        #expect(try store.members("Place", "casualties", of: 1) == [1, 2])
        let values = try store.rows("Casualty", [1, 2]).map(\.values)
        #expect(
            values == [["station": .int(1), "station#": .int(5)], ["station": .int(1)]],
            "a number of no entity is noise")
    }

    @Test("Names beyond ASCII, names that differ in case, and names like keywords")
    func names() throws {
        var entity = EntityDraft(name: "Größe")
        entity.attributes = ["straße", "Straße", "order", "Order", "zählung", "名前"].map {
            Triage.attribute($0, .string)
        }
        entity.attributes.append(Triage.attribute("pk", .integer64))
        let folder = Folder()
        let store = try folder.store(Schema(checking: SchemaDraft(entity)))
        let values: [String: Value] = [
            "straße": .text("a"), "Straße": .text("b"), "order": .text("c"), "Order": .text("d"),
            "zählung": .text("e"),
            "名前": .text("f"), "pk": .int(.min),
        ]
        try store.insert("Größe", [(1, values)])
        #expect(try store.fetch("Größe").map(\.values) == [values])
        let named = Comparison(.keyPath(["名前"]), .equal, .constant(.text("f")))
        #expect(try store.keys("Größe", .comparison(named)) == [1])
    }

    @Test("A store of one configuration has only its tables and refuses other entities")
    func configuration() throws {
        var draft = SchemaDraft()
        draft.entities = ["A", "B"].map { EntityDraft(name: $0) }
        draft.configurations = ["Local": ["A"]]
        let schema = try Schema(checking: draft)
        let file = folder.url.appendingPathComponent("Local.sqlite")
        let store = try SQLiteStore(
            url: file, schema: schema, configuration: "Local", options: SQLiteOptions())
        #expect(try Array(store.metadata().versionHashes.keys) == ["A"])
        let error = #expect(throws: StoreError.self) { try store.keys("B") }
        #expect(error?.entity == "B")
        #expect(throws: StoreError.self) {
            try SQLiteStore(url: file, schema: schema, configuration: "Cloud", options: SQLiteOptions())
        }
    }

    @Test("An application's metadata stays, and the row has Core Data's keys")
    func metadata() throws {
        var metadata = try store.metadata()
        metadata.userInfo = try PropertyListSerialization.data(
            fromPropertyList: ["owner": "ward 3", "NSStoreType": "Other"], format: .binary, options: 0)
        try store.setMetadata(metadata)
        let again = try folder.store().metadata()
        #expect(again.uuid == metadata.uuid && again.type == "SQLite")
        let userInfo = try #require(again.userInfo)
        let values =
            try PropertyListSerialization.propertyList(from: userInfo, format: nil) as? [String: String]
        #expect(values == ["owner": "ward 3"])
        #expect(
            try store.scalar("SELECT typeof(Z_PLIST) || hex(substr(Z_PLIST, 1, 8)) FROM Z_METADATA")
                == "blob62706C6973743030")
    }

    @Test("An observer sees each statement with its values and rows; twenty rows take five inserts")
    func observer() throws {
        let log = EventLog()
        let folder = Folder()
        let store = try folder.store {
            $0.observer = { log.add($0) }
            $0.observesBindings = true
        }
        log.clear()
        try store.insert("Injury", (1...20).map { (Int64($0), ["severity": .int(7)]) })
        #expect(
            log.events.map { String($0.sql.prefix(6)) } == ["BEGIN "] + Array(repeating: "INSERT", count: 5) + [
                "COMMIT"
            ])
        #expect(log.events[1].rows == 4)
        #expect(log.events[1].bindings.prefix(5) == ["1", "1", "NULL", "NULL", "7"])
        log.clear()
        let ran = store.counts.run
        let wanted = Comparison(.keyPath(["severity"]), .equal, .constant(.int(7)))
        _ = try store.fetch("Injury", .comparison(wanted))
        #expect(log.events.map(\.rows) == [20])
        #expect(log.events.map(\.bindings) == [["7"]])
        #expect(store.counts.run == ran + 1)
        let prepared = store.counts.prepared
        _ = try store.fetch("Injury", .comparison(wanted))
        #expect(store.counts.prepared == prepared, "the statement is kept")
    }
}

final class EventLog: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [StatementEvent] = []
    var events: [StatementEvent] { lock.withLock { list } }
    func add(_ event: StatementEvent) { lock.withLock { list.append(event) } }
    func clear() { lock.withLock { list = [] } }
}
