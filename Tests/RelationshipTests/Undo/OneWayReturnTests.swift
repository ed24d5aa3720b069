// Undo of saved deletions, where relationships without inverse lead to what comes back.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct OneWayReturnTests {
    @Test(
        "5.3 Undoing a saved deletion restores relationships without inverse of objects that are here",
        arguments: ["favorite", "likes", "queue"].flatMap { key in (0..<12).map { (key, $0) } })
    func comesBack(_ key: String, _ number: Int) throws {
        let (type, way) = (number < 4 ? NSInMemoryStoreType : NSSQLiteStoreType, number % 4)
        var draft = Web.draft()
        draft.entities[0].relationships.append(Clinic.toMany("queue", "Tag", inverse: nil, ordered: true))
        let stack = try Stack(type, model: NSManagedObjectModel(draft: draft), undo: false)
        // Below a child, too.
        let context = number < 8 ? stack.context : stack.context.child()
        func save() throws {
            try context.save()
            if number >= 8 { try stack.context.save() }
        }
        let owner = context.make("Node", ["n": 1])
        let entity = key == "favorite" ? "Node" : "Tag"
        let others = (7...8).map { context.make(entity, ["n": $0]) }
        switch key {
        case "favorite": owner.setValue(others[0], forKey: key)
        case "likes": owner.setValue(Set(others), forKey: key)
        default: owner.setValue(NSOrderedSet(array: others), forKey: key)
        }
        try save()
        context.undoManager = UndoManager()
        func related(_ owner: NSManagedObject) -> [Int?] {
            let found = key == "favorite" ? owner.one(key).map { [$0] } ?? [] : owner.many(key)
            let numbers = found.map { $0.value(forKey: "n") as? Int }
            return key == "queue" ? numbers : numbers.sorted { ($0 ?? 0) < ($1 ?? 0) }
        }
        let expected = key == "favorite" ? [7] : [7, 8]
        // As it was saved, or read again, before the deletion or after it.
        if way == 1 { context.refreshAllObjects() }
        if way == 2 {
            context.refreshAllObjects()
            #expect(related(owner) == expected)
        }
        context.delete(others[0])
        try save()
        if way == 3 { context.refreshAllObjects() }
        context.undo()
        // One that is a fault leads where its row leads, and members that are read after the deletion lack what is gone.
        guard way % 2 == 0 else {
            if key != "favorite" { #expect(related(owner) == [8]) }
            return try save()
        }
        for _ in 0..<2 {
            #expect(related(owner) == expected)
            try save()
            #expect(!context.hasChanges)
            #expect(related(owner) == expected)
            let reader = stack.another()
            let found = try #require(try reader.all("Node").first { $0.value(forKey: "n") as? Int == 1 })
            #expect(related(found) == expected)
            context.redo()
            #expect(related(owner) == expected.filter { $0 != 7 })
            context.undo()
        }
    }
}
