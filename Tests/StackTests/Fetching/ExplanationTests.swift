// Explanations of fetches: statement, plan, indexes used and missing.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct ExplanationTests {
    /// Books with an index on the title, and their shelves with none of their own.
    private func rig(_ type: String) throws -> (Rig, NSManagedObjectContext) {
        var book = EntityDraft(name: "Book")
        book.attributes = [
            Clinic.attribute("title", .string), Clinic.attribute("pages", .integer32),
            Clinic.attribute("price", .double),
        ]
        book.indexes = [FetchIndex(name: "byTitle", elements: [.init(property: "title")])]
        book.relationships = [
            Clinic.toOne("shelf", "Shelf", inverse: "books"), Clinic.toMany("tags", "Tag", inverse: "books"),
        ]
        let comic = EntityDraft("Comic", parent: "Book")
        let tag = EntityDraft(
            "Tag", [Clinic.attribute("name", .string)], [Clinic.toMany("books", "Book", inverse: "tags")])
        let shelf = EntityDraft(
            "Shelf", [Clinic.attribute("name", .string)], [Clinic.toMany("books", "Book", inverse: "shelf")])
        let rig = Rig(NSManagedObjectModel(book, comic, shelf, tag))
        try rig.add(type)
        let context = rig.context()
        context.userInfo["rig"] = rig
        return (rig, context)
    }

    private func request(_ format: String? = nil, sortedBy key: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>("Book", format)
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    @Test("An index that serves a comparison is named, with the statement, what is bound and the plan")
    func used() throws {
        let (rig, context) = try rig(NSSQLiteStoreType)
        let told = try context.explain(request("title == 'Emma' AND pages > 3"))
        let part = try #require(told.parts.first)
        #expect(told.parts.count == 1 && told.entityName == "Book" && told.unsavedObjectCount == 0)
        #expect(
            part.storeIdentifier == rig.coordinator.persistentStores[0].identifier
                && part.storeType == NSSQLiteStoreType)
        #expect(part.sql?.hasPrefix("SELECT ") == true && part.bindings == ["Emma", "3"])
        #expect(part.indexes == ["Z_Book_byTitle"] && part.missingIndexes.isEmpty)
        #expect(part.queryPlan == ["SEARCH ZBOOK t0 USING INDEX Z_Book_byTitle (ZTITLE=?)"])
        #expect("\(told)".contains("uses Z_Book_byTitle.") && "\(told)".contains("with ?1 = Emma, ?2 = 3"))
    }

    /// A predicate, an order, and what indexes are missed.
    private static let missed: [(String?, String?, Set<String>)] = [
        ("pages == 3", nil, ["Book.pages"]), ("pages IN {3, 4} AND price < 2", nil, ["Book.pages", "Book.price"]),
        ("price BETWEEN {1, 2}", nil, ["Book.price"]), ("pages == nil", nil, ["Book.pages"]),
        ("shelf.name BEGINSWITH 'a'", nil, ["Shelf.name"]),
        ("pages == 3 OR price == 2", nil, ["Book.pages", "Book.price"]), ("pages == 3 OR title CONTAINS 'e'", nil, []),
        ("title CONTAINS 'e'", nil, []), ("title ==[c] 'emma'", nil, []), ("pages + 1 == 3", nil, []),
        ("ANY shelf.books.pages == 3", nil, ["Book.pages"]),
        ("ANY tags.name == 'a'", nil, ["Tag.name"]),
        ("ANY tags.name IN {'a', 'b'} AND price < 2", nil, ["Tag.name", "Book.price"]),
        ("SUBQUERY(tags, $t, $t.name BEGINSWITH 'a').@count > 0", nil, ["Tag.name"]),
        ("shelf.name == 'a' OR shelf.name == 'b'", nil, ["Shelf.name"]),
        ("shelf.name == 'a' OR title == 'b'", nil, []), ("shelf.name == nil", nil, []),
        ("NONE tags.name == 'a'", nil, []),
        ("ANY tags.name == title", nil, []), ("ANY tags.name == 'a' OR price == 2", nil, ["Tag.name", "Book.price"]),
        ("pages == 3", "pages", ["Book.pages"]),
        (nil, "pages", ["Book.pages"]), (nil, "title", []), ("title == 'Emma'", "pages", ["Book.pages"]),
        (nil, nil, []),
    ]

    @Test("Where a whole table is read or sorted, the properties are named that an index would serve")
    func missing() throws {
        let (_, context) = try rig(NSSQLiteStoreType)
        for (format, key, missed) in Self.missed {
            let told = try context.explain(request(format, sortedBy: key))
            let part = try #require(told.parts.first)
            #expect(
                part.missingIndexes.map(\.description).sorted() == missed.sorted(),
                "\(format ?? "-") \(key ?? "-"): \(told)")
            for name in missed { #expect("\(told)".contains("an index on") && "\(told)".contains(name)) }
        }
    }

    @Test("A sub-entity whose rows are all looked at misses the index of what it is asked for")
    func subentities() throws {
        let (_, context) = try rig(NSSQLiteStoreType)
        func missed(_ format: String?) throws -> [String] {
            return try #require(try context.explain(NSFetchRequest<NSManagedObject>("Comic", format)).parts.first)
                .missingIndexes.map(\.description)
        }
        #expect(try missed("pages == 3") == ["Comic.pages"])
        #expect(try missed("ANY tags.name == 'a'") == ["Tag.name"])
        #expect(try missed("title == 'Emma'") == [] && missed(nil) == [] && missed("title CONTAINS 'e'") == [])
    }

    @Test(
        "Counts, keys and dictionaries are explained as they are asked for; the subquery's steps stand inside their own"
    )
    func results() throws {
        let (_, context) = try rig(NSSQLiteStoreType)
        let counted = request("pages == 3")
        counted.resultType = .countResultType
        #expect(try context.explain(counted).parts.first?.sql?.contains("COUNT(*)") == true)
        let summed = NSFetchRequest<NSDictionary>(entityName: "Book")
        summed.resultType = .dictionaryResultType
        summed.propertiesToFetch = ["title"]
        summed.returnsDistinctResults = true
        #expect(try context.explain(summed).parts.first?.sql?.contains("DISTINCT") == true)
        let nested = NSFetchRequest<NSManagedObject>("Shelf", "ANY books.pages > 3")
        let steps = try #require(try context.explain(nested).parts.first?.queryPlan)
        #expect(steps.contains { $0.hasPrefix("  SEARCH ZBOOK t1 USING INDEX ZBOOK_ZSHELF_INDEX") }, "\(steps)")
    }

    @Test("A pinned context, a child and unsaved objects are told; nothing is fetched")
    func contexts() throws {
        let (rig, context) = try rig(NSSQLiteStoreType)
        _ = context.make("Book", ["title": "Emma"])
        try context.save()
        _ = context.make("Book", ["title": "Ivanhoe"])
        let child = context.child()
        _ = child.make("Book", ["title": "Kim"])
        #expect(try context.explain(request()).unsavedObjectCount == 1)
        let told = try child.explain(request("title == 'Kim'"))
        #expect(told.unsavedObjectCount == 2 && told.parts.first?.indexes == ["Z_Book_byTitle"])
        #expect("\(told)".contains("with 2 unsaved objects judged in memory"))
        let pinned = rig.context()
        try pinned.setQueryGenerationFrom(.current)
        #expect(try pinned.explain(request("title == 'Kim'")).parts.first?.indexes == ["Z_Book_byTitle"])
        #expect(pinned.registeredObjects.isEmpty)
    }

    @Test(
        "Stores without statements say how they are read, and refuse what a fetch refuses", arguments: StoreMaker.types)
    func others(type: String) throws {
        let (_, context) = try rig(type)
        let told = try context.explain(request("pages == 3"))
        let part = try #require(told.parts.first)
        #expect((part.sql == nil) == (type != NSSQLiteStoreType) && !part.reading.isEmpty && part.storeType == type)
        if type == NSInMemoryStoreType {
            #expect("\(told)".contains("all rows of Book are in memory and judged one by one"))
        }
        if type == ShelfStore.type { #expect(part.reading.contains("execute(_:with:)")) }
        #expect(code { _ = try context.explain(request("nosuch == 3")) } == 134060)
    }
}
