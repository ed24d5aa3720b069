// What every store must do as a reader: cursors and views.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct StoreSpecificationReading {
    private func filled(_ maker: StoreMaker) throws -> (Subject, FetchPlan, [RowKey]) {
        let subject = try Subject(maker)
        var keys: [RowKey] = []
        for start in stride(from: 0, to: 600, by: 100) {
            let name = start % 200 == 0 ? "Item" : "SpecialItem"
            keys += try subject.insert(name, (start..<start + 100).map { ["serial": .int(Int64($0))] })
        }
        var plan = FetchPlan(entity: try subject.entity("Item").index)
        plan.sort = [SortTerm(keyPath: ["serial"])]
        return (subject, plan, keys)
    }

    private func pull(_ cursor: any ReadCursor<RowBatch>, _ subject: Subject) throws -> [Found] {
        var found: [Found] = []
        while let batch = try cursor.next() {
            #expect(batch.count > 0)
            found += subject.found(batch)
        }
        return found
    }

    @Test("A cursor pulls what a fetch hands out, then nothing; closed or let go it ends", arguments: StoreMaker.all)
    func cursor(_ maker: StoreMaker) throws {
        let (subject, plan, keys) = try filled(maker)
        let whole = try subject.fetch(plan)
        let cursor = try subject.store.open(plan, .latest)
        #expect(try pull(cursor, subject) == whole && whole.map(\.key) == keys)
        #expect(try cursor.next() == nil)
        // A database has 64 readers.
        for _ in 0..<(maker.rowsClass == "SQLiteStore" ? 70 : 5) {
            let left = try subject.store.open(plan, .latest)
            _ = try left.next()
            let closed = try subject.store.open(plan, .latest)
            _ = try closed.next()
            closed.close()
            #expect(try closed.next() == nil)
        }
        var bare = plan
        bare.includesValues = false
        #expect(try pull(try subject.store.open(bare, .latest), subject).map(\.key) == keys)
        bare.limit = 3
        #expect(try pull(try subject.store.open(bare, .latest), subject).map(\.key) == Array(keys[..<3]))
    }

    @Test("A paused cursor goes on with the rows of its beginning, on another thread too", arguments: StoreMaker.all)
    func paused(_ maker: StoreMaker) async throws {
        let (subject, plan, keys) = try filled(maker)
        let cursor = try subject.store.open(plan, .latest)
        let first = subject.found(try #require(try cursor.next())).map(\.key)
        var batch = ChangeBatch()
        batch.deletes = [DeleteGroup(entity: keys[599].entity, numbers: [keys[599].number], expected: [1])]
        try subject.commit(batch)
        let rest = try await Task.detached {
            var rest: [RowKey] = []
            while let batch = try cursor.next() { rest += batch.keys(inStore: 0).map(\.row) }
            return rest
        }.value
        #expect(first + rest == keys)
        #expect(try subject.fetch(plan).count == 599)
    }

    @Test("Values are pulled like rows", arguments: StoreMaker.all)
    func values(_ maker: StoreMaker) throws {
        var (subject, plan, _) = try filled(maker)
        plan.projection = .values(ValueProjection([.init("serial", .keyPath(["serial"]))]))
        let cursor = try subject.store.openValues(plan, .latest)
        var numbers: [Int64] = []
        while let rows = try cursor.next() { numbers += (0..<rows.count).compactMap { rows.int(row: $0, column: 0) } }
        #expect(numbers == Array(0..<600))
        #expect(try cursor.next() == nil)
        let closed = try subject.store.openValues(plan, .latest)
        closed.close()
        #expect(try closed.next() == nil)
    }

    /// Everything that a reader can be asked, of one view.
    private func everything(_ subject: Subject, _ owner: RowKey, _ item: RowKey, _ view: ReadView) throws -> [String] {
        let store = subject.store
        let items = try subject.relationship("Person", "items")
        var said: [String] = []
        func note(_ batch: RowBatch) -> FetchStep {
            said.append(
                "\(subject.found(batch).map { "\($0.key.number) v\($0.version) \($0.values.map { "\($0) \($1)" }.sorted())" }.sorted())"
            )
            return .more
        }
        for name in ["Item", "Person"] {
            var plan = FetchPlan(entity: try subject.entity(name).index)
            plan.sort = [SortTerm(keyPath: [name == "Item" ? "serial" : "name"])]
            try store.fetch(plan, view, note)
            try store.open(plan, view).forEach(note)
            said.append("\(try store.count(plan, view))")
        }
        var plan = FetchPlan(entity: item.entity)
        plan.projection = .values(ValueProjection([.init("serial", .keyPath(["serial"]))]))
        try store.fetchValues(plan, view) { rows in
            said.append("\((0..<rows.count).compactMap { rows.int(row: $0, column: 0) }.sorted())")
            return .more
        }
        try store.rows(for: [item.number], in: item.entity, view, note)
        try store.members(of: items, owner: owner, view, note)
        said.append("\(try store.memberKeys(of: items, owner: owner, view).map(\.number).sorted())")
        said.append("\(try store.isMember(item, of: items, owner: owner, view))")
        for areAll in [true, false] {
            func note(_ batch: MemberBatch) -> FetchStep {
                let keys = batch.rows.keys(inStore: 0).map(\.number)
                said.append("\(zip(batch.owners, keys).filter { $0.0 == owner.number }.map(\.1).sorted())")
                return .more
            }
            try areAll
                ? store.targets(of: items, fromAll: [owner.number], view, note)
                : store.targets(of: items, from: [owner.number], view, note)
        }
        return said
    }

    @Test(
        "A pinned view sees its moment in every kind of read; a store without pinned views shows its latest state",
        arguments: StoreMaker.all)
    func pinned(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let owner = try subject.insert("Person", [["name": .text("Ann")]])[0]
        let items = try subject.insert("Item", (1...3).map { ["serial": .int($0), "owner": target(owner)] })
        let before = try everything(subject, owner, items[0], .latest)
        let view = try subject.store.pinnedView()
        let isPinned = if case .pinned = view { true } else { false }
        #expect(isPinned == subject.store.capabilities.contains(.pinnedViews))
        #expect(isPinned == ["MemoryStore", "SQLiteStore"].contains(maker.rowsClass))
        var batch = ChangeBatch()
        batch.updates = [try subject.update(items[0], ["serial": .int(9), "owner": .null], expected: 1)]
        batch.deletes = [DeleteGroup(entity: items[1].entity, numbers: [items[1].number], expected: [1])]
        try subject.commit(batch)
        try subject.insert("Item", [["serial": .int(4), "owner": target(owner)]])
        let after = try everything(subject, owner, items[0], .latest)
        #expect(before != after)
        #expect(try everything(subject, owner, items[0], view) == (isPinned ? before : after))
        guard case .pinned(let own) = view else { return }
        let other = try Subject(maker, like: maker)
        let foreign = #expect(throws: StoreError.self) { try other.store.count(FetchPlan(entity: owner.entity), view) }
        #expect(foreign?.code == 134060)
        own.close()
        own.close()
        let closed = #expect(throws: StoreError.self) { try subject.store.count(FetchPlan(entity: owner.entity), view) }
        #expect(closed?.code == 134070)
        #expect(try everything(subject, owner, items[0], .latest) == after)
    }

    @Test("A store that cannot pin refuses the view of one that can", arguments: StoreMaker.all)
    func foreign(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let memory = try Subject(try #require(StoreMaker.all.first { $0.type == NSInMemoryStoreType }))
        let plan = FetchPlan(entity: try subject.entity("Note").index)
        let error = #expect(throws: StoreError.self) { try subject.store.count(plan, try memory.store.pinnedView()) }
        #expect(error?.code == 134060)
    }

    @Test("A closed store has closed its cursors and views, and opens none", arguments: StoreMaker.all)
    func closed(_ maker: StoreMaker) throws {
        let (subject, plan, _) = try filled(maker)
        let view = try subject.store.pinnedView()
        let cursor = try subject.store.open(plan, .latest)
        _ = try cursor.next()
        try subject.store.close()
        #expect(throws: StoreError.self) { try subject.store.count(plan, view) }
        #expect(throws: StoreError.self) { try subject.store.open(plan, .latest) }
        // What a store had in memory the cursor may go on with; it never waits.
        _ = try? cursor.next()
    }
}
