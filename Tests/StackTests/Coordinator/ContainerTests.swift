// Containers and descriptions of stores.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct ContainerTests {
    /// A container whose stores lie in a folder of the test.
    final class Own: NSPersistentContainer, @unchecked Sendable {
        nonisolated(unsafe) static var folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("containers-\(ProcessInfo.processInfo.processIdentifier)", isDirectory: true)
        override class func defaultDirectoryURL() -> URL { folder }
    }

    private func container(_ name: String = "C\(UUID().uuidString)") -> Own {
        Own(name: name, managedObjectModel: Clinic.model())
    }

    @Test("A container describes one SQLite store of its name in the default folder, which loading makes")
    func defaults() throws {
        let made = container()
        let description = try #require(made.persistentStoreDescriptions.first)
        #expect(made.persistentStoreDescriptions.count == 1 && description.type == NSSQLiteStoreType)
        #expect(description.url == Own.folder.appendingPathComponent(made.name + ".sqlite"))
        var answers: [String] = []
        made.loadPersistentStores { answers.append("\($0 === description) \($1 == nil)") }
        #expect(answers == ["true true"])
        #expect(made.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(made.viewContext.persistentStoreCoordinator === made.persistentStoreCoordinator)
        try FileManager.default.removeItem(at: try #require(description.url))
    }

    @Test("Background contexts and tasks work on the container's stores")
    func background() async throws {
        let made = container()
        made.persistentStoreDescriptions = [NSPersistentStoreDescription()]
        made.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        try await made.loadPersistentStores()
        let count = try await made.performBackgroundTask { context in
            _ = context.make("Doctor", ["name": "Ada"])
            try context.save()
            return try context.all("Doctor").count
        }
        #expect(count == 1)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            made.performBackgroundTask { context in
                _ = context.make("Doctor", ["name": "Bo"])
                try? context.save()
                done.resume()
            }
        }
        let context = made.newBackgroundContext()
        #expect(context.concurrencyType == .privateQueueConcurrencyType)
        #expect(try await context.perform { try context.all("Doctor").count } == 2)
    }

    @Test("Each description is answered once, a failure with its error, one in the background later")
    func several() async throws {
        let made = container()
        let folder = Folder()
        let good = NSPersistentStoreDescription(url: folder.file("a.sqlite"))
        good.shouldAddStoreAsynchronously = true
        let bad = NSPersistentStoreDescription(url: folder.file("missing/b.sqlite"))
        let typed = NSPersistentStoreDescription(url: folder.file("c.xml"))
        typed.type = NSXMLStoreType
        made.persistentStoreDescriptions = [good, bad, typed]
        let (answers, end) = AsyncStream.makeStream(of: String.self)
        made.loadPersistentStores { description, error in
            end.yield("\(description.url?.lastPathComponent ?? "") \((error as? CocoaError)?.code.rawValue ?? 0)")
        }
        var got: [String] = []
        for await answer in answers {
            got.append(answer)
            if got.count == 3 { break }
        }
        #expect(got.sorted() == ["a.sqlite 0", "b.sqlite 134080", "c.xml 0"])
        #expect(
            Set(made.persistentStoreCoordinator.persistentStores.map(\.type)) == [NSSQLiteStoreType, NSXMLStoreType])
        await #expect(throws: CocoaError.self) {
            let other = container()
            other.persistentStoreDescriptions = [bad]
            try await other.loadPersistentStores()
        }
    }

    @Test("A description's settings become the store's options")
    func description() throws {
        let description = NSPersistentStoreDescription(url: Folder().url)
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        #expect(description.timeout == 240 && !description.isReadOnly && description.sqlitePragmas.isEmpty)
        #expect(
            Set(description.options.keys) == [
                NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            ])
        description.isReadOnly = true
        description.timeout = 7
        description.configuration = "House"
        description.shouldInferMappingModelAutomatically = false
        description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
        description.setOption("x" as NSString, forKey: "own")
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy == description && copy !== description)
        #expect(copy.options[NSReadOnlyPersistentStoreOption] == NSNumber(value: true))
        #expect(copy.options[NSPersistentStoreTimeoutOption] == NSNumber(value: 7))
        #expect(copy.options[NSInferMappingModelAutomaticallyOption] == NSNumber(value: false))
        #expect(copy.sqlitePragmas["synchronous"] as? String == "FULL")
        description.setOption(nil, forKey: "own")
        description.setValue(nil, forPragmaNamed: "synchronous")
        description.isReadOnly = false
        #expect(description.options["own"] == nil && description.sqlitePragmas.isEmpty && copy != description)
    }

    @Test("Pragmas, read-only and configuration of a description reach the store")
    func optionsReachStore() async throws {
        let folder = Folder()
        let made = Own(name: "Divided", managedObjectModel: Rig.divided())
        let description = NSPersistentStoreDescription(url: folder.file("house.sqlite"))
        description.configuration = "House"
        description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
        made.persistentStoreDescriptions = [description]
        try await made.loadPersistentStores()
        let store = try #require(made.persistentStoreCoordinator.persistentStores.first)
        #expect(store.configurationName == "House")
        let context = made.newBackgroundContext()
        try await context.perform {
            _ = context.make("Ward")
            try context.save()
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("house.sqlite-wal").path))
        let reader = Own(name: "Divided", managedObjectModel: Rig.divided())
        description.isReadOnly = true
        reader.persistentStoreDescriptions = [description]
        try await reader.loadPersistentStores()
        #expect(reader.persistentStoreCoordinator.persistentStores.first?.isReadOnly == true)
    }

    @Test("A container finds its model by name, else the only model there is, and says where it looked")
    func models() async throws {
        let folder = Folder()
        let inner = folder.file("App.resources")
        try FileManager.default.createDirectory(
            at: inner.appendingPathComponent("Zoo.xcdatamodeld"), withIntermediateDirectories: true)
        let folders = [folder.url, inner]
        for name in ["Zoo", "Zoo.momd", "Other"] {
            #expect(try ModelSearch(name: name, folders: folders).find().lastPathComponent == "Zoo.xcdatamodeld")
        }
        try FileManager.default.createDirectory(at: folder.file("Farm.momd"), withIntermediateDirectories: true)
        let search = ModelSearch(name: "Other", folders: folders)
        let complaint = #expect(throws: ModelSearch.Failure.self) { try search.find() }?.description ?? ""
        #expect(complaint.contains("Other.xcdatamodeld") && complaint.contains(inner.path))
        #expect(try ModelSearch(name: "Farm", folders: folders).find().lastPathComponent == "Farm.momd")
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPersistentContainer(name: "NoSuchModelAnywhere")
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("NoSuchModelAnywhere.xcdatamodeld") && said.contains("Looked for"))
    }

    /// Writes a version of a model that has one entity.
    private func writeModel(of entity: String, to version: URL) throws {
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        let text = "<model type=\"com.apple.IDECoreDataModeler.DataModel\"><entity name=\"\(entity)\"/></model>"
        try Data(text.utf8).write(to: version.appendingPathComponent("contents"))
    }

    @Test(
        "Two models of one name are an error that names both, unless they are copies; a .momd that was not built is the model of its name"
    )
    func names() throws {
        let folder = Folder()
        let folders = [folder.file("a.resources"), folder.file("b.resources")]
        try writeModel(of: "Animal", to: folder.file("a.resources/Zoo.xcdatamodeld/Zoo.xcdatamodel"))
        try writeModel(of: "Animal", to: folder.file("b.resources/Zoo.xcdatamodeld/Zoo.xcdatamodel"))
        #expect(try ModelSearch(name: "Zoo", folders: folders).find().path.contains("a.resources"))
        try writeModel(of: "Keeper", to: folder.file("b.resources/Zoo.xcdatamodeld/Zoo.xcdatamodel"))
        let complaint =
            #expect(throws: ModelSearch.Failure.self) { try ModelSearch(name: "Zoo", folders: folders).find() }?
            .description ?? ""
        #expect(
            complaint.contains("a.resources/Zoo.xcdatamodeld") && complaint.contains("b.resources/Zoo.xcdatamodeld"))
        for kind in ["momd", "mom"] {
            let model = try NSManagedObjectModel(loading: folder.file("a.resources/Zoo.\(kind)"))
            #expect(model.entities.map(\.name) == ["Animal"])
        }
        let bundle = try #require(Bundle(url: folder.file("a.resources")))
        #expect(NSManagedObjectModel.mergedModel(from: [bundle])?.entities.map(\.name) == ["Animal"])
    }

    @Test(
        "A model of the name of another kind is an error too, unless it is the same model, as a compiled one is beside its source"
    )
    func kinds() throws {
        let folder = Folder()
        func compile(_ source: String, to place: String) throws {
            let package = folder.file(place)
            try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
            let copy = try #require(ModelCopy.data(of: NSManagedObjectModel(loading: folder.file(source)).schema()))
            try Deflate.inflated(copy, limit: 1 << 20).write(to: package.appendingPathComponent("Zoo.mom"))
        }
        func find() throws -> URL { try ModelSearch(name: "Zoo", folders: [folder.url]).find() }
        try writeModel(of: "Animal", to: folder.file("Zoo.xcdatamodeld/Zoo.xcdatamodel"))
        try writeModel(of: "Keeper", to: folder.file("Other.xcdatamodeld/Other.xcdatamodel"))
        try compile("Zoo.xcdatamodeld", to: "Zoo.momd")
        #expect(try NSManagedObjectModel(loading: folder.file("Zoo.momd")).entities.map(\.name) == ["Animal"])
        #expect(try find().lastPathComponent == "Zoo.xcdatamodeld")
        try compile("Other.xcdatamodeld", to: "Zoo.momd")
        let complaint = #expect(throws: ModelSearch.Failure.self) { try find() }?.description ?? ""
        #expect(complaint.contains("Zoo.xcdatamodeld") && complaint.contains("Zoo.momd"))
        try Data("no model".utf8).write(to: folder.file("Zoo.momd/Zoo.mom"))
        #expect(try find().lastPathComponent == "Zoo.xcdatamodeld")
        try writeModel(of: "Keeper", to: folder.file("Zoo.xcdatamodel"))
        let second = #expect(throws: ModelSearch.Failure.self) { try find() }?.description ?? ""
        #expect(second.contains("Zoo.xcdatamodeld, ") && second.contains("Zoo.xcdatamodel. "))
        #expect(!second.contains("Zoo.momd"))
    }

    @Test("Stores lie in the user's folder for application data unless a subclass says otherwise")
    func folder() {
        #expect(NSPersistentContainer.defaultDirectoryURL().lastPathComponent == ProcessInfo.processInfo.processName)
        #expect(Own.defaultDirectoryURL() == Own.folder)
    }
}
