// Drafts made in code: each contradiction is named with its entity and property.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataValues

@Suite("Checks of a draft")
struct SchemaCheckTests {
    @Test("A sound draft passes, and warns of nothing")
    func sound() throws {
        #expect(try Schema(checking: library).warnings.isEmpty)
        #expect(SchemaCheck.errors(in: library).isEmpty)
        #expect(try Schema(checking: SchemaDraft()).entities.isEmpty)
    }

    @Test(
        "A contradiction is refused with its entity and property",
        arguments: names + attributes + relationships + others)
    func contradiction(_ wrong: Wrong) throws {
        var draft = library
        wrong.change(&draft)
        let error = try #require(#expect(throws: SchemaError.self) { try Schema(checking: draft) })
        #expect(error.message.contains(wrong.says), "\(error)")
        #expect(error.entity == wrong.entity)
        #expect(error.property == wrong.property)
        #expect(error.description == error.message)
    }

    private static let names: [Wrong] = [
        Wrong("an entity has no name", nil, nil) { $0.entities[0].name = "" },
        Wrong("holds a control character", "a\u{0}b", nil) {
            $0.entities.append(EntityDraft(name: "a\u{0}b"))
        },
        Wrong("is declared twice", "Book", nil) { $0.entities.append(EntityDraft(name: "Book")) },
        Wrong("which the model does not declare", "Author", nil) { $0.entities[2].parentName = "Person" },
        Wrong("inherits from itself", "Thing", nil) { $0.entities[0].parentName = "Book" },
        Wrong("more than 99 ancestors", "E100", nil) { draft in
            for number in 0...100 {
                var entity = EntityDraft(name: "E\(number)")
                entity.parentName = number == 0 ? nil : "E\(number - 1)"
                draft.entities.append(entity)
            }
        },
        Wrong("can number 16000", nil, nil) { draft in
            draft.entities += (0..<16_000).map { EntityDraft(name: "N\($0)") }
        },
        Wrong("declares the property “title” twice", "Book", "title") {
            $0.entities[1].attributes.append(Attribute(name: "title", type: .date))
        },
        Wrong("declares the property “author” twice", "Book", "author") {
            let template = FetchTemplate(name: "t", entityName: "Book")
            $0.entities[1].fetchedProperties = [FetchedProperty(name: "author", request: template)]
        },
        Wrong("which it inherits from “Thing”", "Book", "name") {
            $0.entities[1].attributes.append(Attribute(name: "name", type: .string))
        },
        Wrong("a property of “Book” has no name", "Book", nil) { $0.entities[1].attributes[0].name = "" },
        Wrong("holds a dot", "Book", "a.b") { $0.entities[1].attributes[0].name = "a.b" },
        Wrong("begins with @", "Book", "@a") { $0.entities[1].attributes[0].name = "@a" },
        Wrong("is longer than 1000 bytes", "Book", String(repeating: "a", count: 1_001)) {
            $0.entities[1].attributes[0].name = String(repeating: "a", count: 1_001)
        },
    ]

    private static let attributes: [Wrong] = [
        .attribute("does not fit its type, String") { $0.defaultValue = .int(1) },
        .attribute("does not fit its type, Integer 16") {
            $0.type = .integer16
            $0.defaultValue = .int(40_000)
        },
        .attribute("does not fit its type, Date") {
            $0.type = .date
            $0.defaultValue = .date(.infinity)
        },
        .attribute("is below its minimum, 5") {
            $0.type = .integer16
            $0.defaultValue = .int(1)
            $0.minimum = .int(5)
        },
        .attribute("is above its maximum") {
            $0.type = .date
            $0.defaultValue = .date(9)
            $0.maximum = .date(5)
        },
        .attribute("is above its maximum, 1") {
            $0.type = .double
            $0.minimum = .double(2)
            $0.maximum = .double(1)
        },
        .attribute("the bound 1 of “Book.title” does not fit") { $0.minimum = .int(1) },
        .attribute("is shorter than its minimum") {
            $0.defaultValue = .text("ab")
            $0.minimumLength = 3
        },
        .attribute("is longer than its maximum") {
            $0.defaultValue = .text("abcd")
            $0.maximumLength = 3
        },
        .attribute("Lengths begin at 0") { $0.minimumLength = -1 },
        .attribute("is above its maximum, 2") {
            $0.minimumLength = 3
            $0.maximumLength = 2
        },
        .attribute("bounds a length and is no String") {
            $0.type = .binary
            $0.maximumLength = 2
        },
        .attribute("does not compile") { $0.pattern = "(" },
        .attribute("has a regular expression and is no String") {
            $0.type = .date
            $0.pattern = "a"
        },
        .attribute("is derived and has no expression") { $0.derivationExpression = " " },
        .attribute("does not name which") { $0.type = .composite },
        .attribute("of the composite “C”") {
            $0.type = .composite
            $0.compositeName = "C"
        },
    ]

