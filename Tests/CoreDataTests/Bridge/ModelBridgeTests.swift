// Models made in code, their drafts and schemas, copies and merges.

import CoreData
import CoreDataValues
import Foundation
import Testing

/// Authors, and books that novels inherit from.
func libraryModel() -> NSManagedObjectModel {
    let author = NSEntityDescription()
    author.name = "Author"
    let book = NSEntityDescription()
    book.name = "Book"
    book.managedObjectClassName = ".Book"
    let novel = NSEntityDescription()
    novel.name = "Novel"

    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    title.isOptional = false
    title.defaultValue = "untitled"
    let pages = NSAttributeDescription()
    pages.name = "pages"
    pages.type = .integer16
    let genre = NSAttributeDescription()
    genre.name = "genre"
    genre.type = .string

    let books = NSRelationshipDescription()
    books.name = "books"
    books.maxCount = 0
    books.deleteRule = .cascadeDeleteRule
    books.destinationEntity = book
    let writer = NSRelationshipDescription()
    writer.name = "author"
    writer.destinationEntity = author
    writer.inverseRelationship = books
    books.inverseRelationship = writer

    author.properties = [books]
    book.properties = [title, pages, writer]
    novel.properties = [genre]
    book.subentities = [novel]
    book.uniquenessConstraints = [[title], ["pages", "title"]]
    let element = NSFetchIndexElementDescription(property: title, collationType: .binary)
    book.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [element])]
    let model = NSManagedObjectModel()
    model.entities = [author, book]
    model.setEntities([book], forConfigurationName: "Books")
    model.versionIdentifiers = ["v1"]
    return model
}

@Suite struct ModelBridgeTests {
    @Test("A model made in code becomes a draft with all that was said")
    func codeToDraft() throws {
        let draft = try libraryModel().draft()
        #expect(draft.entities.map(\.name) == ["Author", "Book", "Novel"])
        let book = try #require(draft.entities.first { $0.name == "Book" })
        #expect(book.className == ".Book")
        #expect(book.attributes.map(\.name) == ["title", "pages"])
        #expect(book.attributes[0].isOptional == false)
        #expect(book.attributes[0].defaultValue == .text("untitled"))
        #expect(book.attributes[1].isOptional)
        #expect(book.relationships[0].inverseName == "books")
        #expect(book.relationships[0].destinationName == "Author")
        #expect(book.uniquenessConstraints == [["title"], ["pages", "title"]])
        #expect(book.indexes[0].elements[0].property == "title")
        #expect(draft.entities[0].relationships[0].deleteRule == .cascade)
        #expect(draft.entities[2].parentName == "Book")
        #expect(draft.configurations == ["Books": ["Book"]])
        #expect(draft.versionIdentifiers == ["v1"])
    }

    @Test("Draft, descriptions and draft again are the same declarations")
    func draftRoundTrip() throws {
        var draft = try libraryModel().draft()
        var point = Attribute(name: "origin", type: .composite)
        point.compositeName = "Point"
        var price = Attribute(name: "price", type: .decimal)
        price.minimum = .decimal(1)
        price.maximum = .decimal(9)
        price.defaultValue = .decimal(5)
        price.userInfo = ["unit": "EUR"]
        price.renamingIdentifier = "cost"
        price.location = SourceLocation(path: "contents", line: 4, column: 9)
        var count = Attribute(name: "count", type: .integer64)
        count.derivationExpression = "books.@count"
        draft.composites = [
            Composite(name: "Point", attributes: [Attribute(name: "x", type: .double)]),
            Composite(name: "Unused", attributes: []),
        ]
        draft.entities[0].attributes = [point, price, count]
        var request = FetchTemplate(name: "all", entityName: "Book")
        request.predicate = "pages > 3"
        draft.entities[0].fetchedProperties = [FetchedProperty(name: "long", request: request)]
        draft.fetchTemplates = [request]

        let model = NSManagedObjectModel(draft: draft)
        #expect(spelled(try model.draft()) == spelled(draft))
        let author = try #require(model.entitiesByName["Author"])
        #expect(author.attributesByName["count"] is NSDerivedAttributeDescription)
        let origin = try #require(author.attributesByName["origin"] as? NSCompositeAttributeDescription)
        #expect(origin.elements.map(\.name) == ["x"])
        #expect(author.attributesByName["price"]?.defaultValue as? Int == 5)
        #expect(model.fetchTemplate(forName: "all")?.predicate == "pages > 3")
    }

