// Redo of deletions: the delete rules leave what they left the first time.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct RedoneRuleTests {
    /// A Dept with a to-many of each rule: staff cascade, safes deny, guests no action, notes nullify and ordered.
    private static func model() -> NSManagedObjectModel {
        var draft = SchemaDraft()
        var dept = EntityDraft(name: "Dept")
        dept.attributes = [Clinic.attribute("name", .string)]
        dept.relationships = [
            Clinic.toMany("staff", "Emp", inverse: "dept", rule: .cascade),
            Clinic.toMany("safes", "Safe", inverse: "dept", rule: .deny),
            Clinic.toMany("guests", "Guest", inverse: "dept", rule: .noAction),
            Clinic.toMany("notes", "Note", inverse: "dept", ordered: true),
        ]
        draft.entities = [dept]
        for (name, back) in [("Emp", "staff"), ("Safe", "safes"), ("Guest", "guests"), ("Note", "notes")] {
            let entity = EntityDraft(
                name, [Clinic.attribute("name", .string)], [Clinic.toOne("dept", "Dept", inverse: back)])
            draft.entities.append(entity)
        }
        return NSManagedObjectModel(draft: draft)
    }

    private let stack: Stack
    private let context: NSManagedObjectContext
    private let dept: NSManagedObject

    init() throws {
        stack = try Stack(model: Self.model())
        context = stack.context
        dept = context.make("Dept")
    }

    private func save() throws {
        try context.save()
        context.undoManager?.removeAllActions()
    }

    @Test("4.4 A deletion that deny refuses is refused again after undo and redo")
    func deny() throws {
        let safe = context.make("Safe", ["dept": dept])
        try save()
        context.delete(dept)
        #expect(caught { try context.save() }?.code.rawValue == 1600)
        for _ in 0..<2 {
            context.undo()
            #expect(!dept.isDeleted && !context.hasChanges)
            context.redo()
            #expect(dept.isDeleted && safe.one("dept") === dept && !safe.isUpdated)
            #expect(caught { try context.save() }?.code.rawValue == 1600)
        }
        context.delete(safe)
        try context.save()
        let reader = stack.another()
        #expect(try reader.all("Dept").isEmpty)
    }

    @Test("4.4 A refused deletion in a group with other changes goes and comes with them")
    func group() throws {
        let safe = context.make("Safe", ["dept": dept, "name": "old"]), other = context.make("Dept")
        let moved = context.make("Safe", ["dept": dept])
        try save()
        context.undoManager?.beginUndoGrouping()
        safe.setValue("new", forKey: "name")
        context.processPendingChanges()
        context.delete(dept)
        context.processPendingChanges()
        moved.setValue(other, forKey: "dept")
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
        #expect(caught { try context.save() }?.code.rawValue == 1600)
        context.undo()
        #expect(!context.hasChanges && dept.members("safes") == [safe, moved] && other.many("safes").isEmpty)
        context.redo()
        #expect(dept.isDeleted && safe.one("dept") === dept && safe.value(forKey: "name") as? String == "new")
        #expect(moved.one("dept") === other && other.many("safes") == [moved])
        #expect(caught { try context.save() }?.code.rawValue == 1600)
        safe.setValue(other, forKey: "dept")
        try context.save()
        let reader = stack.another()
        #expect(try reader.all("Dept").count == 1)
        #expect(try reader.all("Safe").allSatisfy { $0.one("dept") != nil })
    }

    @Test("5.3 Each rule does at a redo what it did at the deletion", arguments: [false, true])
    func mixed(savesBetween: Bool) throws {
        let emp = context.make("Emp", ["dept": dept]), guest = context.make("Guest", ["dept": dept])
        let notes = ["a", "b"].map { context.make("Note", ["name": $0]) }
        dept.setValue(NSOrderedSet(array: notes), forKey: "notes")
        try save()
        context.delete(dept)
        context.processPendingChanges()
        func check() {
            #expect(emp.isDeleted || emp.managedObjectContext == nil)
            #expect(dept.isDeleted || dept.managedObjectContext == nil)
            #expect(notes.allSatisfy { $0.one("dept") == nil && !$0.isDeleted })
        }
        check()
        #expect(guest.one("dept") === dept && !guest.isUpdated)
        for _ in 0..<2 {
            if savesBetween { try context.save() }
            context.undo()
            if savesBetween { try context.save() }
            #expect(dept.many("staff") == [emp] && dept.many("notes") == notes && !dept.isDeleted && !emp.isDeleted)
            context.redo()
            check()
            if !savesBetween { #expect(guest.one("dept") === dept && !guest.isUpdated) }
        }
        try context.save()
        let reader = stack.another()
        #expect(try reader.all("Dept").isEmpty && reader.all("Emp").isEmpty)
        #expect(try reader.all("Note").count == 2 && reader.all("Guest").count == 1)
    }

    @Test("5.3 A redo applies the rules to members that came without being logged", arguments: [false, true])
    func unlogged(saved: Bool) throws {
        try save()
        context.delete(dept)
        if saved { try context.save() } else { context.processPendingChanges() }
        context.undo()
        context.undoManager?.disableUndoRegistration()
        let emp = context.make("Emp", ["dept": dept]), safe = context.make("Safe", ["dept": dept])
        let note = context.make("Note", ["dept": dept])
        try context.save()
        context.undoManager?.enableUndoRegistration()
        context.redo()
        #expect(emp.isDeleted && note.one("dept") == nil && safe.one("dept") === dept)
        #expect(caught { try context.save() }?.code.rawValue == 1600)
        context.undo()
        #expect(dept.many("staff") == [emp] && dept.many("notes") == [note] && dept.many("safes") == [safe])
        #expect(!context.hasChanges)
    }

    @Test("5.3 A deletion that the program took back is refused by deny again when that is undone")
    func takenBack() throws {
        let safe = context.make("Safe", ["dept": dept])
        try save()
        context.delete(dept)
        context.processPendingChanges()
        context.insert(dept)
        context.processPendingChanges()
        #expect(!dept.isDeleted)
        context.undo()
        #expect(dept.isDeleted && safe.one("dept") === dept)
        #expect(caught { try context.save() }?.code.rawValue == 1600)
        context.undo()
        #expect(!dept.isDeleted && !context.hasChanges)
    }

    @Test("5.3 Undoing a saved insertion parts the object from all it was related to, whatever the rules say")
    func insertion() throws {
        let safe = context.make("Safe"), emp = context.make("Emp")
        try save()
        let new = context.make("Dept")
        new.setValue(Set([safe]), forKey: "safes")
        new.setValue(Set([emp]), forKey: "staff")
        try context.save()
        context.undo()
        #expect(new.isDeleted && !emp.isDeleted && safe.one("dept") == nil && emp.one("dept") == nil)
        try context.save()
        context.redo()
        #expect(safe.one("dept") === new && emp.one("dept") === new)
        try context.save()
        context.undo()
        #expect(new.isDeleted && !emp.isDeleted && safe.one("dept") == nil)
        try context.save()
        #expect(try stack.another().all("Emp").count == 1)
    }
}
