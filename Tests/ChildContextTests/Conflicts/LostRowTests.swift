// Rows that another writer has changed or deleted after this context, or a child of it, has read them and let go.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Rows that are gone, or were let go of") struct LostRowTests {
    @Test("What a child has read is compared whether or not it has held the object since", arguments: [false, true])
    func childLetGo(_ holds: Bool) throws {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let other = stack.another()
        let ward = other.make("Ward", ["name": "S", "beds": 1000])
        try other.save()
        let id = ward.objectID
        let parent = stack.another(), child = parent.child()
        var held: NSManagedObject? = try child.existingObject(with: id)
        let beds = held!.value(forKey: "beds") as! Int
        if !holds { held = nil }
        ward.setValue(1001, forKey: "beds")
        try other.save()
        child.object(with: id).setValue(beds + 10, forKey: "beds")
        #expect(
            code {
                try child.save(); try parent.save()
            } == 133020)  // none where nothing is held; 1010 is stored
        withExtendedLifetime(held) {}
    }

    @Test("A child's cascade compares members that it has read and let go", arguments: [false, true])
    func childCascade(_ holds: Bool) throws {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let other = stack.another()
        let patient = other.make("Patient", ["name": "p"])
        let visit = other.make("Visit", ["note": "v", "patient": patient])
        try other.save()
        let (id, visitID) = (patient.objectID, visit.objectID)
        let parent = stack.another(), child = parent.child()
        var held: [NSManagedObject] = []
        do {
            let patient = try child.existingObject(with: id)
            for case let visit as NSManagedObject in (patient.value(forKey: "visits") as! NSOrderedSet).array {
                _ = visit.value(forKey: "note")
                if holds { held += [patient, visit] }
            }
        }
        visit.setValue("written by another", forKey: "note")
        try other.save()
        child.delete(child.object(with: id))
        #expect(
            code {
                try child.save(); try parent.save()
            } == 133020)  // none where nothing is held
        #expect((try? stack.another().existingObject(with: visitID)) != nil)
        withExtendedLifetime(held) {}
    }

    @Test(
        "A child's pair with a row that another writer has deleted is refused, whether the parent holds it or not",
        arguments: [false, true], [false, true])
    func childPair(_ parentHolds: Bool, _ isNew: Bool) throws {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let other = stack.another()
        let ward = other.make("Ward", ["name": "S"]), patient = other.make("Patient", ["name": "p"])
        try other.save()
        let (id, patientID) = (ward.objectID, patient.objectID)
        let parent = stack.another(), child = parent.child()
        let held = parentHolds ? try parent.existingObject(with: id) : nil
        let mine = try child.existingObject(with: id)
        let member = isNew ? child.make("Patient", ["name": "n"]) : try child.existingObject(with: patientID)
        member.setValue(mine, forKey: "ward")
        other.delete(ward)
        try other.save()
        // 0 where the parent does not hold the ward: the patient is stored without one.
        #expect(
            code {
                try child.save(); try parent.save()
            } != 0)
        withExtendedLifetime((held, mine, member)) {}
    }

    @Test(
        "A row that was read and is gone when it is written or deleted is a conflict, held or not",
        arguments: [false, true], [false, true])
    func gone(_ holds: Bool, _ deletes: Bool) throws {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let other = stack.another(), context = stack.another()
        let ward = other.make("Ward", ["name": "S", "beds": 1000]),
            second = other.make("Ward", ["name": "T", "beds": 0])
        try other.save()
        let (id, secondID) = (ward.objectID, second.objectID)
        var held: NSManagedObject? = try context.existingObject(with: id)
        let beds = held!.value(forKey: "beds") as! Int
        if !holds { held = nil }
        other.delete(ward)
        try other.save()
        // What belongs together: beds go from one ward to the other.
        if deletes {
            context.delete(context.object(with: id))
        } else {
            context.object(with: id).setValue(beds - 10, forKey: "beds")
        }
        context.object(with: secondID).setValue(10, forKey: "beds")
        #expect(code { try context.save() } == 133020)  // none where it was let go; the second half is stored
        withExtendedLifetime(held) {}
    }

    @Test("A pair with a row that is gone is a conflict, whether the row was read or not", arguments: [false, true])
    func gonePair(_ isRead: Bool) async throws {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let id = try await stack.coordinator.write { context in
            let ward = context.make("Ward", ["name": "S"])
            try context.obtainPermanentIDs(for: [ward])
            return ward.objectID
        }
        let coordinator = stack.coordinator
        await #expect(throws: CocoaError.self) {
            try await coordinator.write { context in
                if isRead {
                    let ward = context.object(with: id)
                    _ = ward.value(forKey: "name")
                }
                let other = coordinator.context()
                try other.performAndWait {
                    if let gone = try? other.existingObject(with: id) { other.delete(gone) }
                    try other.save()
                }
                _ = context.make("Patient", ["name": "p", "ward": context.object(with: id)])
            }
        }
        let reader = stack.another()
        #expect(try reader.all("Patient").isEmpty)  // one, without a ward
    }

    @Test(
        "A policy of the parent settles a deletion of a row that is gone, whether the parent holds it or not",
        arguments: [false, true], [false, true])
    func policy(_ parentHolds: Bool, _ merges: Bool) throws {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let other = stack.another()
        let ward = other.make("Ward", ["name": "S"])
        try other.save()
        let id = ward.objectID
        let parent = stack.another(), child = parent.child()
        parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        parent.automaticallyMergesChangesFromParent = merges
        let held = parentHolds ? try parent.existingObject(with: id) : nil
        let mine = try child.existingObject(with: id)
        _ = mine.value(forKey: "name")
        other.delete(ward)
        try other.save()
        Thread.sleep(forTimeInterval: 0.05)
        parent.performAndWait {}
        child.delete(mine)
        #expect(
            code {
                try child.save(); try parent.save()
            } == nil)  // 133000 but where the parent holds it and does not merge
        withExtendedLifetime(held) {}
    }

    @Test("What a child gives to detectConflicts is compared when the parent saves", arguments: [false, true], [1, 2])
    func checked(_ parentFetches: Bool, _ generations: Int) throws {
        let stack = try Stack(NSSQLiteStoreType, undo: false), other = stack.another()
        let rate = other.make("Ward", ["name": "rate", "beds": 1]), patient = other.make("Patient", ["name": "p"])
        try other.save()
        let parent = stack.another()
        let line = (0..<generations).reduce(into: [parent]) { line, _ in line.append(line[line.count - 1].child()) }
        let child = line[generations]
        let mine = try child.existingObject(with: rate.objectID)
        child.detectConflicts(for: mine)
        child.object(with: patient.objectID).setValue(mine.value(forKey: "beds"), forKey: "age")
        rate.setValue(2, forKey: "beds")
        try other.save()
        if parentFetches { _ = try parent.existingObject(with: rate.objectID).value(forKey: "beds") }
        #expect(code { for context in line.reversed() { try context.save() } } == 133020)
    }
}
