// Members of ordered to-manys that a child's save brings: each once, in the child's order, whatever the child has read.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct PushedOrderTests {
    private let stack: Stack
    private let parent: NSManagedObjectContext

    init() throws {
        stack = try Stack(model: NSManagedObjectModel(draft: Clinic.orderedDraft()), undo: false)
        parent = stack.context
    }

    /// A patient with two visits, saved or not.
    private func patient(saved: Bool) throws -> NSManagedObject {
        let patient = parent.make("Patient", ["name": "Ada"])
        patient.setValue(NSOrderedSet(array: ["a", "b"].map { parent.make("Visit", ["note": $0]) }), forKey: "visits")
        if saved { try parent.save() }
        return patient
    }

    private func codes(_ object: NSManagedObject, _ key: String) -> [Int] {
        (object.value(forKey: key) as? NSOrderedSet)?.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "code") as? Int
        } ?? []
    }

    private func storedNotes() throws -> [String]? {
        let reader = stack.another()
        return try reader.named("Ada")?.notes()
    }

    @Test("7.1 A new member comes into the parent's ordered to-many once", arguments: [false, true], [false, true])
    func once(saved: Bool, read: Bool) throws {
        let patient = try patient(saved: saved), child = parent.child()
        let mine = child.same(patient)
        if read { #expect(mine.notes() == ["a", "b"]) }
        // The last made comes first.
        let visits = ["c", "d"].map { child.make("Visit", ["note": $0]) }
        for visit in visits.reversed() { visit.setValue(mine, forKey: "patient") }
        try child.save()
        #expect(patient.notes() == ["a", "b", "d", "c"])
        #expect(mine.notes() == ["a", "b", "d", "c"])
        try parent.save()
        #expect(patient.notes() == ["a", "b", "d", "c"])
        #expect(try storedNotes() == ["a", "b", "d", "c"])
        let first = parent.same(visits[0])
        patient.mutableOrderedSetValue(forKey: "visits").remove(first)
        #expect(first.value(forKey: "patient") == nil)
        #expect(patient.notes() == ["a", "b", "d"])
    }

    @Test("7.1 Saved members come in the order in which the child took them in", arguments: [false, true])
    func moved(read: Bool) throws {
        let patient = try patient(saved: true), other = parent.make("Patient", ["name": "Bo"])
        other.setValue(
            NSOrderedSet(array: ["c", "d", "e"].map { parent.make("Visit", ["note": $0]) }), forKey: "visits")
        try parent.save()
        let child = parent.child()
        let mine = child.same(patient), visits = try child.all("Visit")
        if read { #expect(mine.notes() == ["a", "b"]) }
        for note in ["e", "c"] {
            try #require(visits.first { $0.value(forKey: "note") as? String == note }).setValue(mine, forKey: "patient")
        }
        try child.save()
        #expect(patient.notes() == ["a", "b", "e", "c"])
        #expect(other.notes() == ["d"])
        try parent.save()
        #expect(try storedNotes() == ["a", "b", "e", "c"])
    }

    @Test("7.1 A member that the parent has taken in meanwhile keeps its place")
    func present() throws {
        let patient = try patient(saved: true), visit = parent.make("Visit", ["note": "x"])
        try parent.save()
        let child = parent.child()
        let mine = child.same(visit)
        #expect(mine.value(forKey: "patient") == nil)
        patient.mutableOrderedSetValue(forKey: "visits").insert(visit, at: 0)
        mine.setValue(child.same(patient), forKey: "patient")
        child.make("Visit", ["note": "y"]).setValue(child.same(patient), forKey: "patient")
        try child.save()
        #expect(patient.notes() == ["x", "a", "b", "y"])
    }

    @Test("7.1 A pair that is ordered on both sides is in both once", arguments: [false, true])
    func bothOrdered(saved: Bool) throws {
        let patient = parent.make("Patient", ["name": "Ada", "code": 1])
        let doctors = (1...2).map { parent.make("Doctor", ["code": $0]) }
        patient.setValue(NSOrderedSet(array: doctors), forKey: "doctors")
        if saved { try parent.save() }
        let child = parent.child()
        let new = child.make("Doctor", ["code": 3]), mine = child.same(patient)
        new.mutableOrderedSetValue(forKey: "patients").add(mine)
        child.make("Patient", ["name": "Bo", "code": 2]).mutableOrderedSetValue(forKey: "doctors").add(
            child.same(doctors[0]))
        try child.save()
        #expect(codes(patient, "doctors") == [1, 2, 3])
        #expect(codes(parent.same(new), "patients") == [1])
        #expect(codes(doctors[0], "patients") == [1, 2])
        #expect(codes(mine, "doctors") == [1, 2, 3])
        try parent.save()
        let reader = stack.another()
        #expect(codes(reader.same(patient), "doctors") == [1, 2, 3])
        #expect(codes(reader.same(doctors[0]), "patients") == [1, 2])
    }

    @Test("7.1 Through three contexts a member arrives once", arguments: [false, true])
    func threeLevels(saved: Bool) throws {
        let patient = try patient(saved: saved)
        let child = parent.child()
        let grandchild = child.child()
        for note in ["c", "d"] {
            grandchild.make("Visit", ["note": note]).setValue(grandchild.same(patient), forKey: "patient")
        }
        try grandchild.save()
        #expect(child.same(patient).notes() == ["a", "b", "c", "d"])
        try child.save()
        #expect(patient.notes() == ["a", "b", "c", "d"])
        #expect(child.same(patient).notes() == ["a", "b", "c", "d"])
        #expect(grandchild.same(patient).notes() == ["a", "b", "c", "d"])
        try parent.save()
        #expect(try storedNotes() == ["a", "b", "c", "d"])
    }

    @Test(
        "7.1 A member that was unsaved in the parent when it was read, and left there since, is taken in once",
        arguments: [false, true])
    func returned(bothOrdered: Bool) throws {
        let (entity, key, back) = bothOrdered ? ("Doctor", "doctors", "patients") : ("Visit", "visits", "patient")
        let patient = parent.make("Patient", ["name": "Ada", "code": 1]), member = parent.make(entity, ["code": 2])
        let other = parent.make(entity, ["code": 3])
        patient.setValue(NSOrderedSet(array: [member, other]), forKey: key)
        let child = parent.child()
        let mine = child.same(patient)
        #expect(codes(mine, key) == [2, 3])
        patient.mutableOrderedSetValue(forKey: key).remove(member)
        try parent.save()
        let found = child.same(member)
        child.refresh(found, mergeChanges: false)
        if bothOrdered {
            found.mutableOrderedSetValue(forKey: back).add(mine)
        } else {
            #expect(found.value(forKey: back) == nil)
            found.setValue(mine, forKey: back)
        }
        #expect(codes(mine, key).sorted() == [2, 3])
        try child.save()
        #expect(codes(mine, key).sorted() == [2, 3] && codes(patient, key).sorted() == [2, 3])
        try parent.save()
        let reader = stack.another()
        #expect(codes(reader.same(patient), key).sorted() == [2, 3])
    }

    @Test(
        "7.1 A new member of a to-many that nobody has read costs the parent the row of its owner and no look at the others"
    )
    func statements() throws {
        let count = StatementLog()
        let stack = try Stack(undo: false, options: count.options)
        let writer = stack.another(), parent = stack.context
        let patient = writer.make("Patient", ["name": "Ada"])
        patient.setValue(NSOrderedSet(array: [writer.make("Visit", ["note": "a"])]), forKey: "visits")
        try writer.save()
        let child = parent.child()
        let mine = child.same(patient)
        child.make("Visit", ["note": "b"]).setValue(mine, forKey: "patient")
        #expect(try count.count { try child.save() } == 1)
        #expect(parent.same(patient).notes() == ["a", "b"])
    }
}
