// Nothing of a family of contexts outlives it: objects that hold each other are parted when their context has no use for them.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct ReleaseTests {
    private let remains = Remains()

    /// Runs a body over a parent and a child, and tells what is left once both are let go.
    private func left(_ body: (_ parent: NSManagedObjectContext, _ child: NSManagedObjectContext) throws -> Void) throws
        -> [String]
    {
        try withExtendedLifetime(Stack(NSInMemoryStoreType, undo: false)) { stack in
            let parent = stack.another()
            let child = parent.child()
            try body(parent, child)
            for context in [parent, child] { remains.watch(context) }
        }
        return remains.alive
    }

    /// A patient in a bed: each names the other.
    private func pair(_ context: NSManagedObjectContext) -> (patient: NSManagedObject, bed: NSManagedObject) {
        let patient = context.make("Patient", ["name": "Ada"]), bed = context.make("Bed", ["number": 1])
        patient.setValue(bed, forKey: "bed")
        for object in [patient, bed] { remains.watch(object) }
        return (patient, bed)
    }

    @Test("A pair that was parted and joined again before a child's save is let go")
    func rejoined() throws {
        let left = try left { _, child in
            let (patient, bed) = pair(child)
            try child.save()
            patient.setValue(nil, forKey: "bed")
            patient.setValue(bed, forKey: "bed")
            try child.save()
        }
        #expect(left == [])
    }

    @Test("Insertions that are rolled back are let go", arguments: [false, true])
    func rolledBack(_ inChild: Bool) throws {
        let left = try left { parent, child in
            let context = inChild ? child : parent
            _ = pair(context)
            context.rollback()
        }
        #expect(left == [])
    }

    @Test("A changed pair whose rows were deleted elsewhere is let go")
    func deletedElsewhere() throws {
        let left = try left { parent, child in
            let (patient, bed) = pair(parent)
            let other = parent.make("Bed", ["number": 2])
            remains.watch(other)
            try parent.save()
            let mine = child.same(patient), second = child.same(other)
            mine.setValue(second, forKey: "bed")
            for object in [mine, second] { remains.watch(object) }
            for object in [patient, bed, other] { parent.delete(object) }
            parent.processPendingChanges()
            try parent.save()
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectIDsKey: [patient, bed, other].map(\.objectID)], into: [child])
            #expect(!child.hasChanges)
            // The list of changed objects ends with a save.
            _ = child.make("Patient", ["name": "Bo"])
            try child.save()
        }
        #expect(left == [])
    }

    @Test("A pair that is deleted under a rule which leaves it together is let go", arguments: [false, true])
    func deletedTogether(_ inChild: Bool) throws {
        let left = try left { parent, child in
            let context = inChild ? child : parent
            let (patient, bed) = pair(context)
            try context.save()
            let other = context.make("Bed", ["number": 2])
            remains.watch(other)
            patient.setValue(other, forKey: "bed")
            for object in [patient, other, bed] { context.delete(object) }
            try context.save()
        }
        #expect(left == [])
    }

    @Test("A context that is let go with unsaved changes leaves nothing behind", arguments: [false, true])
    func abandoned(_ isSaved: Bool) throws {
        let left = try left { _, child in
            let (patient, bed) = pair(child)
            if isSaved { try child.save() }
            patient.setValue(nil, forKey: "bed")
            patient.setValue(bed, forKey: "bed")
        }
        #expect(left == [])
    }
}
