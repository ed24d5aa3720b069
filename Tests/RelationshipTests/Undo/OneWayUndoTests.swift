// Undo where a relationship has no inverse.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct OneWayUndoTests {
    private static let cases = [NSInMemoryStoreType, NSSQLiteStoreType].flatMap { type in
        ["some", "row"].map { (type, $0) }
    }

    /// Owner.some → Item and, ordered, Owner.row → Item.
    private func stack(_ type: String) throws -> Stack {
        var owner = EntityDraft(name: "Owner")
        owner.relationships = [
            Clinic.toMany("some", "Item", inverse: nil), Clinic.toMany("row", "Item", inverse: nil, ordered: true),
        ]
        return try Stack(type, model: NSManagedObjectModel(owner, EntityDraft(name: "Item")))
    }

    private func stored(_ stack: Stack, _ key: String) throws -> [NSManagedObjectID] {
        let reader = stack.another()
        return try #require(try reader.all("Owner").first).objectIDs(forRelationshipNamed: key)
    }

    @Test(
        "5.3 Undo takes what was inserted in the same event out again, redo puts it back", arguments: cases,
        [false, true])
    func inserted(_ type: (String, key: String), savesBetween: Bool) throws {
        let stack = try stack(type.0)
        let context = stack.context
        let (owner, first) = (context.make("Owner"), context.make("Item"))
        owner.setValue(type.key == "row" ? NSOrderedSet(object: first) : NSSet(object: first), forKey: type.key)
        try context.save()
        context.undoManager?.removeAllActions()
        let second = context.make("Item")
        if type.key == "row" {
            owner.mutableOrderedSetValue(forKey: "row").insert(second, at: 0)
        } else {
            owner.mutableSetValue(forKey: "some").add(second)
        }
        context.processPendingChanges()
        if savesBetween { try context.save() }
        for _ in 0..<2 {
            context.undo()
            #expect(owner.many(type.key) == [first] && (second.isDeleted || second.managedObjectContext == nil))
            if savesBetween { try context.save() }
            #expect(try stored(stack, type.key) == [first.objectID])
            context.redo()
            #expect(Set(owner.many(type.key)) == [first, second])
            if type.key == "row" { #expect(owner.many("row") == [second, first]) }
            if savesBetween { try context.save() }
        }
        try context.save()
        #expect(!context.hasChanges)
        #expect(try Set(stored(stack, type.key)) == [first.objectID, second.objectID])
        context.undo()
        try context.save()
        #expect(try stored(stack, type.key) == [first.objectID])
    }

    @Test("5.3 A parent's undo of a push that inserts and relates takes both back", arguments: cases)
    func pushed(_ type: String, key: String) throws {
        let stack = try stack(type)
        let owner = stack.context.make("Owner")
        try stack.context.save()
        stack.context.undoManager?.removeAllActions()
        let child = stack.context.child()
        let item = child.make("Item")
        let twin = child.object(with: owner.objectID)
        twin.setValue(key == "row" ? NSOrderedSet(object: item) : NSSet(object: item), forKey: key)
        try child.save()
        #expect(owner.many(key).count == 1)
        stack.context.undo()
        #expect(owner.many(key).isEmpty)
        try stack.context.save()
        stack.context.redo()
        #expect(owner.many(key).count == 1)
        try stack.context.save()
        #expect(try stored(stack, key).count == 1)
    }
}
