// Every change that lightweight migration infers, each with rows in the store.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Inferred migrations") struct InferenceTests {
    typealias V = Versions

    /// Stores of these types, moved from one declaration of entities to another.
    static let types = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType, NSPropertyListStoreType]

    func moved(
        _ former: String, _ later: String, fill: (NSManagedObjectContext) throws -> Void,
        then: (NSManagedObjectContext) throws -> Void
    ) throws {
        for type in Self.types {
            let versions = try V(former, later)
            try versions.open(1, type) { context in
                try fill(context)
                try context.save()
            }
            try versions.open(2, type, V.automatic, then)
            try versions.open(2, type, [:], then)
            if type == NSSQLiteStoreType { #expect(try versions.sql("PRAGMA integrity_check") == ["ok"]) }
        }
    }

    func two(_ context: NSManagedObjectContext) {
        for number in 1...2 { context.make("Item", ["title": "t\(number)"]) }
    }

    // MARK: Attributes and entities

    @Test("13.1 An attribute is added, with and without a default value, and removed") func attributes() throws {
        try moved(
            V.entity("Item", "", V.attribute("title"), V.attribute("gone", "Integer 32")),
            V.entity(
                "Item", "", V.attribute("title"), V.attribute("note"),
                V.attribute("count", "Integer 64", "defaultValueString=\"4\""),
                V.attribute("isOn", "Boolean", "defaultValueString=\"YES\"")),
            fill: two
        ) { context in
            let titles = try context.values("Item", "title").sorted()
            #expect(titles == ["t1", "t2"])
            for item in try context.all("Item") {
                #expect(item.value(forKey: "note") == nil && item.value(forKey: "count") as? Int64 == 4)
                #expect(item.value(forKey: "isOn") as? Bool == true)
            }
        }
    }

    @Test("13.1 Entities are added and removed, so that all numbers change") func entities() throws {
        try moved(
            V.entity("Item", "", V.attribute("title"), V.toOne("box", "Box", "items"))
                + V.entity("Gone", "", V.attribute("text"))
                + V.entity("Box", "", V.toMany("items", "Item", "box")),
            V.entity("Item", "", V.attribute("title"), V.toOne("box", "Box", "items")) + V.entity("Aid")
                + V.entity("Box", "", V.toMany("items", "Item", "box")),
            fill: { context in
                let box = context.make("Box")
                for number in 1...2 { context.make("Item", ["title": "t\(number)", "box": box]) }
                context.make("Gone", ["text": "x"])
            }
        ) { context in
            let boxes = try context.all("Box")
            #expect(boxes.count == 1 && (boxes[0].value(forKey: "items") as? NSSet)?.count == 2)
            let aids = try context.all("Aid")
            #expect(aids.isEmpty)
        }
    }

    @Test("13.1 A relationship is added and removed") func relationships() throws {
        try moved(
            V.entity("Item", "", V.attribute("title"), V.toMany("tags", "Tag", "items"))
                + V.entity("Tag", "", V.toMany("items", "Item", "tags")),
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag", "owners"))
                + V.entity("Tag", "", V.toMany("owners", "Item", "tag")),
            fill: { context in
                for number in 1...2 {
                    context.make("Item", ["title": "t\(number)", "tags": NSSet(object: context.make("Tag"))])
                }
            }
        ) { context in
            for item in try context.all("Item") { #expect(item.value(forKey: "tag") == nil) }
            for tag in try context.all("Tag") { #expect((tag.value(forKey: "owners") as? NSSet)?.count == 0) }
        }
    }

    @Test("13.1 Optional becomes required: nulls get the default; required becomes optional") func optionality() throws
    {
        try moved(
            V.entity("Item", "", V.attribute("title"), V.attribute("code", "Integer 32", "defaultValueString=\"1\"")),
            V.entity(
                "Item", "", V.attribute("title", "String", "defaultValueString=\"none\""),
                V.attribute("code", "Integer 32")),
            fill: { context in
                two(context)
                context.make("Item")
            }
        ) { context in
            let titles = try context.values("Item", "title").sorted()
            #expect(titles == ["none", "t1", "t2"])
            for item in try context.all("Item") { #expect(item.value(forKey: "code") as? Int32 == 1) }
        }
    }

    @Test("13.1 Names change by renaming identifiers, which are the names of the first version") func canonicalNames()
        throws
    {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.toMany("tags", "Tag", "items"))
                + V.entity("Tag", "", V.toMany("items", "Item", "tags")),
            V.entity(
                "Ware", "elementID=\"Item\"", V.attribute("name", "String", "optional=\"YES\" elementID=\"title\""),
                V.toMany("marks", "Tag", "items", "elementID=\"tags\""))
                + V.entity("Tag", "", V.toMany("items", "Ware", "marks")),
            V.entity(
                "Good", "elementID=\"Item\"", V.attribute("label", "String", "optional=\"YES\" elementID=\"title\""),
                V.toMany("signs", "Tag", "items", "elementID=\"tags\""))
                + V.entity("Tag", "", V.toMany("items", "Good", "signs")))
        try versions.open(1) { context in
            context.make("Item", ["title": "a", "tags": NSSet(array: [context.make("Tag"), context.make("Tag")])])
            try context.save()
        }
        try FileManager.default.copyItem(at: versions.store, to: versions.folder.file("first"))
        for chain in [[3], [2, 3]] {
            try FileManager.default.removeItem(at: versions.store)
            try FileManager.default.copyItem(at: versions.folder.file("first"), to: versions.store)
            for version in chain { try versions.open(version) { _ in } }
            try versions.open(3, NSSQLiteStoreType, [:]) { context in
                let good = try #require(context.all("Good").first)
                #expect(
                    good.value(forKey: "label") as? String == "a" && (good.value(forKey: "signs") as? NSSet)?.count == 2
                )
            }
        }
    }

    // MARK: Hierarchies

    @Test("13.1 Properties move up and down a hierarchy") func hierarchy() throws {
        func version(_ base: String, _ book: String, _ film: String) -> String {
            V.entity("Base", "", V.attribute("id", "Integer 32"), base)
                + V.entity("Book", "parentEntity=\"Base\"", book) + V.entity("Film", "parentEntity=\"Base\"", film)
        }
        try moved(
            version(V.attribute("down"), V.attribute("up"), ""), version(V.attribute("up"), "", V.attribute("down")),
            fill: { context in
                context.make("Base", ["id": 1, "down": "d1"])
                context.make("Book", ["id": 2, "down": "d2", "up": "u2"])
                context.make("Film", ["id": 3, "down": "d3"])
            }
        ) { context in
            let base = NSFetchRequest<NSManagedObject>("Base", by: "id")
            let all = try context.fetch(base)
            #expect(all.map { $0.entity.name } == ["Base", "Book", "Film"])
            #expect(all.map { $0.value(forKey: "up") as? String } == [nil, "u2", nil])
            #expect(all[2].value(forKey: "down") as? String == "d3")
        }
    }

    @Test("13.1 A parent and a child are added and removed; a relationship to a root tells their objects apart")
    func parents() throws {
        try moved(
            V.entity("Item", "", V.attribute("title"))
                + V.entity("Shelf", "", V.toMany("items", "Item", "shelf"))
                .replacingOccurrences(of: "inverseName=\"shelf\" inverseEntity=\"Item\"", with: "")
                + V.entity("Old", "", V.attribute("name"))
                + V.entity("Older", "parentEntity=\"Old\"", V.attribute("age", "Integer 32"))
                + V.entity("Link", "", V.toOne("item", "Item")),
            V.entity("Thing", "isAbstract=\"YES\"", V.attribute("title")) + V.entity("Item", "parentEntity=\"Thing\"")
                + V.entity("Toy", "parentEntity=\"Item\"", V.attribute("age", "Integer 32"))
                + V.entity("Shelf", "", V.toMany("items", "Item"))
                + V.entity("Old", "", V.attribute("name")) + V.entity("Link", "", V.toOne("item", "Thing")),
            fill: { context in
                for number in 1...2 {
                    let item = context.make("Item", ["title": "t\(number)"])
                    context.make("Shelf", ["items": NSSet(object: item)])
                    context.make("Link", ["item": item])
                }
                context.make("Old", ["name": "old"])
                context.make("Older", ["name": "older", "age": 3])
            }
        ) { context in
            let titles = try context.values("Thing", "title").sorted()
            #expect(titles == ["t1", "t2"])
            for link in try context.all("Link") {
                #expect((link.value(forKey: "item") as? NSManagedObject)?.entity.name == "Item")
            }
            for shelf in try context.all("Shelf") { #expect((shelf.value(forKey: "items") as? NSSet)?.count == 1) }
            let old = try context.values("Old", "name")
            #expect(old == ["old"])
        }
    }

    @Test("13.1 Two hierarchies without a common parent are not united") func union() throws {
        let versions = try V(
            V.entity("Book", "", V.attribute("title")) + V.entity("Film", "", V.attribute("title")),
            V.entity("Work", "", V.attribute("title")) + V.entity("Book", "parentEntity=\"Work\"")
                + V.entity("Film", "parentEntity=\"Work\""))
        try versions.open(1) { try $0.save() }
        let error = caught { try versions.open(2) { _ in } }
        #expect(error?.number == 134190)
        #expect(error?.sentence.contains("Work would unite Book and Film") == true, "\(error?.sentence ?? "")")
    }

    @Test(
        "13.1 What cannot be inferred is refused by name (134190)",
        arguments: [
            (
                "a to-many that becomes a to-one", V.toMany("tags", "Tag", "item"), V.toOne("tags", "Tag", "item"),
                "Item.tags was a to-many"
            ),
            (
                "a required attribute without a default", "", V.attribute("code", "Integer 32", ""),
                "Item.code is new, must have a value"
            ),
            ("a required relationship", "", V.toOne("tag2", "Tag", nil, ""), "Item.tag2 is new and must have a target"),
            (
                "a target of another kind", V.toOne("other", "Tag"), V.toOne("other", "Item"),
                "Item.other may have led to Tag"
            ),
        ] as [(String, String, String, String)])
    func refused(_ sample: (what: String, former: String, later: String, words: String)) throws {
        func version(_ property: String) -> String {
            V.entity("Item", "", V.attribute("title"), property)
                + V.entity("Tag", "", V.toOne("item", "Item", property.contains("name=\"tags\"") ? "tags" : nil))
        }
        let versions = try V(version(sample.former), version(sample.later))
        try versions.open(1) { try $0.save() }
        let error = caught { try versions.open(2) { _ in } }
        #expect(
            error?.number == 134190 && error?.sentence.contains(sample.words) == true,
            "\(sample.what): \(error?.sentence ?? "")")
    }

    // MARK: Values of their own kinds

    @Test("13.1 Derived attributes are computed when they are new, and again when what they are derived of changed")
    func derived() throws {
        func version(_ item: String, _ tag: String) -> String {
            V.entity(
                "Item", "", V.attribute("title"), V.toMany("tags", "Tag", "item"), V.toMany("subs", "Item", "boss"),
                V.toOne("boss", "Item", "subs"), item)
                + V.entity(
                    "Tag", "", V.attribute("n", "Integer 32", "defaultValueString=\"2\""),
                    V.toOne("item", "Item", "tags"), tag)
        }
        func derived(_ name: String, _ type: String, _ expression: String) -> String {
            V.attribute(name, type, "optional=\"YES\" derived=\"YES\" derivationExpression=\"\(expression)\"")
        }
        try moved(
            version(derived("count", "Integer 32", "tags.@count"), ""),
            version(
                [
                    derived("count", "Integer 32", "tags.@count"), derived("sum", "Integer 32", "tags.@sum.n"),
                    derived("loud", "String", "uppercase:(title)"),
                    derived("subCount", "Integer 32", "subs.@count"), derived("at", "Date", "now()"),
                ].joined(), derived("of", "String", "item.title")),
            fill: { context in
                let boss = context.make("Item", ["title": "boss"])
                for number in 1...2 {
                    let item = context.make("Item", ["title": "t\(number)", "boss": boss])
                    for _ in 0..<number { context.make("Tag", ["item": item]) }
                }
            }
        ) { context in
            for item in try context.all("Item") {
                let title = item.value(forKey: "title") as? String ?? "", count = Int(title.dropFirst()) ?? 0
                #expect(item.value(forKey: "count") as? Int == count && item.value(forKey: "sum") as? Int == 2 * count)
                #expect(item.value(forKey: "loud") as? String == title.uppercased())
                #expect(
                    item.value(forKey: "subCount") as? Int == (title == "boss" ? 2 : 0)
                        && item.value(forKey: "at") != nil)
            }
            for tag in try context.all("Tag") {
                #expect(
                    tag.value(forKey: "of") as? String == (tag.value(forKey: "item") as? NSManagedObject)?.value(
                        forKey: "title") as? String)
            }
        }
    }

    @Test("13.1 Binary data come to lie in files, and back in rows; transformables are kept") func data() throws {
        let external = "optional=\"YES\" allowsExternalBinaryDataStorage=\"YES\""
        let (small, large) = (Data([1, 0, 2]), Data(repeating: 7, count: 300_000))
        try moved(
            V.entity(
                "Item", "", V.attribute("inFiles", "Binary"), V.attribute("inRows", "Binary", external),
                V.attribute("kept", "Binary", external),
                V.attribute("list", "Transformable")),
            V.entity(
                "Item", "", V.attribute("inFiles", "Binary", external), V.attribute("inRows", "Binary"),
                V.attribute("kept", "Binary", external),
                V.attribute("list", "Transformable"), V.attribute("new", "Integer 16")),
            fill: { context in
                for data in [small, large] {
                    context.make(
                        "Item", ["inFiles": data, "inRows": data, "kept": data, "list": ["a", "b"] as NSArray])
                }
                context.make("Item")
            }
        ) { context in
            for (item, data) in zip(try context.all("Item"), [small, large, nil])
            where data != nil || item.value(forKey: "kept") == nil {
                let kept = item.value(forKey: "kept") as? Data
                #expect(item.value(forKey: "inFiles") as? Data == kept && item.value(forKey: "inRows") as? Data == kept)
                #expect((item.value(forKey: "list") as? [String]) == (kept == nil ? nil : ["a", "b"]))
            }
            let sizes = try context.all("Item").map { ($0.value(forKey: "kept") as? Data)?.count ?? 0 }
            #expect(sizes.sorted() == [0, 3, 300_000])
        }
    }

    @Test("13.1 A composite attribute is kept when its elements change, by their names") func composites() throws {
        func version(_ elements: String...) -> String {
            V.entity("Item", "", V.attribute("place", "Composite", "optional=\"YES\" composite=\"Place\""))
                + "<composite name=\"Place\">\(elements.joined())</composite>"
        }
        let (x, y, z) = (
            V.attribute("x", "Double"), V.attribute("y", "Double"),
            V.attribute("z", "Double", "optional=\"YES\" defaultValueString=\"3\"")
        )
        try moved(
            version(x, y), version(y, z),
            fill: { context in context.make("Item", ["place": ["x": 1.0, "y": 2.0]]) }
        ) { context in
            let place = try context.all("Item").first?.value(forKey: "place") as? [String: Any]
            #expect(place?["y"] as? Double == 2 && place?["z"] as? Double == 3 && place?["x"] == nil)
        }
    }
}
