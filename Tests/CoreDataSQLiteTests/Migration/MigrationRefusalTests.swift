// Plans that do not fit: refused in words, with nothing changed.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("Refused migrations")
struct MigrationRefusalTests {
    let folder = Folder()

    private var plan: MigrationPlan {
        get throws { try MigrationPlan(SchemaDiff(from: MovedTriage.before, to: MovedTriage.after)) }
    }

    /// The bytes of the file, once its log is in it.
    private func bytes() throws -> Data { try Data(contentsOf: folder.file) }

    private func refusal(_ store: SQLiteStore, _ plan: MigrationPlan, _ words: String, _ code: Int = 134110) throws {
        do {
            _ = try #require(store.migrator).migrate(plan, configuration: nil)
            Issue.record("Not refused: \(words)")
        } catch let error as StoreError {
            #expect(error.code == code && error.sentence.contains(words), "\(error.code) \(error.sentence)")
        }
        #expect(try store.keys("Casualty").count == 39)
    }

    @Test("Each contradiction has its words, the store stays open, and the file is as it was")
    func contradictions() throws {
        try MovedTriage.fill(folder.store(MovedTriage.before))
        let before = try bytes()
        let store = try folder.store(MovedTriage.before)
        let (former, later) = (MovedTriage.before, MovedTriage.after)
        func entity(_ schema: Schema, _ name: String) throws -> Entity { try #require(schema.entity(named: name)) }
        let (casualty, patient) = (try entity(former, "Casualty"), try entity(later, "Patient"))
        func changed(_ body: (inout EntityCopy) -> Void) throws -> MigrationPlan {
            var plan = try plan
            for place in plan.steps.indices {
                guard case .copy(var copy) = plan.steps[place], copy.source == casualty.index else { continue }
                body(&copy)
                plan.steps[place] = .copy(copy)
            }
            return plan
        }
        func slot(_ name: String) throws -> Int { try #require(patient.slots.firstIndex { $0.name == name }) }
        var cut = try plan
        cut.steps.removeAll { if case .drop = $0 { true } else { false } }
        try refusal(store, cut, "does not say what becomes of Note. Copy or drop it")
        var twice = try plan
        twice.steps.append(.drop(casualty.index))
        try refusal(store, twice, "says twice what becomes of Casualty")
        var none = try plan
        none.steps.removeAll { if case .create = $0 { true } else { false } }
        try refusal(store, none, "does not say where Aid comes from")
        var trees = try plan
        trees.steps.removeAll {
            if case .create = $0 { true } else if case .drop(let e) = $0 { former[e].name == "Note" } else { false }
        }
        trees.steps.append(.copy(EntityCopy(try entity(former, "Note").index, to: try entity(later, "Aid").index, [])))
        // Of one tree two entities may come, of two trees not.
        trees.steps.removeAll { if case .copy(let copy) = $0 { former[copy.source].name == "Station" } else { false } }
        trees.steps.append(.drop(try entity(former, "Station").index))
        trees.steps.removeAll { if case .copy(let copy) = $0 { former[copy.source].name == "Note" } else { false } }
        trees.steps.append(.create(try entity(later, "Aid").index))
        trees.steps.append(
            .copy(EntityCopy(try entity(former, "Note").index, to: try entity(later, "Station").index, [])))
        try refusal(store, trees, "whose numbers are not told apart")
        let level = try slot("level")
        try refusal(
            store, changed { $0.values.removeAll { $0.slot == level } }, "Patient.level no value, and it must have one")
        try refusal(
            store, changed { $0.values.append(SlotFill(level, .computed(.constant(.int(1))))) },
            "Patient.level two values")
        let age = casualty.slots.firstIndex { $0.name == "age" } ?? 0
        let name = try slot("fullName")
        try refusal(
            store,
            changed { copy in
                copy.values.removeAll { $0.slot == name }
                copy.values.append(SlotFill(name, .kept(age)))
            }, "Patient.fullName the value of another type")
        try refusal(
            store,
            changed { copy in
                copy.values.removeAll { $0.slot == level }
                copy.values.append(SlotFill(level, .computed(.keyPath(["name"]))))
            }, "whose values are of another type", 134060)
        try refusal(
            store,
            changed { copy in
                copy.values.removeAll { $0.slot == level }
                copy.values.append(SlotFill(level, .computed(.keyPath(["age"]))))
            }, "must have a value", 1570)
        try refusal(
            store, MigrationPlan(SchemaDiff(from: Triage.schema, to: Triage.schema)),
            "is of another model than the migration plan")
        try store.close()
        #expect(try bytes() == before)
    }

    @Test("Rows that break a new uniqueness constraint are told by their columns, and the store goes on as it was")
    func uniqueness() throws {
        let store = try folder.store(MovedTriage.before)
        try MovedTriage.fill(store)
        var draft = MovedTriage.later
        MovedTriage.change(&draft, "Patient") { $0.uniquenessConstraints.append(["alive"]) }
        let plan = try MigrationPlan(SchemaDiff(from: MovedTriage.before, to: MovedTriage.make(draft)))
        try refusal(store, plan, "alive of Patient is unique, and objects are equal in it", 134111)
        try store.insert("Casualty", [(100, ["name": .text("after")])])
        #expect(try store.keys("Casualty").count == 40)
        try store.close()
        #expect(try folder.store(MovedTriage.before).keys("Note") == [1])
    }

    @Test("What a difference leaves open is refused by name, all of it at once")
    func open() throws {
        var draft = MovedTriage.later
        MovedTriage.change(&draft, "Injury") { entity in
            entity.attributes[0].type = .string
            entity.attributes[1].isOptional = false
            entity.attributes.append(Attribute(name: "depth", type: .double))
        }
        let error = #expect(throws: StoreError.self) {
            try MigrationPlan(SchemaDiff(from: MovedTriage.before, to: MovedTriage.make(draft)))
        }
        #expect(error?.code == 134190)
        let sentences = [
            "Injury.severity was Integer 32 and is String", "Injury.kind became required",
            "Injury.depth is new, must have",
        ]
        for words in sentences {
            #expect(error?.sentence.contains(words) == true, "\(error?.sentence ?? "")")
        }
    }

    @Test("A derived value of rows that go is computed anew; a plan that keeps it is refused")
    func derived() throws {
        func derived(_ draft: SchemaDraft, _ entity: String) -> Schema {
            var draft = draft
            MovedTriage.change(&draft, entity) { entity in
                var place = Triage.attribute("place", .string)
                place.derivationExpression = "station.name"
                entity.attributes.append(place)
            }
            return MovedTriage.make(draft)
        }
        let (former, later) = (derived(MovedTriage.former, "Casualty"), derived(MovedTriage.later, "Patient"))
        var plan = try MigrationPlan(SchemaDiff(from: former, to: later))
        let slot = try #require(later.entity(named: "Patient")?.slots.firstIndex { $0.name == "place" })
        let place = try #require(former.entity(named: "Casualty")?.slots.firstIndex { $0.name == "place" })
        _ = try BoundMigration(plan)
        for step in plan.steps.indices {
            guard case .copy(var copy) = plan.steps[step],
                let fill = copy.values.firstIndex(where: { $0.slot == slot }),
                later[copy.destination].name == "Patient"
            else { continue }
            var isComputed = false
            if case .derived = copy.values[fill].source { isComputed = true }
            #expect(isComputed)
            copy.values[fill] = SlotFill(slot, .kept(place))
            plan.steps[step] = .copy(copy)
        }
        let error = #expect(throws: StoreError.self) { try BoundMigration(plan) }
        #expect(error?.sentence.contains("Patient.place a value that is derived of Ruin, whose rows go") == true)
    }

    @Test("A store in memory and a read-only one say that they do not migrate")
    func capability() throws {
        #expect(try MemoryStore(schema: Triage.schema).migrator == nil)
        let memory = try SQLiteStore(
            url: URL(fileURLWithPath: "/dev/null"), schema: Triage.schema, configuration: nil, options: SQLiteOptions())
        #expect(memory.migrator == nil)
        try MovedTriage.fill(folder.store(MovedTriage.before))
        let store = try folder.store(MovedTriage.before) { $0.isReadOnly = true }
        try refusal(store, plan, "was opened read-only", 134030)
    }

    @Test(
        "Paused cursors and pinned views end, other threads are refused, not misled, and afterwards the store is closed"
    )
    func others() throws {
        let store = try folder.store(MovedTriage.before)
        try MovedTriage.fill(store)
        let cursor = try store.open(FetchPlan(entity: store.entity("Injury").index), .latest)
        _ = try cursor.next()
        let view = try store.pinnedView()
        let plan = try plan
        let group = DispatchGroup()
        nonisolated(unsafe) var wrong: [String] = []
        let lock = NSLock()
        for _ in 0..<3 {
            DispatchQueue.global().async(group: group) {
                while true {
                    do {
                        let found = try store.keys("Casualty").count
                        if found != 39 { lock.withLock { wrong.append("\(found)") } }
                    } catch let error as StoreError where error.code == 134070 {
                        return
                    } catch { return lock.withLock { wrong.append("\(error)") } }
                }
            }
        }
        _ = try #require(store.migrator).migrate(plan, configuration: nil)
        group.wait()
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
        #expect(throws: StoreError.self) { try cursor.next() }
        #expect(throws: StoreError.self) { try store.count(FetchPlan(entity: store.entity("Injury").index), view) }
        #expect(throws: StoreError.self) { try store.migrate(plan, configuration: nil) }
        #expect(try folder.store(MovedTriage.after).keys("Patient").count == 39)
    }
}
