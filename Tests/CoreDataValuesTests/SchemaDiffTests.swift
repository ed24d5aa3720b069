// What differs between two schemas, named.

import CoreDataValues
import Foundation
import Testing

/// Thing (name) ← Book (title, author) ⇄ Author (books, mentor ⇄ mentor), changed in one way, and what is said of it.
struct SchemaChange: Sendable, CustomTestStringConvertible {
    let says: [String]
    /// Whether a store of the former schema fits no more.
    let entersHash: Bool
    let change: @Sendable (inout SchemaDraft) -> Void
    var testDescription: String { says.joined(separator: "; ") }

    init(_ says: String..., entersHash: Bool = true, _ change: @escaping @Sendable (inout SchemaDraft) -> Void) {
        self.says = says
        self.entersHash = entersHash
        self.change = change
    }

    private static func title(
        _ says: String, entersHash: Bool = true, _ change: @escaping @Sendable (inout Attribute) -> Void
    ) -> SchemaChange {
        SchemaChange("Book.title " + says, entersHash: entersHash) { change(&$0.entities[1].attributes[0]) }
    }

    static let all: [SchemaChange] = attributes + relationships + entities

    private static let attributes = [
        title("was String and is URI") { $0.type = .uri },
        title("was required and is optional") { $0.isOptional = true },
        title("was stored and is transient") { $0.isTransient = true },
        title("was kept in the row and is kept in files when large") { $0.allowsExternalBinaryDataStorage = true },
        title("was not kept in the history of deletions and is kept in the history of deletions") {
            $0.preservesValueInHistoryOnDeletion = true
        },
        title("had no derivation and has name") { $0.derivationExpression = "name" },
        title("had no version hash modifier and has 2") { $0.versionHashModifier = "2" },
        title("was String and is URI, was required and is optional") {
            $0.type = .uri
            $0.isOptional = true
        },
        title("was called heading, was required and is optional") {
            $0.name = "title"
            $0.renamingIdentifier = "heading"
            $0.isOptional = true
        },
        SchemaChange("Book.mood (required transient String) was added", entersHash: false) {
            var mood = Attribute(name: "mood", type: .string)
            mood.isTransient = true
            $0.entities[1].attributes.append(mood)
        },
        title("had no default value and has “none”", entersHash: false) { $0.defaultValue = .text("none") },
        title("had no minimum length and has 3", entersHash: false) { $0.minimumLength = 3 },
        title("had no maximum length and has 30", entersHash: false) { $0.maximumLength = 30 },
        title("had no pattern and has .+", entersHash: false) { $0.pattern = ".+" },
    ]

    private static let relationships = [
        SchemaChange("Author.books was unordered and is ordered") { $0.entities[2].relationships[0].isOrdered = true },
        SchemaChange("Author.books had no maximum count and has 9") { $0.entities[2].relationships[0].maxCount = 9 },
        SchemaChange("Author.books had no minimum count and has 2", "Author.mentor was required and is optional") {
            $0.entities[2].relationships[0].minCount = 2
            $0.entities[2].relationships[1].isOptional = true
        },
        SchemaChange("Book.author was to-one and is to-many") { $0.entities[1].relationships[0].maxCount = 0 },
        SchemaChange("Author.books had the delete rule nullify and has cascade", entersHash: false) {
            $0.entities[2].relationships[0].deleteRule = .cascade
        },
        // A relationship that is its own inverse is hashed as one without.
        SchemaChange("Author.mentor had the inverse mentor and has none", entersHash: false) {
            $0.entities[2].relationships[1].inverseName = nil
        },
        SchemaChange(
            "Book.author had the inverse books and has none", "Author.books had the inverse author and has none"
        ) {
            $0.entities[1].relationships[0].inverseName = nil
            $0.entities[2].relationships[0].inverseName = nil
        },
        SchemaChange("Book.writer was called author", "Author.books had the inverse author and has writer") {
            $0.entities[1].relationships[0].name = "writer"
            $0.entities[1].relationships[0].renamingIdentifier = "author"
            $0.entities[2].relationships[0].inverseName = "writer"
        },
        SchemaChange(
            "Book.author (to-one to Author) was removed", "Book.author (required String) was added",
            "Author.books had the inverse author and has none"
        ) {
            $0.entities[1].relationships = []
            $0.entities[1].attributes.append(Attribute(name: "author", type: .string))
            $0.entities[2].relationships[0].inverseName = nil
        },
    ]

