// Indexes and constraints of stores whose entities and properties have got other names, and the old names again for others.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Indexes after a migration") struct IndexTests {
    private typealias V = Versions
    private static let target = V.entity("T", "", V.attribute("t"))
    private static let unique =
        "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint></uniquenessConstraints>"
    private static func index(_ property: String) -> String {
        "<fetchIndex name=\"by\"><fetchIndexElement property=\"\(property)\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
    }
    private static let named = [V.attribute("name"), V.toOne("r", "T"), index("name"), unique].joined()
    private static func was(_ name: String) -> String { "elementID=\"\(name)\"" }
    private static let renamed = "optional=\"YES\" "

    /// The entities of versions, one after the other.
    private static let chains: [String: [String]] = [
        "an entity's name is given to another": [
            V.entity("A", "", named) + target,
            V.entity("B", was("A"), named) + V.entity("A", was("new"), named) + target,
        ],
        "it is given to another by a later version": [
            V.entity("A", "", named) + target,
            V.entity("B", was("A"), named) + target,
            V.entity("B", was("A"), named) + V.entity("A", was("new"), named) + target,
        ],
        "an entity has the name of one that has another": [
            V.entity("A", "", named) + V.entity("Z", "", named) + target,
            V.entity("B", was("A"), named) + V.entity("A", was("Z"), named) + target,
        ],
        "two entities change names, and one loses an attribute": [
            V.entity("A", "", named, V.attribute("gone")) + V.entity("B", "", named) + target,
            V.entity("B", was("A"), named) + V.entity("A", was("B"), named) + target,
        ],
        "the name of one with sub-entities is given away": [
            V.entity("A", "", named) + V.entity("A1", "parentEntity=\"A\"") + target,
            V.entity("B", was("A"), named) + V.entity("A1", "parentEntity=\"B\"")
                + V.entity("A", was("new"), named) + V.entity("A2", "parentEntity=\"A\"") + target,
        ],
        "an attribute's name is given to another": [
            V.entity("A", "", V.attribute("name"), index("name"), unique),
            V.entity(
                "A", "", V.attribute("title", "String", renamed + was("name")), V.attribute("name"), index("name"),
                unique),
        ],
        "two attributes change names": [
            V.entity("A", "", V.attribute("name"), V.attribute("title"), index("name"), unique),
            V.entity(
                "A", "", V.attribute("title", "String", renamed + was("name")),
                V.attribute("name", "String", renamed + was("title")), index("name"), unique),
        ],
        "a to-one's name is given to another by a later version": [
            V.entity("A", "", V.toOne("r", "T")) + target,
            V.entity("A", "", V.toOne("s", "T", nil, renamed + was("r"))) + target,
            V.entity("A", "", V.toOne("s", "T", nil, renamed + was("r")), V.toOne("r", "T", nil, renamed + was("new")))
                + target,
        ],
        "the entities of a many-to-many have other names": [
            V.entity("A", "", V.toMany("r", "T", "s")) + V.entity("T", "", V.toMany("s", "A", "r")),
            V.entity("B", was("A"), V.toMany("r", "T", "s"))
                + V.entity("T", "", V.toMany("s", "B", "r"), V.toMany("s2", "A", "r", was("new")))
                + V.entity("A", was("new"), V.toMany("r", "T", "s2")),
        ],
    ]

    /// Table, columns and uniqueness of each index, whatever its name.
    private func indexes(_ versions: V) throws -> Set<String> {
        Set(
            try versions.sql(
                """
                SELECT m.tbl_name, l."unique", (SELECT group_concat(name) FROM pragma_index_info(l.name))
                FROM sqlite_master m, pragma_index_list(m.name) l WHERE m.type = 'table' AND l.origin = 'c'
                """))
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        for entity in try #require(context.persistentStoreCoordinator).managedObjectModel.entities {
            for number in 1...2 {
                let object = context.make(entity.name ?? "")
                for name in entity.attributesByName.keys {
                    object.setValue("\(entity.name ?? "") \(number)", forKey: name)
                }
            }
        }
        try context.save()
    }

    @Test(
        "A migrated store has every index and constraint of a new one, over the right columns",
        arguments: chains.keys.sorted())
    func indexes(_ chain: String) throws {
        let versions = try V(try #require(Self.chains[chain]))
        let (fresh, count) = (try V(try #require(Self.chains[chain])), Self.chains[chain]?.count ?? 0)
        try fresh.open(count) { _ in }
        try versions.open(1) { try fill($0) }
        for version in 2...count { try versions.open(version) { _ in } }
        let (made, wanted) = (try indexes(versions), try indexes(fresh))
        #expect(wanted.subtracting(made).isEmpty, "\(wanted.subtracting(made)) of \(made)")
        // What has a constraint in one has it in the other.
        #expect(made.filter { $0.contains("|1|") } == wanted.filter { $0.contains("|1|") })
        try versions.open(count) { context in
            for entity in try #require(context.persistentStoreCoordinator).managedObjectModel.entities
            where !entity.uniquenessConstraints.isEmpty {
                context.make(entity.name ?? "", ["name": "equal"])
                context.make(entity.name ?? "", ["name": "equal"])
                let error = caught { try context.save() }
                #expect(error?.number == 133021, "\(entity.name ?? ""): \(String(describing: error))")
                context.rollback()
            }
        }
    }

    @Test("A default that makes values equal which must not be is told with the objects, and nothing is changed")
    func equalDefaults() throws {
        let versions = try V(
            V.entity("A", "", V.attribute("name"), Self.unique),
            V.entity("A", "", V.attribute("name", "String", "defaultValueString=\"none\""), Self.unique))
        try versions.open(1) { context in
            for _ in 1...3 { context.make("A") }
            context.make("A", ["name": "x"])
            try context.save()
        }
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).migrationPlan(
            at: versions.store, toVersionsOf: versions.url)
        let findings = try plan.rehearse()
        #expect(findings.compactMap(\.id).map { $0.suffix(4) } == ["A/p1", "A/p2", "A/p3"], "\(findings)")
        #expect(findings.allSatisfy { $0.entity == "A" })
        #expect(caught { try versions.open(2) { _ in } }?.number == 134111)
        #expect(try versions.sql("SELECT ifnull(ZNAME, '-') FROM ZA ORDER BY Z_PK") == ["-", "-", "-", "x"])
        #expect(try versions.sql("SELECT COUNT(*) FROM sqlite_master WHERE name = 'Z_A_UNIQUE_name'") == ["1"])

        // With one of them the default is no one else's.
        try versions.write("DELETE FROM ZA WHERE Z_PK > 1")
        #expect(try versions.open(2) { try $0.values("A", "name") } == ["none"])
        #expect(try versions.sql("SELECT COUNT(*) FROM sqlite_master WHERE name = 'Z_A_UNIQUE_name'") == ["1"])
    }

    @Test("What the plan says is lost of sub-entities is no finding of a rehearsal")
    func expectedLoss() throws {
        func model(_ r: String) -> String {
            V.entity("P", "", V.attribute("n"), r) + V.entity("C", "parentEntity=\"P\"", V.attribute("m")) + Self.target
        }
        let versions = try V(model(V.toOne("r", "T")), model(V.toMany("r", "T")))
        try versions.open(1) { context in
            let target = context.make("T")
            for entity in ["P", "P", "C", "C", "C"] { context.make(entity, ["r": target]) }
            try context.save()
        }
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).migrationPlan(
            at: versions.store, toVersionsOf: versions.url)
        #expect(plan.lost.map(\.rows).reduce(0, +) == 4, "\(plan.lost)")
        #expect(try plan.rehearse() == [])
    }
}
