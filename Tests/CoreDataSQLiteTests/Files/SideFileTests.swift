// Files of values that a pinned view still reads.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Side files of pinned views")
struct SideFileTests {
    let folder = Folder()

    private func large(_ byte: UInt8) -> Value { .data(Data(repeating: byte, count: 150_000)) }

    private var files: Int {
        let path = folder.url.appendingPathComponent(".Model_SUPPORT/_EXTERNAL_DATA").path
        return (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
    }

    private var notes: Int {
        let path = folder.url.appendingPathComponent(".Model_SUPPORT").path
        return (try? FileManager.default.contentsOfDirectory(atPath: path).count { $0.hasSuffix(".pending") }) ?? 0
    }

    /// The first byte of the photo of a casualty, read from its file; nil for one that is not there.
    private static func photo(_ number: Int64, _ store: SQLiteStore, _ view: ReadView) throws -> UInt8? {
        var found: UInt8?
        try store.rows(for: [number], in: store.entity("Casualty").index, view) { batch in
            guard case .data(let cell)? = store.schema.rows(batch).first?.values["photo"] else { return .more }
            let data = try store.externalData(named: String(decoding: cell.prefix(36), as: UTF8.self))
            if data.count == 150_000 { found = data.first }
            return .more
        }
        return found
    }

    private func replace(_ number: Int64, _ byte: UInt8, _ store: SQLiteStore, version: Int32) throws {
        var batch = ChangeBatch()
        let entity = try store.entity("Casualty")
        let chunk = try store.schema.chunk("Casualty", [(number, ["photo": large(byte)])], version: version + 1)
        let slot = try #require(entity.slots.firstIndex { $0.name == "photo" })
        batch.updates = [UpdateGroup(entity: entity.index, slots: [slot], chunk: chunk, expected: [version])]
        #expect(try store.commit(batch).isCommitted)
    }

    private func remove(_ numbers: [Int64], _ store: SQLiteStore) throws {
        var batch = ChangeBatch()
        batch.deletes = [
            DeleteGroup(
                entity: try store.entity("Casualty").index, numbers: numbers, expected: numbers.map { _ in Int32(1) })
        ]
        #expect(try store.commit(batch).isCommitted)
    }

    @Test(
        "Each view reads the values of its moment, whatever is replaced and removed; a file goes with the last view that may see it"
    )
    func moments() throws {
        let store = try folder.store()
        try store.insert("Casualty", (1...3).map { ($0, ["photo": large(UInt8($0))]) })
        var first: ReadView? = try store.pinnedView()
        try replace(1, 11, store, version: 1)
        var second: ReadView? = try store.pinnedView()
        try replace(1, 21, store, version: 2)
        try remove([2], store)
        var third: ReadView? = try store.pinnedView()
        _ = try store.apply(SetChange(.delete(FetchPlan(entity: store.entity("Casualty").index))))
        #expect(files == 5 && notes == 4)
        if let first {
            #expect(
                try Self.photo(1, store, first) == 1 && Self.photo(2, store, first) == 2
                    && Self.photo(3, store, first) == 3)
        }
        if let second { #expect(try Self.photo(1, store, second) == 11 && Self.photo(2, store, second) == 2) }
        if let third {
            #expect(
                try Self.photo(1, store, third) == 21 && Self.photo(2, store, third) == nil
                    && Self.photo(3, store, third) == 3)
        }
        second = nil
        #expect(files == 5)
        first = nil
        #expect(files == 2 && notes == 1)
        if let third { #expect(try Self.photo(1, store, third) == 21 && Self.photo(3, store, third) == 3) }
        third = nil
        #expect(files == 0 && notes == 0)
        try store.insert("Casualty", [(4, ["photo": large(4)])])
        try remove([4], store)
        #expect(files == 0 && notes == 0)
    }

    @Test("A view of one store of a file keeps what another store of it gives up; closing the store lets go of all")
    func severalStores() throws {
        let (store, other) = (try folder.store(), try folder.store())
        try store.insert("Casualty", [(1, ["photo": large(1)])])
        let view = try store.pinnedView()
        try remove([1], other)
        #expect(try Self.photo(1, store, view) == 1 && files == 1)
        // Nobody who opens the file meanwhile takes the note for an abandoned one.
        try folder.store().close()
        #expect(try Self.photo(1, store, view) == 1)
        try store.close()
        #expect(files == 0 && notes == 0)
    }

    @Test("Views that threads pin, read and let go while others replace values always find their files")
    func threads() throws {
        let store = try folder.store()
        try store.insert("Casualty", [(1, ["photo": large(1)])])
        let group = DispatchGroup()
        let lock = NSLock()
        nonisolated(unsafe) var wrong: [String] = []
        nonisolated(unsafe) var isDone = false
        for _ in 0..<3 {
            DispatchQueue.global().async(group: group) {
                while !lock.withLock({ isDone }) {
                    do {
                        let view = try store.pinnedView()
                        let (a, b) = (try Self.photo(1, store, view), try Self.photo(1, store, view))
                        if a == nil || a != b {
                            lock.withLock { wrong.append("\(String(describing: a)) \(String(describing: b))") }
                        }
                    } catch { lock.withLock { wrong.append("\(error)") } }
                }
            }
        }
        for version in 1...60 as ClosedRange<Int32> { try replace(1, UInt8(version + 1), store, version: version) }
        lock.withLock { isDone = true }
        group.wait()
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
        #expect(files == 1 && notes == 0)
    }

    /// Lends sessions of a store; in the first read something happens once it has seen the state that it reads.
    private final class Racing: SQLSource, @unchecked Sendable {
        private let pool: Pool
        private var rival: (() throws -> Void)?

        init(_ pool: Pool, _ rival: @escaping () throws -> Void) {
            self.pool = pool
            self.rival = rival
        }

        func read(_ view: ReadView, isBrief: Bool, _ body: (any SQLReading) throws -> Void) throws {
            try pool.read(view) { (session: any SQLReading) in
                guard let rival else { return try body(session) }
                self.rival = nil
                _ = try session.tuples("BEGIN", [])
                defer { _ = try? session.tuples("END", []) }
                _ = try session.tuples("SELECT * FROM Z_METADATA", [])
                try rival()
                try body(session)
            }
        }

        func hold(_ view: ReadView, _ ready: (any SQLReading) throws -> any SQLResult) throws -> (any HeldResult)? {
            nil
        }
        func writing(_ body: (any SQLSession) throws -> Void) throws { try pool.writing(body) }
    }

    private func file(of number: Int64, _ store: SQLiteStore) throws -> URL {
        var name = ""
        try store.rows(for: [number], in: store.entity("Casualty").index, .latest) { batch in
            if case .data(let cell)? = store.schema.rows(batch).first?.values["photo"] {
                name = String(decoding: cell.prefix(36), as: UTF8.self)
            }
            return .stop
        }
        return folder.url.appendingPathComponent(".Model_SUPPORT/_EXTERNAL_DATA").appendingPathComponent(name)
    }

    private static func numbers(_ store: SQLiteStore, _ plan: FetchPlan) throws -> [Int64] {
        var numbers: [Int64] = []
        try store.fetch(plan, .latest) { batch in
            numbers += batch.keys(inStore: 0).map(\.number)
            return .more
        }
        return numbers
    }

    @Test("A file that a save replaces while a predicate reads files is no error: the rows are read anew")
    func replacedMeanwhile() throws {
        let store = try folder.store()
        try store.insert("Casualty", (1...2).map { ($0, ["photo": large(UInt8($0))]) })
        var plan = FetchPlan(entity: try store.entity("Casualty").index)
        plan.predicate = .comparison(
            Comparison(.keyPath(["photo"]), .in, .list([1, 9, 11, 13, 15].map { .constant(large($0)) })))
        var values = plan
        values.projection = .values(ValueProjection([.init("objectID", .keyPath(["objectID"]))]))
        let ways: [(SQLReader) throws -> Int] = [
            { reader in
                var count = 0
                try reader.fetch(plan, .latest) {
                    count += $0.count
                    return .more
                }
                return count
            },
            { reader in
                var count = 0
                try reader.open(plan, .latest).forEach {
                    count += $0.count
                    return .more
                }
                return count
            },
            { try $0.count(plan, .latest) },
            { try $0.openValues(values, .latest).next()?.count ?? 0 },
        ]
        for (place, way) in ways.enumerated() {
            let version = Int32(place + 1)
            let reader = SQLReader(
                store.plan, Racing(store.pool) { try self.replace(2, UInt8(9 + 2 * place), store, version: version) })
            #expect(try way(reader) == 2, "\(place)")
        }
    }

    @Test("A file that a row still names and that is not there is an error that names it")
    func missing() throws {
        let store = try folder.store()
        try store.insert("Casualty", [(1, ["photo": large(1)])])
        let file = try file(of: 1, store)
        try FileManager.default.removeItem(at: file)
        var plan = FetchPlan(entity: try store.entity("Casualty").index)
        plan.predicate = .comparison(
            Comparison(.keyPath(["photo"]), .in, .list([.constant(large(1)), .constant(large(2))])))
        let error = #expect(throws: StoreError.self) { _ = try Self.numbers(store, plan) }
        #expect(error?.code == 134060 && error?.sentence.contains(file.lastPathComponent) == true)
    }
}