    private static let entities = [
        SchemaChange("Shelf was added") { $0.entities.append(EntityDraft(name: "Shelf")) },
        SchemaChange("Author was not abstract and is abstract") { $0.entities[2].isAbstract = true },
        SchemaChange("Author had no version hash modifier and has 2") { $0.entities[2].versionHashModifier = "2" },
        SchemaChange("Book had no uniqueness constraint and has (title)") {
            $0.entities[1].uniquenessConstraints = [["title"]]
        },
        SchemaChange("Book had no fetch index and has byTitle (title)", entersHash: false) {
            $0.entities[1].indexes = [FetchIndex(name: "byTitle", elements: [.init(property: "title")])]
        },
        SchemaChange("Book had no class and has Novel", entersHash: false) { $0.entities[1].className = "Novel" },
        SchemaChange("Book had the parent Thing and has none") { $0.entities[1].parentName = nil },
        SchemaChange("Thing.name was String and is URI", "Book inherits from Thing, which differs") {
            $0.entities[0].attributes[0].type = .uri
        },
        SchemaChange(
            "Book.name was moved from Thing.name", "Thing.name was moved to Book.name",
            "Book inherits from Thing, which differs"
        ) {
            $0.entities[1].attributes.append($0.entities[0].attributes.removeFirst())
        },
        SchemaChange(
            "Thing.title was moved from Book.title, was required and is optional",
            "Book.title was moved to Thing.title",
            "Book inherits from Thing, which differs"
        ) {
            var title = $0.entities[1].attributes.removeFirst()
            title.isOptional = true
            $0.entities[0].attributes.append(title)
        },
        SchemaChange(
            "Writer was called Author", "Book.author led to Author and leads to Writer",
            "Writer.mentor led to Author and leads to Writer"
        ) {
            $0.entities[2].name = "Writer"
            $0.entities[2].renamingIdentifier = "Author"
            $0.entities[2].relationships[1].destinationName = "Writer"
            $0.entities[1].relationships[0].destinationName = "Writer"
        },
    ]
}

@Suite("Differences of schemas")
struct SchemaDiffTests {
    /// The library, with the former name of what a change gives an identifier.
    private func pair(_ change: SchemaChange) throws -> (former: Schema, schema: Schema) {
        var draft = library
        change.change(&draft)
        var former = library
        if draft.entities[1].attributes.first?.renamingIdentifier == "heading" {
            former.entities[1].attributes[0].name = "heading"
        }
        return (try Schema(checking: former), try Schema(checking: draft))
    }

    @Test("A change is named, and says whether stores fit no more", arguments: SchemaChange.all)
    func named(_ change: SchemaChange) throws {
        let (former, schema) = try pair(change)
        let diff = SchemaDiff(from: former, to: schema)
        #expect(diff.sentences.sorted() == change.says.sorted())
        #expect(diff.entities.contains(where: \.entersHash) == change.entersHash)
        #expect(diff.hashedSentences.isEmpty != change.entersHash)
        for entity in schema.entities {
            let hashes = diff.pairs.source(of: entity)?.versionHash == entity.versionHash
            #expect(diff[entity: entity.name]?.entersHash ?? false == !hashes, "\(entity.name)")
        }
        #expect(SchemaDiff(from: schema, to: schema).entities.isEmpty)
    }