    @Test("Freezing ties every description to its entity, and each is found by its number")
    func freezing() throws {
        let model = libraryModel()
        let schema = try model.freeze()
        #expect(try model.schema() === schema)
        #expect(try model.freeze() === schema)
        #expect(schema.entities.map(\.name) == ["Author", "Book", "Novel"])
        for entity in schema.entities {
            let description = model.entityDescription(at: entity.index)
            #expect(description.name == entity.name)
            #expect(description.resolved === entity)
            #expect(description.managedObjectModel === model)
        }
        let novel = try #require(model.entitiesByName["Novel"])
        let book = try #require(model.entitiesByName["Book"])
        #expect(novel.isKindOf(entity: book))
        #expect(!book.isKindOf(entity: novel))
    }

    @Test("Properties by name include the inherited, properties do not")
    func inheritance() throws {
        let model = libraryModel()
        for _ in 0..<2 {
            let novel = try #require(model.entitiesByName["Novel"])
            #expect(novel.properties.map(\.name) == ["genre"])
            #expect(Set(novel.attributesByName.keys) == ["genre", "title", "pages"])
            #expect(Set(novel.relationshipsByName.keys) == ["author"])
            #expect(novel.propertiesByName["title"]?.entity.name == "Book")
            #expect(novel.superentity?.name == "Book")
            try model.freeze()
        }
    }

    @Test("A copy of a frozen model can be edited and refers to itself alone")
    func copying() throws {
        let model = libraryModel()
        try model.freeze()
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(spelled(try copy.draft()) == spelled(try model.draft()))
        let author = try #require(copy.entitiesByName["Author"])
        let book = try #require(copy.entitiesByName["Book"])
        #expect(book !== model.entitiesByName["Book"])
        #expect(author.relationshipsByName["books"]?.destinationEntity === book)
        let books = try #require(author.relationshipsByName["books"])
        #expect(books.inverseRelationship === book.relationshipsByName["author"])
        #expect(book.indexes[0].elements[0].property === book.propertiesByName["title"])
        book.name = "Volume"
        #expect(model.entitiesByName["Book"] != nil)
        #expect(try copy.freeze().entity(named: "Volume") != nil)
    }

    @Test("Merged models hold the entities of both")
    func merging() throws {
        let shop = NSEntityDescription()
        shop.name = "Shop"
        let other = NSManagedObjectModel()
        other.entities = [shop]
        let merged = try #require(NSManagedObjectModel(byMerging: [libraryModel(), other]))
        #expect(Set(merged.entitiesByName.keys) == ["Author", "Book", "Novel", "Shop"])
        #expect(merged.configurations == ["Books"])
        #expect(merged.entitiesByName["Novel"]?.superentity === merged.entitiesByName["Book"])
    }

    @Test("Configurations name their entities; nil names all")
    func configurations() throws {
        let model = libraryModel()
        #expect(model.entities(forConfigurationName: "Books")?.map(\.name) == ["Book"])
        #expect(model.entities(forConfigurationName: nil)?.count == 3)
        #expect(model.entities(forConfigurationName: "Nothing") == nil)
        model.entitiesByName["Book"]?.name = "Volume"
        #expect(try model.draft().configurations == ["Books": ["Volume"]])
        #expect(Set(model.map(\.name)) == ["Author", "Volume", "Novel"])
    }

    @Test("A wrong default, a missing destination and a missing name are said with entity and property")
    func contradictions() throws {
        let model = libraryModel()
        let pages = try #require(model.entitiesByName["Book"]?.attributesByName["pages"])
        pages.defaultValue = "many"
        let wrongDefault = #expect(throws: SchemaError.self) { try model.freeze() }
        #expect(wrongDefault?.entity == "Book")
        #expect(wrongDefault?.property == "pages")
        #expect(wrongDefault?.message.contains("Integer 16 is expected, String was given") == true)

        let lost = libraryModel()
        lost.entitiesByName["Book"]?.relationshipsByName["author"]?.destinationEntity = nil
        #expect(#expect(throws: SchemaError.self) { try lost.schema() }?.property == "author")

        let nameless = NSManagedObjectModel()
        nameless.entities = [NSEntityDescription()]
        #expect(throws: SchemaError.self) { try nameless.schema() }
        #expect(nameless.entityVersionHashesByName.isEmpty)
    }

    @Test("A model that cannot be read is nil, or an error with the code and a sentence")
    func unreadable() throws {
        let url = URL(fileURLWithPath: "/nonexistent/Library.xcdatamodeld")
        #expect(NSManagedObjectModel(contentsOf: url) == nil)
        let error = #expect(throws: (any Error).self) { try NSManagedObjectModel(loading: url) }
        #expect((error as? CocoaError)?.code == .fileReadNoSuchFile)
        #expect((error as? NSError)?.localizedDescription.contains("Library.xcdatamodeld") == true)
    }
}
