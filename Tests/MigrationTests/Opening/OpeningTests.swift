// Adding a store of another version: what the options say, and what is refused in which words.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Opening a store of another version") struct OpeningTests {
    private typealias V = Versions

    private static func shop() throws -> Versions {
        try Versions(
            V.entity("Item", "", V.attribute("title"), V.attribute("price", "Integer 32"))
                + V.entity("Note", "", V.attribute("text")),
            V.entity(
                "Ware", "elementID=\"Item\"", V.attribute("name", "String", "optional=\"YES\" elementID=\"title\""),
                V.attribute("price", "Integer 32"), V.attribute("stock", "Integer 64", "defaultValueString=\"7\"")))
    }

    private func filled() throws -> Versions {
        let shop = try Self.shop()
        try shop.open(1) { context in
            for number in 1...5 { context.make("Item", ["title": "t\(number)", "price": number]) }
            context.make("Note", ["text": "gone"])
            try context.save()
        }
        return shop
    }

    @Test("13.2 With both options the store is migrated, and opens afterwards without them")
    func migrated() throws {
        let shop = try filled()
        for options in [V.automatic, [:]] {
            try shop.open(2, NSSQLiteStoreType, options) { context in
                let names = try context.values("Ware", "name").sorted()
                #expect(names == ["t1", "t2", "t3", "t4", "t5"])
                let stocks = try context.values("Ware", "stock")
                #expect(stocks == Array(repeating: "7", count: 5))
            }
        }
    }

    @Test("13.2 A container migrates unless its description says otherwise")
    func container() throws {
        let shop = try filled()
        for isOn in [false, true] {
            let container = NSPersistentContainer(name: "Shop", managedObjectModel: try shop.model(2))
            let description = NSPersistentStoreDescription(url: shop.store)
            if !isOn { description.shouldMigrateStoreAutomatically = false }
            container.persistentStoreDescriptions = [description]
            nonisolated(unsafe) var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            #expect((failure as? CocoaError)?.number == (isOn ? nil : 134100))
            try container.persistentStoreCoordinator.close()
        }
    }

    @Test(
        "13.2 Without the first option a store is refused (134100), without the second for want of a mapping model (134140)"
    )
    func options() throws {
        let shop = try filled()
        let before = try Data(contentsOf: shop.store)
        #expect(caught { try shop.open(2, NSSQLiteStoreType, [:]) { _ in } }?.number == 134100)
        let second = [NSInferMappingModelAutomaticallyOption: true]
        #expect(caught { try shop.open(2, NSSQLiteStoreType, second) { _ in } }?.number == 134100)
        let error = caught {
            try shop.open(2, NSSQLiteStoreType, [NSMigratePersistentStoresAutomaticallyOption: true]) { _ in }
        }
        #expect(error?.number == 134140 && error?.sentence.contains("no mapping model") == true)
        #expect(try Data(contentsOf: shop.store) == before)
    }

    @Test("13.2 Where no model is found that wrote the store, 134130 says so, with the refusal as its cause")
    func missingSource() throws {
        let shop = try filled()
        try FileManager.default.removeItem(at: shop.url.appendingPathComponent("Shop 1.xcdatamodel"))
        try shop.write("DELETE FROM Z_MODELCACHE")
        let error = caught { try shop.open(2) { _ in } }
        #expect(error?.number == 134130)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.number == 134100)
    }

    @Test("13.1 Another type of an attribute is refused (134190) with entity, property, both types and the way out")
    func type() throws {
        let shop = try Versions(
            V.entity("Item", "", V.attribute("price", "Integer 32")),
            V.entity("Item", "", V.attribute("price", "Double")))
        try shop.open(1) { try $0.save() }
        let error = caught { try shop.open(2) { _ in } }
        #expect(error?.number == 134190)
        #expect(error?.userInfo[NSEntityNameErrorKey] as? String == "Item")
        #expect(error?.validationKey == "price")
        let said = error?.sentence ?? ""
        #expect(said.contains("Item.price was Integer 32 and is Double") && said.contains("mapping model"), "\(said)")
    }

    @Test("A store that may not be written is not migrated: 134110 with the cause")
    func readOnly() throws {
        let shop = try filled()
        let error = caught {
            try shop.open(2, NSSQLiteStoreType, V.automatic.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }) {
                _ in
            }
        }
        #expect(error?.number == 134110)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.number == 134030)
    }

    @Test("Rows that are equal in what is unique now are told, ten at most (134111)")
    func duplicates() throws {
        let unique =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"title\"/></uniquenessConstraint></uniquenessConstraints>"
        let shop = try Versions(
            V.entity("Item", "", V.attribute("title")), V.entity("Item", "", V.attribute("title"), unique))
        try shop.open(1) { context in
            for number in 1...40 {
                context.make("Item", ["title": number % 20 == 0 ? "x\(number)" : "t\(number % 20)"])
            }
            for _ in 1...3 { context.make("Item") }
            try context.save()
        }
        let error = caught { try shop.open(2) { _ in } }
        #expect(error?.number == 134111)
        #expect(error?.userInfo[NSEntityNameErrorKey] as? String == "Item")
        let said = error?.sentence ?? ""
        #expect(said.contains("“t1”") && said.components(separatedBy: "x-coredata://").count == 11, "\(said)")
        #expect(said.contains("/Item/p"))
        try shop.open(1) { context in
            let items = try context.all("Item").filter { $0.value(forKey: "title") != nil }
            var seen: Set<String> = []
            for item in items where !seen.insert(item.value(forKey: "title") as? String ?? "").inserted {
                context.delete(item)
            }
            try context.save()
        }
        let count = try shop.open(2) { try $0.all("Item").count }
        #expect(count == 24)
    }

    private static func unique() throws -> Versions {
        let unique =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"title\"/></uniquenessConstraint></uniquenessConstraints>"
        return try Versions(
            V.entity("Item", "", V.attribute("title")),
            V.entity("Ware", "elementID=\"Item\"", V.attribute("title"), unique))
    }

    @Test(
        "Stores of types that keep constraints tell equal objects in the same words, in pairs, ten at most, with a mapping model or without (134111)",
        arguments: [NSSQLiteStoreType, NSPropertyListStoreType], [false, true])
    func equalObjects(_ type: String, _ mapped: Bool) throws {
        let shop = try Self.unique()
        try shop.open(1, type) { context in
            for number in 1...24 { context.make("Item", ["title": "t\(number % 12)"]) }
            context.make("Item")
            try context.save()
        }
        let before = try Data(contentsOf: shop.store)
        let uuid =
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: shop.store)[NSStoreUUIDKey]
            as? String ?? ""
        let error = caught {
            if mapped {
                let (first, second) = (try shop.model(1), try shop.model(2))
                let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
                let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
                manager.usesStoreSpecificMigrationManager = false
                try manager.migrateInPlace(shop.store, type: type, options: nil, with: mapping)
            } else {
                try shop.open(2, type) { _ in }
            }
        }
        #expect(error?.number == 134111, "\(error?.sentence ?? "")")
        let said = error?.sentence ?? ""
        let told = said.matches(of: /x-coredata:\/\/([^\/]+)\/Item\/p([0-9]+) \(“(t[0-9]+)”\)/)
        #expect(
            said.contains("title of Ware is unique") && told.count == 10 && told.allSatisfy { $0.1 == uuid }, "\(said)")
        for pair in stride(from: 0, to: told.count - 1, by: 2) {
            #expect(told[pair].3 == told[pair + 1].3 && told[pair].2 != told[pair + 1].2, "\(said)")
        }
        #expect(said.components(separatedBy: "x-coredata://").count == 11)
        if type != NSSQLiteStoreType { #expect(try Data(contentsOf: shop.store) == before) }
        #expect(try shop.open(1, type) { try $0.all("Item").count } == 25)
    }

    @Test(
        "A store of a type that keeps no constraints is not migrated to a version with one (134020)",
        arguments: [NSXMLStoreType, NSBinaryStoreType])
    func constraintRefused(_ type: String) throws {
        let shop = try Self.unique()
        try shop.open(1, type) { context in
            for number in 1...3 { context.make("Item", ["title": "t\(number)"]) }
            try context.save()
        }
        let before = try Data(contentsOf: shop.store)
        let error = caught { try shop.open(2, type) { _ in } }
        #expect(error?.number == 134020 && error?.sentence.contains("Ware") == true, "\(error?.sentence ?? "")")
        #expect(try Data(contentsOf: shop.store) == before)
        #expect(try shop.open(1, type) { try $0.all("Item").count } == 3)
    }

    @Test(
        "A store that another process has migrated since it was refused is not migrated once more",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType, NSPropertyListStoreType])
    func migratedMeanwhile(_ type: String) throws {
        // A second migration would take the title from a heading that is there no more.
        let shop = try Versions(
            V.entity("Item", "", V.attribute("title") + V.attribute("heading")),
            V.entity("Item", "", V.attribute("title", "String", "optional=\"YES\" elementID=\"heading\"")))
        try shop.open(1, type) { context in
            context.make("Item", ["title": "t", "heading": "h"])
            try context.save()
        }
        let late = NSPersistentStoreCoordinator(managedObjectModel: try shop.model(2))
        var attempts = 0
        let options = try StoreOptions(Versions.automatic)
        try late.migrating(type, nil, shop.store, options) {
            attempts += 1
            let found = try late.inspectStore(ofType: type, configurationName: nil, at: shop.store)
            guard let mismatch = found.mismatch else { return }
            // The other one is through before the refusal, as a store throws it, is looked at.
            if attempts == 1 { try shop.open(2, type) { _ in } }
            throw mismatch.refusal(at: shop.store.path)
        }
        #expect(attempts == 2)
        #expect(try shop.open(2, type, [:]) { try $0.values("Item", "title") } == ["h"])
    }

    @Test(
        "A store of a version without entities is migrated to one that has some",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func nothingBefore(_ type: String) throws {
        let shop = try Versions("", V.entity("Item", "", V.attribute("title")))
        try shop.open(1, type) { _ in }
        #expect(caught { try shop.open(2, type, [:]) { _ in } }?.number == 134100)
        try shop.open(2, type) { context in
            context.make("Item", ["title": "t"])
            try context.save()
        }
        #expect(try shop.open(2, type, [:]) { try $0.values("Item", "title") } == ["t"])
    }

    @Test("A mapping model of the program's that cannot be read is no reason to infer one: it is named")
    func unreadable() throws {
        let shop = try filled()
        let file = shop.folder.file("Shop1to2.cdm")
        try Data("no archive".utf8).write(to: file)
        for body in [
            { try shop.open(2) { _ in } },
            {
                try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).migrateStore(
                    at: shop.store, toVersionsOf: shop.url)
            },
        ] as [() throws -> Void] {
            let error = caught(body)
            #expect(
                error?.number == 134110 && error?.sentence.contains("Shop1to2.cdm") == true, "\(error?.sentence ?? "")")
        }
        try FileManager.default.removeItem(at: file)
        #expect(try shop.open(2) { try $0.all("Ware").count } == 5)
    }

    @Test("A value that must be there and is not is told with the object that lacks it")
    func missingValue() throws {
        let shop = try Versions(
            V.entity("Item", "", V.toOne("note", "Note")) + V.entity("Note"),
            V.entity("Item", "", V.toOne("note", "Note", nil, "")) + V.entity("Note"))
        try shop.open(1) { context in
            context.make("Item", ["note": context.make("Note")])
            try context.save()
            context.make("Item")
            try context.save()
        }
        let error = caught { try shop.open(2) { _ in } }
        #expect(error?.number == 134110)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.number == 1570)
        #expect(error?.sentence.contains("/Item/p2") == true, "\(error?.sentence ?? "")")
    }
}
