// Saving the order of a to-many: which statements run, and what files of other writers make of it.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Orders")
struct OrderTests {
    /// A store with a list and what it runs.
    private struct Subject {
        let folder: Folder
        let store: SQLiteStore
        let log = EventLog()
        let relationship: RelationshipIndex

        init(_ owner: String, _ relationship: String, _ draft: SchemaDraft = Triage.draft) throws {
            let log = log
            folder = Folder()
            store = try folder.store(Schema(checking: draft)) {
                $0.observer = { log.add($0) }
                $0.observesBindings = true
            }
            self.relationship = try store.relationship(owner, relationship)
        }

        /// The statements that begin with a word.
        func ran(_ word: String) -> [StatementEvent] { log.events.filter { $0.sql.hasPrefix(word) } }

        func owner(_ number: Int64 = 1) throws -> RowKey {
            RowKey(entity: store.schema[relationship].owner, number: number)
        }

        func keys(_ numbers: [Int64]) -> [RowKey] {
            numbers.map { RowKey(entity: store.schema[relationship].destination, number: $0) }
        }

        func order(_ numbers: [Int64], owner number: Int64 = 1) throws -> OrderChange {
            OrderChange(relationship: relationship, owner: try owner(number), members: keys(numbers))
        }

        /// Commits an order, perhaps with other things, and answers how many rows got another position.
        func write(
            _ numbers: [Int64], links added: [Int64] = [], removed: [Int64] = [], inserts: [RowChunk] = [],
            deletes: [Int64] = []
        ) throws -> Int {
            log.clear()
            var batch = ChangeBatch()
            batch.inserts = inserts
            if !added.isEmpty || !removed.isEmpty {
                batch.links = [
                    LinkChange(
                        relationship: relationship, owner: try owner(), added: keys(added), removed: keys(removed))
                ]
            }
            if !deletes.isEmpty {
                batch.deletes = [
                    DeleteGroup(
                        entity: store.schema[relationship].destination, numbers: deletes,
                        expected: deletes.map { _ in 1 })
                ]
            }
            batch.orders = [try order(numbers)]
            #expect(try store.commit(batch).conflicts.isEmpty)
            return ran("UPDATE").count
        }

        func members(of number: Int64 = 1) throws -> [Int64] {
            var members: [Int64] = []
            try store.members(of: relationship, owner: try owner(number), .latest) { batch in
                members += store.schema.rows(batch).map(\.key)
                return .more
            }
            return members
        }

        /// Changes the file as another program would.
        func alter(_ sql: String) throws {
            let connection = try Connection(
                path: folder.file.path, access: .write, options: SQLiteOptions(), counter: StatementCounter())
            try connection.run(sql)
        }

        func plan(_ sql: String) throws -> [String] {
            let connection = try Connection(
                path: folder.file.path, access: .read, options: SQLiteOptions(), counter: StatementCounter())
            let statement = try connection.statement("EXPLAIN QUERY PLAN " + sql)
            defer { statement.finish() }
            var lines: [String] = []
            while try statement.step() { lines.append(statement.text(3) ?? "") }
            return lines
        }
    }

    /// Casualty.injuries: an order in the members' own table.
    private func wounds(_ count: Int) throws -> Subject {
        let subject = try Subject("Casualty", "injuries")
        try subject.store.insert("Casualty", [(1, [:]), (2, [:])])
        if count > 0 {
            try subject.store.insert("Injury", (1...count).map { (Int64($0), ["casualty": .int(1)]) })
            #expect(try subject.write((1...count).map(Int64.init)) == count)
        }
        return subject
    }

    /// List.songs and Song.lists, both ordered.
    private func songs(_ count: Int) throws -> Subject {
        let list = EntityDraft("List", [], [Triage.toMany("songs", "Song", "lists", ordered: true)])
        let song = EntityDraft("Song", [], [Triage.toMany("lists", "List", "songs", ordered: true)])
        let subject = try Subject("List", "songs", SchemaDraft(list, song))
        try subject.store.insert("List", [(1, [:]), (2, [:])])
        try subject.store.insert("Song", (1...count).map { (Int64($0), [:]) })
        return subject
    }

