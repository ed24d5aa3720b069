// What relationships lose that go on.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Members that a migration drops") struct MemberLossTests {
    private typealias V = Versions
    private static let types = [NSSQLiteStoreType, NSXMLStoreType]
    private static let tag = V.entity("Tag", "", V.attribute("text"))

    /// Three items with the first tag, one with the second, one without any.
    private func tagged(_ versions: V, _ type: String) throws {
        try versions.open(1, type) { context in
            let tags = (1...2).map { context.make("Tag", ["text": "tag \($0)"]) }
            for tag in [tags[0], tags[0], tags[1], tags[0]] { context.make("Item", ["tag": tag]) }
            context.make("Item")
            try context.save()
        }
    }

    private func members(_ versions: V, _ version: Int, _ type: String, _ key: String) throws -> Int {
        try versions.open(version, type, [:]) { context in
            try context.all("Item").reduce(0) { $0 + $1.objectIDs(forRelationshipNamed: key).count }
        }
    }

    @Test(
        "A to-one of which a to-many becomes whose members have one owner loses the further owners' targets",
        arguments: types, ["none", "removed", "added"])
    func shared(_ type: String, _ inverse: String) throws {
        let wasBack = inverse == "removed" ? V.toMany("items", "Item", "tag") : ""
        let back = inverse == "added" ? V.toOne("item", "Item", "tags") : ""
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag", wasBack.isEmpty ? nil : "items"))
                + V.entity("Tag", "", V.attribute("text"), wasBack),
            V.entity(
                "Item", "", V.attribute("title"),
                V.toMany("tags", "Tag", back.isEmpty ? nil : "item", "elementID=\"tag\""))
                + V.entity("Tag", "", V.attribute("text"), back))
        try tagged(versions, type)
        let plan = try versions.plan(type)
        #expect(plan.lost == [.init(entity: "Item", property: "tag", rows: 2)])
        try plan.run()
        #expect(try members(versions, 2, type, "tags") == 2)
    }

    @Test("A to-one of which a to-many becomes loses nothing where a member may have several owners, also in a chain")
    func kept() throws {
        let versions = try V(
            V.entity("Item", "", V.toOne("tag", "Tag")) + Self.tag,
            V.entity("Item", "", V.toOne("tag", "Tag"), V.attribute("title")) + Self.tag,
            V.entity("Item", "", V.toMany("tag", "Tag", "items"), V.attribute("title"))
                + V.entity("Tag", "", V.attribute("text"), V.toMany("items", "Item", "tag")))
        try tagged(versions, NSSQLiteStoreType)
        let plan = try versions.plan()
        #expect(plan.lost == [])
        try plan.run()
        #expect(try members(versions, 3, NSSQLiteStoreType, "tag") == 4)
    }

    @Test("Members of an entity that goes are lost to the relationships that led to them", arguments: types)
    func removed(_ type: String) throws {
        let place = V.entity("Place", "", V.attribute("name"))
        let city = V.entity("City", "parentEntity=\"Place\"")
        let item = V.entity("Item", "", V.toOne("place", "Place"), V.toMany("stops", "Place"))
        let versions = try V(item + place + city, item + place)
        try versions.open(1, type) { context in
            let (here, there) = (context.make("Place"), context.make("City"))
            context.make("Item", ["place": here, "stops": NSSet(array: [there, context.make("City")])])
            context.make("Item", ["place": there, "stops": NSSet(array: [context.make("City"), here])])
            try context.save()
        }
        let plan = try versions.plan(type)
        #expect(
            plan.lost == [
                .init(entity: "Item", property: "place", rows: 1), .init(entity: "Item", property: "stops", rows: 3),
                .init(entity: "City", property: nil, rows: 3),
            ])
        try plan.run()
        #expect(try members(versions, 2, type, "place") == 1)
        #expect(try members(versions, 2, type, "stops") == 1)
    }

    @Test(
        "What a to-many of several entities was is asked for, not dropped, where their parent has a to-one of its name")
    func united() throws {
        func thing(_ own: String, _ below: String) -> String {
            V.entity("Thing", "", V.attribute("title"), own) + V.entity("Animal", "parentEntity=\"Thing\"", below)
                + V.entity("Box", "parentEntity=\"Thing\"", below) + Self.tag
        }
        let versions = try V(thing("", V.toMany("tags", "Tag")), thing(V.toOne("tags", "Tag"), ""))
        try versions.open(1) { context in
            context.make("Box", ["tags": NSSet(object: context.make("Tag"))])
            try context.save()
        }
        let error = caught { _ = try versions.plan() }
        #expect(error?.number == 134190 && error?.sentence.contains("tags was a to-many and is a to-one") == true)
    }

    @Test(
        "A mapping that makes a to-one of a to-many, or of a many-to-many one whose members have one owner, loses the further ones",
        arguments: [true, false])
    func mapped(_ isToOne: Bool) throws {
        let (back, later) =
            isToOne
            ? (V.toMany("items", "Item", "tag"), V.toOne("tag", "Tag", "items"))
            : (V.toOne("items", "Item", "tag"), V.toMany("tag", "Tag", "items"))
        let versions = try V(
            V.entity("Item", "", V.toMany("tags", "Tag", "items"))
                + V.entity("Tag", "", V.toMany("items", "Item", "tags")),
            V.entity("Item", "", later) + V.entity("Tag", "", back))
        try versions.open(1) { context in
            let tags = (1...3).map { _ in context.make("Tag") }
            for tags in [tags, Array(tags.prefix(1)), []] { context.make("Item", ["tags": NSSet(array: tags)]) }
            try context.save()
        }
        let (items, tags) = (NSEntityMapping(), NSEntityMapping())
        for (mapping, name) in [(items, "Item"), (tags, "Tag")] {
            (mapping.name, mapping.sourceEntityName, mapping.destinationEntityName) = (name, name, name)
            mapping.sourceExpression = SourceExpression.all(of: name)
            mapping.attributeMappings = []
        }
        items.relationshipMappings = [NSPropertyMapping("tag", SourceExpression.members(of: "tags"))]
        tags.relationshipMappings = []
        let model = NSMappingModel()
        model.entityMappings = [items, tags]
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: versions.store)
        let recorded = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        let migration = ChainMigration(
            url: versions.store, type: NSSQLiteStoreType, configuration: nil, options: nil,
            chain: try VersionChain(of: recorded, at: versions.store, in: versions.url, order: nil), mappings: [model])
        let plan = try MigrationForecast(migration).plan()
        #expect(plan.lost == [.init(entity: "Item", property: "tags", rows: isToOne ? 2 : 1)], "\(plan.lost)")
        try plan.run()
        #expect(try members(versions, 2, NSSQLiteStoreType, "tag") == (isToOne ? 2 : 3))
    }
}
