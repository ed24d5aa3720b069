// Orders without an inverse, orders on both sides, and members that two contexts take in at once.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct OrderShapeTests {
    /// Shelf.top → Book (ordered, no inverse), Shelf.books ⇄ Book.shelves (ordered on both sides), Shelf.notes ⇄ Note.shelf
    /// (ordered), Shelf.cards ⇄ Card.owner (at most two).
    private func stack(_ type: String = NSSQLiteStoreType) throws -> Stack {
        var shelf = EntityDraft(name: "Shelf")
        var cards = Clinic.toMany("cards", "Card", inverse: "owner")
        cards.maxCount = 2
        shelf.relationships = [
            Clinic.toMany("top", "Book", inverse: nil, ordered: true),
            Clinic.toMany("books", "Book", inverse: "shelves", ordered: true),
            Clinic.toMany("notes", "Note", inverse: "shelf", ordered: true), cards,
        ]
        let book = EntityDraft("Book", [], [Clinic.toMany("shelves", "Shelf", inverse: "books", ordered: true)])
        let note = EntityDraft("Note", [], [Clinic.toOne("shelf", "Shelf", inverse: "notes")])
        let card = EntityDraft("Card", [], [Clinic.toOne("owner", "Shelf", inverse: "cards")])
        return try Stack(type, model: NSManagedObjectModel(shelf, book, note, card))
    }

    private func make(_ count: Int, _ entity: String, _ context: NSManagedObjectContext) -> [NSManagedObject] {
        (0..<count).map { _ in context.make(entity) }
    }

    @Test("An ordered to-many without inverse keeps its order in the store", arguments: everyStore)
    func withoutInverse(_ type: String) throws {
        let stack = try stack(type)
        let context = stack.context
        let shelf = context.make("Shelf")
        let books = make(4, "Book", context)
        shelf.setValue(NSOrderedSet(array: [books[2], books[0], books[1]]), forKey: "top")
        try context.save()
        func stored() -> [NSManagedObjectID] {
            let other = stack.another()
            return other.object(with: shelf.objectID).many("top").map(\.objectID)
        }
        #expect(stored() == [books[2], books[0], books[1]].map(\.objectID))
        let top = shelf.mutableOrderedSetValue(forKey: "top")
        top.insert(books[3], at: 1)
        top.remove(books[2])
        top.moveObjects(at: [2], to: 0)
        try context.save()
        #expect(stored() == [books[1], books[3], books[0]].map(\.objectID))
    }

    @Test("4.1 A member that another context has saved meanwhile is a member once, and leaves when it is taken out")
    func takenInTwice() throws {
        for (key, entity, inverse) in [("cards", "Card", "owner"), ("notes", "Note", "shelf")] {
            let stack = try stack()
            let (shelf, member) = (stack.context.make("Shelf"), stack.context.make(entity))
            try stack.context.save()
            let (first, second) = (stack.another(), stack.another())
            second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let (mine, owner) = (second.object(with: member.objectID), second.object(with: shelf.objectID))
            #expect(mine.one(inverse) == nil)
            first.object(with: member.objectID).setValue(first.object(with: shelf.objectID), forKey: inverse)
            try first.save()
            mine.setValue(owner, forKey: inverse)
            #expect(owner.many(key) == [mine])
            #expect(try owner.countOfMembers(at: owner.toManyIndex(key)) == 1)
            let other = second.make(entity)
            other.setValue(owner, forKey: inverse)
            // Two of at most two.
            try second.save()
            #expect(owner.members(key) == [mine, other])
            mine.setValue(nil, forKey: inverse)
            #expect(owner.many(key) == [other])
            try second.save()
            let third = stack.another()
            #expect(third.object(with: shelf.objectID).many(key).map(\.objectID) == [other.objectID])
        }
    }

    @Test(
        "4.1 An order that a refresh of a member has made untrue is read again after the save",
        arguments: [true, false])
    func refreshedMember(_ comes: Bool) throws {
        let stack = try stack()
        let context = stack.context
        let (shelf, note) = (context.make("Shelf"), context.make("Note"))
        if !comes { note.setValue(shelf, forKey: "shelf") }
        try context.save()
        note.setValue(comes ? shelf : nil, forKey: "shelf")
        #expect(shelf.many("notes") == (comes ? [note] : []))
        context.refresh(note, mergeChanges: false)
        try context.save()
        #expect(note.one("shelf") === (comes ? nil : shelf))
        #expect(shelf.many("notes") == (comes ? [] : [note]))
    }

    @Test(
        "5.3 Undo puts a member back to its place in an order of both sides, however it was taken out", arguments: 0..<3
    )
    func backInPlace(_ way: Int) throws {
        let stack = try stack()
        let context = stack.context
        let shelf = context.make("Shelf")
        let books = make(3, "Book", context)
        shelf.setValue(NSOrderedSet(array: books), forKey: "books")
        try context.save()
        switch way {
        case 0: books[0].mutableOrderedSetValue(forKey: "shelves").removeAllObjects()
        case 1: books[0].setValue(NSOrderedSet(), forKey: "shelves")
        default: context.delete(books[0])
        }
        context.processPendingChanges()
        #expect(shelf.many("books") == [books[1], books[2]])
        context.undo()
        #expect(shelf.many("books") == books && books[0].many("shelves") == [shelf])
        #expect(!context.hasChanges)
    }
}
