// Values without a place in a store's row, between parent and child.

import CoreDataFoundation
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite final class ParentValueTests: Generations {
    init() throws {
        ValueTransformer.setValueTransformer(Backwards(), forName: NSValueTransformerName("FamilyMirror"))
        var draft = Clinic.draft()
        draft.entities[0].attributes += [
            Clinic.transformable("mirrored", "FamilyMirror"), Clinic.attribute("anything", .undefined, transient: true),
            Clinic.attribute("remark", .string, transient: true),
            Clinic.attribute("mood", .integer32, default: .int(7), transient: true),
        ]
        super.init(try Stack(model: NSManagedObjectModel(draft: draft), undo: false))
    }

    @Test(
        "1.13 Transient values of every kind reach the parent, and later children, before and after the parent's save")
    func transients() throws {
        let patient = parent.make("Patient", ["name": "Ada"])
        try parent.save()
        let mine = child.same(patient)
        #expect(mine.value(forKey: "anything") == nil)
        let thing = ["a": [1, 2]]
        mine.setValue(thing, forKey: "anything")
        mine.setValue("brief", forKey: "remark")
        mine.setValue(9, forKey: "mood")
        let new = child.make("Patient", ["name": "Bo", "anything": "loose", "mood": 1])
        try child.save()
        #expect(patient.value(forKey: "anything") as? [String: [Int]] == thing)
        // Held: transient values live as long as their object.
        let twin = parent.same(new)
        #expect(twin.value(forKey: "anything") as? String == "loose")
        try checkChildren(of: patient, new, thing) { try $0.named("Bo") }
        try parent.save()
        try checkChildren(of: patient, new, thing) { try $0.named("Bo") }
        #expect(try stack.another().named("Ada")?.value(forKey: "remark") == nil, "no store has it")
        #expect(twin.value(forKey: "mood") as? Int == 1)
    }

    private func checkChildren(
        of patient: NSManagedObject, _ new: NSManagedObject, _ thing: [String: [Int]],
        _ find: (NSManagedObjectContext) throws -> NSManagedObject?
    ) throws {
        let sibling = parent.child()
        let grandchild = sibling.child()
        for context in [sibling, grandchild] {
            let held = context.same(patient)
            #expect(held.value(forKey: "anything") as? [String: [Int]] == thing)
            #expect(held.value(forKey: "remark") as? String == "brief")
            #expect(held.value(forKey: "mood") as? Int == 9)
            let found = try find(context)
            #expect(found?.value(forKey: "anything") as? String == "loose")
            #expect(found?.value(forKey: "mood") as? Int == 1)
            #expect(!context.hasChanges)
        }
    }

    @Test("Transformable values reach the parent in boxes of its own, and its children before they are saved")
    func transformables() throws {
        let patient = parent.make("Patient", ["name": "Ada", "mirrored": "one"])
        try parent.save()
        let mine = child.same(patient)
        #expect(mine.value(forKey: "mirrored") as? String == "one")
        mine.setValue("two", forKey: "mirrored")
        let new = child.make("Patient", ["name": "Bo", "mirrored": "three"])
        try child.save()
        #expect(patient.value(forKey: "mirrored") as? String == "two")
        #expect(patient.hasPersistentChangedValues)
        let sibling = parent.child()
        #expect(sibling.same(patient).value(forKey: "mirrored") as? String == "two")
        #expect(try sibling.named("Bo")?.value(forKey: "mirrored") as? String == "three")
        try parent.save()
        #expect(parent.same(new).value(forKey: "mirrored") as? String == "three")
        #expect(try stack.another().named("Ada")?.value(forKey: "mirrored") as? String == "two")
        mine.setValue(nil, forKey: "mirrored")
        try child.save()
        #expect(patient.value(forKey: "mirrored") == nil)
        try parent.save()
        let other = try stack.another().named("Ada")
        #expect(other != nil && other?.value(forKey: "mirrored") == nil)
    }

    @Test("A value that its transformer refuses reaches the parent, whose save says so and keeps it")
    func refused() throws {
        let new = child.make("Patient", ["name": "Bo", "mirrored": "refused"])
        try child.save()
        #expect(parent.same(new).value(forKey: "mirrored") as? String == "refused")
        #expect(throws: CocoaError.self) { try parent.save() }
        #expect(parent.same(new).value(forKey: "mirrored") as? String == "refused")
        parent.same(new).setValue("taken", forKey: "mirrored")
        try parent.save()
        #expect(try stack.another().named("Bo")?.value(forKey: "mirrored") as? String == "taken")
    }

    @Test("5.4 Rollback in a child gives transient attributes the values of its parent", arguments: [false, true])
    func rollback(_ grand: Bool) throws {
        let context = grand ? child.child() : child
        // Transient values live as long as their object.
        for above in [parent, child] { above.retainsRegisteredObjects = true }
        let mine = context.make("Patient", ["name": "Ada", "mood": 3, "remark": "brief", "anything": "loose"])
        for saved in [context, child, parent] { try saved.save() }
        func check() {
            #expect(mine.value(forKey: "mood") as? Int == 3 && mine.value(forKey: "remark") as? String == "brief")
            #expect(mine.value(forKey: "anything") as? String == "loose" && !context.hasChanges)
        }
        mine.setValue("Eve", forKey: "name")
        context.rollback()
        check()
        mine.setValue(4, forKey: "mood")
        mine.setValue(nil, forKey: "remark")
        mine.setValue("else", forKey: "anything")
        context.rollback()
        check()
        mine.setValue("Eve", forKey: "name")
        for saved in [context, child] { try saved.save() }
        check()
        #expect(parent.same(mine).value(forKey: "mood") as? Int == 3)
    }

    @Test(
        "5.3 Undoing a deletion in a child brings back transient values of every kind", arguments: [false, true],
        [false, true])
    func deletion(_ isRead: Bool, _ goesUp: Bool) throws {
        let patient = parent.make("Patient", ["name": "Ada", "mood": 3, "remark": "brief", "anything": "loose"])
        try parent.save()
        child.undoManager = UndoManager()
        let mine = child.same(patient)
        if isRead { #expect(mine.value(forKey: "anything") as? String == "loose") }
        child.delete(mine)
        try child.save()
        if goesUp { try parent.save() }
        child.undo()
        func check(_ object: NSManagedObject) {
            #expect(object.value(forKey: "mood") as? Int == 3 && object.value(forKey: "remark") as? String == "brief")
            #expect(object.value(forKey: "anything") as? String == "loose")
        }
        check(mine)
        try child.save()
        check(mine)
        check(parent.same(mine))
    }

    @Test(
        "1.13 A default that was never replaced is the parent's value too when the undo of a deletion is pushed",
        arguments: [false, true])
    func defaults(_ goesUp: Bool) throws {
        let patient = parent.make("Patient", ["name": "Ada"])
        try parent.save()
        parent.reset()
        child.undoManager = UndoManager()
        let mine = child.object(with: patient.objectID)
        #expect(mine.value(forKey: "mood") as? Int == 7)
        mine.setValue(9, forKey: "mood")
        child.processPendingChanges()
        child.delete(mine)
        try child.save()
        if goesUp { try parent.save() }
        child.undo()
        child.undo()
        #expect(mine.value(forKey: "mood") as? Int == 7)
        try child.save()
        #expect(mine.value(forKey: "mood") as? Int == 7 && parent.same(mine).value(forKey: "mood") as? Int == 7)
        try parent.save()
        mine.setValue("Eve", forKey: "name")
        child.rollback()
        child.delete(mine)
        try child.save()
        if goesUp { try parent.save() }
        child.undo()
        try child.save()
        #expect(mine.value(forKey: "mood") as? Int == 7 && parent.same(mine).value(forKey: "mood") as? Int == 7)
    }
}
