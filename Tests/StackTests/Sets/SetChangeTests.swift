// Set changes beneath contexts: what the coordinator forgets, what saves compare, what the history says.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Set changes under contexts") struct SetChangeTests {
    private let rig = Rig()

    private func entity(_ name: String) throws -> Entity {
        try #require(rig.coordinator.runtime.schema.entity(named: name))
    }

    private func plan(_ name: String, _ predicate: Predicate? = nil) throws -> FetchPlan {
        var plan = FetchPlan(entity: try entity(name).index)
        plan.predicate = predicate
        return plan
    }

    private func update(_ name: String, _ property: String, _ value: Expression, where predicate: Predicate? = nil)
        throws -> SetChange
    {
        SetChange(.update(try plan(name, predicate), [.init(property, value)]))
    }

    private func object(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        return try #require(try context.fetch(NSFetchRequest<NSManagedObject>("Patient", "name == %@", name)).first)
    }

    @Test(
        "What changed is read anew, whether keys or only a count came back, by who held objects and by who let them go",
        arguments: StoreMaker.types, [SetChange.Answer.count, .effects])
    func rowCache(_ type: String, _ answer: SetChange.Answer) throws {
        let store = try rig.add(type)
        let context = rig.context()
        do {
            for name in ["Ann", "Bob", "Cid"] { _ = context.make("Patient", ["name": name, "age": 30]) }
            try context.save()
        }
        do {
            let ids = try ["Ann", "Bob"].map { try object($0, context).objectID }
            let held = try object("Cid", context)
            #expect(held.value(forKey: "age") as? Int == 30)
            #expect(ids.map { context.object(with: $0).value(forKey: "age") as? Int } == [30, 30])
            var older = try update("Patient", "age", call("add:to:", path("age"), int(1)))
            older.answer = answer
            let outcome = try rig.coordinator.apply(older, store: store.number)
            #expect(outcome.count == 3 && outcome.keys.count == (answer == .count ? 0 : 3))
            #expect(ids.map { context.object(with: $0).value(forKey: "age") as? Int } == [31, 31])
            #expect(held.value(forKey: "age") as? Int == 30, "who holds an object sees the change when he refreshes it")
            context.refresh(held, mergeChanges: false)
            #expect(held.value(forKey: "age") as? Int == 31)
            var gone = SetChange(.delete(try plan("Patient", compare(path("name"), .equal, text("Ann")))))
            gone.answer = answer
            _ = try rig.coordinator.apply(gone, store: store.number)
            #expect(throws: CocoaError.self) { try context.existingObject(with: ids[0]) }
            #expect(try context.existingObject(with: ids[1]).value(forKey: "age") as? Int == 31)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient")) == 2)
        }
    }

    @Test(
        "Rows that a delete rule changes leave the cache as well", arguments: StoreMaker.types,
        [SetChange.Answer.count, .keys])
    func rules(_ type: String, _ answer: SetChange.Answer) throws {
        let store = try rig.add(type)
        let context = rig.context()
        do {
            let ward = context.make("Ward", ["name": "North"])
            let patient = context.make("Patient", ["name": "Ann"])
            patient.setValue(ward, forKey: "ward")
            context.make("Visit", ["note": "a"]).setValue(patient, forKey: "patient")
            try context.save()
        }
        do {
            let patient = try object("Ann", context).objectID
            let visit = try #require(try context.all("Visit").first).objectID
            #expect(context.object(with: patient).value(forKey: "ward") != nil)
            var change = SetChange(.delete(try plan("Ward")))
            change.answer = answer
            _ = try rig.coordinator.apply(change, store: store.number)
            #expect(context.object(with: patient).value(forKey: "ward") == nil)
            change.kind = .delete(try plan("Patient"))
            _ = try rig.coordinator.apply(change, store: store.number)
            #expect(throws: CocoaError.self) { try context.existingObject(with: visit) }
        }
    }

    @Test("A save of an object that a set change overtook is a conflict", arguments: StoreMaker.types)
    func conflict(_ type: String) throws {
        let store = try rig.add(type)
        let context = rig.context()
        do {
            let patient = context.make("Patient", ["name": "Ann", "age": 30])
            try context.save()
            patient.setValue(50, forKey: "age")
            _ = try rig.coordinator.apply(update("Patient", "age", int(40)), store: store.number)
            #expect(code(of: { try context.save() }) == 133020)
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try context.save()
            #expect(patient.value(forKey: "age") as? Int == 40)
        }
    }

    @Test("Errors are Core Data's, with their codes")
    func errors() throws {
        let store = try rig.add()
        #expect(
            code(of: { _ = try rig.coordinator.apply(update("Patient", "nothing", int(1)), store: store.number) })
                == 134060)
        #expect(
            code(of: { _ = try rig.coordinator.apply(update("Patient", "name", .constant(.null)), store: store.number) }
            ) == 1570)
        #expect(code(of: { _ = try rig.coordinator.apply(update("Patient", "age", int(1)), store: 999) }) == 134070)
    }

    // MARK: History

    private func noted(_ kind: SetChange.Kind) -> SetChange {
        var change = SetChange(kind)
        change.note = HistoryNote(author: "night", contextName: "batch", relationships: [:])
        return change
    }

    @Test("The history tells of each row, in one transaction that names its author")
    func history() throws {
        let store = try rig.add(options: Rig.tracking)
        let file = try rig.history()
        let patient = try entity("Patient")
        var chunks = try (0..<3).map { place -> RowChunk in
            let chunk = RowChunk(layout: patient.layout, capacity: 2)
            for row in 0..<2 {
                try chunk.append(
                    key: 0, version: 0,
                    values: patient.slots.map {
                        $0.name == "name" ? .text("\(place) \(row)") : $0.name == "age" ? .int(7) : .null
                    })
            }
            return chunk
        }
        _ = try rig.coordinator.apply(noted(.insert { chunks.popLast() }), store: store.number)
        #expect(try file.transactions() == ["1|night|batch"])
        #expect(try file.lastChanges() == (1...6).map { "insert Patient \($0)" })
        let context = rig.context()
        do {
            try object("0 0", context).setValue(9, forKey: "age")
            try context.save()
        }
        let line = try #require(try file.lastChanges().first)
        let mask = try #require(line.split(separator: " ").last)
        _ = try rig.coordinator.apply(
            noted(.update(try plan("Patient", compare(path("age"), .equal, int(7))), [.init("age", int(8))])),
            store: store.number)
        #expect(try file.transactions().last == "3|night|batch")
        #expect(try file.lastChanges() == (1...4).map { "update Patient \($0) \(mask)" } + ["update Patient 6 \(mask)"])
        _ = try rig.coordinator.apply(
            noted(.update(try plan("Patient", compare(path("age"), .equal, int(99))), [.init("age", int(8))])),
            store: store.number)
        #expect(try file.transactions().count == 3, "a change of no row is none")
    }

    @Test(
        "A deletion tells of the rows that go with it and of those that lose their to-one or a member, as a save of the same does"
    )
    func deletions() throws {
        let store = try rig.add(options: Rig.tracking)
        let file = try rig.history()
        func fill() throws {
            let context = rig.context()
            do {
                let doctors = ["Ada", "Bea", "Cleo"].map { context.make("Doctor", ["name": $0]) }
                for name in ["Ann", "Bob"] {
                    let patient = context.make("Patient", ["name": name])
                    patient.setValue(Set(doctors.prefix(2)), forKey: "doctors")
                    context.make("Bed", ["number": 1]).setValue(patient, forKey: "patient")
                    for note in ["a", "b"] {
                        context.make("Visit", ["note": note]).setValue(patient, forKey: "patient")
                    }
                }
                try context.save()
            }
        }
        func kinds() throws -> [String] {
            try file.lastChanges().map { line in
                let words = line.split(separator: " ")
                return ([words[0], words[1]] + words.dropFirst(3)).joined(separator: " ")
            }.sorted()
        }
        try fill()
        let context = rig.context()
        do {
            for patient in try context.all("Patient") { context.delete(patient) }
            try context.save()
        }
        let expected = try kinds()
        try fill()
        _ = try rig.coordinator.apply(noted(.delete(try plan("Patient"))), store: store.number)
        #expect(try kinds() == expected && expected.count == 10, "\(expected)")
        #expect(try file.rows("SELECT MIN(Z_PK), MAX(Z_PK), COUNT(*) FROM ACHANGE") == ["1|42|42"])
    }

    @Test("What is kept of deleted rows is kept")
    func tombstones() throws {
        var draft = Clinic.draft()
        let name = try #require(draft.entities[0].attributes.firstIndex { $0.name == "name" })
        draft.entities[0].attributes[name].preservesValueInHistoryOnDeletion = true
        let rig = Rig(NSManagedObjectModel(draft: draft))
        let store = try rig.add(options: Rig.tracking)
        let context = rig.context()
        do {
            for name in ["Ann", "Bob"] { _ = context.make("Patient", ["name": name]) }
            try context.save()
        }
        let entity = try #require(rig.coordinator.runtime.schema.entity(named: "Patient"))
        _ = try rig.coordinator.apply(SetChange(.delete(FetchPlan(entity: entity.index))), store: store.number)
        let file = try rig.history()
        #expect(try file.rows("SELECT ZTOMBSTONE0 FROM ACHANGE WHERE ZCHANGETYPE = 2 ORDER BY 1") == ["Ann", "Bob"])
    }
}
