// Two writers, one row; and constraints.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("Conflicts")
struct ConflictTests {
    let folder = Folder()
    let store: SQLiteStore
    let other: SQLiteStore

    init() throws {
        store = try folder.store()
        other = try folder.store()
    }

    private func uuid(_ byte: UInt8) -> Value {
        .uuid(UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    }

    @Test("A row changed or deleted by another connection is a conflict, and nothing of the batch is written")
    func optimistic() throws {
        try store.insert("Injury", [(1, ["severity": .int(1)]), (2, [:]), (3, [:])])
        #expect(try other.update("Injury", 1, ["severity": .int(5)], expected: 1).conflicts.isEmpty)
        var removal = ChangeBatch()
        removal.deletes = [DeleteGroup(entity: try other.entity("Injury").index, numbers: [2], expected: [1])]
        #expect(try other.commit(removal).conflicts.isEmpty)

        let entity = try store.entity("Injury")
        var batch = ChangeBatch()
        let chunk = try store.schema.chunk(
            "Injury", [(3, ["kind": .text("x")]), (1, ["kind": .text("x")])], version: 2)
        let kind = try #require(entity.slots.firstIndex { $0.name == "kind" })
        batch.updates = [UpdateGroup(entity: entity.index, slots: [kind], chunk: chunk, expected: [1, 1])]
        batch.deletes = [DeleteGroup(entity: entity.index, numbers: [2], expected: [1])]
        let conflicts = try store.commit(batch).conflicts
        #expect(conflicts.map(\.key.number).sorted() == [1, 2])
        for conflict in conflicts {
            switch conflict.kind {
            case .changed(let version): #expect(conflict.key.number == 1 && version == 2)
            case .deleted: #expect(conflict.key.number == 2)
            case .constraint: Issue.record("no constraint was broken")
            }
        }
        #expect(try store.fetch("Injury").map(\.values) == [["severity": .int(5)], [:]])
    }

    @Test("A row without version is updated when none is expected, and is a conflict otherwise")
    func nullVersion() throws {
        try store.insert("Injury", [(1, [:])])
        let writer = try Connection(
            path: folder.file.path, access: .write, options: SQLiteOptions(), counter: StatementCounter())
        try writer.run("UPDATE ZINJURY SET Z_OPT = NULL")
        #expect(try store.fetch("Injury").map(\.version) == [-1])
        let conflicts = try store.update("Injury", 1, ["severity": .int(2)], expected: 1).conflicts
        guard case .changed(version: -1)? = conflicts.first?.kind else { throw Unexpected() }
        #expect(try store.update("Injury", 1, ["severity": .int(2)], expected: -1).conflicts.isEmpty)
        #expect(try store.fetch("Injury").map(\.version) == [1])
    }

    @Test("A broken constraint names its attributes and every row that breaks it")
    func constraint() throws {
        try store.insert("Casualty", [(1, ["tag": uuid(1)]), (2, ["tag": uuid(2)])])
        let rows =
            (3...14).map { (key: Int64($0), values: ["tag": uuid(UInt8($0))]) }
            + [(15, ["tag": uuid(2)]), (16, ["tag": uuid(1)])]
        let conflicts = try store.insert("Casualty", rows).conflicts
        #expect(conflicts.map(\.key.number) == [15, 16])
        for conflict in conflicts {
            guard case .constraint(let names) = conflict.kind else { throw Unexpected() }
            #expect(names == ["tag"])
        }
        #expect(try store.keys("Casualty") == [1, 2])
        #expect(try store.insert("Casualty", [(3, ["tag": uuid(3)])]).conflicts.isEmpty)
    }

    @Test("Two rows exchange unique values in one save; a value freed by a delete can be taken")
    func exchange() throws {
        try store.insert("Casualty", [(1, ["tag": uuid(1)]), (2, ["tag": uuid(2)]), (3, ["tag": uuid(3)])])
        let entity = try store.entity("Casualty")
        let tag = try #require(entity.slots.firstIndex { $0.name == "tag" })
        var batch = ChangeBatch()
        let chunk = try store.schema.chunk(
            "Casualty", [(1, ["tag": uuid(2)]), (2, ["tag": uuid(1)])], version: 2)
        batch.updates = [UpdateGroup(entity: entity.index, slots: [tag], chunk: chunk, expected: [1, 1])]
        batch.deletes = [DeleteGroup(entity: entity.index, numbers: [3], expected: [1])]
        batch.inserts = [try store.schema.chunk("Casualty", [(4, ["tag": uuid(3)])])]
        #expect(try store.commit(batch).conflicts.isEmpty)
        #expect(try store.fetch("Casualty").map { $0.values["tag"] } == [uuid(2), uuid(1), uuid(3)])
        #expect(try store.update("Casualty", 1, ["tag": uuid(1)], expected: 2).conflicts.count == 1)
        #expect(try store.fetch("Casualty").map { $0.values["tag"] } == [uuid(2), uuid(1), uuid(3)])
    }

    @Test("A key that is taken is an error, not a conflict, and the store stays usable")
    func takenKey() throws {
        try store.insert("Injury", [(1, [:])])
        let error = #expect(throws: StoreError.self) { try store.insert("Injury", [(2, [:]), (1, [:])]) }
        #expect(error?.code == 134180)
        #expect(try store.keys("Injury") == [1])
        #expect(try store.insert("Injury", [(2, [:])]).conflicts.isEmpty)
    }

    @Test("Two connections hand out disjoint numbers, also beyond rows written by others")
    func keys() throws {
        let root = try store.entity("Station").index
        var seen: Set<Int64> = []
        for round in 1...20 {
            for source in [store, other] {
                let range = try source.allocateKeys(round * 3, in: root)
                #expect(range.count == round * 3)
                #expect(seen.isDisjoint(with: range))
                seen.formUnion(range)
            }
        }
        #expect(
            try store.scalar("SELECT COUNT(*) FROM Z_PRIMARYKEY WHERE Z_MAX > 0 AND Z_NAME = 'Place'") == "1")
        #expect(try store.scalar("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Station'") == "0")
        try store.insert("Place", [(5000, [:])])
        let fresh = try folder.store()
        #expect(try fresh.allocateKeys(1, in: root).lowerBound > 5000)
    }

    @Test("Threads that insert at once get every row in")
    func threads() async throws {
        let stores = [store, other]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        let store = stores[worker % 2]
                        let range = try store.allocateKeys(7, in: store.entity("Injury").index)
                        try store.insert("Injury", range.map { ($0, ["severity": .int($0)]) })
                        _ = try store.keys("Injury")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.keys("Injury").count == 280)
    }

    private struct Unexpected: Error {}
}
