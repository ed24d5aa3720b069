// The sample model: both versions, as the rest of the package relies on them.

import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataModelFile

@Suite("The sample model")
struct SampleModelTests {
    private static let url = Corpus.package.appendingPathComponent("Models/FooTriage.xcdatamodeld")

    @Test("The package has two versions, and the second is current")
    func versions() throws {
        let versions = try ModelFile.versions(at: Self.url)
        #expect(versions.map(\.name) == ["FooTriage", "FooTriage 2"])
        #expect(versions.map(\.isCurrent) == [false, true])
    }

    @Test("The current version has its entities, rules, constraint, index and template")
    func currentVersion() throws {
        let schema = try ModelFile.load(Self.url)
        #expect(schema.warnings == [])
        #expect(schema.entities.map(\.name) == ["Assessment", "Casualty", "Injury", "Place", "Station"])
        #expect(schema.versionIdentifiers == ["2"])
        let casualty = try #require(schema.entity(named: "Casualty"))
        #expect(
            casualty.slots.map(\.name) == [
                "age", "arrivedAt", "name", "notes", "photo", "station", "tag", "weight",
            ])
        #expect(
            casualty.slots.map(\.kind) == [.int, .date, .text, .text, .externalData, .toOne, .uuid, .double])
        #expect(casualty.toMany.map { schema[$0].name } == ["assessments", "injuries"])
        #expect(casualty.draft.indexes.map(\.name) == ["byArrival"])
        #expect(casualty.draft.indexes.first?.elements.first?.isAscending == false)
        let rules = Set(schema.relationships.map(\.description.deleteRule))
        #expect(rules == [.cascade, .nullify, .deny])
        let assessments = try #require(schema.relationships.first { $0.name == "assessments" })
        #expect(assessments.isOrdered)
        #expect(assessments.inverse.map { schema[$0].name } == "casualty")
        let station = try #require(schema.entity(named: "Station"))
        #expect(station.parent.map { schema[$0].name } == "Place")
        #expect(schema.entity(named: "Place")?.isAbstract == true)
        #expect(schema.entity(named: "Injury")?.draft.uniquenessConstraints == [["name"]])
        #expect(schema.fetchTemplates.map(\.name) == ["casualtiesOlderThan"])
        #expect(schema.fetchTemplates.first?.predicate == "age > $age")
        #expect(schema.entities.allSatisfy { $0.className == $0.name })
    }

    @Test("The first version is the smaller one: no place, no weight, no notes")
    func firstVersion() throws {
        let schema = try ModelFile.load(Self.url.appendingPathComponent("FooTriage.xcdatamodel"))
        #expect(schema.entities.map(\.name) == ["Assessment", "Casualty", "Injury", "Station"])
        #expect(
            schema.entity(named: "Casualty")?.slots.map(\.name) == [
                "age", "arrivedAt", "name", "station", "tag",
            ])
        #expect(schema.warnings == [])
    }

    @Test("Both versions hash as the second implementation says", .enabled(if: Corpus.isPresent))
    func hashes() throws {
        let files = try ModelFile.versions(at: Self.url).map(\.contents)
        let expected = try Reference.hashes(of: files)
        #expect(files.count == 2)
        for file in files {
            let schema = try ModelFile.load(file)
            #expect(schema.versionHashes.mapValues(\.hex) == expected[file.path], "\(file.path)")
        }
    }
}
