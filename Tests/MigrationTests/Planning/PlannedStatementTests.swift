// Whether the statements of a plan are those that run on the file that there is.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Planned statements") struct PlannedStatementTests {
    private typealias V = Versions

    private static func model(_ item: String, _ tags: String = "", _ tag: String = "") -> String {
        V.entity("Item", "", item, V.toMany("tags", "Tag", "items", tags))
            + V.entity("Tag", "", V.attribute("name"), tag, V.toMany("items", "Item", "tags"))
    }
    /// Core Data's files may have other numbers in the names of their join tables.
    private static let renumbered = """
        ALTER TABLE Z_1TAGS RENAME TO Z_1TAGS3;
        ALTER TABLE Z_1TAGS3 RENAME COLUMN Z_2TAGS TO Z_2TAGS3;
        """

    private func filled(_ versions: String...) throws -> V {
        let versions = try V(versions)
        try versions.open(1) { context in
            context.make("Item", ["title": "i", "tags": NSSet(object: context.make("Tag", ["name": "t"]))])
            try context.save()
        }
        try versions.write(Self.renumbered)
        return versions
    }

    private func definitions(_ versions: V) throws -> [String] {
        try versions.sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    }

    @Test(
        "The SQL of a plan has the names that the file has for join tables and their columns, step by step, and leaves what the run leaves",
        arguments: ["ordered=\"YES\"", ""])
    func names(_ tags: String) throws {
        let (title, age) = (V.attribute("title"), V.attribute("age"))
        let versions = [
            Self.model(title + age), Self.model(title, tags), Self.model(title, tags, V.attribute("color")),
            V.entity("Item", "", title) + V.entity("Tag", "", V.attribute("name")),
        ]
        let (planned, run) = (
            try filled(versions[0], versions[1], versions[2], versions[3]),
            try filled(versions[0], versions[1], versions[2], versions[3])
        )
        let plan = try planned.plan()
        #expect(plan.steps.count == 3)
        if tags.isEmpty { #expect(!plan.steps.flatMap(\.sql).contains { $0.contains("Z_1TAGS ") }) }
        for sql in plan.steps.flatMap(\.sql) {
            #expect(throws: Never.self, "\(sql)") { try planned.write(sql) }
        }
        try run.plan().run()
        #expect(try definitions(planned) == definitions(run))
    }
}
