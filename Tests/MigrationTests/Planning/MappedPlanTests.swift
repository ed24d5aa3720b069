// What a plan says of steps that go by a mapping model.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

final class PlannedPolicy: NSEntityMigrationPolicy {
    nonisolated(unsafe) static var seen: [Float] = []
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        Self.seen.append(manager.migrationProgress)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
}

@Suite("Plans of mapped migrations", .serialized) struct MappedPlanTests {
    private typealias V = Versions

    private static let color =
        "<attribute name=\"color\" optional=\"YES\" attributeType=\"Transformable\" valueTransformerName=\"PlannedTransformer\"/>"

    private func shop(_ more: String = "") throws -> V {
        let versions = try V(
            V.entity(
                "Item", "", V.attribute("title"), V.attribute("age", "Integer 64"), V.attribute("secret"),
                V.toOne("owner", "Person", "items"), more)
                + V.entity("Person", "", V.attribute("name"), V.toMany("items", "Item", "owner"))
                + V.entity("Old", "", V.attribute("text")),
            V.entity(
                "Ware", "", V.attribute("name"), V.attribute("rank", "Integer 64", "defaultValueString=\"3\""),
                V.toOne("owner", "Person", "wares"), more)
                + V.entity("Person", "", V.attribute("name"), V.toMany("wares", "Ware", "owner")))
        try versions.open(1) { context in
            let person = context.make("Person", ["name": "p"])
            for number in 1...4 {
                context.make(
                    "Item",
                    ["title": "t\(number)", "age": number, "secret": number > 2 ? "s" : nil, "owner": person]
                        .compactMapValues { $0 })
            }
            context.make("Old", ["text": "x"])
            try context.save()
        }
        return versions
    }

    private func entity(
        _ from: String, _ to: String, _ predicate: String = "TRUEPREDICATE", _ properties: [(String, NSExpression)] = []
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        (mapping.name, mapping.sourceEntityName, mapping.destinationEntityName) = ("\(from)To\(to)", from, to)
        mapping.sourceExpression = SourceExpression.all(of: from, predicate)
        mapping.attributeMappings = properties.filter { $0.0 != "owner" }.map { NSPropertyMapping($0.0, $0.1) }
        mapping.relationshipMappings = properties.filter { $0.0 == "owner" }.map { NSPropertyMapping($0.0, $0.1) }
        return mapping
    }

