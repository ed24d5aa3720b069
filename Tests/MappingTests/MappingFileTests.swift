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
        "Every mapping model of the corpus is read; most fit the versions that they name",
        .enabled(if: Corpus.isPresent))
    func corpus() throws {
        let files = try Corpus.files(below: "models") { $0.hasSuffix(".xcmappingmodel/xcmapping.xml") }.map {
            $0.deletingLastPathComponent()
        }
        #expect(files.count >= 56)
        var (fitting, others, expressions, generated) = (0, [String](), 0, 0)
        var folders: Set<URL> = []
        for url in files {
            folders.insert(url)
            let model = try NSMappingModel(loading: url)
            #expect(!model.entityMappings.isEmpty)
            for mapping in model.entityMappings {
                #expect(mapping.mappingType != .undefinedEntityMappingType)
                if mapping.sourceEntityName != nil {
                    #expect(mapping.sourceEntityVersionHash != nil, "\(url.path) \(mapping.name ?? "")")
                }
                for property in (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []) {
                    guard let text = property.valueExpression?.description else { continue }
                    if text == "$source.\(property.name ?? "")" { generated += 1 } else { expressions += 1 }
                }
            }
            let document = try MappingDocument(url.appendingPathComponent("xcmapping.xml"))
            let paths = document.records(of: "XDDEVMAPPINGMODEL").first
            if let from = version(paths?.name("sourcemodelpath"), of: url),
                let to = version(paths?.name("destinationmodelpath"), of: url),
                (try? model.fit(from.schema(), to.schema())) != nil
            {
                fitting += 1
            } else {
                others.append(url.lastPathComponent)
            }
        }
        print(
            "mapping models: \(files.count) read, \(expressions) expressions and \(generated) copies, \(fitting) fit the versions in the corpus"
        )
        print("do not: \(others)")
        #expect(fitting >= 30)
        #expect(expressions > 74)
    }

    /// The version that a mapping model names by the last two parts of its path, in the same project.
    private func version(_ path: String?, of mapping: URL) -> NSManagedObjectModel? {
        guard let path else { return nil }
        let parts = path.split(separator: "/").suffix(2)
        let models = Corpus.root.appendingPathComponent("models")
        var folder = mapping.deletingLastPathComponent()
        while folder.path.count > models.path.count {
            let found = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path))?.first {
                $0.split(separator: "/").suffix(parts.count) == parts
            }
            if let found { return try? NSManagedObjectModel(loading: folder.appendingPathComponent(found)) }
            folder.deleteLastPathComponent()
        }
        return nil
    }

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
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("make-cdm.py")
        process.arguments = [
            "python3", script.path, output.path,
            source.entityVersionHashesByName["Author"]?.base64EncodedString() ?? "",
            destination.entityVersionHashesByName["Person"]?.base64EncodedString() ?? "",
        ]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
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
            let people = try Versions.all("Person", context, by: "fullName")
            #expect(people.map { ($0.value(forKey: "rank") as? NSNumber)?.intValue } == [3, 3])
            #expect(
                try Versions.all("Book", context, by: "title").map {
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
            let people = try Versions.all("Person", context, by: "fullName")
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
