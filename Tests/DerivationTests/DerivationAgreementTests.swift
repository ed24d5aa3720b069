// Random changes: every derived value is what the graph says, in SQLite as in memory.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Derivations agree with the graph") struct DerivationAgreementTests {
    /// The stores that are one file each compute as the one in memory does: less of them.
    private static let runs = Library.stores.flatMap { type in
        (1...([NSSQLiteStoreType, NSInMemoryStoreType].contains(type) ? 6 : 1)).map { (type, $0) }
    }

    @Test("After every save of random changes all derived values follow from the rest", arguments: runs)
    func random(_ type: String, _ seed: Int) throws {
        let stack = try Stack(type, model: Library.model(), undo: false)
        var random = SplitMix(UInt64(seed))
        for _ in 0..<25 {
            for _ in 0..<Int.random(in: 1...8, using: &random) { try step(stack.context, &random) }
            try stack.context.save()
            try check(stack.context)
        }
    }

    private func pick(_ entity: String, _ context: NSManagedObjectContext, _ random: inout SplitMix) throws
        -> NSManagedObject?
    {
        let all = try context.all(entity).filter { !$0.isDeleted }
        return Int.random(in: 0..<6, using: &random) == 0 ? nil : all.randomElement(using: &random)
    }

    private func step(_ context: NSManagedObjectContext, _ random: inout SplitMix) throws {
        let number = Int.random(in: -9...99, using: &random)
        // Halves add exactly in every order.
        let real = Double(number) / 2
        switch Int.random(in: 0..<14, using: &random) {
        case 0:
            context.make("Author", ["name": "N\(number)"]).setValue(
                try pick("Country", context, &random), forKey: "country")
        case 1, 2:
            let entity = Bool.random(using: &random) ? "Book" : "Novel"
            let book = context.make(entity, ["title": "T\(number)", "pages": number, "weight": real])
            if entity == "Novel" { book.setValue("P\(number)", forKey: "plot") }
            book.setValue(try pick("Author", context, &random), forKey: "author")
        case 3:
            context.make("Tag", ["weight": real]).setValue(Set(try context.all("Author").prefix(3)), forKey: "authors")
        case 4: _ = context.make("Country", ["code": "C\(number)"])
        case 5:
            let node = context.make("Node", ["name": "K\(number)", "size": number])
            node.setValue(try pick("Node", context, &random), forKey: "parent")
        case 6: try pick("Book", context, &random)?.setValue(try pick("Author", context, &random), forKey: "author")
        case 7:
            let book = try pick("Book", context, &random)
            book?.setValue(number, forKey: "pages")
            book?.setValue(Bool.random(using: &random) ? nil : real, forKey: "weight")
        case 8: try pick("Author", context, &random)?.setValue("M\(number)", forKey: "name")
        case 9:
            try pick("Country", context, &random)?.setValue("D\(number)", forKey: "code")
            try pick("Author", context, &random)?.setValue(try pick("Country", context, &random), forKey: "country")
        case 10:
            try pick("Author", context, &random)?.setValue(
                Set(try context.all("Tag").filter { _ in Bool.random(using: &random) }), forKey: "tags")
            try pick("Tag", context, &random)?.setValue(real, forKey: "weight")
        case 11:
            let node = try pick("Node", context, &random)
            node?.setValue(try pick("Node", context, &random), forKey: "parent")
            node?.setValue(number, forKey: "size")
        case 12:
            let notes = try context.all("Note")
            let note = notes.isEmpty || Bool.random(using: &random) ? context.make("Note") : notes[0]
            try pick("Author", context, &random)?.setValue(Set([note]), forKey: "notes")
        default:
            let entity = ["Author", "Book", "Tag", "Country", "Node", "Note"].randomElement(using: &random) ?? "Book"
            if let object = try pick(entity, context, &random) { context.delete(object) }
        }
    }

    private func check(_ context: NSManagedObjectContext) throws {
        context.reset()
        for author in try context.all("Author") {
            let name = author.value(forKey: "name") as? String
            #expect(author.value(forKey: "key") as? String == name?.lowercased())
            #expect(author.value(forKey: "loud") as? String == name?.uppercased())
            let books = members(author, "books")
            let tags = members(author, "tags")
            #expect(author.value(forKey: "bookCount") as? Int == books.count)
            #expect(author.value(forKey: "tagCount") as? Int == tags.count)
            #expect(author.value(forKey: "noteCount") as? Int == members(author, "notes").count)
            #expect(
                author.value(forKey: "pageSum") as? Int
                    == books.reduce(0) { $0 + ($1.value(forKey: "pages") as? Int ?? 0) })
            #expect(author.value(forKey: "weightSum") as? Double == sum(books))
            #expect(author.value(forKey: "tagSum") as? Double == sum(tags))
            #expect(author.value(forKey: "changed") is Date)
        }
        for book in try context.all("Book") {
            #expect(book.value(forKey: "titleCopy") as? String == book.value(forKey: "title") as? String)
            #expect(book.value(forKey: "authorName") as? String == book.value(forKeyPath: "author.name") as? String)
            if book.entity.name == "Novel" {
                #expect(book.value(forKey: "plotCopy") as? String == book.value(forKey: "plot") as? String)
                #expect(book.value(forKey: "writer") as? String == book.value(forKeyPath: "author.name") as? String)
            }
            #expect(book.value(forKey: "code") as? String == book.value(forKeyPath: "author.country.code") as? String)
        }
        for node in try context.all("Node") {
            let children = members(node, "children")
            #expect(node.value(forKey: "childCount") as? Int == children.count)
            #expect(
                node.value(forKey: "sizeSum") as? Int
                    == children.reduce(0) { $0 + ($1.value(forKey: "size") as? Int ?? 0) })
            #expect(node.value(forKey: "parentName") as? String == node.value(forKeyPath: "parent.name") as? String)
        }
    }

    private func members(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
        (object.value(forKey: key) as? NSSet)?.compactMap { $0 as? NSManagedObject } ?? []
    }

    private func sum(_ objects: [NSManagedObject]) -> Double {
        objects.reduce(0) { $0 + ($1.value(forKey: "weight") as? Double ?? 0) }
    }
}
