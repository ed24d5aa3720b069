// What a deletion is compared with: the versions that the context has last read, whether or not the program holds the objects.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct LastReadTests {
    @Test(
        "6.2 A deletion is compared with what was last read, whatever the program holds, and loses no other writer's change",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType], LastRead.kinds)
    func enumerated(_ type: String, _ kind: LastRead.Kind) throws {
        let run = try LastRead(type)
        // One half of the cases on each store: what a context has read is its own.
        let isSQLite = type == NSSQLiteStoreType
        let cases = LastRead.cases(kind).enumerated().filter { $0.offset.isMultiple(of: 2) == isSQLite }.map(\.element)
        var wrong: [String] = []
        for item in cases {
            let answers = try LastRead.Holding.allCases.map { try run.answer(item, $0) }
            if Set(answers).count > 1 || item.mustBeRefused && answers[0] != .refused {
                wrong.append("\(item): \(answers)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(cases.count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }

    @Test(
        "6.2 In random walks of two writers no deletion and no write is accepted whose row has changed since it was read",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func walks(_ type: String) throws {
        var (saves, refusals) = (0, 0)
        for seed in 0..<UInt64(60) {
            do {
                let walk = try LastReadWalk(type, seed: seed)
                defer { (saves, refusals) = (saves + walk.saves, refusals + walk.refusals) }
                try walk.run(60)
            } catch { Issue.record("seed \(seed): \(error)") }
        }
        #expect(saves > 100 && refusals > 50)
    }

    @Test("6.2 A write to a row that was read and let go is compared with what was read", arguments: [false, true])
    func written(_ refreshes: Bool) throws {
        let rivals = try Rivals(.sqlite)
        let id = try rivals.patient().objectID
        rivals.theirs.object(with: id).set("age", 31)
        try rivals.theirs.save()
        rivals.mine.object(with: id).set("age", 40)
        let conflict = try #require(caught { try rivals.mine.save() }?.persistentStoreSaveConflicts?.first)
        #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
        if refreshes {
            rivals.mine.refresh(conflict.sourceObject, mergeChanges: true)
        } else {
            rivals.mine.rollback()
            #expect(rivals.mine.object(with: id).int("age") == 31)
            rivals.mine.object(with: id).set("age", 40)
        }
        try rivals.mine.save()
        #expect(rivals.reader().object(with: id).int("age") == 40)
    }

    @Test(
        "6.2 A deletion that was refused and rolled back goes through once the rows were read again",
        arguments: [false, true])
    func again(_ isHeld: Bool) throws {
        let rivals = try Rivals(.memory)
        let visit = rivals.theirs.make("Visit", ["note": "a"])
        let patient = rivals.theirs.make("Patient", ["name": "a", "visits": NSOrderedSet(array: [visit])])
        try rivals.theirs.save()
        let owner = rivals.mine.object(with: patient.objectID)
        var held = owner.ordered("visits")
        if !isHeld { held = [] }
        visit.set("note", "b")
        try rivals.theirs.save()
        rivals.mine.refresh(owner, mergeChanges: false)
        for _ in 0..<2 {
            rivals.mine.delete(owner)
            #expect(caught { try rivals.mine.save() }?.code.rawValue == 133020)
            rivals.mine.rollback()
        }
        for member in held { rivals.mine.refresh(member, mergeChanges: false) }
        #expect(owner.ordered("visits").map { $0.text("note") } == ["b"])
        rivals.mine.delete(owner)
        try rivals.mine.save()
        #expect(try rivals.reader().all("Visit").isEmpty)
        withExtendedLifetime(held) {}
    }

    @Test(
        "6.2 A merge policy settles a deletion of a member that was let go", arguments: RelationshipMergeTests.merging)
    func settled(_ type: NSMergePolicyType) throws {
        let rivals = try Rivals(.memory, policy: type)
        let visit = rivals.theirs.make("Visit", ["note": "a"])
        let patient = rivals.theirs.make("Patient", ["name": "a", "visits": NSOrderedSet(array: [visit])])
        try rivals.theirs.save()
        #expect(rivals.mine.object(with: patient.objectID).ordered("visits").count == 1)
        visit.set("note", "b")
        try rivals.theirs.save()
        rivals.mine.delete(rivals.mine.object(with: patient.objectID))
        try rivals.mine.save()
        let keeps = type == .rollbackMergePolicyType || type == .mergeByPropertyStoreTrumpMergePolicyType
        #expect(try rivals.reader().all("Visit").map { $0.text("note") } == (keeps ? ["b"] : []))
        #expect(!rivals.mine.hasChanges)
    }

    /// What is done to the ordered visits of a patient that was read, let go, and changed by another writer.
    enum Act: String, CaseIterable, Sendable {
        case add, insert, remove, exchange, move, addSaved, addThenDelete, addThenAsk, removeMember, memberAgain
    }

    @Test(
        "6.2 A live set that is taken to be written is no reading, whatever the program holds",
        arguments: [Rivalry.sqlite, .memory, .otherCoordinator], Act.allCases)
    func written(_ rivalry: Rivalry, by act: Act) throws {
        for isHeld in [true, false] {
            let rivals = try Rivals(rivalry)
            let owner = rivals.theirs.make("Patient", ["name": "a"])
            let visits = ["1", "2", "3"].map { rivals.theirs.make("Visit", ["note": $0, "patient": owner]) }
            try rivals.theirs.save()
            func mine(_ object: NSManagedObject) throws -> NSManagedObject {
                let url = object.objectID.uriRepresentation()
                let id = rivals.mine.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url)
                return rivals.mine.object(with: try #require(id))
            }
            func visit() -> NSManagedObject { rivals.mine.make("Visit", ["note": "new"]) }
            var held = try [mine(owner)]
            _ = held[0].text("name")
            held += held[0].ordered("visits")
            for object in held.dropFirst() { _ = object.text("note") }
            if !isHeld { held = [] }
            let changed = [Act.removeMember, .memberAgain].contains(act) ? (visits[0], "note") : (owner, "name")
            changed.0.set(changed.1, "theirs")
            try rivals.theirs.save()
            func live() throws -> NSMutableOrderedSet { try mine(owner).mutableOrderedSetValue(forKey: "visits") }
            let error = caught {
                switch act {
                case .add: try live().add(visit())
                case .insert: try live().insert(visit(), at: 0)
                case .remove: try live().remove(mine(visits[1]))
                case .exchange: try live().exchangeObject(at: 0, withObjectAt: 2)
                case .move: try live().moveObjects(at: [0, 1], to: 1)
                case .addSaved, .addThenDelete:
                    try live().add(visit())
                    try rivals.mine.save()
                case .addThenAsk:
                    let set = try live()
                    set.add(visit())
                    #expect(set.count == 4)
                case .removeMember: try live().remove(mine(visits[0]))
                case .memberAgain: try live().add(mine(visits[0]))
                }
                switch act {
                case .addThenDelete: rivals.mine.delete(try mine(owner))
                case .removeMember: break
                case .memberAgain: try mine(visits[0]).set("note", "mine")
                default: try mine(owner).set("name", "mine")
                }
                try rivals.mine.save()
            }
            #expect(error?.code.rawValue == 133020, "held: \(isHeld)")
            withExtendedLifetime(held) {}
        }
    }

    @Test("6.2 A live ordered set that the program asks is reading", arguments: [false, true])
    func asked(_ isSaved: Bool) throws {
        let rivals = try Rivals(.sqlite)
        let patient = rivals.theirs.make("Patient", ["name": "a"])
        try rivals.theirs.save()
        let id = patient.objectID
        _ = rivals.mine.object(with: id).text("name")
        patient.set("name", "b")
        try rivals.theirs.save()
        let set = rivals.mine.object(with: id).mutableOrderedSetValue(forKey: "visits")
        #expect(set.count == 0)
        set.add(rivals.mine.make("Visit", ["note": "x"]))
        if isSaved { try rivals.mine.save() }
        rivals.mine.object(with: id).set("name", "c")
        try rivals.mine.save()
        #expect(rivals.reader().object(with: id).text("name") == "c")
    }

    @Test("A context remembers versions of rows far apart, large ones and NULL, and forgets them with a reset")
    func table() {
        var table = VersionTable()
        let numbers: [Int64] = (0..<3000).map { Int64($0) * 7 + 1 } + (0..<500).map { Int64($0) << 40 + 5 }
        for (place, number) in numbers.enumerated() { table.set(number, Int32(place) - 1) }
        #expect(numbers.enumerated().allSatisfy { table[$1] == Int32($0) - 1 })
        #expect(table[2] == nil && table[Int64.max] == nil)
        table.forget(8)
        #expect(table[8] == nil && table[15] == 1)
        table.merge(group: 8, 0x0500)
        #expect(table[8] == nil && table[9] == 3 && table[15] == 1)
        table.removeAll()
        #expect(numbers.allSatisfy { table[$0] == nil })
    }

    @Test(
        "A context that lets go of many objects remembers their versions after their pages went",
        arguments: [20, 30_000])
    func many(_ count: Int) throws {
        let stack = try Stack(NSInMemoryStoreType, undo: false)
        let writer = stack.another()
        for number in 0..<count { _ = writer.make("Ward", ["name": "a", "code": number]) }
        try writer.save()
        let wards = try writer.all("Ward")
        #expect(try stack.context.all("Ward").count == count)
        let identityMap = stack.context.requiredIdentityMap
        #expect(wards.allSatisfy { identityMap.version($0._state.key) == 1 })
        stack.context.reset()
        #expect(wards.allSatisfy { identityMap.version($0._state.key) == nil })
    }
}
