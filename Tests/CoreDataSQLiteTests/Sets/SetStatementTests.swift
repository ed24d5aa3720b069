// What set changes cost in SQLite, and that a fault in their middle leaves nothing.

import CCoreDataHeap
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Set changes in SQLite")
struct SetStatementTests {
    private let folder = Folder()
    private let store: SQLiteStore

    init() throws {
        store = try folder.store()
    }

    /// A stream of so many rows of an entity, 256 a chunk.
    private func stream(_ count: Int, _ entity: String, _ values: @escaping (Int) -> [String: Value]) -> SetChange.Kind
    {
        var next = 0
        return .insert {
            guard next < count else { return nil }
            let rows = next..<min(count, next + RowChunk.maximumCount)
            next = rows.upperBound
            return try store.schema.chunk(entity, rows.map { (Int64(0), values($0)) })
        }
    }

    private static func tag(_ number: Int) -> Value {
        let low = UInt64(truncatingIfNeeded: number)
        return .uuid(
            UUID(
                uuid: (
                    0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: low >> 56), UInt8(truncatingIfNeeded: low >> 48),
                    UInt8(truncatingIfNeeded: low >> 40), UInt8(truncatingIfNeeded: low >> 32),
                    UInt8(truncatingIfNeeded: low >> 24),
                    UInt8(truncatingIfNeeded: low >> 16), UInt8(truncatingIfNeeded: low >> 8),
                    UInt8(truncatingIfNeeded: low)
                )))
    }

    private func statements(_ body: () throws -> Void) rethrows -> Int {
        let before = store.counts.run
        try body()
        return store.counts.run - before
    }

    private func plan(_ entity: String, _ predicate: Predicate? = nil) throws -> FetchPlan {
        var plan = FetchPlan(entity: try store.entity(entity).index)
        plan.predicate = predicate
        return plan
    }

    @Test("An update and a deletion take as many statements for 10,000 rows as for one")
    func constant() throws {
        _ = try store.apply(
            SetChange(stream(10_000, "Casualty") { ["age": .int(Int64($0 % 100)), "name": .text("n\($0)")] }))
        let age = Expression.keyPath(["age"])
        func update(_ predicate: Predicate?) throws -> SetChange {
            SetChange(
                .update(
                    try plan("Casualty", predicate),
                    [
                        .init("age", .function("add:to:", [age, .constant(.int(1))])),
                        .init("alive", .constant(.bool(true))),
                    ]))
        }
        let one = Predicate.comparison(Comparison(.keyPath(["name"]), .equal, .constant(.text("n7"))))
        var counts: [Int] = []
        #expect(
            try statements { counts.append(try store.apply(update(one)).count) }
                == statements { counts.append(try store.apply(update(nil)).count) })
        #expect(try statements { _ = try store.apply(update(nil)) } <= 9)
        #expect(counts == [1, 10_000])
        let first = try statements { counts.append(try store.apply(SetChange(.delete(plan("Casualty", one)))).count) }
        let all = try statements { counts.append(try store.apply(SetChange(.delete(plan("Casualty")))).count) }
        #expect(first == all && all <= 20, "\(first) \(all)")
        #expect(counts[2...] == [1, 9999])
        #expect(try store.fetch("Casualty").isEmpty)
    }

    @Test("20,000 rows from a stream, and their update, take no more memory than a chunk and SQLite's cache")
    func memory() throws {
        // The first rows fill caches, of statements and of pages.
        _ = try store.apply(
            SetChange(
                stream(2000, "Casualty") {
                    ["name": .text(String(repeating: "x", count: 200) + "\($0)"), "tag": Self.tag($0)]
                }))
        let before = Int(coredata_heap_bytes())
        var most = 0
        let rows = stream(20_000, "Casualty") { number in
            if number % 1000 == 0 { most = max(most, Int(coredata_heap_bytes()) - before) }
            return ["name": .text(String(repeating: "x", count: 200) + "\(number)"), "tag": Self.tag(number + 2000)]
        }
        #expect(try store.apply(SetChange(rows)).count == 20_000)
        most = max(most, Int(coredata_heap_bytes()) - before)
        let update = SetChange(
            .update(try plan("Casualty"), [.init("name", .function("uppercase:", [.keyPath(["name"])]))]))
        #expect(try store.apply(update).count == 22_000)
        // The rows themselves are 5 MB. Other tests run beside this one.
        #expect(most < 16 << 20, "\(most)")
    }

    @Test("A constraint that breaks at the last of 5,000 rows leaves nothing, and the store goes on")
    func fault() throws {
        try store.insert("Casualty", [(1_000_000, ["tag": Self.tag(4999), "age": .int(5)])])
        let rows = stream(5000, "Casualty") { ["tag": Self.tag($0)] }
        let error = #expect(throws: StoreError.self) { _ = try store.apply(SetChange(rows)) }
        #expect(error?.code == 133021 && error?.property == "tag")
        #expect(try store.fetch("Casualty").map(\.key) == [1_000_000])
        var kept = SetChange(stream(5000, "Casualty") { ["tag": Self.tag($0)] })
        kept.uniqueness = .keep
        #expect(try store.apply(kept).count == 4999)
        let same = SetChange(.update(try plan("Casualty"), [.init("tag", .constant(Self.tag(1)))]))
        #expect(throws: StoreError.self) { _ = try store.apply(same) }
        #expect(try store.fetch("Casualty").filter { $0.version == 1 }.count == 5000)
        #expect(try store.apply(SetChange(.update(plan("Casualty"), [.init("age", .keyPath(["age"]))]))).count == 5000)
    }

    @Test("Two writers wait for each other: each change is whole, and no number is handed out twice")
    func writers() async throws {
        let other = try folder.store()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, store) in [store, other].enumerated() {
                group.addTask {
                    for round in 0..<10 {
                        var next = 0
                        let change = SetChange(
                            .insert {
                                guard next < 300 else { return nil }
                                defer { next += 100 }
                                let rows = (next..<next + 100).map {
                                    (Int64(0), ["tag": Self.tag(place * 100_000 + round * 1000 + $0)])
                                }
                                return try store.schema.chunk("Casualty", rows)
                            })
                        _ = try store.apply(change)
                        let entity = try store.entity("Casualty")
                        _ = try store.apply(
                            SetChange(
                                .update(
                                    FetchPlan(entity: entity.index),
                                    [
                                        .init("age", .constant(.int(Int64(place)))),
                                        .init("name", .constant(.text("\(place)"))),
                                    ])))
                        _ = try store.insert("Casualty", store.allocateKeys(3, in: entity.index).map { ($0, [:]) })
                    }
                }
            }
            try await group.waitForAll()
        }
        let rows = try store.fetch("Casualty")
        #expect(rows.count == 6060 && Set(rows.map(\.key)).count == 6060)
        #expect(
            rows.allSatisfy {
                $0.values["age"].map { age in "\(age)" }
                    == $0.values["name"].map { name in
                        "\(name)".replacing("text", with: "int").replacing("\"", with: "")
                    }
            })
    }

    @Test("A read-only store refuses as for a save")
    func readOnly() throws {
        try store.insert("Injury", [(1, [:])])
        try store.close()
        let closed = try folder.store { $0.isReadOnly = true }
        let entity = try closed.entity("Injury")
        for kind in [SetChange.Kind.delete(FetchPlan(entity: entity.index)), .insert { nil }] {
            let error = #expect(throws: StoreError.self) { _ = try closed.apply(SetChange(kind)) }
            #expect(error?.code == 134030)
        }
    }

    @Test("Stored rows of no entity of the model, and of none, stay as they are")
    func strangers() throws {
        try store.insert("Place", [(1, ["name": .text("a")])])
        try store.insert("Station", [(2, ["name": .text("a")])])
        try store.pool.write { connection in
            _ = try connection.run("INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT) VALUES (3, 99, 1), (4, NULL, 1)")
        }
        #expect(try store.apply(SetChange(.update(plan("Place"), [.init("name", .constant(.text("b")))]))).count == 2)
        #expect(try store.apply(SetChange(.delete(plan("Place")))).count == 2)
        #expect(try store.pool.read { try $0.run("SELECT COUNT(*) FROM ZPLACE") } == "2")
    }
}
