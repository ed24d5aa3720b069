// Which objects a migration fails for, as a rehearsal and a run tell it.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

final class RefusingPolicy: NSEntityMigrationPolicy {
    struct Refusal: Error {}
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        if sInstance.value(forKey: "title") as? String == nil { throw Refusal() }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
}

@Suite("Objects that a migration fails for") struct FailingObjectTests {
    private typealias V = Versions
    private static let tag = V.entity("Tag", "", V.attribute("name"))

    private func rows(_ findings: [StoreMigrationPlan.Finding]) -> [String] {
        findings.map { finding in
            "\(finding.entity ?? "").\(finding.property ?? "") \(finding.id?.split(separator: "/").suffix(2).joined(separator: "/") ?? "")"
        }
    }

    @Test(
        "A rehearsal of an inferred migration names each object that would be left without a value, and the run one of them",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func missing(_ type: String) throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag"), V.toOne("other", "Tag")) + Self.tag,
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag", nil, ""), V.toOne("other", "Tag", nil, ""))
                + Self.tag)
        try versions.open(1, type) { context in
            let tag = context.make("Tag")
            context.make("Item", ["other": tag])
            context.make("Item", ["tag": tag, "other": tag])
            context.make("Item")
            try context.save()
        }
        let plan = try versions.plan(type)
        let findings = try plan.rehearse()
        #expect(
            rows(findings).sorted() == ["Item.other Item/p3", "Item.tag Item/p1", "Item.tag Item/p3"], "\(findings)")
        let error = caught { try plan.run() }
        #expect(error?.number == 134110 && error?.sentence.contains("/Item/p") == true)
        let details = error?.userInfo[NSDetailedErrorsKey] as? [CocoaError]
        #expect(details?.count == 3 && details?.allSatisfy { $0.affectedObjects?.count == 1 } == true)
    }

    @Test("Of very many a hundred are named, and the others counted", arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func many(_ type: String) throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag")) + Self.tag,
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag", nil, "")) + Self.tag)
        try versions.open(1, type) { context in
            for _ in 1...103 { context.make("Item") }
            try context.save()
        }
        let findings = try versions.plan(type).rehearse()
        #expect(findings.count == 101 && Set(findings.compactMap(\.id)).count == 100)
        #expect(findings.last?.id == nil && findings.last?.message.contains("3 other objects") == true)
    }

    @Test("Of objects that only the last version refuses a hundred of each property are named as well")
    func validated() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.attribute("age", "Integer 64")),
            V.entity("Item", "", V.attribute("title", "String", "optional=\"YES\" maxValueString=\"2\"")))
        try versions.open(1) { context in
            for _ in 1...102 { context.make("Item", ["title": "long"]) }
            try context.save()
        }
        let findings = try versions.plan().rehearse()
        #expect(findings.count == 101 && Set(findings.compactMap(\.id)).count == 100)
        #expect(findings.last?.message.contains("2 other objects") == true && findings.last?.property == "title")
    }

    @Test(
        "Objects that a new uniqueness constraint forbids are named each",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func equal(_ type: String) throws {
        let unique =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"code\"/></uniquenessConstraint></uniquenessConstraints>"
        let versions = try V(
            V.entity("Item", "", V.attribute("code"), V.attribute("age")),
            V.entity("Item", "", V.attribute("code"), unique))
        try versions.open(1, type) { context in
            for code in ["a", "b", "a", "c", "a"] { context.make("Item", ["code": code]) }
            try context.save()
        }
        let findings = try versions.plan(type).rehearse()
        #expect(rows(findings) == ["Item.code Item/p1", "Item.code Item/p3", "Item.code Item/p5"], "\(findings)")
    }

    @Test(
        "Missing values and objects that are equal in either of two constraints are all named at once",
        arguments: [NSSQLiteStoreType, NSPropertyListStoreType])
    func together(_ type: String) throws {
        func unique(_ name: String) -> String {
            "<uniquenessConstraint><constraint value=\"\(name)\"/></uniquenessConstraint>"
        }
        let attributes = V.attribute("code") + V.attribute("title")
        let constraints = "<uniquenessConstraints>\(unique("code") + unique("title"))</uniquenessConstraints>"
        let versions = try V(
            V.entity("Item", "", attributes, V.toOne("tag", "Tag")) + Self.tag,
            V.entity("Item", "", attributes, V.toOne("tag", "Tag", nil, ""), constraints) + Self.tag)
        func fill(_ tagged: Bool) throws {
            try versions.open(1, type) { context in
                for item in try context.all("Item") { context.delete(item) }
                let tag = context.make("Tag")
                for (code, title) in [("a", "x"), ("b", "x"), ("a", "y"), ("c", "z")] {
                    let item = context.make("Item", ["code": code, "title": title])
                    if tagged || code != "c" { item.setValue(tag, forKey: "tag") }
                }
                try context.save()
            }
        }
        let equal = ["Item.code Item/p1", "Item.code Item/p3", "Item.title Item/p1", "Item.title Item/p2"]
        try fill(false)
        #expect(try rows(versions.plan(type).rehearse()) == ["Item.tag Item/p4"] + equal)
        let error = caught { try versions.plan(type).run() }
        let details = error?.userInfo[NSDetailedErrorsKey] as? [CocoaError]
        #expect(details?.map(\.number) == [1570, 134111, 134111, 134111, 134111])
        try fill(true)
        let again = try rows(versions.plan(type).rehearse())
        #expect(again.count == 4 && again.filter { $0.contains("code") }.count == 2, "\(again)")
    }

    @Test("Objects with too few members, or too many, are named", arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func counted(_ type: String) throws {
        func tags(_ more: String) -> String {
            "<relationship name=\"tags\" toMany=\"YES\" \(more) destinationEntity=\"Tag\" inverseName=\"items\" inverseEntity=\"Item\" deletionRule=\"Nullify\"/>"
        }
        let back = V.toMany("items", "Item", "tags")
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), tags("optional=\"YES\"")) + V.entity("Tag", "", back),
            V.entity("Item", "", V.attribute("title"), tags("minCount=\"2\" maxCount=\"3\""))
                + V.entity("Tag", "", V.attribute("name"), back))
        try versions.open(1, type) { context in
            let tags = (0..<5).map { _ in context.make("Tag") }
            for count in 0..<5 {
                context.make("Item", ["title": "\(count)"]).setValue(
                    NSSet(array: Array(tags[..<count])), forKey: "tags")
            }
            try context.save()
        }
        let findings = try versions.plan(type).rehearse()
        #expect(findings.count == 3 && findings.allSatisfy { $0.property == "tags" && $0.id != nil }, "\(findings)")
    }

    @Test(
        "An object of an entity that is renamed has the ID by which the store knows it",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func renamed(_ type: String) throws {
        let limit = "optional=\"YES\" maxValueString=\"2\""
        let versions = try V(
            V.entity("Item", "", V.attribute("title")),
            V.entity("Thing", "elementID=\"Item\"", V.attribute("title", "String", limit)))
        try versions.open(1, type) { context in
            for title in ["a", "long"] { context.make("Item", ["title": title]) }
            try context.save()
        }
        let id = try #require(try versions.plan(type).rehearse().first?.id)
        try versions.open(1, type) { context in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let known = try #require(URL(string: id).flatMap(coordinator.managedObjectID(forURIRepresentation:)))
            #expect(try context.existingObject(with: known).value(forKey: "title") as? String == "long")
        }
    }

    @Test("Of several entities whose property has another type each is named")
    func questions() throws {
        let entities = { (type: String) in
            ["Item", "Box"].map { V.entity($0, "", V.attribute("age", type)) }.joined()
        }
        let versions = try V(entities("String"), entities("Integer 32"))
        try versions.open(1) { try $0.save() }
        let error = caught { try versions.open(2) { _ in } }
        #expect(error?.number == 134190)
        #expect(error?.sentence.contains("Box.age") == true && error?.sentence.contains("Item.age") == true)
    }

    @Test("Values that nobody stores any more, or that are computed from then on, are lost")
    func unstored() throws {
        for later in ["transient=\"YES\"", "derived=\"YES\" derivationExpression=\"lowercase:(title)\""] {
            let versions = try V(
                V.entity("Item", "", V.attribute("title"), V.attribute("note")),
                V.entity("Item", "", V.attribute("title"), V.attribute("note", "String", "optional=\"YES\" \(later)")))
            try versions.open(1) { context in
                for note in ["a", "b"] { context.make("Item", ["note": note]) }
                context.make("Item")
                try context.save()
            }
            let lost = try versions.plan().lost
            #expect(lost.map { "\($0.entity).\($0.property ?? "") \($0.rows)" } == ["Item.note 2"], "\(lost)")
        }
    }

    // MARK: Mapping models

    private func mapped(_ later: String, _ name: String, _ expression: NSExpression, policy: String? = nil) throws -> (
        V, StoreMigrationPlan
    ) {
        let versions = try V(
            V.entity("Item", "", V.attribute("title")), V.entity("Ware", "", later, V.attribute("more")))
        try versions.open(1) { context in
            for title in ["1", nil, "x", nil, "y"] { context.make("Item", title.map { ["title": $0] } ?? [:]) }
            try context.save()
        }
        let mapping = NSEntityMapping()
        (mapping.name, mapping.sourceEntityName, mapping.destinationEntityName) = ("ItemToWare", "Item", "Ware")
        mapping.sourceExpression = SourceExpression.all(of: "Item")
        mapping.entityMigrationPolicyClassName = policy
        mapping.attributeMappings = [NSPropertyMapping(name, expression)]
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: versions.store)
        let recorded = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        let migration = ChainMigration(
            url: versions.store, type: NSSQLiteStoreType, configuration: nil, options: nil,
            chain: try VersionChain(of: recorded, at: versions.store, in: versions.url, order: nil), mappings: [model])
        return (versions, try MigrationForecast(migration).plan())
    }

    @Test("A value that an attribute cannot hold is told of each object, by the source's ID; the run ends at the first")
    func misfits() throws {
        let (versions, plan) = try mapped(
            V.attribute("data", "Date"), "data", NSExpression(format: "$source.title"))
        let findings = try plan.rehearse()
        #expect(rows(findings) == ["Ware.data Item/p1", "Ware.data Item/p3", "Ware.data Item/p5"], "\(findings)")
        let error = caught { try plan.run() }
        #expect(error?.number == 134110 && error?.sentence.contains("/Item/p1") == true)
        #expect(error?.affectedObjects?.count == 1 && error?.validationKey == "data")
        #expect(try versions.sql("SELECT COUNT(*) FROM ZITEM") == ["5"])
    }

    @Test(
        "An object that does not satisfy the later model is told by the ID of what it is made of, in a rehearsal and a run"
    )
    func invalid() throws {
        let (versions, plan) = try mapped(
            V.attribute("name", "String", ""), "name", NSExpression(format: "$source.title"))
        let findings = try plan.rehearse()
        #expect(rows(findings).sorted() == ["Ware.name Item/p2", "Ware.name Item/p4"], "\(findings)")
        let error = caught { try plan.run() }
        #expect(
            error?.sentence.contains("/Item/p2") == true && error?.sentence.contains("/Item/p4") == true,
            "\(error?.sentence ?? "")")
        #expect(try versions.sql("SELECT COUNT(*) FROM ZITEM") == ["5"])
    }

    @Test("A single object that fails is told once, and beside what ends the rehearsal")
    func single() throws {
        let (versions, _) = try mapped(V.attribute("name"), "name", NSExpression(format: "$source.title"))
        try versions.write("DELETE FROM ZITEM WHERE Z_PK > 2")
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: versions.store)
        let recorded = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        let chain = try VersionChain(of: recorded, at: versions.store, in: versions.url, order: nil)
        for (source, expected) in [("Item", ["p2"]), ("Nothing", [])] {
            let mapping = NSEntityMapping()
            (mapping.name, mapping.sourceEntityName, mapping.destinationEntityName) = ("ItemToWare", "Item", "Ware")
            mapping.sourceExpression = SourceExpression.all(of: source)
            mapping.entityMigrationPolicyClassName = "RefusingPolicy"
            mapping.attributeMappings = []
            let model = NSMappingModel()
            model.entityMappings = [mapping]
            let migration = ChainMigration(
                url: versions.store, type: NSSQLiteStoreType, configuration: nil, options: nil, chain: chain,
                mappings: [model])
            let findings = try MigrationForecast(migration).plan().rehearse()
            #expect(findings.count == 1, "\(findings)")
            #expect(findings.compactMap { $0.id?.split(separator: "/").last.map(String.init) } == expected)
        }
    }

    @Test("What a policy throws for an object names it")
    func policy() throws {
        let (versions, plan) = try mapped(
            V.attribute("name"), "name", NSExpression(format: "$source.title"), policy: "RefusingPolicy")
        let findings = try plan.rehearse()
        #expect(findings.compactMap { $0.id?.split(separator: "/").last } == ["p2", "p4"], "\(findings)")
        let error = caught { try plan.run() }
        #expect(error?.sentence.contains("/Item/p2") == true)
        #expect(error?.userInfo[NSUnderlyingErrorKey] is RefusingPolicy.Refusal)
        #expect(try versions.sql("SELECT COUNT(*) FROM ZITEM") == ["5"])
    }
}
