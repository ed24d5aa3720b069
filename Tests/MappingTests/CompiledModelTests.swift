// Compiled models: files, packages, and the copies beside rows.

import CoreDataTestSupport
import CoreDataSQLite
import CoreDataSeeds
import CoreDataValues
import Testing

@testable import CoreData
@testable import CoreDataModelFile

@Suite struct CompiledModelTests {
    @Test(
        "Every compiled model of the corpus is read, with the hashes that its package or store records",
        .enabled(if: Corpus.isPresent))
    func corpus() throws {
        let files = try Corpus.files(below: "compiled") { $0.hasSuffix(".mom") }
        #expect(files.count == 52)
        var compared = 0
        var empty: [String] = []
        for url in files {
            let model = try NSManagedObjectModel(loading: url)
            if model.entities.isEmpty { empty.append(url.lastPathComponent) }
            guard let info = try? CompiledVersions(in: url.deletingLastPathComponent()),
                let recorded = info.hashes[url.deletingPathExtension().lastPathComponent]
            else { continue }
            compared += 1
            let hashes = model.entityVersionHashesByName
            #expect(Set(hashes.keys) == Set(recorded.keys), "\(url.path)")
            for (name, hash) in recorded where hashes[name] != hash {
                #expect(isForeign(hash, name, model), "\(url.path): \(name)")
            }
            if let sum = info.checksums[url.deletingPathExtension().lastPathComponent], hashes == recorded {
                #expect(sum == model.versionChecksum, "\(url.path)")
            }
        }
        print("compiled models: \(files.count) read, \(compared) with recorded hashes")
        #expect(compared >= 40)
        #expect(empty.count <= 1, "\(empty)")
    }

    @Test(
        "A version is found by the hashes that VersionInfo.plist records, also by those that cannot be computed",
        .enabled(if: Corpus.isPresent))
    func recordedVersions() throws {
        var (found, foreign) = (0, 0)
        for url in try Corpus.files(below: "compiled", { $0.hasSuffix(".momd") }) {
            guard let info = try? CompiledVersions(in: url), let package = try? ModelPackage(at: url) else { continue }
            for (name, hashes) in info.hashes
            where !hashes.isEmpty && package.versions.contains(where: { $0.name == name }) {
                guard let version = package.version(fitting: hashes) else { continue }
                found += 1
                #expect(info.hashes[version.name] == hashes, "\(url.path): \(name) is taken for \(version.name)")
                if version.schema.entities.contains(where: {
                    hashes[$0.name] != nil && VersionHash.isOurs($0.versionHash)
                }) {
                    foreign += 1
                }
            }
        }
        print(
            "versions found by their recorded hashes: \(found), of which \(foreign) have hashes that cannot be computed"
        )
        #expect(found >= 20)
    }

    /// Hashes of derived attributes cannot be computed (see StoreFormat.md).
    private func isForeign(_ hash: Data, _ name: String, _ model: NSManagedObjectModel) -> Bool {
        (try? model.schema())?.entity(named: name).map { VersionHash.isForeign(hash, for: $0) } ?? false
    }