    @Test("Of two schemas each way is the other's: what was added was removed")
    func removed() throws {
        var draft = library
        draft.entities.append(EntityDraft(name: "Shelf"))
        draft.entities[1].attributes.append(Attribute(name: "pages", type: .integer32))
        let diff = SchemaDiff(from: try Schema(checking: draft), to: try Schema(checking: library))
        #expect(diff.sentences == ["Book.pages (required Integer 32) was removed", "Shelf was removed"])
        #expect(diff.entities.map(\.kind) == [.changed, .removed])
    }

    @Test("Elements of composites are named with all that enters the hash")
    func elements() throws {
        func schema(_ type: AttributeType) throws -> Schema {
            var draft = library
            draft.composites = [Composite(name: "Size", attributes: [Attribute(name: "height", type: type)])]
            var size = Attribute(name: "size", type: .composite)
            size.compositeName = "Size"
            draft.entities[1].attributes.append(size)
            return try Schema(checking: draft)
        }
        let diff = SchemaDiff(from: try schema(.double), to: try schema(.float))
        #expect(
            diff.hashedSentences == [
                "Book.size had the elements height (required Double) and has height (required Float)"
            ])
    }

    @Test("An identifier names the first name or the last one, goes before a mere name, and need not stay")
    func identifiers() throws {
        func schema(_ names: [(String, String?)]) throws -> Schema {
            var draft = library
            draft.entities[2].attributes = names.map { name, identifier in
                var attribute = Attribute(name: name, type: .string)
                attribute.renamingIdentifier = identifier
                return attribute
            }
            return try Schema(checking: draft)
        }
        func sources(_ from: [(String, String?)], _ to: [(String, String?)]) throws -> [String: String] {
            let later = try schema(to)
            let pairs = SchemaDiff(from: try schema(from), to: later).pairs
            let author = try #require(later.entity(named: "Author"))
            return pairs.sourceProperties(of: author).filter { $0.value.name != "books" && $0.value.name != "mentor" }
                .mapValues(\.name)
        }
        #expect(try sources([("color", nil)], [("paint", "color")]) == ["paint": "color"])
        // Two versions later, by the first name; and by the name that it had last.
        #expect(try sources([("paint", "color")], [("hue", "color")]) == ["hue": "paint"])
        #expect(try sources([("paint", "color")], [("hue", "paint")]) == ["hue": "paint"])
        #expect(try sources([("paint", "color")], [("paint", nil)]) == ["paint": "paint"])
        // Something new has the former name, and two that change places.
        #expect(try sources([("color", nil)], [("color", nil), ("paint", "color")]) == ["paint": "color"])
        #expect(try sources([("a", nil), ("b", nil)], [("a", "b"), ("b", "a")]) == ["a": "b", "b": "a"])
        #expect(try sources([("a", nil)], [("b", nil)]) == [:])
    }

    @Test("Where a property's values come from is told with what is inherited, also across entities")
    func sources() throws {
        var draft = library
        draft.entities[0].name = "Work"
        draft.entities[0].renamingIdentifier = "Thing"
        draft.entities[1].parentName = "Work"
        draft.entities[1].attributes.append(draft.entities[0].attributes.removeFirst())
        draft.entities[1].attributes.append(Attribute(name: "pages", type: .integer32))
        let (former, later) = (try Schema(checking: library), try Schema(checking: draft))
        let pairs = SchemaDiff(from: former, to: later).pairs
        let book = try #require(later.entity(named: "Book"))
        #expect(
            pairs.sourceProperties(of: book).mapValues { "\($0.entity).\($0.name)" } == [
                "name": "Thing.name", "title": "Book.title", "author": "Book.author",
            ])
        #expect(pairs.source(of: try #require(later.entity(named: "Work")))?.name == "Thing")
        #expect(pairs.destination(of: try #require(former.entity(named: "Thing")))?.name == "Work")
    }
}