    private func migration(_ versions: V, _ mappings: NSEntityMapping...) throws -> ChainMigration {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: versions.store)
        let recorded = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        let model = NSMappingModel()
        model.entityMappings = mappings
        return ChainMigration(
            url: versions.store, type: NSSQLiteStoreType, configuration: nil, options: nil,
            chain: try VersionChain(of: recorded, at: versions.store, in: versions.url, order: nil), mappings: [model])
    }

    private func plan(_ migration: ChainMigration) throws -> StoreMigrationPlan {
        try MigrationForecast(migration).plan()
    }

    private var wares: [(String, NSExpression)] {
        [("name", SourceExpression.value("title")), ("owner", SourceExpression.members(of: "owner"))]
    }
    private var people: NSEntityMapping {
        entity("Person", "Person", "TRUEPREDICATE", [("name", SourceExpression.value("name"))])
    }

    @Test(
        "13.4: A key that an entity on the way lacks, and a path of an unknown variable, are refused before anything is written (134110)",
        arguments: [
            "$source.owner.nmae", "$source.owner.items.nope", "$source.owner.self.nmae", "$unknown.x",
            "uppercase:($unknown.x)", "SUBQUERY($source.owner.items, $x, $y.age > 1).@count",
        ])
    func unknownKeys(_ text: String) throws {
        let versions = try shop()
        let items = entity("Item", "Ware", "TRUEPREDICATE", [("name", NSExpression(format: text))])
        let error = caught { try migration(versions, items, people).perform(0) }
        #expect(error?.number == 134110, "\(String(describing: error))")
        #expect(error?.sentence.contains("Nothing was written") == true)
    }

    @Test(
        "Keys that are there, and those that only a value can answer for, are not refused",
        arguments: [
            "$source.owner.name", "$source.owner.self.name", "$source.owner.objectID.description",
            "SUBQUERY($source.owner.items, $x, $x.age > 1).@count",
        ])
    func knownKeys(_ text: String) throws {
        let versions = try shop()
        let expression = NSExpression(format: text)
        let items = entity("Item", "Ware", "TRUEPREDICATE", [(text.hasSuffix("count") ? "rank" : "name", expression)])
        let error = caught { try migration(versions, items, people).perform(0) }
        #expect(error == nil, "\(String(describing: error))")
    }

    @Test(
        "What a mapping rescues is not lost, what it leaves out or does not choose is, and rows are those that it reads"
    )
    func losses() throws {
        let versions = try shop()
        let plan = try plan(migration(versions, entity("Item", "Ware", "age > 1", wares), people))
        #expect(plan.steps.map(\.kind) == [.mapping] && plan.steps[0].rows == 4)
        #expect(
            plan.lost.map { "\($0.entity).\($0.property ?? "") \($0.rows)" }.sorted() == [
                "Item. 1", "Item.age 4", "Item.secret 2", "Old. 1",
            ])
        #expect(plan.findings.isEmpty)
    }

    @Test("The changes of a mapped step are what its mapping model says of every entity and property")
    func changes() throws {
        let versions = try shop()
        let plan = try plan(migration(versions, entity("Item", "Ware", "age > 1", wares), people))
        let changes = plan.steps[0].changes.map { "\($0.entity).\($0.property ?? "") \($0.change)" }
        #expect(changes.contains("Ware. comes from Item where age > 1 by the mapping ItemToWare"))
        #expect(
            changes.contains("Ware.rank keeps its default") && changes.contains("Ware.name is $source.title"),
            "\(changes)")
        #expect(
            changes.contains("Item.secret is not taken") && changes.contains("Old. is not taken")
                && !changes.contains { $0.hasPrefix("Item.title") })
    }

    @Test("What a policy makes is not known, so that nothing that it could read is called lost")
    func policy() throws {
        let custom = entity("Item", "Ware", "TRUEPREDICATE", wares)
        custom.entityMigrationPolicyClassName = "PlannedPolicy"
        let versions = try shop()
        let plan = try plan(migration(versions, custom, people))
        #expect(plan.steps[0].kind == .custom && plan.findings.isEmpty)
        #expect(plan.lost == [.init(entity: "Old", property: nil, rows: 1)])
    }

    @Test(
        "A policy, a function of one and a transformer that are not there are named; such a plan is neither rehearsed nor run"
    )
    func missing() throws {
        let versions = try shop(Self.color)
        let before = try Data(contentsOf: versions.store)
        let custom = entity("Item", "Ware", "TRUEPREDICATE", wares)
        custom.entityMigrationPolicyClassName = "NobodysPolicy"
        let calls = entity(
            "Person", "Person", "TRUEPREDICATE",
            [
                (
                    "name",
                    NSExpression(
                        forFunction: NSExpression(forVariable: "entityPolicy"), selectorName: "nameOf:",
                        arguments: [SourceExpression.value("name")])
                )
            ])
        let found = try plan(migration(versions, custom, calls))
        let texts = found.findings.map(\.message)
        for word in ["NobodysPolicy", "nameOf:", "PlannedTransformer"] {
            #expect(texts.contains { $0.contains(word) }, "\(texts)")
        }
        #expect(texts.allSatisfy { $0.hasPrefix("The step from Shop 1 to Shop 2 cannot run here.") })
        #expect(found.findings.contains { $0.entity == "Item" && $0.property == "color" })
        #expect(try found.rehearse() == found.findings)
        #expect(caught { try found.run() }?.number == 134110)
        #expect(try Data(contentsOf: versions.store) == before)
    }

    @Test("A run tells of a step's progress while objects are made, rising to the next step; policies see it too")
    func progress() throws {
        let versions = try shop()
        try versions.open(1) { context in
            for number in 1...2500 { context.make("Item", ["title": "t\(number)", "age": number]) }
            try context.save()
        }
        PlannedPolicy.seen = []
        let custom = entity("Item", "Ware", "TRUEPREDICATE", wares)
        custom.entityMigrationPolicyClassName = "PlannedPolicy"
        var told: [Double] = []
        try plan(migration(versions, custom, people)).run { told.append($0) }
        #expect(told.first == 0 && told.last == 1 && told == told.sorted() && Set(told).count > 5, "\(told)")
        let seen = PlannedPolicy.seen
        #expect(seen == seen.sorted() && seen.contains { $0 > 0.2 && $0 < 0.8 } && seen.allSatisfy { $0 < 1 })
    }
}
