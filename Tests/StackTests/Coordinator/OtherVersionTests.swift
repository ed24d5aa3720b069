// Stores that were written with another version of the model's package.

import CoreDataModelFile
import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// A package of models as Xcode leaves it: each version has the entity Thing, and what is given.
private struct Package {
    let folder = Folder()
    var url: URL { folder.file("Shop.xcdatamodeld") }

    func write(_ version: String, _ text: String) throws {
        let place = url.appendingPathComponent("\(version).xcdatamodel")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data("<model>\n\(text)\n</model>".utf8).write(to: place.appendingPathComponent("contents"))
    }

    func choose(_ version: String) throws {
        try Data(
            """
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(version).xcdatamodel</string></dict></plist>
            """.utf8
        ).write(to: url.appendingPathComponent(".xccurrentversion"))
    }

    func model(_ version: String) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(loading: url.appendingPathComponent("\(version).xcdatamodel"))
    }

    static func entity(_ name: String, _ attributes: (name: String, type: String, more: String)...) -> String {
        "<entity name=\"\(name)\">"
            + attributes.map { "<attribute name=\"\($0.name)\" attributeType=\"\($0.type)\" \($0.more)/>" }.joined(
                separator: "\n")
            + "</entity>"
    }

    /// Three versions, of which the last is current.
    static func shop() throws -> Package {
        let package = Package()
        let note = entity("Note", ("text", "String", "optional=\"YES\""))
        let title = (name: "title", type: "String", more: "optional=\"YES\"")
        try package.write("Shop", entity("Item", ("price", "Integer 32", "optional=\"YES\""), title) + note)
        try package.write("Shop 2", entity("Item", ("price", "Double", "optional=\"YES\""), title) + note)
        try package.write(
            "Shop 3",
            entity(
                "Item", ("price", "Double", "defaultValueString=\"0\""),
                ("name", "String", "optional=\"YES\" elementID=\"title\"")) + note
                + entity("Tag", ("text", "String", "optional=\"YES\"")))
        try package.choose("Shop 3")
        return package
    }
}

@Suite("Stores of other versions") struct OtherVersionTests {
    static let types = [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType, NSPropertyListStoreType, BoxStore.type]

    /// Adds a store to a new coordinator, saves an object, and closes it.
    private func open(_ model: NSManagedObjectModel, _ type: String, in folder: Folder) throws {
        let rig = Rig(model, in: folder)
        let store = try rig.add(type)
        let context = rig.context()
        _ = context.make("Note")
        try context.save()
        try rig.coordinator.remove(store)
    }

