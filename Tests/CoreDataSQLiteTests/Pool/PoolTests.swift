// Which connections a store opens, and what it remembers of its model.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Connections and plans")
struct PoolTests {
    let folder = Folder()

    init() throws {
        let store = try folder.store()
        try store.insert("Injury", [(1, ["kind": .text("cut")])])
        try store.close()
    }

    private func connections(_ store: SQLiteStore) -> (idle: Int, busy: Int, hasWriter: Bool) {
        store.pool.state.withLock { ($0.idle.count, $0.busy.count, $0.writer != nil) }
    }

    @Test("A store that is read has one connection, which the first write takes over; the next read opens a reader")
    func first() throws {
        let store = try folder.store()
        #expect(connections(store) == (1, 0, false))
        #expect(try store.fetch("Injury").count == 1)
        #expect(connections(store) == (1, 0, false))
        try store.insert("Injury", [(2, [:])])
        #expect(connections(store) == (0, 0, true))
        #expect(try store.fetch("Injury").count == 2)
        #expect(connections(store) == (1, 0, true))
        try store.close()
        #expect(try folder.names() == ["Model.sqlite"])
    }

    @Test("A write while the first connection is read with gets one of its own, and the read sees its moment")
    func beside() throws {
        let store = try folder.store()
        try store.pool.read { reader in
            try reader.run("BEGIN")
            #expect(try reader.run("SELECT COUNT(*) FROM ZINJURY") == "1")
            try store.insert("Injury", [(2, [:])])
            #expect(connections(store) == (0, 1, true))
            #expect(try reader.run("SELECT COUNT(*) FROM ZINJURY") == "1")
            try reader.run("COMMIT")
        }
        #expect(try store.fetch("Injury").count == 2)
        try store.close()
        #expect(try folder.names() == ["Model.sqlite"])
    }

    @Test("The first save of an opened store runs its own statements and no setting")
    func settings() throws {
        let seen = Mutex<[String]>([])
        let store = try folder.store { $0.observer = { event in seen.withLock { $0.append(event.sql) } } }
        let opening = seen.withLock { $0 }
        #expect(opening.contains { $0.hasPrefix("PRAGMA journal_size_limit") })
        try store.insert("Injury", [(2, [:])])
        let saving = seen.withLock { $0.dropFirst(opening.count).map { String($0.prefix(6)) } }
        #expect(saving == ["BEGIN ", "INSERT", "COMMIT"])
    }

    @Test("A store that was only read leaves no log behind")
    func onlyRead() throws {
        let store = try folder.store()
        // More readers than are kept: the one that can empty the log must be among those that stay.
        try read(store, inside: 6)
        try store.close()
        #expect(try folder.names() == ["Model.sqlite"])
    }

    private func read(_ store: SQLiteStore, inside depth: Int) throws {
        guard depth > 0 else { return #expect(try store.fetch("Injury").count == 1) }
        try store.pool.read { _ in try read(store, inside: depth - 1) }
    }

    @Test(
        "Stores of one plan have their own identities, and one of another model is refused although the plan knows a store that fits"
    )
    func plan() throws {
        let plan = try StorePlan(schema: Triage.schema, configuration: nil)
        func open(_ file: URL, _ plan: StorePlan) throws -> SQLiteStore {
            try SQLiteStore(url: file, plan: plan, options: SQLiteOptions())
        }
        let first = try open(folder.file, plan)
        let other = folder.url.appendingPathComponent("other.sqlite")
        try open(other, plan).close()
        let second = try open(other, plan)
        let again = try open(folder.file, plan)
        #expect(again.identifier == first.identifier && second.identifier != first.identifier)
        #expect(try again.metadata().versionHashes == first.metadata().versionHashes)

        let foreign = folder.url.appendingPathComponent("foreign.sqlite")
        var draft = SchemaDraft(Triage.place)
        draft.entities[0].relationships = []
        let small = try Schema(checking: draft)
        try SQLiteStore(url: foreign, schema: small, configuration: nil, options: SQLiteOptions()).close()
        let error = #expect(throws: StoreError.self) { try open(foreign, plan) }
        #expect(error?.code == 134100)
    }

    @Test("What an application wrote into the metadata is seen when the store is opened again with the same plan")
    func metadata() throws {
        let plan = try StorePlan(schema: Triage.schema, configuration: nil)
        let store = try SQLiteStore(url: folder.file, plan: plan, options: SQLiteOptions())
        var changed = try store.metadata()
        changed.userInfo = try PropertyListSerialization.data(
            fromPropertyList: ["owner": "Ada"], format: .binary, options: 0)
        try store.setMetadata(changed)
        try store.close()
        for _ in 0..<2 {
            let again = try SQLiteStore(url: folder.file, plan: plan, options: SQLiteOptions())
            let userInfo = try #require(try again.metadata().userInfo)
            let values = try PropertyListSerialization.propertyList(from: userInfo, format: nil) as? [String: String]
            #expect(values == ["owner": "Ada"])
            try again.close()
        }
    }

    @Test("Blocks of keys grow from 64 to 1024 and follow each other without a gap; a new session starts small again")
    func keys() throws {
        let store = try folder.store()
        let root = try store.entity("Injury").index
        var taken: [Int64] = []
        let before = store.counts.run
        for _ in 0..<2000 { taken += try store.allocateKeys(1, in: root) }
        #expect(taken == Array(2...2001))
        // 64, 128, 256, 512, 1024 and 1024: six blocks of one transaction of three statements.
        #expect(store.counts.run - before == 18)
        try store.close()
        let next = try folder.store()
        #expect(try next.allocateKeys(1, in: root) == 3010..<3011)
        #expect(try next.allocateKeys(5000, in: root).count == 5000)
    }

    @Test(
        "A pool that somebody closes while another has it alone stays closed when that fails, and closing waits for it")
    func closedWhileAlone() throws {
        let store = try folder.store()
        let pool = store.pool
        let isLeft = Mutex(false)
        let wasLeft = Mutex(false)
        let closing = DispatchGroup()
        closing.enter()
        #expect(throws: CancellationError.self) {
            try pool.alone { _ in
                Thread.detachNewThread {
                    defer { closing.leave() }
                    let isClosed = (try? pool.close()) != nil
                    wasLeft.withLock { $0 = isClosed && isLeft.withLock { $0 } }
                }
                while pool.state.withLock({ $0.closing.isEmpty }) { usleep(1000) }
                isLeft.withLock { $0 = true }
                throw CancellationError()
            }
        }
        closing.wait()
        #expect(wasLeft.withLock { $0 })
        let error = #expect(throws: StoreError.self) { try store.fetch("Injury") }
        #expect(error?.code == 134070)
    }

    @Test("A pool whose sole use fails is open again; one whose sole use succeeds is closed")
    func alone() throws {
        let store = try folder.store()
        #expect(throws: CancellationError.self) { try store.pool.alone { _ in throw CancellationError() } }
        #expect(try store.fetch("Injury").count == 1)
        var seen: String?
        try store.pool.alone { seen = try $0.run("SELECT COUNT(*) FROM ZINJURY") }
        #expect(seen == "1")
        let error = #expect(throws: StoreError.self) { try store.pool.alone { connection in _ = connection } }
        #expect(error?.code == 134070)
    }
}
