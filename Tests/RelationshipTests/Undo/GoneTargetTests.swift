// Undo and redo of relationships to objects that another writer has deleted: nothing that comes back leads to them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct GoneTargetTests {
    /// How an object that another writer deleted leaves the context.
    enum Departure: CaseIterable { case merge, automaticMerge, inaccessible, inaccessibleSaved, storeTrump, rollback }

    /// Every shape of relationship of a Node, with the entity it leads to.
    static let shapes = [
        ("parent", "Node"), ("children", "Node"), ("friends", "Node"), ("spouse", "Node"), ("mentor", "Node"),
        ("pupil", "Node"),
        ("badge", "Badge"), ("tags", "Tag"), ("list", "Tag"), ("steps", "Step"), ("pet", "Dog"), ("walks", "Cat"),
        ("favorite", "Node"), ("likes", "Tag"),
    ]

    static let arguments = [NSInMemoryStoreType, NSSQLiteStoreType].flatMap { type in
        Departure.allCases.map { (type, $0) }
    }

    @Test("5.3 An undo leads nowhere where its object was deleted elsewhere", arguments: arguments)
    func undone(_ type: String, _ departure: Departure) throws {
        for (key, entity) in Self.shapes {
            let scene = try Scene(type, key, entity)
            scene.relate(true)
            try scene.start()
            scene.relate(false)
            try scene.context.save()
            try scene.leave(departure)
            while scene.undoManager.canUndo { scene.context.undo() }
            try scene.check("undo")
            while scene.undoManager.canRedo { scene.context.redo() }
            try scene.check("redo")
        }
    }

    @Test("5.3 A redo leads nowhere where its object was deleted elsewhere", arguments: arguments)
    func redone(_ type: String, _ departure: Departure) throws {
        // The policies meet a change of the object, which would end the redo.
        guard departure != .storeTrump, departure != .rollback else { return }
        for (key, entity) in Self.shapes {
            let scene = try Scene(type, key, entity)
            try scene.start()
            scene.relate(true)
            scene.context.processPendingChanges()
            scene.context.undo()
            try scene.context.save()
            try scene.leave(departure)
            while scene.undoManager.canRedo { scene.context.redo() }
            try scene.check("redo")
            while scene.undoManager.canUndo { scene.context.undo() }
            try scene.check("undo")
        }
    }

    /// A node, and another object that goes.
    private struct Scene {
        let stack: Stack
        let (owner, other): (NSManagedObject, NSManagedObject)
        let key: String
        let undoManager = UndoManager()
        var context: NSManagedObjectContext { stack.context }

        init(_ type: String, _ key: String, _ entity: String) throws {
            stack = try Web.stack(type, undo: false)
            self.key = key
            (owner, other) = (
                stack.context.make("Node", ["n": 1]),
                stack.context.make(entity, ["n": 2].filter { _ in entity != "Dog" && entity != "Cat" })
            )
        }

        func start() throws {
            try context.save()
            context.undoManager = undoManager
        }

        func relate(_ related: Bool) {
            guard let relationship = owner.entity.relationshipsByName[key] else { return }
            if relationship.isOrdered {
                owner.setValue(NSOrderedSet(array: related ? [other] : []), forKey: key)
            } else if relationship.isToMany {
                owner.setValue(NSSet(array: related ? [other] : []), forKey: key)
            } else {
                owner.setValue(related ? other : nil, forKey: key)
            }
        }

        func leave(_ departure: Departure) throws {
            let id = other.objectID
            func deletion(_ context: NSManagedObjectContext) { context.delete(context.object(with: id)) }
            context.stalenessInterval = 0
            switch departure {
            case .merge: try stack.merge(deletion)
            case .automaticMerge:
                context.automaticallyMergesChangesFromParent = true
                _ = try stack.elsewhere(deletion)
                context.performAndWait {}
            case .inaccessible, .inaccessibleSaved:
                _ = try stack.elsewhere(deletion)
                context.refresh(other, mergeChanges: false)
                other.willAccessValue(forKey: nil)
                if departure == .inaccessibleSaved { try context.save() }
            case .storeTrump, .rollback:
                _ = try stack.elsewhere(deletion)
                context.mergePolicy =
                    departure == .rollback ? NSMergePolicy.rollback : NSMergePolicy.mergeByPropertyStoreTrump
                context.processPendingChanges()
                // So that the save looks at its row.
                context.detectConflicts(for: other)
                owner.setValue(3, forKey: "n")
                try context.save()
            }
            if departure != .inaccessible { #expect(other.managedObjectContext == nil, "\(key)") }
        }

        /// Nothing leads to the other object, here and in the store, and the context can be saved.
        func check(_ step: Comment) throws {
            #expect(owner.one(key) == nil && owner.many(key).isEmpty, "\(key) after \(step)")
            try context.save()
            #expect(!context.hasChanges, "\(key) after \(step)")
            #expect(owner.one(key) == nil && owner.many(key).isEmpty, "\(key) saved after \(step)")
            let reader = stack.another()
            reader.stalenessInterval = 0
            let read = reader.object(with: owner.objectID)
            #expect(read.objectIDs(forRelationshipNamed: key).isEmpty, "\(key) stored after \(step)")
        }
    }
}

