// Undo of deletions whose rules were applied later than the deletion, or not at all.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct LateRuleTests {
    private static let types = [NSInMemoryStoreType, NSSQLiteStoreType]

    /// A patient in a ward and a bed, with a doctor and two visits, in a context whose delete rules wait for the save.
    private struct Scene {
        let stack: Stack
        let patient, ward, bed, doctor: NSManagedObject
        let visits: [NSManagedObject]
        var context: NSManagedObjectContext { stack.context }

        init(_ type: String) throws {
            stack = try Stack(type)
            let context = stack.context
            context.propagatesDeletesAtEndOfEvent = false
            patient = context.make("Patient", ["name": "Ada"])
            (ward, bed, doctor) = (context.make("Ward"), context.make("Bed"), context.make("Doctor"))
            visits = ["one", "two"].map { context.make("Visit", ["note": $0]) }
            patient.setValue(ward, forKey: "ward")
            patient.setValue(bed, forKey: "bed")
            patient.setValue(NSSet(object: doctor), forKey: "doctors")
            patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
            try context.save()
            context.undoManager?.removeAllActions()
        }

        func check(isThere: Bool) {
            #expect((patient.managedObjectContext != nil) == isThere)
            #expect(ward.many("patients") == (isThere ? [patient] : []))
            #expect(bed.one("patient") === (isThere ? patient : nil))
            #expect(doctor.many("patients") == (isThere ? [patient] : []))
            #expect(visits.allSatisfy { ($0.managedObjectContext != nil) == isThere })
            guard isThere else { return }
            #expect(patient.one("ward") === ward && patient.one("bed") === bed)
            #expect(patient.many("doctors") == [doctor] && patient.many("visits") == visits)
        }

        /// Saves, and sees the same before, after and in the store.
        func saveAndCheck(isThere: Bool) throws {
            check(isThere: isThere)
            try context.save()
            check(isThere: isThere)
            try checkStore(isThere: isThere)
        }

        func checkStore(isThere: Bool) throws {
            let reader = stack.another()
            let patients = try reader.all("Patient")
            #expect(patients.count == (isThere ? 1 : 0))
            #expect(
                patients.first?.many("visits").map { $0.value(forKey: "note") as? String }
                    == (isThere ? ["one", "two"] : nil))
            for (entity, key) in [("Ward", "patients"), ("Bed", "patient"), ("Doctor", "patients")] {
                #expect(try reader.all(entity)[0].objectIDs(forRelationshipNamed: key) == patients.map(\.objectID))
            }
        }
    }

    @Test(
        "5.3 One undo after the save takes back a deletion whose rules waited for the save, and what they did",
        arguments: types)
    func together(_ type: String) throws {
        let scene = try Scene(type)
        let (context, undoManager) = (scene.context, try #require(scene.context.undoManager))
        context.delete(scene.patient)
        context.processPendingChanges()
        #expect(undoManager.undoCount == 1)
        try context.save()
        #expect(undoManager.undoCount == 1)
        for _ in 0..<2 {
            scene.check(isThere: false)
            try scene.checkStore(isThere: false)
            context.undo()
            try scene.saveAndCheck(isThere: true)
            context.redo()
            try context.save()
        }
    }

    @Test("5.3 What was done between such a deletion and the save is undone before it", arguments: types)
    func between(_ type: String) throws {
        let scene = try Scene(type)
        let (context, undoManager) = (scene.context, try #require(scene.context.undoManager))
        context.delete(scene.bed)
        context.processPendingChanges()
        context.delete(scene.patient)
        context.processPendingChanges()
        scene.ward.setValue(7, forKey: "code")
        context.processPendingChanges()
        try context.save()
        #expect(undoManager.undoCount == 3)
        context.undo()
        #expect(scene.ward.value(forKey: "code") == nil && scene.patient.managedObjectContext == nil)
        context.undo()
        #expect(scene.patient.many("visits") == scene.visits && scene.patient.one("bed") == nil)
        try context.save()
        context.undo()
        try scene.saveAndCheck(isThere: true)
        while undoManager.canRedo { context.redo() }
        try context.save()
        #expect(scene.ward.value(forKey: "code") as? Int == 7)
        #expect(try scene.stack.another().all("Bed").isEmpty && scene.stack.another().all("Visit").isEmpty)
    }

    @Test("5.3 The redo of such a deletion that was undone before the save waits for the save too", arguments: types)
    func redone(_ type: String) throws {
        let scene = try Scene(type)
        let context = scene.context
        context.delete(scene.patient)
        context.processPendingChanges()
        for _ in 0..<2 {
            context.undo()
            scene.check(isThere: true)
            #expect(!scene.patient.isDeleted)
            context.redo()
            #expect(scene.patient.isDeleted && scene.ward.many("patients") == [scene.patient])
        }
        try context.save()
        scene.check(isThere: false)
        try scene.checkStore(isThere: false)
        context.undo()
        try scene.saveAndCheck(isThere: true)
    }

    @Test("5.3 A deletion and its rules in one event with the save are one step too", arguments: types)
    func oneEvent(_ type: String) throws {
        let scene = try Scene(type)
        scene.context.delete(scene.patient)
        try scene.context.save()
        #expect(scene.context.undoManager?.undoCount == 1)
        scene.context.undo()
        scene.check(isThere: true)
        try scene.context.save()
        try scene.checkStore(isThere: true)
    }

    /// Two nodes, the one leading to the other and back, whose deletion leaves the other as it is.
    private func pair(_ type: String) throws -> (Stack, NSManagedObject, NSManagedObject) {
        var node = EntityDraft(name: "Node")
        node.attributes = [Clinic.attribute("n", .integer32)]
        node.relationships = [
            Clinic.toOne("next", "Node", inverse: "previous", rule: .noAction),
            Clinic.toOne("previous", "Node", inverse: "next", rule: .noAction),
        ]
        let stack = try Stack(type, model: NSManagedObjectModel(node))
        let (one, two) = (stack.context.make("Node", ["n": 1]), stack.context.make("Node", ["n": 2]))
        one.setValue(two, forKey: "next")
        try stack.context.save()
        return (stack, one, two)
    }

    @Test(
        "5.3 Two objects that lead to each other and whose rule is no action come back related", arguments: types,
        [false, true])
    func noAction(_ type: String, _ forwards: Bool) throws {
        let (stack, one, two) = try pair(type)
        let context = stack.context
        for object in forwards ? [one, two] : [two, one] { context.delete(object) }
        try context.save()
        for _ in 0..<2 {
            context.undo()
            #expect(one.one("next") === two && two.one("previous") === one)
            #expect(
                context.insertedObjects == [one, two] && context.deletedObjects.isEmpty
                    && context.updatedObjects.isEmpty)
            try context.save()
            let nodes = try stack.another().all("Node").sorted {
                $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path
            }
            #expect(nodes.count == 2)
            let (first, second) = (
                nodes.first { $0.value(forKey: "n") as? Int == 1 }, nodes.first { $0.value(forKey: "n") as? Int == 2 }
            )
            #expect(first?.one("next") === second && second?.one("previous") === first)
            context.redo()
            try context.save()
            #expect(try stack.another().all("Node").isEmpty)
        }
    }

    @Test("5.3 One of two such objects comes back related to the other that stayed", arguments: types)
    func noActionOne(_ type: String) throws {
        let (stack, one, two) = try pair(type)
        let context = stack.context
        context.delete(one)
        try context.save()
        context.undo()
        #expect(one.one("next") === two && two.one("previous") === one)
        try context.save()
        let nodes = try stack.another().all("Node")
        let (first, second) = (
            nodes.first { $0.value(forKey: "n") as? Int == 1 }, nodes.first { $0.value(forKey: "n") as? Int == 2 }
        )
        #expect(nodes.count == 2 && first?.one("next") === second && second?.one("previous") === first)
    }

    @Test(
        "5.3 What was related to an object whose deletion was pending is parted from it when both are undone",
        arguments: types, 0..<6)
    func relatedToDeleted(_ type: String, _ way: Int) throws {
        let (saves, isLate) = (way % 3, way > 2)
        let keys = [
            "children": "Node", "friends": "Node", "spouse": "Node", "tags": "Tag", "list": "Tag", "steps": "Step",
        ]
        for (key, entity) in keys {
            let stack = try Web.stack(type)
            let context = stack.context
            let (owner, other) = (context.make("Node", ["n": 1]), context.make(entity, ["n": 2]))
            try context.save()
            context.undoManager?.removeAllActions()
            context.propagatesDeletesAtEndOfEvent = !isLate
            context.delete(owner)
            context.processPendingChanges()
            switch key {
            case "spouse": other.setValue(owner, forKey: key)
            case "list", "steps": owner.mutableOrderedSetValue(forKey: key).add(other)
            default: owner.mutableSetValue(forKey: key).add(other)
            }
            context.processPendingChanges()
            if saves > 0 { try context.save() }
            while context.undoManager?.canUndo == true { context.undo() }
            if saves > 1 { try context.save() }
            #expect(!owner.isDeleted && owner.managedObjectContext != nil)
            #expect(owner.one(key) == nil && owner.many(key).isEmpty, "\(key)")
            let back = owner.entity.relationshipsByName[key]?.inverseRelationship?.name ?? ""
            #expect(other.one(back) == nil && other.many(back).isEmpty, "\(key)")
            try context.save()
            let reader = stack.another()
            let read = try #require(try reader.all("Node").first { $0.value(forKey: "n") as? Int == 1 })
            #expect(read.objectIDs(forRelationshipNamed: key).isEmpty, "\(key)")
        }
    }

    @Test("4.12 Nothing pending leads to an object whose row is gone, once the save knows", arguments: types)
    func oneWay(_ type: String) throws {
        let stack = try Web.stack(type)
        let context = stack.context
        let (fan, star, tag) = (
            context.make("Node", ["n": 1]), context.make("Node", ["n": 2]), context.make("Tag", ["n": 3])
        )
        try context.save()
        let keeper = context.make("Node", ["n": 4])
        for object in [fan, keeper] {
            object.setValue(star, forKey: "favorite")
            object.setValue(NSSet(object: tag), forKey: "likes")
        }
        context.processPendingChanges()
        _ = try stack.elsewhere { other in
            for object in [star, tag] { other.delete(other.object(with: object.objectID)) }
        }
        context.stalenessInterval = 0
        for object in [star, tag] {
            context.refresh(object, mergeChanges: false)
            #expect(object.value(forKey: "n") == nil && object.isDeleted)
        }
        try context.save()
        for object in [fan, keeper] {
            #expect(object.one("favorite") == nil && object.many("likes").isEmpty)
            let reader = stack.another()
            reader.stalenessInterval = 0
            let read = reader.object(with: object.objectID)
            #expect(
                read.objectIDs(forRelationshipNamed: "favorite").isEmpty
                    && read.objectIDs(forRelationshipNamed: "likes").isEmpty)
        }
    }
}
