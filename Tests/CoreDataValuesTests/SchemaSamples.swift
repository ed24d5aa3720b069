// The draft that tests of schemas begin with, and drafts with one thing wrong.

import CoreDataValues
import Testing

/// Thing (name) ← Book (title, author) ⇄ Author (books, mentor ⇄ mentor).
let library: SchemaDraft = {
    var thing = EntityDraft(name: "Thing")
    thing.attributes = [Attribute(name: "name", type: .string)]
    var author = Relationship(name: "author", destinationName: "Author")
    author.inverseName = "books"
    var book = EntityDraft(name: "Book")
    book.parentName = "Thing"
    book.attributes = [Attribute(name: "title", type: .string)]
    book.relationships = [author]
    var books = Relationship(name: "books", destinationName: "Book")
    books.inverseName = "author"
    books.maxCount = 0
    var mentor = Relationship(name: "mentor", destinationName: "Author")
    mentor.inverseName = "mentor"
    var writer = EntityDraft(name: "Author")
    writer.relationships = [books, mentor]
    var draft = SchemaDraft()
    draft.entities = [thing, book, writer]
    return draft
}()

/// One change that spoils the library, and what is said of it.
struct Wrong: CustomTestStringConvertible, Sendable {
    var says: String
    var entity: String?
    var property: String?
    var change: @Sendable (inout SchemaDraft) -> Void

    init(
        _ says: String, _ entity: String?, _ property: String?,
        _ change: @escaping @Sendable (inout SchemaDraft) -> Void
    ) {
        self.says = says
        self.entity = entity
        self.property = property
        self.change = change
    }

    var testDescription: String { says }

    /// Spoils the title of a book.
    static func attribute(_ says: String, _ change: @escaping @Sendable (inout Attribute) -> Void) -> Wrong {
        Wrong(says, "Book", "title") { change(&$0.entities[1].attributes[0]) }
    }

    /// Spoils the author of a book.
    static func relationship(_ says: String, _ change: @escaping @Sendable (inout Relationship) -> Void)
        -> Wrong
    {
        Wrong(says, "Book", "author") { change(&$0.entities[1].relationships[0]) }
    }
}