extension GoneTargetTests {
    @Test(
        "5.3 Pending changes, a merge of deletions and an undo: the context can be saved",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType])
    func pending(_ type: String) throws {
        let stack = try Web.stack(type)
        let context = stack.context
        let parent = context.make("Node", ["n": 0])
        let children = (1...4).map { context.make("Node", ["n": $0, "parent": parent]) }
        try context.save()
        context.undoManager?.removeAllActions()
        context.delete(children[0])
        children[1].setValue(20, forKey: "n")
        children[2].setValue(nil, forKey: "parent")
        _ = context.make("Node", ["n": 5, "parent": parent])
        context.processPendingChanges()
        try stack.merge { other in
            other.object(with: children[0].objectID).setValue(10, forKey: "n")
            for child in children[1...2] { other.delete(other.object(with: child.objectID)) }
            other.object(with: parent.objectID).setValue(100, forKey: "n")
            _ = other.make("Node", ["n": 6, "parent": other.object(with: parent.objectID)])
        }
        func numbers() -> [Int] { parent.many("children").compactMap { $0.value(forKey: "n") as? Int }.sorted() }
        #expect(numbers() == [4, 5, 6])
        try context.save()
        #expect(numbers() == [4, 5, 6])
        context.undo()
        #expect(numbers() == [4, 6, 10])
        try context.save()
        let reader = stack.another()
        reader.stalenessInterval = 0
        let read = reader.object(with: parent.objectID).many("children").compactMap { $0.value(forKey: "n") as? Int }
        #expect(read.sorted() == [4, 6, 10])
    }

    @Test(
        "5.3 A deleted object that kept its target comes back without it when that is gone",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType], [true, false])
    func keptTarget(_ type: String, _ saves: Bool) throws {
        let node = EntityDraft("Node", [], [Clinic.toOne("favorite", "Node", inverse: nil, rule: .noAction)])
        let stack = try Stack(type, model: NSManagedObjectModel(node))
        let context = stack.context
        let (fan, star) = (context.make("Node"), context.make("Node"))
        try context.save()
        fan.setValue(star, forKey: "favorite")
        if saves { try context.save() } else { context.processPendingChanges() }
        context.delete(fan)
        try context.save()
        try stack.merge { $0.delete($0.object(with: star.objectID)) }
        #expect(star.managedObjectContext == nil)
        context.undo()
        #expect(fan.managedObjectContext != nil)
        #expect(fan.one("favorite") == nil)
        try context.save()
        let reader = stack.another()
        #expect(reader.object(with: fan.objectID).objectIDs(forRelationshipNamed: "favorite").isEmpty)
    }

    @Test(
        "5.3 An object that both writers deleted comes back by undo and can be deleted again",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType])
    func deletedTwice(_ type: String) throws {
        let stack = try Web.stack(type)
        let context = stack.context
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let tag = context.make("Tag", ["n": 1])
        try context.save()
        context.delete(tag)
        _ = try stack.elsewhere { $0.delete($0.object(with: tag.objectID)) }
        try context.save()
        context.undo()
        try context.save()
        let reader = stack.another()
        #expect(try reader.all("Tag").count == 1)
        context.delete(tag)
        try context.save()
        #expect(try stack.another().all("Tag").isEmpty)
    }
}
