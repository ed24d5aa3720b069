// Undo and redo in a child of what its save has pushed to the parent already.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct PushedUndoTests {
    private let stack: Stack
    private let parent: NSManagedObjectContext
    private let child: NSManagedObjectContext
    private let patient: NSManagedObject
    private let id: NSManagedObjectID

    /// A saved patient with a ward, a bed, a doctor and two visits, known to parent and child.
    init() throws {
        stack = try Stack(undo: true)
        parent = stack.context
        child = parent.child()
        child.undoManager = UndoManager()
        patient = parent.make("Patient", ["name": "Ada", "age": 30, "weight": 1.5])
        patient.setValue(parent.make("Ward", ["name": "East"]), forKey: "ward")
        patient.setValue(parent.make("Bed", ["number": 4]), forKey: "bed")
        patient.setValue(NSSet(object: parent.make("Doctor", ["name": "Who"])), forKey: "doctors")
        let visits = [parent.make("Visit", ["note": "one"]), parent.make("Visit", ["note": "two"])]
        patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
        try parent.save()
        id = patient.objectID
    }

    /// Everything that the patient of a context has, as a text.
    private func story(_ context: NSManagedObjectContext) throws -> String {
        try context.all("Patient").map { patient in
            let doctors = patient.members("doctors").compactMap(\.name),
                bed = patient.value(forKey: "bed") as? NSManagedObject
            let isPaired = bed?.value(forKey: "patient") as? NSManagedObject === patient
            return "\(patient.objectID == id) \(patient.name ?? "") \(patient.value(forKey: "age") ?? "") "
                + "\((patient.value(forKey: "ward") as? NSManagedObject)?.name ?? "") \(doctors) \(isPaired) \(patient.notes())"
        }.joined(separator: "; ")
    }

    private static let whole = #"true Ada 30 East ["Who"] true ["one", "two"]"#

    private func deleteInChild() throws -> NSManagedObject {
        let mine = child.same(patient)
        child.delete(mine)
        try child.save()
        #expect(try story(parent).isEmpty && story(child).isEmpty)
        #expect(patient.isDeleted)
        return mine
    }

    @Test("5.3 Undoing a deletion that the parent has too brings back the same object there, with its relationships")
    func undone() throws {
        let mine = try deleteInChild()
        child.undo()
        #expect(mine.managedObjectContext === child && mine.objectID == id)
        #expect(try story(child) == Self.whole)
        #expect(try story(parent).isEmpty, "nothing is pushed yet")
        try child.save()
        #expect(parent.same(mine) === patient && !patient.isDeleted)
        #expect(try story(parent) == Self.whole)
        #expect(try story(child) == Self.whole)
        try parent.save()
        let reader = stack.another()
        #expect(try story(reader).hasSuffix(Self.whole.dropFirst(4)))
        #expect(try reader.all("Patient").map { $0.objectID.uriRepresentation() } == [id.uriRepresentation()])
        #expect(try reader.all("Visit").count == 2)
    }

    @Test("5.3 What is changed after such an undo is pushed as a change of the parent's object")
    func changed() throws {
        let mine = try deleteInChild()
        child.undo()
        mine.setValue("Eve", forKey: "name")
        mine.setValue(nil, forKey: "weight")
        mine.setValue(nil, forKey: "ward")
        try child.save()
        #expect(parent.same(mine) === patient)
        #expect(patient.name == "Eve" && patient.value(forKey: "weight") == nil && patient.value(forKey: "ward") == nil)
        try parent.save()
        let reader = stack.another()
        let found = try #require(try reader.named("Eve"))
        #expect(found.objectID.uriRepresentation() == id.uriRepresentation())
        #expect(found.value(forKey: "weight") == nil && found.value(forKey: "age") as? Int == 30)
    }

    @Test("5.3 Such an undo and its redo go back and forth, pushed or not", arguments: [false, true])
    func forthAndBack(_ pushes: Bool) throws {
        let mine = try deleteInChild()
        for _ in 0..<3 {
            child.undo()
            if pushes { try child.save() }
            #expect(try story(child) == Self.whole)
            child.redo()
            if pushes { try child.save() }
            #expect(try story(child).isEmpty && story(parent).isEmpty)
        }
        child.undo()
        try child.save()
        #expect(parent.same(mine) === patient)
        #expect(try story(parent) == Self.whole)
        parent.undo()
        #expect(try story(parent).isEmpty, "the parent's undo takes the push back")
        parent.redo()
        #expect(try story(parent) == Self.whole)
    }

    @Test("5.3 A rollback in the parent makes such an undo a change of the object that is there again")
    func rolledBack() throws {
        let mine = try deleteInChild()
        parent.rollback()
        child.undo()
        #expect(mine.objectID == id)
        mine.setValue(31, forKey: "age")
        try child.save()
        #expect(try parent.all("Patient") == [patient])
        #expect(patient.value(forKey: "age") as? Int == 31)
        try parent.save()
        #expect(try stack.another().all("Patient").count == 1)
    }

    @Test("5.3 After the parent's save such an undo makes a new object")
    func saved() throws {
        let mine = try deleteInChild()
        try parent.save()
        child.undo()
        #expect(mine.objectID != id)
        try child.save()
        try parent.save()
        let reader = stack.another()
        #expect(try story(reader).hasSuffix(Self.whole.dropFirst(4)))
        #expect(try reader.all("Patient").count == 1)
    }

    @Test("5.3 A deletion that went up two contexts is undone below as the same object")
    func grandchild() throws {
        let grandchild = child.child()
        grandchild.undoManager = UndoManager()
        let mine = grandchild.same(patient)
        grandchild.delete(mine)
        try grandchild.save()
        try child.save()
        #expect(patient.isDeleted)
        grandchild.undo()
        #expect(mine.objectID == id)
        try grandchild.save()
        #expect(try story(child) == Self.whole)
        try child.save()
        #expect(try parent.all("Patient") == [patient])
        #expect(try story(parent) == Self.whole)
    }

    @Test("5.3 A deletion of an object that the parent has not saved is undone under the same ID")
    func unsaved() throws {
        let new = parent.make("Patient", ["name": "Bo"])
        let mine = child.same(new), id = new.objectID
        child.delete(mine)
        try child.save()
        child.undo()
        try child.save()
        #expect(try parent.named("Bo")?.objectID == id)
        #expect(try parent.all("Patient").count == 2)
        try parent.save()
        #expect(try stack.another().all("Patient").count == 2)
    }

    @Test(
        "5.3 An insertion that went up, its deletion and the undo of that are one object in the parent",
        arguments: [false, true], [false, true])
    func returned(_ isLinked: Bool, _ hasID: Bool) throws {
        let mine = child.make("Patient", ["name": "Bo", "code": 7])
        if hasID { try child.obtainPermanentIDs(for: [mine]) }
        if isLinked {
            mine.setValue(child.make("Ward", ["name": "West"]), forKey: "ward")
            mine.setValue(NSOrderedSet(array: [child.make("Visit", ["note": "x"])]), forKey: "visits")
        }
        try child.save()
        let twin = try #require(try parent.named("Bo"))
        let before = try story(parent)
        child.delete(mine)
        try child.save()
        #expect(twin.managedObjectContext == nil)
        let without = try story(parent)
        child.undo()
        try child.save()
        #expect(try parent.named("Bo") === twin && parent.same(mine) === twin)
        #expect(try story(parent) == before && story(child) == before)
        for _ in 0..<2 {
            parent.undo()
            #expect(try story(parent) == without && twin.managedObjectContext == nil)
            parent.undo()
            #expect(try story(parent) == before && parent.named("Bo") === twin)
            parent.redo()
            #expect(try story(parent) == without)
            parent.redo()
            #expect(try story(parent) == before && parent.named("Bo") === twin)
        }
        try parent.save()
        #expect(try stack.another().all("Patient").count == 2)
    }

    @Test("5.3 What is changed after the undo of such a deletion is undone in the parent with its push")
    func returnedChanged() throws {
        let mine = child.make("Patient", ["name": "Bo", "age": 3])
        try child.save()
        let twin = try #require(try parent.named("Bo"))
        child.delete(mine)
        try child.save()
        child.undo()
        mine.setValue("Cy", forKey: "name")
        mine.setValue(nil, forKey: "age")
        mine.setValue(child.same(patient).value(forKey: "ward"), forKey: "ward")
        try child.save()
        #expect(twin.name == "Cy" && twin.value(forKey: "age") == nil && twin.value(forKey: "ward") != nil)
        for _ in 0..<2 {
            parent.undo()
            #expect(twin.managedObjectContext == nil)
            parent.undo()
            #expect(twin.name == "Bo" && twin.value(forKey: "age") as? Int == 3 && twin.value(forKey: "ward") == nil)
            parent.redo()
            parent.redo()
            #expect(twin.name == "Cy" && twin.value(forKey: "age") == nil && twin.value(forKey: "ward") != nil)
        }
    }

    @Test("5.3 The parent's own undo of the pushed deletion comes first: the child's finds the object there")
    func returnedTwice() throws {
        let mine = child.make("Patient", ["name": "Bo"])
        try child.save()
        let twin = try #require(try parent.named("Bo"))
        child.delete(mine)
        try child.save()
        parent.undo()
        child.undo()
        mine.setValue(4, forKey: "age")
        try child.save()
        #expect(try parent.all("Patient").count == 2)
        #expect(parent.same(mine) === twin && twin.value(forKey: "age") as? Int == 4)
        try parent.save()
        #expect(try stack.another().all("Patient").count == 2)
    }

    @Test(
        "5.3 An object that nobody saved comes back as the same one in every context above", arguments: [false, true])
    func returnedBelow(_ pushesOn: Bool) throws {
        let grandchild = child.child()
        grandchild.undoManager = UndoManager()
        let mine = grandchild.make("Patient", ["name": "Bo"])
        try grandchild.save()
        try child.save()
        let twins = try [child, parent].map { try #require(try $0.named("Bo")) }
        grandchild.delete(mine)
        try grandchild.save()
        if pushesOn { try child.save() }
        grandchild.undo()
        try grandchild.save()
        try child.save()
        for (context, twin) in zip([child, parent], twins) {
            #expect(try context.named("Bo") === twin && context.all("Patient").count == 2)
        }
        try parent.save()
        #expect(try stack.another().names() == ["Ada", "Bo"])
    }

    @Test(
        "5.3 Undoing a link to an object that was saved meanwhile finds that object, not a second one for its row",
        arguments: [("Visit", "patient", "visits"), ("Patient", "ward", "patients"), ("Patient", "bed", "patient")])
    func savedTarget(_ entity: String, _ key: String, _ back: String) throws {
        let source = parent.make(entity)
        if entity == "Patient" { source.setValue("Bo", forKey: "name") }
        try parent.save()
        let mine = child.same(source),
            name = try #require(mine.entity.relationshipsByName[key]?.destinationEntity?.name)
        let target = child.make(name)
        if name == "Patient" { target.setValue("Cy", forKey: "name") }
        try child.save()
        mine.setValue(target, forKey: key)
        try child.save()
        try parent.save()
        child.undo()
        #expect(mine.value(forKey: key) == nil)
        try child.save()
        #expect(try child.all(name).filter { $0.objectID == target.objectID } == [target])
        let members = target.value(forKey: back)
        #expect((members as? NSSet)?.count ?? (members as? NSOrderedSet)?.count ?? (members == nil ? 0 : 1) == 0)
        child.redo()
        #expect(mine.value(forKey: key) as? NSManagedObject === target)
        try child.save()
        try parent.save()
        #expect(parent.same(mine).value(forKey: key) as? NSManagedObject === parent.same(target))
    }
}
