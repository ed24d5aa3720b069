// Numbers, slots and inverses of a resolved schema.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataValues

@Suite("A resolved schema")
struct SchemaOrderTests {
    private static func entity(_ name: String, parent: String? = nil, _ attributes: String...) -> EntityDraft {
        var entity = EntityDraft(name: name)
        entity.parentName = parent
        entity.attributes = attributes.map { Attribute(name: $0, type: .string) }
        return entity
    }

    @Test("Entities are numbered depth-first, names without case, whatever their order in the file")
    func numbering() throws {
        var draft = SchemaDraft()
        draft.entities = [
            Self.entity("zeta"), Self.entity("SyncFeatureEntity"), Self.entity("SyncableSettings"),
            Self.entity("b", parent: "Root"), Self.entity("C", parent: "Root"), Self.entity("A", parent: "b"),
            Self.entity("Root"), Self.entity("alpha"),
        ]
        for _ in draft.entities.indices {
            let schema = try Schema(checking: draft)
            let names = ["alpha", "Root", "b", "A", "C", "SyncableSettings", "SyncFeatureEntity", "zeta"]
            #expect(schema.entities.map(\.name) == names)
            #expect(schema.entities.map(\.index.number) == Array(1...8))
            let root = try #require(schema.entity(named: "Root"))
            #expect(root.children.map { schema[$0].name } == ["b", "C"])
            #expect(schema[root.last].name == "C")
            let leaf = try #require(schema.entity(named: "A"))
            #expect(schema[leaf.root].name == "Root" && leaf.isKind(of: root) && !root.isKind(of: leaf))
            draft.entities.append(draft.entities.removeFirst())
        }
    }

    @Test("A name is found in each of the ways in which Unicode writes it")
    func spellings() throws {
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        for name in [composed, decomposed] {
            var draft = SchemaDraft()
            draft.entities = [Self.entity("Bar"), Self.entity(name)]
            let schema = try Schema(checking: draft)
            #expect(schema.entity(named: composed)?.index == schema.entity(named: name)?.index)
            #expect(schema.entity(named: decomposed)?.index == schema.entity(named: name)?.index)
            #expect(schema.entity(named: composed) != nil && schema.entity(named: "Cafe") == nil)
        }
    }

    @Test("A parent's slots and to-manys are a prefix of its children's, own ones follow by name")
    func slots() throws {
        var draft = library
        draft.entities.append(Self.entity("Novel", parent: "Book", "z", "B", "a"))
        let schema = try Schema(checking: draft)
        let novel = try #require(schema.entity(named: "Novel"))
        #expect(novel.slots.map(\.name) == ["name", "author", "title", "B", "a", "z"])
        for entity in schema.entities {
            guard let parent = entity.parent.map({ schema[$0] }) else { continue }
            #expect(entity.slots.prefix(parent.slots.count).map(\.name) == parent.slots.map(\.name))
            #expect(entity.toMany.prefix(parent.toMany.count) == parent.toMany[...])
            #expect(entity.layout.slotCount == entity.slots.count)
        }
        let author = try #require(schema.relationships.first { $0.name == "author" })
        #expect(!author.hasEntityTag && author.inverse.map { schema[$0].name } == "books")
        let mentor = try #require(schema.relationships.first { $0.name == "mentor" })
        #expect(mentor.inverse == mentor.index)
    }

    @Test("A to-one to an entity with sub-entities has a second slot for the target's entity")
    func entityTag() throws {
        var draft = library
        draft.entities.append(Self.entity("Poet", parent: "Author"))
        let schema = try Schema(checking: draft)
        let book = try #require(schema.entity(named: "Book"))
        #expect(book.slots.map(\.kind) == [.text, .toOne, .entityTag, .text])
        #expect(book.slots.map(\.name) == ["name", "author", "author", "title"])
    }

    @Test("An inverse that a parent declares is found from the child")
    func inheritedInverse() throws {
        var owner = Relationship(name: "owner", destinationName: "Concrete")
        owner.inverseName = "item"
        owner.inverseEntityName = "Abstract"
        var item = Relationship(name: "item", destinationName: "Item")
        item.inverseName = "owner"
        item.inverseEntityName = "Item"
        var abstract = EntityDraft(name: "Abstract")
        abstract.relationships = [item]
        var thing = EntityDraft(name: "Item")
        thing.relationships = [owner]
        var draft = SchemaDraft()
        draft.entities = [abstract, Self.entity("Concrete", parent: "Abstract"), thing]
        let schema = try Schema(checking: draft)
        #expect(schema.relationships.map { $0.inverse.map { schema[$0].name } } == ["owner", "item"])
    }

    @Test("A model of fifteen thousand entities, some a hundred levels deep, resolves", .timeLimit(.minutes(30)))
    func large() throws {
        var draft = SchemaDraft()
        for number in 0..<15_000 {
            let isDeep = number < 1_000 && number % 100 != 0
            draft.entities.append(
                Self.entity("E\(number)", parent: isDeep ? "E\(number - 1)" : nil, "a\(number)"))
        }
        let schema = try Schema(checking: draft)
        #expect(schema.entities.count == 15_000)
        #expect(schema.entity(named: "E99")?.slots.count == 100)
    }
}
