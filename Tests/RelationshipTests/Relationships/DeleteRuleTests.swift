// Delete rules: what happens to the other end, and when.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite(.serialized) struct DeleteRuleTests {
    /// Owner ⇄ Thing with a rule on the owner's side, the things' side nullifying.
    private func model(_ rule: DeleteRule, required: Bool = false, className: String? = nil) -> NSManagedObjectModel {
        var owner = EntityDraft(name: "Owner")
        owner.attributes = [Clinic.attribute("n", .integer32)]
        owner.relationships = [
            Clinic.toMany("things", "Thing", inverse: "owner", rule: rule),
            Clinic.toOne("head", "Thing", inverse: "headOf", rule: rule),
        ]
        var thing = EntityDraft(name: "Thing")
        thing.className = className
        var back = Clinic.toOne("owner", "Owner", inverse: "things")
        back.isOptional = !required
        thing.relationships = [
            back, Clinic.toOne("headOf", "Owner", inverse: "head"),
            // A cycle of cascades.
            Clinic.toOne("next", "Thing", inverse: "previous", rule: .cascade),
            Clinic.toOne("previous", "Thing", inverse: "next"),
        ]
        thing.attributes = [Clinic.attribute("n", .integer32)]
        return NSManagedObjectModel(owner, thing)
    }

    private func family(
        _ rule: DeleteRule, _ type: String, late: Bool
    ) throws -> (Stack, NSManagedObject, [NSManagedObject]) {
        let stack = try Stack(type, model: model(rule))
        stack.context.propagatesDeletesAtEndOfEvent = !late
        let owner = stack.context.make("Owner", ["n": 1])
        let things = (0..<3).map { stack.context.make("Thing", ["n": $0, "owner": owner]) }
        owner.setValue(things[0], forKey: "head")
        try stack.context.save()
        return (stack, owner, things)
    }

    @Test(
        "4.3 Each rule does its work when pending changes are processed, or at the save if the context says so",
        arguments: everyStore, [false, true])
    func rules(_ type: String, late: Bool) throws {
        for rule in [DeleteRule.nullify, .cascade, .noAction] {
            let (stack, owner, things) = try family(rule, type, late: late)
            let id = owner.objectID
            stack.context.delete(owner)
            #expect(!things.contains { $0.isDeleted } && things.allSatisfy { $0.one("owner") === owner })
            stack.context.processPendingChanges()
            let isDone = !late
            switch rule {
            case .nullify: #expect(things.allSatisfy { ($0.one("owner") == nil) == isDone && !$0.isDeleted })
            case .cascade: #expect(things.allSatisfy { $0.isDeleted == isDone })
            case .noAction, .deny: #expect(things.allSatisfy { $0.one("owner") === owner && !$0.isUpdated })
            }
            try stack.context.save()
            let reader = stack.another()
            let left = try reader.all("Thing")
            switch rule {
            case .nullify:
                #expect(left.count == 3 && left.allSatisfy { $0.one("owner") == nil && $0.one("headOf") == nil })
            case .cascade: #expect(left.isEmpty)
            case .noAction, .deny: #expect(left.count == 3 && left.allSatisfy { $0.one("owner")?.objectID == id })
            }
        }
    }

    @Test("4.3 Rules that wait for the save have their say before willSave and validation")
    func late() throws {
        let stack = try Stack(model: model(.cascade, className: "CoreDataTestSupport.Watched"))
        stack.context.propagatesDeletesAtEndOfEvent = false
        let owner = stack.context.make("Owner")
        let thing = try #require(stack.context.make("Thing", ["owner": owner]) as? Watched)
        try stack.context.save()
        thing.calls = []
        stack.context.delete(owner)
        try stack.context.save()
        #expect(thing.calls == ["prepareForDeletion", "willSave", "validateForDelete", "didSave"])
    }

    @Test("4.4 Deny is an error of the save, 1600, and passes when nothing is left", arguments: everyStore)
    func deny(_ type: String) throws {
        let (stack, owner, things) = try family(.deny, type, late: false)
        stack.context.delete(owner)
        stack.context.processPendingChanges()
        #expect(owner.isDeleted && things.allSatisfy { $0.one("owner") === owner })
        let both = caught { try stack.context.save() }
        #expect(both?.code.rawValue == 1560)
        let codes = (both?.userInfo[NSDetailedErrorsKey] as? [any Error])?.map { ($0 as NSError).code }
        #expect(codes == [1600, 1600])
        #expect(caught { try owner.validateForDelete() } != nil)
        things[0].setValue(nil, forKey: "headOf")
        let one = caught { try stack.context.save() }
        #expect(one?.code.rawValue == 1600 && one?.validationKey == "things")
        for thing in things { stack.context.delete(thing) }
        try stack.context.save()
        #expect(try stack.another().all("Owner").isEmpty)
    }

    @Test("4.4 Deny with an empty relationship passes, and an object that was never saved leaves without a trace")
    func denyEmpty() throws {
        let stack = try Stack(model: model(.deny))
        let owner = stack.context.make("Owner")
        try stack.context.save()
        stack.context.delete(owner)
        try stack.context.save()
        let unsaved = stack.context.make("Owner")
        let thing = stack.context.make("Thing", ["owner": unsaved])
        stack.context.delete(unsaved)
        try stack.context.save()
        #expect(thing.one("owner") == nil)
        #expect(try stack.another().all("Thing").first?.one("owner") == nil)
    }

    @Test(
        "5.3 Undo gives back, in two steps, what was parted from an object whose deletion was denied or has done nothing",
        arguments: [DeleteRule.deny, .noAction], [false, true])
    func partedLater(_ rule: DeleteRule, saves: Bool) throws {
        let (stack, owner, things) = try family(rule, NSSQLiteStoreType, late: false)
        let context = stack.context
        context.undoManager?.removeAllActions()
        context.delete(owner)
        context.processPendingChanges()
        for thing in things { thing.setValue(nil, forKey: "owner") }
        things[0].setValue(nil, forKey: "headOf")
        context.processPendingChanges()
        for _ in 0..<2 {
            if saves { try context.save() }
            context.undo()
            context.undo()
            #expect(owner.managedObjectContext === context && !owner.isDeleted)
            #expect(owner.members("things") == Set(things) && things.allSatisfy { $0.one("owner") === owner })
            #expect(owner.one("head") === things[0] && things[0].one("headOf") === owner)
            #expect(saves || !context.hasChanges)
            try context.save()
            let reader = stack.another()
            #expect(try reader.all("Thing").allSatisfy { $0.one("owner") != nil })
            context.redo()
            context.redo()
            #expect(owner.isDeleted || owner.managedObjectContext == nil)
            #expect(things.allSatisfy { $0.one("owner") == nil && $0.one("headOf") == nil })
        }
        try context.save()
        let reader = stack.another()
        #expect(try reader.all("Owner").isEmpty && reader.all("Thing").allSatisfy { $0.one("owner") == nil })
    }

    @Test(
        "4.5 Cascade goes through faults, prepares each object once while it still has its relationships, and ends in cycles",
        arguments: everyStore)
    func cascade(_ type: String) throws {
        let stack = try Stack(type, model: model(.cascade, className: "RelationshipTests.Mourner"))
        let owner = stack.context.make("Owner", ["n": 1])
        let ring = (0..<4).map { stack.context.make("Thing", ["n": $0]) }
        for (place, thing) in ring.enumerated() { thing.setValue(ring[(place + 1) % 4], forKey: "next") }
        ring[0].setValue(owner, forKey: "owner")
        try stack.context.save()
        let other = stack.another()
        let fault = other.object(with: owner.objectID)
        #expect(fault.isFault)
        Mourner.prepared = []
        other.delete(fault)
        other.processPendingChanges()
        #expect(other.deletedObjects.count == 5)
        #expect(Mourner.prepared.map(\.n).sorted() == [0, 1, 2, 3])
        #expect(Mourner.prepared.first { $0.n == 0 }?.hadOwner == true)
        try other.save()
        #expect(try stack.another().all("Thing").isEmpty)
    }

    @Test("4.5 A cascade that cannot read its members writes nothing; when it can, the save deletes them all")
    func unreadable() throws {
        let (stack, owner, _) = try family(.cascade, NSSQLiteStoreType, late: false)
        let context = stack.another()
        let fault = context.object(with: owner.objectID)
        try rename("ZTHING", to: "ZAWAY", in: stack)
        context.delete(fault)
        context.processPendingChanges()
        #expect(caught { try context.save() } != nil)
        try rename("ZAWAY", to: "ZTHING", in: stack)
        #expect(try stack.another().all("Owner").count == 1)
        try context.save()
        #expect(try stack.another().all("Thing").isEmpty)
    }

    private func rename(_ table: String, to name: String, in stack: Stack) throws {
        try SQLiteFile(stack.folder.file("store.sqlite")).run("ALTER TABLE \(table) RENAME TO \(name)")
    }

    @Test("4.6 Nullify on a required inverse makes the save fail with 1570 on the other object", arguments: everyStore)
    func required(_ type: String) throws {
        let stack = try Stack(type, model: model(.nullify, required: true))
        let owner = stack.context.make("Owner")
        let thing = stack.context.make("Thing", ["owner": owner])
        try stack.context.save()
        stack.context.delete(owner)
        let error = caught { try stack.context.save() }
        #expect(error?.code.rawValue == 1570 && error?.validationKey == "owner")
        #expect(error?.validationObject as? NSManagedObject === thing)
        stack.context.delete(thing)
        try stack.context.save()
        #expect(try stack.another().all("Thing").isEmpty)
    }
}

/// Writes down what it sees when it is about to be deleted. One test uses it, in one thread at a time.
final class Mourner: NSManagedObject {
    struct Sight {
        var n: Int
        var hadOwner: Bool
    }
    nonisolated(unsafe) static var prepared: [Sight] = []

    override func prepareForDeletion() {
        super.prepareForDeletion()
        Mourner.prepared.append(Sight(n: value(forKey: "n") as? Int ?? -1, hadOwner: value(forKey: "owner") != nil))
    }
}
