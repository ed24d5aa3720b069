// Statements on when objects are called (behaviours, section 1).

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

/// Writes every call down, with the flags of snapshots.
final class Called: NSManagedObject {
    var calls: [String] = []
    /// What the object sees of itself when it is called.
    var seen: [String: Any?] = [:]
    var atCall: [String: (Called) -> Void] = [:]

    private func note(_ call: String) {
        calls.append(call)
        atCall[call]?(self)
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        seen["awakeFromInsert"] = value(forKey: "number")
        note("awakeFromInsert")
    }
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        note("snapshot \(flags.rawValue)")
    }
    override func prepareForDeletion() {
        super.prepareForDeletion()
        seen["prepareForDeletion"] = (value(forKey: "nurse") as? NSManagedObject)?.value(forKey: "name")
        note("prepareForDeletion")
    }
    override func willSave() {
        super.willSave()
        note("willSave")
    }
    override func didSave() {
        super.didSave()
        note("didSave")
    }
}

@Suite struct CallStatements {
    private let stack: Stack
    private let undoManager = UndoManager()
    private var context: NSManagedObjectContext { stack.context }

    init() throws {
        stack = try Stack(model: CallStatements.model(), undo: false)
        stack.context.undoManager = undoManager
    }

    /// Bay ⇄ Nurse, one to many; a bay has a number, 7 unless set.
    static func model() -> NSManagedObjectModel {
        let bay = NSEntityDescription()
        bay.name = "Bay"
        bay.managedObjectClassName = "LifeCycleTests.Called"
        let nurse = NSEntityDescription()
        nurse.name = "Nurse"
        let number = NSAttributeDescription()
        (number.name, number.attributeType, number.defaultValue) = ("number", .integer32AttributeType, 7)
        let name = NSAttributeDescription()
        (name.name, name.attributeType) = ("name", .stringAttributeType)
        let toOne = NSRelationshipDescription()
        (toOne.name, toOne.destinationEntity, toOne.maxCount) = ("nurse", nurse, 1)
        let toMany = NSRelationshipDescription()
        (toMany.name, toMany.destinationEntity, toMany.maxCount) = ("bays", bay, 0)
        for relationship in [toOne, toMany] {
            relationship.isOptional = true
            relationship.deleteRule = .nullifyDeleteRule
        }
        (toOne.inverseRelationship, toMany.inverseRelationship) = (toMany, toOne)
        bay.properties = [number, toOne]
        nurse.properties = [name, toMany]
        let model = NSManagedObjectModel()
        model.entities = [bay, nurse]
        return model
    }

