// A model with every documented derivation.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

enum Library {
    static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> Attribute {
        var attribute = Clinic.attribute(name, type)
        attribute.derivationExpression = expression
        attribute.isReadOnly = true
        return attribute
    }

    /// Author ⇄ Book (one to many, Novel ◁ Book), Author ⇄ Tag (many to many), Author → Note (without
    /// inverse), Author ⇄ Country, Node ⇄ Node.
    static func draft() -> SchemaDraft {
        var author = EntityDraft(name: "Author")
        author.attributes = [
            Clinic.attribute("name", .string), derived("key", .string, "canonical:(name)"),
            derived("loud", .string, "uppercase:(name)"), derived("quiet", .string, "lowercase:(name)"),
            derived("changed", .date, "now()"), derived("bookCount", .integer64, "books.@count"),
            derived("pageSum", .integer64, "books.@sum.pages"), derived("weightSum", .double, "books.@sum.weight"),
            derived("tagCount", .integer32, "tags.@count"), derived("tagSum", .double, "tags.@sum.weight"),
            derived("noteCount", .integer32, "notes.@count"),
        ]
        author.relationships = [
            Clinic.toMany("books", "Book", inverse: "author"), Clinic.toMany("tags", "Tag", inverse: "authors"),
            Clinic.toMany("notes", "Note", inverse: nil), Clinic.toOne("country", "Country", inverse: "authors"),
        ]
        var book = EntityDraft(name: "Book")
        book.attributes = [
            Clinic.attribute("title", .string), Clinic.attribute("pages", .integer32),
            Clinic.attribute("weight", .double),
            derived("authorName", .string, "author.name"), derived("code", .string, "author.country.code"),
            derived("titleCopy", .string, "title"),
        ]
        book.relationships = [Clinic.toOne("author", "Author", inverse: "books")]
        var novel = EntityDraft(name: "Novel")
        novel.parentName = "Book"
        novel.attributes = [
            Clinic.attribute("plot", .string), derived("plotCopy", .string, "plot"),
            derived("writer", .string, "author.name"),
        ]
        let tag = EntityDraft(
            "Tag", [Clinic.attribute("weight", .double)], [Clinic.toMany("authors", "Author", inverse: "tags")])
        let note = EntityDraft("Note", [Clinic.attribute("text", .string)])
        let country = EntityDraft(
            "Country", [Clinic.attribute("code", .string)], [Clinic.toMany("authors", "Author", inverse: "country")])
        var node = EntityDraft(name: "Node")
        node.attributes = [
            Clinic.attribute("name", .string), Clinic.attribute("size", .integer64),
            derived("childCount", .integer16, "count:(children)"), derived("sizeSum", .integer64, "children.@sum.size"),
            derived("parentName", .string, "parent.name"),
        ]
        node.relationships = [
            Clinic.toOne("parent", "Node", inverse: "children"), Clinic.toMany("children", "Node", inverse: "parent"),
        ]
        return SchemaDraft(author, book, novel, tag, note, country, node)
    }

    static func model(_ change: (inout SchemaDraft) -> Void = { _ in }) -> NSManagedObjectModel {
        var draft = draft()
        change(&draft)
        return NSManagedObjectModel(draft: draft)
    }

    static let stores = StoreMaker.types(for: .derivation)
    static let storesWithConstraints = stores.filter { StoreMaker.types(for: .constraints).contains($0) }
}

extension NSManagedObject {
    /// Reads the object anew and answers a value.
    func anew(_ key: String) -> Any? {
        managedObjectContext?.refresh(self, mergeChanges: false)
        return value(forKey: key)
    }
}