    private static let relationships: [Wrong] = [
        .relationship("has no destination") { $0.destinationName = "" },
        .relationship("leads to “Person”") { $0.destinationName = "Person" },
        .relationship("Counts lie between") { $0.minCount = -1 },
        .relationship("Counts lie between") { $0.maxCount = .max },
        .relationship("has the minimum count 2") { $0.minCount = 2 },
        .relationship("is ordered and leads to one") { $0.isOrdered = true },
        .relationship("is no relationship of “Author”") { $0.inverseName = "volumes" },
        .relationship("is in “Person”") { $0.inverseEntityName = "Person" },
        .relationship("leads to “Author” and not to “Book”") { $0.inverseName = "mentor" },
        Wrong("which has no inverse", "Book", "author") { $0.entities[2].relationships[0].inverseName = nil },
        Wrong("belongs to another tree", "Book", "author") {
            $0.entities[1].relationships[0].inverseEntityName = "Author"
            $0.entities[1].relationships[0].destinationName = "Thing"
        },
    ]

    private static let others: [Wrong] = [
        .attribute("names “nobody”, which is no property of “Author”") { $0.derivationExpression = "author.nobody" },
        .attribute("names “nobody”, which is no property of “Book”") { $0.derivationExpression = "nobody" },
        .attribute("cannot be read") { $0.derivationExpression = "name ==" },
        Wrong("names “pages”, which is no property of “Book”", "Book", nil) {
            $0.entities[1].indexes = [
                FetchIndex(
                    name: "i", elements: [.init(property: "title")], partialPredicate: "pages > 3 AND title != nil")
            ]
        },
        Wrong("names no attribute", "Book", nil) { $0.entities[1].uniquenessConstraints = [[]] },
        Wrong("names “isbn”, which is no property", "Book", "isbn") {
            $0.entities[1].uniquenessConstraints = [["isbn"]]
        },
        Wrong("names an attribute twice", "Book", nil) {
            $0.entities[1].uniquenessConstraints = [["title", "title"]]
        },
        Wrong("is declared twice", "Book", nil) {
            $0.entities[1].uniquenessConstraints = [["title"], ["title"]]
        },
        Wrong("names the to-many “books”", "Author", "books") {
            $0.entities[2].uniquenessConstraints = [["books"]]
        },
        Wrong("which is transient", "Book", "title") {
            $0.entities[1].attributes[0].isTransient = true
            $0.entities[1].uniquenessConstraints = [["title"]]
        },
        Wrong("names “isbn”, which is no property", "Book", "isbn") {
            $0.entities[1].indexes = [FetchIndex(name: "i", elements: [.init(property: "isbn")])]
        },
        Wrong("mixes binary and R-tree", "Book", nil) {
            $0.entities[1].indexes = [
                FetchIndex(
                    name: "i", elements: [.init(property: "title"), .init(property: "name", isRTree: true)])
            ]
        },
        Wrong("is declared twice", "Book", nil) {
            let index = FetchIndex(name: "i", elements: [.init(property: "title")])
            $0.entities[1].indexes = [index, index]
        },
        Wrong("of no property and no expression", "Book", nil) {
            $0.entities[1].indexes = [FetchIndex(name: "i", elements: [.init(property: nil)])]
        },
        Wrong("holds the entity “Person”", "Person", nil) { $0.configurations = ["C": ["Book", "Person"]] },
        Wrong("holds the entity “Book” twice", "Book", nil) { $0.configurations = ["C": ["Book", "Book"]] },
        Wrong("fetches “Person”", "Person", nil) {
            $0.fetchTemplates = [FetchTemplate(name: "t", entityName: "Person")]
        },
        Wrong("fetches “Person”", "Book", "f") {
            let template = FetchTemplate(name: "t", entityName: "Person")
            $0.entities[1].fetchedProperties = [FetchedProperty(name: "f", request: template)]
        },
        Wrong("“A” holds itself", "A", nil) { draft in
            draft.composites = [("A", "B"), ("B", "A")].map { name, other in
                var part = Attribute(name: "p", type: .composite)
                part.compositeName = other
                return Composite(name: name, attributes: [part])
            }
        },
    ]

    @Test("What models in use do is tolerated and said")
    func tolerated() throws {
        var draft = library
        draft.entities[1].attributes.append(Attribute(name: "anything", type: .undefined))
        draft.entities[1].attributes.append(Attribute(name: "Title", type: .string))
        draft.entities[1].uniquenessConstraints = [["title", "author", "name"]]
        draft.entities[2].indexes = [FetchIndex(name: "i", elements: [.init(property: "books")])]
        draft.entities[2].relationships[0].inverseEntityName = "Author"
        let warnings = try Schema(checking: draft).warnings
        #expect(warnings.map(\.property) == ["anything", "books", "books"])
        #expect(warnings.map(\.entity) == ["Book", "Author", "Author"])
    }

    @Test("A tool gets every contradiction at once")
    func all() {
        var draft = library
        draft.entities[1].attributes[0].pattern = "("
        draft.entities[2].relationships[1].destinationName = "Person"
        draft.configurations = ["C": ["Person"]]
        #expect(SchemaCheck.errors(in: draft).count == 3)
    }
}
