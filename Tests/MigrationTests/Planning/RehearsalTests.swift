// Whether a rehearsal finds what is wrong, and nothing else.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Rehearsed migrations") struct RehearsalTests {
    private typealias V = Versions

    private static let external = "optional=\"YES\" allowsExternalBinaryDataStorage=\"YES\""
    private static func shop(_ external: Bool, _ more: String) -> String {
        V.entity("Thing", "isAbstract=\"YES\"", V.attribute("title"))
            + V.entity("Animal", "parentEntity=\"Thing\"", V.attribute("size", "Integer 64"), more)
            + V.entity(
                "Box", "parentEntity=\"Thing\"", V.attribute("size"),
                V.attribute("photo", "Binary", external ? Self.external : "optional=\"YES\""),
                V.toMany("items", "Item", "box", "ordered=\"YES\""),
                V.toMany("tags", "Tag", "boxes", "ordered=\"YES\""))
            + V.entity("Item", "", V.attribute("name"), V.toOne("box", "Box", "items"))
            + V.entity("Tag", "", V.attribute("name"), V.toMany("boxes", "Box", "tags"))
    }

    private func filled(_ versions: V, _ type: String = NSSQLiteStoreType) throws {
        try versions.open(1, type) { context in
            context.make("Animal", ["title": "cat", "size": 4])
            for number in 1...2 {
                let box = context.make(
                    "Box",
                    [
                        "title": "b\(number)", "size": "s\(number)",
                        "photo": Data(repeating: UInt8(number), count: number * 100_000),
                    ])
                let items = (1...3).map { context.make("Item", ["name": "i\(number)\($0)"]) }
                let tags = (1...3).map { context.make("Tag", ["name": "t\(number)\($0)"]) }
                box.setValue(NSOrderedSet(array: items.reversed()), forKey: "items")
                box.setValue(NSOrderedSet(array: tags), forKey: "tags")
            }
            try context.save()
        }
    }

    /// A copy that went all the way, and what it is compared by.
    private func migrated(
        _ versions: V, _ type: String = NSSQLiteStoreType, mappings: [NSMappingModel?]? = nil,
        _ tamper: ((V) throws -> Void)? = nil
    ) throws -> [StoreMigrationPlan.Finding] {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: versions.store)
        let recorded = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        let chain = try VersionChain(of: recorded, at: versions.store, in: versions.url, order: nil)
        let whole = ChainMigration(
            url: versions.store, type: type, configuration: nil, options: nil, chain: chain,
            mappings: mappings ?? chain.steps.map { _ in nil })
        let other = try V([])
        try whole.copy(to: other.store)
        let copy = whole.moved(to: other.store)
        let comparison = try StoreComparison(copy, versions.store, lost: [])
        for number in chain.steps.indices { try copy.perform(number) }
        try tamper?(other)
        return try comparison.differences()
    }

    @Test("What others write while a migration is rehearsed is no difference") func meanwhile() throws {
        let item = V.entity("Item", "", V.attribute("title"))
        let versions = try V(item, V.entity("Item", "", V.attribute("title"), V.attribute("more")))
        func add() throws {
            try versions.open(1) { context in
                context.make("Item", ["title": "t"])
                try context.save()
            }
        }
        try add()
        let plan = try versions.plan()
        let findings = try plan.rehearse { _ in #expect(throws: Never.self) { try add() } }
        #expect(findings == [])
        #expect(try versions.sql("SELECT COUNT(*) > 1 FROM ZITEM") == ["1"])
    }

    @Test(
        "Equal names of columns in one tree, values that come to lie in files or come out of them, pairs and their order are compared as they are",
        arguments: [false, true])
    func nothing(_ external: Bool) throws {
        let versions = try V(Self.shop(external, V.attribute("age")), Self.shop(!external, V.attribute("note")))
        try filled(versions)
        #expect(try migrated(versions) == [])
        let plan = try versions.plan()
        #expect(try plan.rehearse() == [])
    }

    @Test(
        "What a copy has otherwise is told by entity and property",
        arguments: [
            ("UPDATE ZTHING SET ZSIZE1 = 'x' WHERE ZSIZE1 = 's1'", "Box.size"),
            ("UPDATE ZTHING SET ZSIZE = 5 WHERE ZSIZE = 4", "Animal.size"),
            ("UPDATE ZTHING SET ZPHOTO = x'0101' WHERE ZTITLE = 'b1'", "Box.photo"),
            ("DELETE FROM ZITEM WHERE ZNAME = 'i11'", "Item."),
            ("UPDATE ZITEM SET ZBOX = 3 - ZBOX + 2 WHERE ZNAME = 'i12'", "Item.box"),
            ("UPDATE ZITEM SET Z_FOK_BOX = Z_FOK_BOX + 5000 WHERE ZNAME = 'i13'", "Box.items"),
            ("DELETE FROM JOINED WHERE rowid = 1", "Box.tags"),
            ("UPDATE JOINED SET PLACE = PLACE + 5000 WHERE rowid = 2", "Box.tags"),
        ])
    func differences(_ sql: String, _ what: String) throws {
        let versions = try V(Self.shop(true, V.attribute("age")), Self.shop(true, V.attribute("note")))
        try filled(versions)
        let found = try migrated(versions) { copy in
            let joined = try #require(
                copy.sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'").first)
            let place = try #require(
                copy.sql("SELECT name FROM pragma_table_info('\(joined)') WHERE name LIKE 'Z!_FOK%' ESCAPE '!'").first)
            try copy.write(
                sql.replacingOccurrences(of: "JOINED", with: joined).replacingOccurrences(of: "PLACE", with: place))
        }
        #expect(found.contains { "\($0.entity ?? "").\($0.property ?? "")" == what }, "\(found)")
    }

    @Test("A reference to a removed entity's object is no difference")
    func removed() throws {
        let place = V.entity("Place", "", V.attribute("name"))
        let versions = try V(
            place + V.entity("City", "parentEntity=\"Place\"", V.attribute("size"))
                + V.entity("Item", "", V.attribute("name"), V.toOne("place", "Place")),
            place + V.entity("Item", "", V.attribute("name"), V.toOne("place", "Place")))
        try versions.open(1) { context in
            context.make("Item", ["name": "a", "place": context.make("Place", ["name": "p"])])
            context.make("Item", ["name": "b", "place": context.make("City", ["name": "c"])])
            try context.save()
        }
        #expect(try migrated(versions) == [])
    }

    @Test("What a mapping model takes over as it is, is compared as well, and what it computes is not")
    func mapped() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.attribute("count", "Integer 64")),
            V.entity("Ware", "", V.attribute("name"), V.attribute("count", "Integer 64")))
        try versions.open(1) { context in
            for number in 1...3 { context.make("Item", ["title": "t\(number)", "count": number]) }
            try context.save()
        }
        let mapping = NSEntityMapping()
        (mapping.sourceEntityName, mapping.destinationEntityName) = ("Item", "Ware")
        mapping.attributeMappings = [
            NSPropertyMapping("name", SourceExpression.value("title")),
            NSPropertyMapping("count", NSExpression(format: "$source.count * 2")),
        ]
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        #expect(try migrated(versions, mappings: [model]) == [])
        let name = try migrated(versions, mappings: [model]) {
            try $0.write("UPDATE ZWARE SET ZNAME = 'x' WHERE Z_PK = 1")
        }
        #expect(name.map(\.property) == ["name"])
        let gone = try migrated(versions, mappings: [model]) { try $0.write("DELETE FROM ZWARE WHERE Z_PK = 1") }
        #expect(gone.map(\.property) == [nil, "name"])
    }

    @Test("Stores of other types are compared by their objects", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func objects(_ type: String) throws {
        let versions = try V(Self.shop(true, V.attribute("age")), Self.shop(true, V.attribute("note")))
        try filled(versions, type)
        #expect(try migrated(versions, type) == [])
        let found = try migrated(versions, type) { copy in
            let coordinator = try NSPersistentStoreCoordinator(versions.model(2), type, at: copy.store)
            let context = coordinator.context()
            try context.all("Box")[0].setValue("other", forKey: "size")
            try context.delete(context.all("Tag")[0])
            try context.save()
        }
        #expect(
            Set(found.map { "\($0.entity ?? "").\($0.property ?? "")" }) == [
                "Box.size", "Box.tags", "Tag.", "Tag.name", "Tag.boxes",
            ], "\(found)")
    }
}