    /// Card.related: a to-many that is its own inverse, ordered.
    private func cards(_ count: Int) throws -> Subject {
        let card = EntityDraft("Card", [], [Triage.toMany("related", "Card", "related", ordered: true)])
        let subject = try Subject("Card", "related", SchemaDraft(card))
        try subject.store.insert("Card", (1...count).map { (Int64($0), [:]) })
        return subject
    }

    @Test("A move in a list of 10,000 writes one position; an addition at the end one, a removal none")
    func oneToMany() throws {
        let subject = try wounds(10_000)
        var list = (1...10_000).map(Int64.init)
        list.insert(list.remove(at: 7000), at: 20)
        #expect(try subject.write(list) == 1)
        #expect(subject.log.events.count == 4, "begin, read, write, commit")
        #expect(try subject.members() == list)

        let new = try subject.store.schema.chunk("Injury", [(10_001, ["casualty": .int(1)])])
        list.append(10_001)
        #expect(try subject.write(list, inserts: [new]) == 1)
        #expect(try subject.members() == list)

        let gone = list.remove(at: 5000)
        #expect(try subject.write(list, deletes: [gone]) == 0)
        #expect(try subject.members() == list)
        #expect(try subject.write(list) == 0)
    }

    @Test("In a list of 10,000 pairs additions at the end write no position, a move one, a removal none")
    func manyToMany() throws {
        let subject = try songs(10_001)
        var list = (1...10_000).map(Int64.init)
        #expect(try subject.write(list, links: list) == 0, "the pairs came in the wanted order")
        // The end of the list is looked up once for all, the end of each song's lists once.
        #expect(subject.ran("SELECT MAX").count == 10_001)
        list.append(10_001)
        #expect(try subject.write(list, links: [10_001]) == 0)
        list.insert(list.remove(at: 7000), at: 20)
        #expect(try subject.write(list) == 1)
        #expect(try subject.members() == list)
        let gone = list.remove(at: 5000)
        #expect(try subject.write(list, removed: [gone]) == 0)
        #expect(try subject.members() == list)
    }

    @Test("Both sides of a many-to-many have orders of their own")
    func bothSides() throws {
        let subject = try songs(3)
        let lists = try subject.store.relationship("Song", "lists")
        func key(_ entity: String, _ number: Int64) throws -> RowKey { try subject.store.key(entity, number) }
        var batch = ChangeBatch()
        batch.links = [
            LinkChange(
                relationship: subject.relationship, owner: try subject.owner(1), added: subject.keys([1, 2, 3]),
                removed: []),
            LinkChange(relationship: lists, owner: try key("Song", 1), added: [try key("List", 2)], removed: []),
            LinkChange(
                relationship: subject.relationship, owner: try subject.owner(2), added: subject.keys([3]), removed: []),
        ]
        #expect(try subject.store.commit(batch).conflicts.isEmpty)
        #expect(try subject.members(of: 1) == [1, 2, 3] && subject.members(of: 2) == [1, 3])
        batch = ChangeBatch()
        batch.orders = [
            try subject.order([3, 1, 2]), try subject.order([3, 1], owner: 2),
            OrderChange(
                relationship: lists, owner: try key("Song", 1), members: try [2, 1].map { try key("List", $0) }),
        ]
        #expect(try subject.store.commit(batch).conflicts.isEmpty)
        #expect(try subject.members(of: 1) == [3, 1, 2] && subject.members(of: 2) == [3, 1])
        #expect(try subject.store.members("Song", "lists", of: 1) == [2, 1])
        #expect(try subject.store.members("Song", "lists", of: 3) == [1, 2])
    }

