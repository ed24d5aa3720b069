// Names that trade places, differ in case only, or come back with another meaning.

import Foundation
import Testing

@testable import CoreData

@Suite("Names through a migration") struct NameTests {
    private typealias V = Versions
    static let types = [NSSQLiteStoreType, NSXMLStoreType]

    private static func renamed(_ name: String, _ former: String, _ type: String = "String") -> String {
        V.attribute(name, type, "optional=\"YES\" elementID=\"\(former)\"")
    }

    private func migrated(
        _ type: String, _ from: String, _ to: String, _ fill: (NSManagedObjectContext) -> Void,
        _ check: (NSManagedObjectContext) throws -> Void
    )
        throws
    {
        let versions = try V(from, to)
        try versions.open(1, type) { context in
            fill(context)
            try context.save()
        }
        try versions.open(2, type) { try check($0) }
        // It opens again without the options, and takes changes.
        try versions.open(2, type, [:]) { context in
            try check(context)
            for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] where !entity.isAbstract
            {
                context.make(entity.name ?? "")
            }
            try context.save()
        }
    }

    @Test("13.1 Two attributes trade their names", arguments: NameTests.types) func swapped(_ type: String) throws {
        try migrated(
            // Former names are no part of hashes: without the third attribute the store would fit as it is.
            type, V.entity("Item", "", V.attribute("a"), V.attribute("b")),
            V.entity("Item", "", Self.renamed("b", "a"), Self.renamed("a", "b"), V.attribute("c"))
        ) {
            $0.make("Item", ["a": "was a", "b": "was b"])
        } _: { context in
            let found = try context.all("Item").map { "\($0.value(forKey: "a") ?? "") \($0.value(forKey: "b") ?? "")" }
            #expect(found == ["was b was a"])
        }
    }

    @Test("13.1 Two entities trade their names, with the relationship between them", arguments: NameTests.types)
    func swappedEntities(_ type: String) throws {
        try migrated(
            type,
            V.entity("A", "", V.attribute("n"), V.toMany("bs", "B", "a"))
                + V.entity("B", "", V.attribute("n"), V.toOne("a", "A", "bs")),
            V.entity("B", "elementID=\"A\"", V.attribute("n"), V.toMany("bs", "A", "a"))
                + V.entity("A", "elementID=\"B\"", V.attribute("n"), V.toOne("a", "B", "bs"))
        ) { context in
            let a = context.make("A", ["n": "was A"])
            for number in 1...2 { context.make("B", ["n": "was B \(number)", "a": a]) }
        } _: { context in
            let (bs, names) = try (
                context.all("B").map {
                    "\($0.value(forKey: "n") ?? "") \(($0.value(forKey: "bs") as? NSSet)?.count ?? 0)"
                }, context.values("A", "n")
            )
            #expect(bs == ["was A 2"] && names.sorted() == ["was B 1", "was B 2"])
        }
    }

    @Test(
        "13.1 A name differs from the former one in case only, of an entity and of an attribute",
        arguments: NameTests.types) func capitals(_ type: String) throws
    {
        try migrated(
            type, V.entity("item", "", V.attribute("title"), V.attribute("plain")),
            V.entity("Item", "elementID=\"item\"", Self.renamed("Title", "title"), V.attribute("plain"))
        ) {
            $0.make("item", ["title": "t", "plain": "p"])
        } _: { context in
            let found = try context.all("Item").map {
                "\($0.value(forKey: "Title") ?? "") \($0.value(forKey: "plain") ?? "")"
            }
            #expect(found == ["t p"])
        }
    }

    @Test(
        "13.1 An attribute that goes and one that comes under its name in other capitals have nothing in common",
        arguments: NameTests.types)
    func otherCapitals(_ type: String) throws {
        try migrated(
            type, V.entity("Item", "", V.attribute("title"), V.attribute("plain")),
            V.entity("Item", "", V.attribute("TITLE", "Integer 64", "defaultValueString=\"7\""), V.attribute("plain"))
        ) {
            $0.make("Item", ["title": "t", "plain": "p"])
        } _: { context in
            let found = try context.all("Item").map {
                "\($0.value(forKey: "TITLE") ?? "") \($0.value(forKey: "plain") ?? "")"
            }
            #expect(found == ["7 p"])
        }
    }

    @Test(
        "13.1 An entity that goes and one that comes under its name in other capitals have nothing in common",
        arguments: NameTests.types)
    func otherEntity(_ type: String) throws {
        try migrated(
            type, V.entity("Thing", "", V.attribute("title")) + V.entity("Rest", "", V.attribute("a")),
            V.entity("THING", "", V.attribute("size", "Integer 64", "defaultValueString=\"3\""))
                + V.entity("Rest", "", V.attribute("a"))
        ) { context in
            context.make("Thing", ["title": "gone"])
            context.make("Rest", ["a": "kept"])
        } _: { context in
            let (things, rest) = try (context.all("THING").count, context.values("Rest", "a"))
            #expect(things == 0 && rest == ["kept"])
        }
    }

    @Test(
        "13.1 An attribute takes the name of one that goes, and a relationship the name of an attribute that goes",
        arguments: NameTests.types)
    func taken(_ type: String) throws {
        try migrated(
            type,
            V.entity("Item", "", V.attribute("a"), V.attribute("b"), V.attribute("c"))
                + V.entity("Box", "", V.attribute("n")),
            V.entity("Item", "", Self.renamed("b", "a"), V.toOne("c", "Box", "items"))
                + V.entity("Box", "", V.attribute("n"), V.toMany("items", "Item", "c"))
        ) {
            $0.make("Item", ["a": "was a", "b": "was b", "c": "was c"])
        } _: { context in
            let found = try context.all("Item").map {
                "\($0.value(forKey: "b") ?? "") \($0.value(forKey: "c") ?? "nil")"
            }
            #expect(found == ["was a nil"])
        }
    }

    @Test("13.1 A transient attribute is stored from now on, and a stored one is transient", arguments: NameTests.types)
    func transient(_ type: String) throws {
        try migrated(
            type,
            V.entity("Item", "", V.attribute("a"), V.attribute("b", "String", "optional=\"YES\" transient=\"YES\"")),
            V.entity(
                "Item", "", V.attribute("a", "String", "optional=\"YES\" transient=\"YES\""),
                V.attribute("b", "String", "defaultValueString=\"new\""))
        ) {
            $0.make("Item", ["a": "was a"])
        } _: { context in
            let found = try context.all("Item").map {
                "\($0.value(forKey: "a") ?? "nil") \($0.value(forKey: "b") ?? "nil")"
            }
            #expect(found == ["nil new"])
        }
    }

    @Test(
        "13.1 Defaults of every type are written as the objects of the new version have them",
        arguments: NameTests.types) func defaults(_ type: String) throws
    {
        let added = V.entity(
            "Item", "", V.attribute("n"), V.attribute("text", "String", "defaultValueString=\"it's “é” &amp; 🙂\""),
            V.attribute("flag", "Boolean", "defaultValueString=\"YES\""),
            V.attribute("small", "Integer 16", "defaultValueString=\"-32768\""),
            V.attribute("large", "Integer 64", "defaultValueString=\"9223372036854775807\""),
            V.attribute("real", "Double", "defaultValueString=\"0.1\""),
            V.attribute("single", "Float", "defaultValueString=\"0.1\""),
            V.attribute("fee", "Decimal", "defaultValueString=\"12.34\""),
            V.attribute("day", "Date", "defaultDateTimeInterval=\"86400\""),
            V.attribute("tag", "UUID", "defaultValueString=\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\""),
            V.attribute("link", "URI", "defaultValueString=\"https://example.org/a?b=c\""))
        let keys = ["text", "flag", "small", "large", "real", "single", "fee", "day", "tag", "link"]
        try migrated(type, V.entity("Item", "", V.attribute("n")), added) {
            for number in 1...3 { $0.make("Item", ["n": "\(number)"]) }
        } _: { context in
            let old = try context.all("Item").filter { $0.value(forKey: "n") != nil }
            #expect(old.count == 3)
            let new = context.make("Item")
            for key in keys {
                let expected = try #require(new.value(forKey: key) as? NSObject, "\(key)")
                for object in old { #expect(object.value(forKey: key) as? NSObject == expected, "\(key)") }
                // The rows are found by it.
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: "n != nil AND %K == %@", key, expected)
                #expect(try context.count(for: request) == 3, "\(key)")
            }
            context.delete(new)
            try context.save()
        }
    }

    @Test(
        "13.1 An entity becomes abstract and has objects: it is refused or they are kept, never lost in silence",
        arguments: NameTests.types)
    func abstract(_ type: String) throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("n")) + V.entity("Part", "parentEntity=\"Item\"", V.attribute("m")),
            V.entity("Item", "isAbstract=\"YES\"", V.attribute("n"))
                + V.entity("Part", "parentEntity=\"Item\"", V.attribute("m")))
        try versions.open(1, type) { context in
            context.make("Part", ["n": "part"])
            try context.save()
        }
        #expect(try versions.open(2, type) { try $0.values("Part", "n") } == ["part"])
    }

    @Test(
        "13.1 Entity, attribute and relationship names that are words of SQL are migrated", arguments: NameTests.types)
    func keywords(_ type: String) throws {
        try migrated(
            type,
            V.entity("Order", "", V.attribute("group"), V.attribute("select"))
                + V.entity("Table", "", V.attribute("values")),
            V.entity(
                "Order", "", V.attribute("group"), V.attribute("where", "Integer 64", "defaultValueString=\"1\""),
                V.toMany("from", "Index", "join"))
                + V.entity(
                    "Index", "elementID=\"Table\"", Self.renamed("drop", "values"), V.toMany("join", "Order", "from"))
        ) { context in
            context.make("Order", ["group": "g", "select": "s"])
            context.make("Table", ["values": "v"])
        } _: { context in
            let orders = try context.all("Order").map {
                "\($0.value(forKey: "group") ?? "") \($0.value(forKey: "where") ?? "")"
            }
            #expect(try orders == ["g 1"] && context.values("Index", "drop") == ["v"])
        }
    }
}