    @Test(
        "A store is refused by the version that wrote it and what differs, in the same words whatever its type",
        arguments: types)
    func refused(_ type: String) throws {
        let package = try Package.shop()
        try open(package.model("Shop"), type, in: package.folder)
        let said = sentence { try open(NSManagedObjectModel(loading: package.url), type, in: package.folder) }
        #expect(
            said == """
                The model does not fit the store at \(package.folder.file("store").path). The store was written with version “Shop” of \
                Shop.xcdatamodeld, from which the model differs: Item.name was called title; Item.price was Integer 32 and is Double, was \
                optional and is required; Tag was added. Open the store with the model that wrote it, or migrate it.
                """)
        #expect(code { try open(package.model("Shop 2"), type, in: package.folder) } == 134100)
        try open(package.model("Shop"), type, in: package.folder)
    }

    @Test("Inspecting answers what opening throws, and which version fits", arguments: types)
    func inspected(_ type: String) throws {
        let package = try Package.shop()
        let file = package.folder.file("store")
        let rig = Rig(try NSManagedObjectModel(loading: package.url), in: package.folder)
        func inspect() throws -> StoreInspection {
            try rig.coordinator.inspectStore(ofType: type, configurationName: nil, at: file)
        }
        #expect(try inspect().content == .nothing && !FileManager.default.fileExists(atPath: file.path))
        try open(package.model("Shop 2"), type, in: package.folder)
        let mismatch = try #require(try inspect().mismatch)
        #expect(mismatch.changed == ["Item"] && mismatch.onlyInModel == ["Tag"] && mismatch.onlyInStore == [])
        let writer = try #require(mismatch.writer())
        #expect(writer.name == "Shop 2" && mismatch.diff(from: writer).entities.map(\.kind) == [.changed, .added])
        #expect(sentence { try rig.add(type) } == mismatch.refusal(at: file.path).sentence)
        let second = Rig(try package.model("Shop 2"), in: package.folder)
        #expect(try second.coordinator.inspectStore(ofType: type, configurationName: nil, at: file).mismatch == nil)
    }

    @Test("A store of none of the versions is refused by the names of entities", arguments: types)
    func unknown(_ type: String) throws {
        let package = try Package.shop()
        let model = try package.model("Shop")
        model.entitiesByName["Item"]?.versionHashModifier = "7"
        try open(model, type, in: package.folder)
        let said = sentence { try open(package.model("Shop 2"), type, in: package.folder) }
        #expect(
            said == """
                The model does not fit the store at \(package.folder.file("store").path). No version of Shop.xcdatamodeld does. Entities that \
                differ: Item. Open the store with the model that wrote it, or migrate it.
                """)
    }

    @Test("Copies of a model, models that were edited and merged models of one know its package")
    func copies() throws {
        let package = try Package.shop()
        try open(package.model("Shop"), NSSQLiteStoreType, in: package.folder)
        let copy = try #require(try package.model("Shop 2").copy() as? NSManagedObjectModel)
        copy.entitiesByName["Note"]?.versionHashModifier = "2"
        let said = sentence { try open(copy, NSSQLiteStoreType, in: package.folder) }
        #expect(said.contains("“Shop” of Shop.xcdatamodeld, from which the model differs: Item.price was"), "\(said)")
        #expect(
            said.contains("Item.price was Integer 32 and is Double; Note had no version hash modifier and has 2. Open"),
            "\(said)")
        let merged = try NSManagedObjectModel(merging: [package.model("Shop 2")])
        #expect(
            sentence { try open(merged, NSSQLiteStoreType, in: package.folder) }.contains(
                "Item.price was Integer 32 and is Double."))
        let alone = try #require(
            NSManagedObjectModel(
                draft: {
                    var draft = try package.model("Shop 2").draft()
                    draft.versions = nil
                    return draft
                }()))
        #expect(
            sentence { try open(alone, NSSQLiteStoreType, in: package.folder) }.contains(
                ". Entities that differ: Item. Open"))
    }

    @Test("A version that was damaged or removed since is no version, and the refusal is one by names")
    func damaged() throws {
        let package = try Package.shop()
        try open(package.model("Shop"), NSSQLiteStoreType, in: package.folder)
        let model = try NSManagedObjectModel(loading: package.url)
        try package.write("Shop", "<entity name=\"Item\"")
        try FileManager.default.removeItem(at: package.url.appendingPathComponent("Shop 2.xcdatamodel"))
        let said = sentence { try open(model, NSSQLiteStoreType, in: package.folder) }
        #expect(
            said.contains(
                "No version of Shop.xcdatamodeld does. Entities that differ: Item. Only in the model: Tag. Open"),
            "\(said)")
    }

    @Test("A store of one configuration is known by its entities, and only their differences count")
    func configuration() throws {
        let package = Package()
        for (version, type) in [("Shop", "String"), ("Shop 2", "Date")] {
            let entities =
                Package.entity("Item", ("a", type, "optional=\"YES\""))
                + Package.entity("Note", ("b", type, "optional=\"YES\""))
            try package.write(
                version, entities + "<configuration name=\"Items\"><memberEntity name=\"Item\"/></configuration>")
        }
        let rig = Rig(try package.model("Shop"), in: package.folder)
        try rig.coordinator.remove(rig.add(configuration: "Items"))
        let other = Rig(try package.model("Shop 2"), in: package.folder)
        let said = sentence { try other.add(configuration: "Items") }
        #expect(
            said.contains(
                "version “Shop” of Shop.xcdatamodeld, from which the model differs: Item.a was String and is Date. Open"
            ),
            "\(said)")
        func inspect(_ type: String, _ configuration: String?) throws {
            _ = try other.coordinator.inspectStore(
                ofType: type, configurationName: configuration, at: other.folder.file("store"))
        }
        #expect(code { try inspect(NSSQLiteStoreType, "None") } == 134020)
        #expect(code { try inspect("None", nil) } == 134000)
    }

    @Test("Twenty differences are told, and how many more there are")
    func bounded() throws {
        let package = Package()
        func version(_ name: String, _ type: String) throws {
            let attributes = (10..<40).map { "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"\(type)\"/>" }
                .joined()
            try package.write(name, "<entity name=\"Item\">\(attributes)</entity><entity name=\"Note\"/>")
        }
        try version("Shop", "String")
        try version("Shop 2", "Date")
        try open(package.model("Shop"), NSSQLiteStoreType, in: package.folder)
        let said = sentence { try open(package.model("Shop 2"), NSSQLiteStoreType, in: package.folder) }
        #expect(said.contains("Item.a29 was String and is Date; and 10 more. Open"), "\(said)")
    }

    @Test(
        "Of versions that may have written a store the one with just its hashes did, also where others have derived attributes"
    )
    func exact() throws {
        let package = Package()
        let (title, text) = (
            (name: "title", type: "String", more: "optional=\"YES\""),
            (name: "text", type: "String", more: "optional=\"YES\"")
        )
        let lower = (
            name: "lower", type: "String",
            more: "optional=\"YES\" derived=\"YES\" derivationExpression=\"canonical:(title)\""
        )
        let upper = (
            name: "upper", type: "String",
            more: "optional=\"YES\" derived=\"YES\" derivationExpression=\"canonical:(title)\""
        )
        let note = Package.entity("Note", text)
        try package.write("Shop", Package.entity("Item", title) + note)
        try package.write("Shop 2", Package.entity("Item", title, lower) + note)
        try package.write("Shop 3", Package.entity("Item", title, lower, upper) + note)
        try package.write(
            "Shop 4",
            Package.entity("Item", title, lower, upper) + Package.entity("Note", (name: "text", type: "Date", more: ""))
        )
        // Nothing says which is current: the last by name, or the one that fits a store.
        for version in ["Shop", "Shop 2", "Shop 3"] {
            let folder = Folder()
            try open(package.model(version), NSSQLiteStoreType, in: folder)
            let said = sentence { try open(package.model("Shop 4"), NSSQLiteStoreType, in: folder) }
            #expect(said.contains("with version “\(version)” of"), "\(said)")
            let recorded = try package.model(version).entityVersionHashesByName
            let draft = try ModelFile.draft(at: package.url, fitting: { recorded })
            #expect(draft.warnings.contains { "\($0)".contains("“\(version)”") }, "\(draft.warnings)")
        }
    }
}
