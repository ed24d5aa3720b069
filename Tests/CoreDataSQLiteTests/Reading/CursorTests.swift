// Results that are pulled: whose connection they have, and until when.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("Cursors")
struct CursorTests {
    let folder = Folder()

    init() throws {
        let store = try folder.store()
        try store.insert("Injury", (1...1000).map { ($0, ["severity": .int($0)]) })
        try store.close()
    }

    private func plan(_ store: SQLiteStore) throws -> FetchPlan {
        var plan = FetchPlan(entity: try store.entity("Injury").index)
        plan.sort = [SortTerm(keyPath: ["severity"])]
        return plan
    }

    private func keys(_ cursor: any ReadCursor<RowBatch>) throws -> [Int64] {
        var keys: [Int64] = []
        while let batch = try cursor.next() { keys += batch.keys(inStore: 1).map(\.number) }
        return keys
    }

    @Test("A cursor has a reader until its end, however that comes: the last row, close, being let go, an error")
    func readers() throws {
        let store = try folder.store { ($0.readerLimit, $0.connectionTimeout) = (1, 0.2) }
        func elsewhere() -> Int? { onThread { try? store.fetch("Injury").count } }
        var cursor: (any ReadCursor<RowBatch>)? = try store.open(plan(store), .latest)
        #expect(try cursor?.next()?.count == 32)
        #expect(elsewhere() == nil, "the only reader is the cursor's")
        cursor = nil
        #expect(elsewhere() == 1000)
        let closed = try store.open(plan(store), .latest)
        _ = try closed.next()
        closed.close()
        #expect(try closed.next() == nil && elsewhere() == 1000)
        let whole = try store.open(plan(store), .latest)
        #expect(try keys(whole) == Array(1...1000) && elsewhere() == 1000)
        #expect(try whole.next() == nil)
        try store.insert("Casualty", [(1, [:])])
        _ = try store.pool.write { try $0.run("UPDATE ZCASUALTY SET ZTAG = 'short'") }
        let broken = try store.open(FetchPlan(entity: try store.entity("Casualty").index), .latest)
        #expect(throws: StoreError.self) { try broken.next() }
        #expect(try broken.next() == nil && elsewhere() == 1000)
        try store.close()
        #expect(try folder.names() == ["Model.sqlite"])
    }

    @Test(
        "Who holds a paused cursor reads beside it, whatever the limit, and writes; the cursor goes on with the rows of its beginning"
    )
    func paused() throws {
        let store = try folder.store { ($0.readerLimit, $0.connectionTimeout) = (1, 0.2) }
        let cursor = try store.open(plan(store), .latest)
        _ = try cursor.next()
        #expect(try store.fetch("Injury").count == 1000)
        try store.insert("Injury", [(2000, ["severity": .int(500)])])
        #expect(try store.fetch("Injury").count == 1001)
        #expect(try keys(cursor) == Array(33...1000))
    }

    @Test("A cursor moves between threads; several that pull from one get each row once")
    func threads() throws {
        let store = try folder.store()
        let cursor = try store.open(plan(store), .latest)
        let first = onThread { (try? cursor.next())?.keys(inStore: 1).map(\.number) ?? [] }
        let found = Collected()
        let group = DispatchGroup()
        for _ in 0..<4 {
            DispatchQueue.global().async(group: group) {
                while let batch = try? cursor.next() { found.add(batch.keys(inStore: 1).map(\.number)) }
            }
        }
        group.wait()
        #expect(first == Array(1...32))
        #expect(found.all.sorted() == Array(33...1000))
    }

    @Test("Closing the store ends a paused cursor, waits for nothing, and leaves the file alone")
    func closing() throws {
        let store = try folder.store()
        try store.insert("Injury", [(3000, [:])])
        let cursor = try store.open(plan(store), .latest)
        _ = try cursor.next()
        try store.close()
        let error = #expect(throws: StoreError.self) { try cursor.next() }
        #expect(error?.code == 134070)
        #expect(throws: StoreError.self) { try cursor.next() }
        #expect(try folder.names() == ["Model.sqlite"])
    }

    @Test("Without a write-ahead log a paused cursor keeps no writer out")
    func journals() throws {
        let store = try folder.store {
            $0.pragmas = ["journal_mode": "DELETE"]
            $0.timeout = 0.2
        }
        let cursor = try store.open(plan(store), .latest)
        _ = try cursor.next()
        try store.insert("Injury", [(2000, ["severity": .int(2000)])])
        #expect(try keys(cursor) == Array(33...1000))
    }

    @Test("A store at /dev/null is written while a cursor is paused, by another thread too")
    func inMemory() throws {
        let store = try SQLiteStore(
            url: URL(fileURLWithPath: "/dev/null"), schema: Triage.schema, configuration: nil, options: SQLiteOptions())
        try store.insert("Injury", (1...100).map { ($0, ["severity": .int($0)]) })
        let cursor = try store.open(plan(store), .latest)
        _ = try cursor.next()
        #expect(onThread { (try? store.insert("Injury", [(200, [:])])) != nil } == true)
        #expect(try keys(cursor) == Array(33...100))
    }
}

/// Runs on a thread of its own and waits for it.
func onThread<R>(_ body: @escaping () -> R?) -> R? {
    nonisolated(unsafe) var result: R?
    nonisolated(unsafe) let body = body
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        result = body()
        done.signal()
    }
    done.wait()
    return result
}

/// Numbers that several threads found.
private final class Collected: @unchecked Sendable {
    private let lock = NSLock()
    private var numbers: [Int64] = []

    func add(_ more: [Int64]) { lock.withLock { numbers += more } }

    var all: [Int64] { lock.withLock { numbers } }
}