    @Test("A to-many that is its own inverse has an order at each end, its own member among them")
    func reflexive() throws {
        let subject = try cards(4)
        #expect(try subject.write([2, 3, 1, 4], links: [2, 3, 1, 4]) == 0)
        #expect(try subject.members() == [2, 3, 1, 4])
        #expect(try subject.write([4, 2, 3, 1]) == 1)
        #expect(try subject.members() == [4, 2, 3, 1])
        var batch = ChangeBatch()
        batch.links = [
            LinkChange(
                relationship: subject.relationship, owner: try subject.owner(4), added: subject.keys([3]), removed: [])
        ]
        batch.orders = [try subject.order([3, 1], owner: 4)]
        #expect(try subject.store.commit(batch).conflicts.isEmpty)
        #expect(
            try subject.members(of: 4) == [3, 1] && subject.members(of: 3) == [1, 4]
                && subject.members() == [4, 2, 3, 1])
    }

    @Test("2,000 additions at one place of a list, each saved, keep the order and write few others")
    func gathered() throws {
        let subject = try wounds(200)
        var list = (1...200).map(Int64.init)
        var writes = 0
        for number in 201...2200 as ClosedRange<Int64> {
            list.insert(number, at: 100)
            let new = try subject.store.schema.chunk("Injury", [(number, ["casualty": .int(1)])])
            writes += try subject.write(list, inserts: [new])
        }
        #expect(try subject.members() == list)
        #expect(writes > 2000 && writes < 20_000, "\(writes)")
    }

    @Test(
        "Equal, missing and negative positions of another writer: a new order comes out whole",
        arguments: [
            "NULL", "7", "Z_PK % 3", "-Z_PK", "9223372036854775807 - Z_PK", "CASE WHEN Z_PK > 10 THEN Z_PK * 16 END",
        ])
    func foreign(_ position: String) throws {
        let subject = try wounds(20)
        try subject.alter("UPDATE ZINJURY SET Z_FOK_CASUALTY = \(position)")
        var list = try subject.members()
        #expect(list.count == 20)
        list.insert(list.remove(at: 3), at: 12)
        list.insert(list.remove(at: 19), at: 0)
        _ = try subject.write(list)
        #expect(try subject.members() == list)
        #expect(try subject.store.scalar("SELECT COUNT(DISTINCT Z_FOK_CASUALTY) FROM ZINJURY") == "20")
        list.insert(list.remove(at: 3), at: 12)
        #expect(try subject.write(list) == 1)
        #expect(try subject.members() == list)
    }

    @Test("Pairs without positions, and one beyond all numbers, get members behind them and a new order")
    func foreignPairs() throws {
        let subject = try songs(4)
        for position in ["NULL", "9223372036854775807", "-5"] {
            #expect(try subject.write([1, 2], links: [1, 2]) <= 2)
            let join = try #require(
                try StoreMap(schema: subject.store.schema, configuration: nil).positions(of: subject.relationship))
            try subject.alter("UPDATE \(join.table) SET \(join.position) = \(position)")
            _ = try subject.write([4, 2, 1, 3], links: [3, 4])
            #expect(try subject.members() == [4, 2, 1, 3])
            _ = try subject.write([], removed: [1, 2, 3, 4])
        }
    }

    @Test("A position is written to the owner's member alone, not to one that another owner has by now")
    func moved() throws {
        let subject = try wounds(3)
        try subject.alter("UPDATE ZINJURY SET ZCASUALTY = 2, Z_FOK_CASUALTY = 77 WHERE Z_PK = 2")
        _ = try subject.write([2, 3, 1])
        #expect(try subject.members() == [3, 1])
        #expect(try subject.store.scalar("SELECT Z_FOK_CASUALTY FROM ZINJURY WHERE Z_PK = 2") == "77")
    }

    @Test("Positions are read by an index and written by key, in both kinds of tables")
    func plans() throws {
        for (subject, read, written) in [
            (try wounds(3), "USING INDEX ZINJURY_ZCASUALTY_INDEX", "USING INTEGER PRIMARY KEY (rowid=?)"),
            (try songs(3), "(Z_1LISTS=?)", "(Z_1LISTS=? AND Z_2SONGS=?)"),
            (try cards(3), "(Z_1RELATED=?)", "(Z_1RELATED=? AND REFLEXIVE=?)"),
        ] {
            let map = try StoreMap(schema: subject.store.schema, configuration: nil)
            let columns = try #require(try map.positions(of: subject.relationship))
            let writes = WriteCompiler(map)
            for sql in [writes.positions(columns), writes.lastPosition(columns)] {
                let plan = try subject.plan(sql)
                #expect(
                    plan.contains { $0.contains("SEARCH") && $0.contains(read) } && !plan.joined().contains("SCAN"),
                    "\(plan)")
            }
            let plan = try subject.plan(writes.order(columns))
            #expect(plan.count == 1 && plan[0].contains(written), "\(plan)")
        }
    }
}
