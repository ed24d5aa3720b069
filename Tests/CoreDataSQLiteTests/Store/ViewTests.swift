// Views that are pinned: what they see, what they cost, and what goes with the last one.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreDataSQLite

@Suite("Pinned views")
struct ViewTests {
    let folder = Folder()

    private func plan(_ store: SQLiteStore) throws -> FetchPlan { FetchPlan(entity: try store.entity("Injury").index) }

    private func count(_ store: SQLiteStore, _ view: ReadView) throws -> Int { try store.count(plan(store), view) }

    private var logSize: Int {
        let path = folder.file.path + "-wal"
        return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    @Test("64 views, each of its moment, while others read and write; the log is emptied when the last goes")
    func many() throws {
        let store = try folder.store { $0.readerLimit = 2 }
        var views: [ReadView] = []
        for number in 0..<64 {
            views.append(try store.pinnedView())
            try store.insert("Injury", [(Int64(number + 1), ["kind": .text("cut")])])
        }
        #expect(store.counts.pinnedViews == 64)
        let stop = DispatchTime.now() + .milliseconds(200)
        let group = DispatchGroup()
        nonisolated(unsafe) var wrong: [String] = []
        let lock = NSLock()
        let all = views
        let plan = try plan(store)
        for worker in 0..<4 {
            DispatchQueue.global().async(group: group) {
                var key = Int64(1_000_000 * (worker + 1))
                repeat {
                    for number in stride(from: worker, to: 64, by: 3) {
                        let seen = (try? store.count(plan, all[number])) ?? -1
                        if seen != number { lock.withLock { wrong.append("view \(number) sees \(seen)") } }
                    }
                    if (try? store.count(plan, .latest)) ?? 0 < 64 { lock.withLock { wrong.append("latest") } }
                    do { try store.insert("Injury", [(key, [:])]) } catch {
                        lock.withLock { wrong.append("insert \(key): \(error)") }
                    }
                    key += 1
                } while DispatchTime.now() < stop
            }
        }
        group.wait()
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
        #expect(logSize > 0)
        views.removeLast(63)
        #expect(store.counts.pinnedViews <= 64 && logSize > 0)
        views = []
        _ = consume all
        #expect(store.counts.pinnedViews == 0)
        #expect(logSize == 0)
    }

    @Test("More than the limit wait for one that goes, then throw 134090")
    func limit() throws {
        let store = try folder.store { ($0.pinnedViewLimit, $0.connectionTimeout) = (2, 0.2) }
        var views = try [store.pinnedView(), store.pinnedView()]
        let error = #expect(throws: StoreError.self) { try store.pinnedView() }
        #expect(error?.code == 134090 && error?.sentence.contains("SQLitePinnedViewLimitOption") == true)
        #expect(try count(store, .latest) == 0, "reads go on")
        try store.close()

        let patient = try folder.store { $0.pinnedViewLimit = 1 }
        views = [try patient.pinnedView()]
        let before = patient.counts.waits
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { [view = views[0]] in
            if case .pinned(let view) = view { view.close() }
        }
        views.append(try patient.pinnedView())
        #expect(patient.counts.waits == before + 1 && patient.counts.pinnedViews == 1)
    }

    @Test("A view outlives a checkpoint and a VACUUM, and statements of it run inside each other")
    func upkeep() throws {
        let store = try folder.store()
        try store.insert("Injury", (1...300).map { ($0, ["severity": .int($0)]) })
        let view = try store.pinnedView()
        let cursor = try store.open(plan(store), view)
        _ = try cursor.next()
        try store.pool.write { writer in
            try writer.run("DELETE FROM ZINJURY WHERE Z_PK > 10")
            writer.setBusyTimeout(0.05)
            _ = try? writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
            _ = try? writer.run("VACUUM")
        }
        var depth = 0
        try store.fetch(plan(store), view) { _ in
            // The same statement, twice half-way.
            try store.fetch(plan(store), view) { batch in
                depth = batch.count
                return .stop
            }
            #expect(try count(store, view) == 300)
            return .more
        }
        #expect(depth == 32)
        var rest = 0
        while let batch = try cursor.next() { rest += batch.count }
        #expect(rest == 268)
        #expect(try count(store, .latest) == 10)
        if case .pinned(let view) = view { view.close() }
        let error = #expect(throws: StoreError.self) { try count(store, view) }
        #expect(error?.code == 134070)
        #expect(store.counts.pinnedViews == 0 && logSize == 0)
    }

    @Test("A cursor keeps its view; a view that is closed ends its cursors")
    func cursors() throws {
        let store = try folder.store()
        try store.insert("Injury", (1...100).map { ($0, [:]) })
        let kept = try store.open(plan(store), try store.pinnedView())
        try store.insert("Injury", [(101, [:])])
        #expect(store.counts.pinnedViews == 1)
        var seen = 0
        while let batch = try kept.next() { seen += batch.count }
        #expect(seen == 100)
        let view = try store.pinnedView()
        let ended = try store.open(plan(store), view)
        _ = try ended.next()
        if case .pinned(let view) = view { view.close() }
        #expect(throws: StoreError.self) { try ended.next() }
    }

    @Test("A view whose transaction was ended by an error of the disk says so, and never shows another state")
    func lost() throws {
        let store = try folder.store()
        let view = try store.pinnedView()
        try store.insert("Injury", [(1, [:])])
        guard case .pinned(let own as SQLiteView) = view else { throw CancellationError() }
        _ = try own.lease.use { try $0.run("ROLLBACK") }
        let error = #expect(throws: StoreError.self) { try count(store, view) }
        #expect(error?.code == 134070)
    }

    @Test(
        "While threads pull and count, a view or the whole store is closed: each answer is right or 134070, and the file is left alone"
    )
    func closedUnderWay() throws {
        for round in 0..<20 {
            let folder = Folder()
            let store = try folder.store()
            try store.insert("Injury", (1...600).map { ($0, ["severity": .int($0)]) })
            let (plan, view) = (try plan(store), try store.pinnedView())
            let shared = try store.open(plan, view)
            let lock = NSLock()
            nonisolated(unsafe) var wrong: [String] = []
            let group = DispatchGroup()
            for worker in 0..<3 {
                DispatchQueue.global().async(group: group) {
                    do {
                        for _ in 0..<30 {
                            var seen = 0
                            let cursor = try store.open(plan, worker == 0 ? .latest : view)
                            while let batch = try cursor.next() { seen += batch.count }
                            if try seen != 600 || store.count(plan, view) != 600 {
                                lock.withLock { wrong.append("\(seen)") }
                            }
                            _ = try shared.next()
                        }
                    } catch {
                        if (error as? StoreError)?.code != 134070 { lock.withLock { wrong.append("\(error)") } }
                    }
                }
            }
            usleep(UInt32(round) * 200)
            if round % 2 == 0, case .pinned(let own) = view { own.close() }
            try store.close()
            group.wait()
            #expect(wrong.isEmpty, "\(wrong)")
            #expect(try folder.names() == ["Model.sqlite"])
        }
    }

    @Test("Two threads that read, each inside its view, the other's: 134090 for one at least, and both come back")
    func crossed() throws {
        let store = try folder.store { $0.connectionTimeout = 0.5 }
        try store.insert("Injury", [(1, [:])])
        let (plan, views) = (try plan(store), [try store.pinnedView(), try store.pinnedView()])
        let isInside = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let refused = Mutex<[Int?]>([])
        let group = DispatchGroup()
        for own in 0...1 {
            Thread.detachNewThread {
                do {
                    try store.fetch(plan, views[own]) { _ in
                        isInside[own].signal()
                        isInside[1 - own].wait()
                        return try store.count(plan, views[1 - own]) == 1 ? .more : .stop
                    }
                } catch { refused.withLock { $0.append((error as? StoreError)?.code) } }
                group.leave()
            }
            group.enter()
        }
        group.wait()
        #expect(refused.withLock { [[134090], [134090, 134090]].contains($0) })
        for view in views { #expect(try count(store, view) == 1) }
    }

    @Test("Closing the store ends its views and leaves the file alone")
    func closing() throws {
        let store = try folder.store()
        try store.insert("Injury", [(1, [:])])
        let view = try store.pinnedView()
        let cursor = try store.open(plan(store), view)
        try store.insert("Injury", [(2, [:])])
        try store.close()
        let error = #expect(throws: StoreError.self) { try count(store, view) }
        #expect(error?.code == 134070)
        #expect(throws: StoreError.self) { try cursor.next() }
        #expect(try folder.names() == ["Model.sqlite"])
        #expect(throws: StoreError.self) { try store.pinnedView() }
    }

    @Test("Where somebody writes when the last view goes, the writer empties the log as it leaves")
    func lastDuringWrite() throws {
        let store = try folder.store()
        try store.insert("Injury", [(1, [:])])
        guard case .pinned(let view) = try store.pinnedView() else {
            Issue.record("not pinned")
            return
        }
        try store.insert("Injury", (2...500).map { ($0, ["kind": .text("cut")]) })
        #expect(logSize > 0)
        var calls = 0
        _ = try store.apply(
            SetChange(
                .insert {
                    calls += 1
                    if calls > 1 { return nil }
                    view.close()
                    return try store.schema.chunk("Injury", [(0, ["kind": .text("burn")])])
                }))
        #expect(store.counts.pinnedViews == 0 && logSize == 0)
        #expect(try count(store, .latest) == 501)
        try store.insert("Injury", [(2000, [:])])
        #expect(try count(store, .latest) == 502)
    }

    @Test("Without a write-ahead log there are no views: a transaction that reads would keep writers out")
    func journals() throws {
        let store = try folder.store { $0.pragmas = ["journal_mode": "DELETE"] }
        #expect(!store.capabilities.contains(.pinnedViews))
        guard case .latest = try store.pinnedView() else {
            Issue.record("pinned")
            return
        }
        try store.insert("Injury", [(1, [:])])
        try store.close()
        let reader = try folder.store { $0.isReadOnly = true }
        guard case .latest = try reader.pinnedView() else {
            Issue.record("pinned")
            return
        }
        #expect(reader.counts.pinnedViews == 0)
    }
}
