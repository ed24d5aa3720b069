// Prefetching in a model with sub-entities, a to-many without inverse, and a relationship to itself.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Shelf ⇄ Item ◁ Book, Film; Item → Label (to-many without inverse); Item ⇄ Item (sequel); Shelf → Item (favourite).
private func model() -> NSManagedObjectModel {
    var shelf = EntityDraft(name: "Shelf")
    shelf.attributes = [Clinic.attribute("name", .string)]
    shelf.relationships = [
        Clinic.toMany("items", "Item", inverse: "shelf", ordered: true),
        Clinic.toOne("favourite", "Item", inverse: nil),
    ]
    var item = EntityDraft(name: "Item")
    item.attributes = [Clinic.attribute("name", .string)]
    item.relationships = [
        Clinic.toOne("shelf", "Shelf", inverse: "items"), Clinic.toMany("labels", "Label", inverse: nil),
        Clinic.toOne("sequel", "Item", inverse: "prequel"), Clinic.toOne("prequel", "Item", inverse: "sequel"),
    ]
    var book = EntityDraft(name: "Book")
    book.parentName = "Item"
    book.attributes = [Clinic.attribute("pages", .integer32)]
    book.relationships = [Clinic.toMany("chapters", "Chapter", inverse: "book")]
    let film = EntityDraft("Film", [Clinic.attribute("minutes", .integer32)], parent: "Item")
    let label = EntityDraft("Label", [Clinic.attribute("name", .string)])
    let chapter = EntityDraft(
        "Chapter", [Clinic.attribute("name", .string)], [Clinic.toOne("book", "Book", inverse: "chapters")])
    return NSManagedObjectModel(shelf, item, book, film, label, chapter)
}

@Suite struct PrefetchModelTests {
    private let types = StoreMaker.types

    private func filled(_ type: String) throws -> Stack {
        let stack = try Stack(type, model: model())
        let context = stack.context
        for place in 0..<2 {
            let shelf = context.make("Shelf", ["name": "S\(place)"])
            var items: [NSManagedObject] = []
            for number in 0..<200 {
                let item = context.make(number % 3 == 0 ? "Film" : "Book", ["name": "\(place)-\(number)"])
                let labels = (0..<2).map { context.make("Label", ["name": "L\(place)-\(number)-\($0)"]) }
                item.setValue(Set(labels), forKey: "labels")
                if let last = items.last { last.setValue(item, forKey: "sequel") }
                items.append(item)
            }
            shelf.setValue(NSOrderedSet(array: items), forKey: "items")
            shelf.setValue(items[place], forKey: "favourite")
        }
        try context.save()
        return stack
    }

    private func shelves(_ keyPaths: String...) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>("Shelf", by: "name")
        request.relationshipKeyPathsForPrefetching = keyPaths
        return request
    }

    @Test("8.10 Members of several entities come in order, with what lies beyond them, a statement a relationship")
    func subentities() throws {
        for type in types {
            let stack = try filled(type)
            let other = stack.another()
            let before = stack.statements
            let found = try other.fetch(shelves("items.labels", "items.sequel", "favourite"))
            // Shelves, items, labels, favourites; the sequels are among the items.
            if type == NSSQLiteStoreType { #expect(stack.statements == before + 4) }
            #expect(found.count == 2)
            let read = stack.statements
            for (place, shelf) in found.enumerated() {
                #expect(!shelf.hasFault(forRelationshipNamed: "items"))
                #expect(shelf.value(forKeyPath: "favourite.name") as? String == "\(place)-\(place)")
                let items = try #require(shelf.value(forKey: "items") as? NSOrderedSet)
                let objects = items.array.compactMap { $0 as? NSManagedObject }
                #expect(objects.map { $0.value(forKey: "name") as? String } == (0..<200).map { "\(place)-\($0)" })
                #expect(objects.map(\.entity.name) == (0..<200).map { $0 % 3 == 0 ? "Film" : "Book" })
                for (number, item) in objects.enumerated() {
                    let labels = try #require(item.value(forKey: "labels") as? Set<NSManagedObject>)
                    #expect(
                        labels.compactMap { $0.value(forKey: "name") as? String }.sorted()
                            == (0..<2).map { "L\(place)-\(number)-\($0)" })
                    let sequel = item.value(forKeyPath: "sequel.name") as? String
                    #expect(sequel == (number < 199 ? "\(place)-\(number + 1)" : nil))
                }
            }
            #expect(stack.statements == read)
        }
    }

    @Test("8.10 A sub-entity's own relationship is prefetched from the sub-entity and refused from its parent")
    func ownRelationship() throws {
        for type in types {
            let stack = try filled(type)
            let other = stack.another()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.relationshipKeyPathsForPrefetching = ["chapters", "shelf", "labels"]
            let books = try other.fetch(request)
            let read = stack.statements
            #expect(!books.contains { $0.hasFault(forRelationshipNamed: "chapters") })
            #expect(!books.contains { ($0.value(forKeyPath: "shelf.name") as? String)?.hasPrefix("S") != true })
            #expect(stack.statements == read)
            let wrong = NSFetchRequest<NSManagedObject>(entityName: "Item")
            wrong.relationshipKeyPathsForPrefetching = ["chapters"]
            #expect(throws: CocoaError.self) { try other.fetch(wrong) }
        }
    }

    @Test("8.10 Objects of which only the keys were fetched are prefetched too")
    func keysOnly() throws {
        for type in types {
            let stack = try filled(type)
            let request = shelves("favourite", "items")
            request.includesPropertyValues = false
            request.sortDescriptors = nil
            let before = stack.statements
            let other = stack.another()
            let found = try other.fetch(request)
            if type == NSSQLiteStoreType { #expect(stack.statements == before + 4) }
            let read = stack.statements
            for shelf in found {
                #expect((shelf.value(forKey: "items") as? NSOrderedSet)?.count == 200)
                #expect(shelf.value(forKeyPath: "favourite.name") as? String != nil)
            }
            #expect(stack.statements == read)
            withExtendedLifetime(other) {}
        }
    }
}