    private func bay() throws -> Called { try #require(context.make("Bay") as? Called) }

    @Test("1.1 An object made for a context is inserted and told; one made for none is neither, and nobody watches it")
    func inserting() throws {
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Bay"])
        let inserted = Called(entity: entity, insertInto: context)
        #expect(inserted.calls == ["awakeFromInsert"])
        #expect(context.insertedObjects == [inserted])
        let alone = Called(entity: entity, insertInto: nil)
        alone.setValue(3, forKey: "number")
        #expect(alone.calls.isEmpty)
        #expect(alone.managedObjectContext == nil && !alone.hasChanges)
        context.insert(alone)
        #expect(alone.calls == ["awakeFromInsert"])
        #expect(alone.value(forKey: "number") as? Int == 3)
    }

    @Test("1.3 Default values are there when awakeFromInsert is called")
    func defaults() throws {
        #expect(try bay().seen["awakeFromInsert"] as? Int == 7)
    }

    @Test("1.5 An object is told why its values were reset: undo of an insertion, a deletion, an update, and rollback")
    func snapshots() throws {
        let bay = try bay()
        context.processPendingChanges()
        context.undo()
        #expect(bay.calls.last == "snapshot 2")
        context.redo()
        #expect(bay.calls.last == "snapshot 4")
        try context.save()
        undoManager.removeAllActions()
        bay.calls = []
        bay.atCall["snapshot 8"] = { $0.setValue(1, forKey: "number") }
        bay.setValue(9, forKey: "number")
        context.processPendingChanges()
        context.undo()
        #expect(bay.calls == ["snapshot 8"])
        // What is written there is no change.
        #expect(undoManager.redoCount == 1)
        context.delete(bay)
        context.processPendingChanges()
        context.undo()
        #expect(bay.calls.filter { $0.hasPrefix("snapshot") } == ["snapshot 8", "snapshot 4"])
        bay.setValue(10, forKey: "number")
        bay.calls = []
        context.rollback()
        #expect(bay.calls == ["snapshot 16"])
        #expect(bay.value(forKey: "number") as? Int == 7)
    }

    @Test("1.6 prepareForDeletion is called by delete, before relationships are torn down")
    func deleting() throws {
        let bay = try bay()
        bay.setValue(context.make("Nurse", ["name": "Ada"]), forKey: "nurse")
        try context.save()
        context.delete(bay)
        #expect(bay.calls.last == "prepareForDeletion")
        #expect(bay.seen["prepareForDeletion"] as? String == "Ada")
        context.processPendingChanges()
        #expect(bay.calls.filter { $0 == "prepareForDeletion" }.count == 1)
    }

    @Test(
        "1.7 willSave is called for what is inserted, updated and deleted; a primitive write there is no further change"
    )
    func willSave() throws {
        let (inserted, updated, deleted) = (try bay(), try bay(), try bay())
        try context.save()
        for object in [inserted, updated, deleted] { object.calls = [] }
        let new = try bay()
        updated.setValue(8, forKey: "number")
        updated.atCall["willSave"] = { $0.setPrimitiveValue(9, forKey: "number") }
        context.delete(deleted)
        try context.save()
        #expect(new.calls == ["awakeFromInsert", "willSave", "didSave"])
        #expect(updated.calls == ["willSave", "didSave"])
        #expect(deleted.calls == ["prepareForDeletion", "willSave", "didSave"])
        #expect(inserted.calls.isEmpty)
        #expect(updated.value(forKey: "number") as? Int == 9)
    }

    @Test("1.7 A willSave that always changes something ends in an error, and nothing is written")
    func endlessWillSave() throws {
        let bay = try bay()
        bay.atCall["willSave"] = { $0.setValue(($0.value(forKey: "number") as? Int ?? 0) + 1, forKey: "number") }
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code.rawValue == 134060)
        #expect(try stack.another().all("Bay").isEmpty)
        bay.atCall = [:]
        try context.save()
    }

    @Test("1.8 didSave is called after the commit, for deletions too; a write there leaves the context dirty")
    func didSave() throws {
        let (kept, gone) = (try bay(), try bay())
        let other = stack.another()
        kept.atCall["didSave"] = { object in
            object.seen["stored"] = (try? other.all("Bay"))?.count
            object.setValue(11, forKey: "number")
        }
        try context.save()
        #expect(kept.seen["stored"] as? Int == 2)
        #expect(context.hasChanges)
        kept.atCall = [:]
        try context.save()
        #expect(!context.hasChanges)
        gone.calls = []
        context.delete(gone)
        try context.save()
        #expect(gone.calls == ["prepareForDeletion", "willSave", "didSave"])
        #expect(gone.managedObjectContext == nil)
    }

    @Test("1.8 A deleted object cannot be resurrected in didSave, by a write or by an insertion")
    func resurrection() throws {
        let gone = try bay()
        try context.save()
        let (context, id) = (context, gone.objectID)
        gone.atCall["didSave"] = { object in
            object.setValue(12, forKey: "number")
            context.insert(object)
            object.setValue(13, forKey: "number")
        }
        context.delete(gone)
        try context.save()
        #expect(gone.calls.last == "didSave" && gone.managedObjectContext == nil)
        #expect(!context.hasChanges && context.insertedObjects.isEmpty)
        gone.atCall = [:]
        try context.save()
        let other = stack.another()
        #expect(try other.all("Bay").isEmpty)
        #expect(throws: CocoaError.self) { try other.existingObject(with: id) }
    }
}