    @Test("A package's current version is the one that VersionInfo.plist names", .enabled(if: Corpus.isPresent))
    func packages() throws {
        for url in try Corpus.files(below: "compiled", { $0.hasSuffix(".momd") }) {
            let versions = try? ModelFile.versions(at: url)
            let info = try? CompiledVersions(in: url)
            let moms = try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0.hasSuffix(".mom") }
            #expect(versions?.count ?? 0 == moms.count, "\(url.path)")
            if let current = info?.current, moms.contains("\(current).mom") {
                #expect(versions?.first(where: \.isCurrent)?.name == current)
                #expect(NSManagedObjectModel(contentsOf: url) != nil)
            }
        }
    }

    @Test("A compiled model is the model that it was compiled from", .enabled(if: Corpus.isPresent))
    func sameAsSource() throws {
        let folder = Corpus.root.appendingPathComponent(
            "compiled/alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel.momd")
        let source = Corpus.root.appendingPathComponent(
            "models/alemar11+CoreDataPlus/Tests/Resources/SampleModel/SampleModel.xcdatamodeld")
        for version in ["SampleModel", "SampleModel2", "SampleModel3"] {
            let compiled = try NSManagedObjectModel(loading: folder.appendingPathComponent("\(version).mom"))
            let model = try NSManagedObjectModel(loading: source.appendingPathComponent("\(version).xcdatamodel"))
            #expect(compiled.entityVersionHashesByName == model.entityVersionHashesByName)
            for (name, entity) in model.entitiesByName {
                let other = try #require(compiled.entitiesByName[name])
                #expect(other.superentity?.name == entity.superentity?.name)
                #expect(other.renamingIdentifier == entity.renamingIdentifier)
                #expect(other.managedObjectClassName == entity.managedObjectClassName)
                #expect(Set(other.propertiesByName.keys) == Set(entity.propertiesByName.keys))
                #expect(other.indexes.count == entity.indexes.count, "\(name)")
                for (key, attribute) in entity.attributesByName {
                    let twin = try #require(other.attributesByName[key])
                    #expect(twin.attributeType == attribute.attributeType)
                    #expect(
                        String(describing: twin.defaultValue) == String(describing: attribute.defaultValue),
                        "\(name).\(key)")
                }
            }
        }
    }

    @Test("The model beside a store's rows is read, with the store's hashes", .enabled(if: Corpus.isPresent))
    func modelCaches() throws {
        var (read, same, refused) = (0, 0, [String]())
        for folder in ["stores", "stores-emptied"] {
            for url in try Corpus.files(below: folder, { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }) {
                guard let head = try? FileHandle(forReadingFrom: url).read(upToCount: 6), head == Data("SQLite".utf8),
                    let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
                        ofType: NSSQLiteStoreType, at: url)
                else { continue }
                guard let data = try? StoreFile(url: url).modelCopy() else { continue }
                read += 1
                do {
                    let schema = try Schema(checking: ModelFile.draft(modelCache: data, path: url.path))
                    let recorded = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
                    #expect(schema.fits(recorded), "\(url.path)")
                    if schema.fitsExactly(recorded) { same += 1 }
                } catch { refused.append("\(url.lastPathComponent): \(error)") }
            }
        }
        print("model caches: \(read), \(same) with exactly the store's hashes; refused: \(refused)")
        #expect(read >= 50)
        // Also those of models made in code, of bounds that no model file can say.
        #expect(refused == [])
    }

    @Test(
        "A new store keeps a copy of its model, which an independent reader finds to have the recorded hashes",
        .enabled(if: Corpus.isPresent))
    func written() throws {
        let versions = Versions()
        let root = Corpus.root.appendingPathComponent(
            "models/alemar11+CoreDataPlus/Tests/Resources/SampleModel/SampleModel.xcdatamodeld")
        let models = try [
            versions.model("A", Versions.first), versions.model("B", Versions.second),
            NSManagedObjectModel(loading: root.appendingPathComponent("SampleModel.xcdatamodel")),
            NSManagedObjectModel(loading: root.appendingPathComponent("SampleModel3.xcdatamodel")),
        ]
        var paths: [String] = []
        for (number, model) in models.enumerated() {
            let url = versions.file("\(number).sqlite")
            try versions.with(model, at: url) { _ in }
            paths.append(url.path)
            let copy = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
            #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
            for (name, entity) in model.entitiesByName {
                #expect(copy.entitiesByName[name]?.superentity?.name == entity.superentity?.name)
                #expect(
                    copy.entitiesByName[name]?.attributesByName.keys.sorted() == entity.attributesByName.keys.sorted())
                #expect(copy.entitiesByName[name]?.renamingIdentifier == entity.renamingIdentifier)
            }
        }
        let script = Corpus.shared.appendingPathComponent("specs/verify_version_hashes.py")
        let lines = try ChildProgram("/usr/bin/env").run(["python3", script.path] + paths).lines
        #expect(lines.count { $0.hasPrefix("OK") } == models.count, "\(lines)")
    }

    @Test(
        "A store of Core Data's is migrated by the model beside its rows where no other is found",
        .enabled(if: Corpus.isPresent))
    func migratedByCache() throws {
        let project = "alemar11+CoreDataPlus/Tests/Resources/SampleModel"
        let folder = Folder()
        let url = folder.file("store.sqlite")
        let store = try #require(
            try Corpus.files(below: "stores") { $0.contains("CoreDataPlus") && $0.hasSuffix("/SampleModelV1.sqlite") }
                .last)
        for suffix in ["", "-wal"] {
            try? FileManager.default.copyItem(atPath: store.path + suffix, toPath: url.path + suffix)
        }
        let version = try NSManagedObjectModel(
            loading: Corpus.root.appendingPathComponent(
                "models/\(project)/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel"))
        // One that knows no package.
        let model = NSManagedObjectModel()
        model.entities = linkedCopies(of: version.entities)
        #expect(model.entityVersionHashesByName == version.entityVersionHashesByName)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [String: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let opened = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        #expect(opened.metadata?[NSStoreModelVersionHashesKey] as? [String: Data] == version.entityVersionHashesByName)
        try coordinator.remove(opened)
    }

    @Test("Bytes that are no compiled model are refused with their path; a damaged one never traps")
    func damaged() throws {
        let folder = Folder()
        let file = folder.file("M.mom")
        try Data("bplist00 nothing".utf8).write(to: file)
        #expect(thrown { _ = try NSManagedObjectModel(loading: file) }?.sentence.contains("M.mom") == true)
        guard Corpus.isPresent else { return }
        let whole = try Data(
            contentsOf: Corpus.root.appendingPathComponent(
                "compiled/alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel.momd/SampleModel.mom"))
        for place in stride(from: 8, to: whole.count, by: 37) {
            var bytes = whole
            bytes[place] ^= 0x5a
            try bytes.write(to: file)
            _ = try? NSManagedObjectModel(loading: file)
        }
    }

    @Test("Deflate: what is stored is read again; data that becomes too much or is damaged is refused")
    func deflate() throws {
        for count in [0, 1, 70_000, 200_000] {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            #expect(try Deflate.inflated(Deflate.stored(data), limit: count) == data)
            if count > 0 {
                #expect(throws: ArchiveError.self) { try Deflate.inflated(Deflate.stored(data), limit: count - 1) }
            }
        }
        // “aaaaaaaaaa” with a fixed and with a dynamic code, as zlib writes them.
        #expect(
            try Deflate.inflated(Data([0x4b, 0x4c, 0x84, 0x01, 0x00]), limit: 100) == Data(repeating: 0x61, count: 10))
        #expect(throws: ArchiveError.self) { try Deflate.inflated(Data([0x07]), limit: 100) }
    }
}
