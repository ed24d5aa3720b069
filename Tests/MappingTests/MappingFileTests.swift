// Mapping models in files.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData
@testable import CoreDataModelFile

@Suite struct MappingFileTests {
    private let versions = Versions()

    @Test(
        "What Xcode does not write is generated: names, types, attributes and relationships of the same name",
        .enabled(if: Corpus.isPresent))
    func generated() throws {
        let url = Corpus.root.appendingPathComponent(
            "models/alemar11+CoreDataPlus/Tests/Resources/SampleModel/MappingModels/V2toV3.xcmappingmodel")
        let model = try NSMappingModel(loading: url)
        let names = model.entityMappingsByName
        #expect(names["PersonToPerson"]?.mappingType == .transformEntityMappingType)
        #expect(names["Maker"]?.mappingType == .addEntityMappingType)
        #expect(names["SportCarToSportCar"]?.mappingType == .customEntityMappingType)
        #expect(
            names["PersonToPerson"]?.attributeMappings?.first { $0.name == "firstName" }?.valueExpression?.description
                == "$source.firstName")
        let owner = try #require(
            names["SportCarToSportCar"]?.relationshipMappings?.first { $0.name == "owner" }?.valueExpression)
        #expect(owner.method?.name.hasPrefix("destinationInstancesFor") == true)
        #expect(names["PersonToPerson"]?.sourceExpression?.expressionType == .fetchRequest)
    }

    private func fixture(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel, _ output: URL) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("make-cdm.py")
        let run = try ChildProgram("/usr/bin/env").run([
            "python3", script.path, output.path,
            source.entityVersionHashesByName["Author"]?.base64EncodedString() ?? "",
            destination.entityVersionHashesByName["Person"]?.base64EncodedString() ?? "",
        ])
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test("A compiled mapping model is read, found by its hashes and carried out")
    func compiled() throws {
        let (first, second) = (try versions.model("A", Versions.first), try versions.model("B", Versions.second))
        try fixture(first, second, versions.file("AtoB.cdm"))
        let model = try NSMappingModel(loading: versions.file("AtoB.cdm"))
        let authors = try #require(model.entityMappingsByName["AuthorToPerson"])
        #expect(authors.mappingType == .transformEntityMappingType)
        #expect(authors.userInfo?["flavour"] as? String == "plum")
        #expect(authors.attributeMappings?.map { $0.valueExpression?.description } == ["$source.name", "3"])
        #expect(authors.sourceExpression?.expressionType == .fetchRequest)
        #expect(NSMappingModel(contentsOf: nil) == nil)
        #expect(NSMappingModel(contentsOf: versions.file("none.cdm")) == nil)
        #expect(
            try NSMappingModel.fitting(first.schema(), second.schema(), in: [versions.folder.url])?.entityMappings.count
                == 2)
        #expect(try NSMappingModel.fitting(second.schema(), first.schema(), in: [versions.folder.url]) == nil)
        #expect(NSMappingModel(from: [Bundle.main], forSourceModel: second, destinationModel: first) == nil)
        #expect(NSMappingModel(from: nil, forSourceModel: nil, destinationModel: first) == nil)
        try versions.library(first, at: versions.file("old"))
        try NSMigrationManager(sourceModel: first, destinationModel: second).migrateStore(
            from: versions.file("old"), type: .sqlite, mapping: model, to: versions.file("new"), type: .sqlite)
        try versions.with(second, at: versions.file("new")) { context in
            let people = try context.all("Person", by: "fullName")
            #expect(people.map { ($0.value(forKey: "rank") as? NSNumber)?.intValue } == [3, 3])
            #expect(
                try context.all("Book", by: "title").map {
                    $0.value(forKeyPath: "author.fullName") as? String
                } == ["Ann", "Bob", "Ann"])
        }
    }

    @Test(
        "With the options that migrate, a mapping model beside the model goes before inference",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func opened(type: String) throws {
        let first = try versions.model("Library.xcdatamodeld/1", Versions.first)
        let second = try versions.model("Library.xcdatamodeld/2", Versions.second)
        try fixture(first, second, versions.file("AtoB.cdm"))
        try versions.library(first, at: versions.file("store"), type: type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: second)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: versions.file("store"),
            options: [NSMigratePersistentStoresAutomaticallyOption: true])
        try coordinator.remove(store)
        try versions.with(second, at: versions.file("store"), type: type) { context in
            let people = try context.all("Person", by: "fullName")
            #expect(people.map { ($0.value(forKey: "rank") as? NSNumber)?.intValue } == [3, 3])
        }
    }

    @Test("Damaged mapping models are refused with their path and never trap")
    func damaged() throws {
        let (first, second) = (try versions.model("A", Versions.first), try versions.model("B", Versions.second))
        try fixture(first, second, versions.file("whole.cdm"))
        let whole = try Data(contentsOf: versions.file("whole.cdm"))
        for place in stride(from: 8, to: whole.count, by: 11) {
            var bytes = whole
            bytes[place] ^= 0x33
            try bytes.write(to: versions.file("broken.cdm"))
            _ = NSMappingModel(contentsOf: versions.file("broken.cdm"))
        }
        try Data("no archive".utf8).write(to: versions.file("broken.cdm"))
        #expect(
            thrown { _ = try NSMappingModel(loading: versions.file("broken.cdm")) }?.sentence.contains("broken.cdm")
                == true)
        let folder = versions.file("X.xcmappingmodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for text in [
            "", "<database>", "<!DOCTYPE d [<!ENTITY a 'b'>]><database/>", "<database><object type='x'/></database>",
            "<database></database>",
        ] {
            try Data(text.utf8).write(to: folder.appendingPathComponent("xcmapping.xml"))
            #expect(NSMappingModel(contentsOf: folder) == nil)
        }
    }
}
