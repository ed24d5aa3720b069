// Histories that Apple's Core Data wrote: their tables, what their masks mean, and a store of Apple's that goes on here.

import CoreDataSQL
import CoreDataSQLite
import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Histories written by Core Data") struct AppleHistoryTests {
    private static let books = "alemar11+CoreDataPlus/Tests/Resources/SampleModel2/Fixtures/SampleModel2_V1.sqlite"
    private static let notes = "log2timeline+plaso/test_data/ios/NoteStore.sqlite"
    private static let screenTime = "log2timeline+plaso/test_data/ios/RMAdminStore-Local.sqlite"
    private static let photos =
        "ink-splatters+osxphotos/tests/Test-Empty-Library-Ventura-13-5.photoslibrary/database/Photos.sqlite"

    /// A copy of a collected store; nil where there is no collection.
    private func copy(_ path: String, in folder: Folder) throws -> URL? {
        guard let stores = Corpus.stores else { return nil }
        let copy = folder.file("copy.sqlite")
        try FileManager.default.copyItem(at: stores.appendingPathComponent(path), to: copy)
        return copy
    }

    @Test(
        "Tables and indexes are those of Apple-written stores, to the letter and in their order",
        arguments: [(books, 0), (notes, 0), (screenTime, 4), (photos, 6)])
    func definitions(_ path: String, _ tombstones: Int) throws {
        let folder = Folder()
        guard let url = try copy(path, in: folder) else { return }
        let theirs = try SQLiteFile(url).rows(
            "SELECT sql FROM sqlite_master WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY rowid"
        )
        let tables = HistoryTables(tombstones: tombstones, dialect: SQLiteDialect())
        let ours = HistoryTables.Table.allCases.map(tables.definition) + tables.indexes
        #expect(ours.map { $0.replacing(" IF NOT EXISTS", with: "") } == theirs.compactMap { $0 })
    }

    // MARK: Masks

    /// An entity by the names of its properties.
    fileprivate struct Shape {
        var name: String
        var parent: String?
        var toOnes: [String: String] = [:]
        var attributes: String
        var toManys: [String: String] = [:]
    }

    private func schema(_ shapes: [Shape]) throws -> Schema {
        var draft = SchemaDraft()
        draft.entities = shapes.map { shape in
            var entity = EntityDraft(shape.name, parent: shape.parent)
            entity.attributes = shape.attributes.split(separator: " ").map { Clinic.attribute(String($0), .string) }
            entity.relationships =
                shape.toOnes.sorted { $0.key < $1.key }.map { Clinic.toOne($0, $1, inverse: nil) }
                + shape.toManys.sorted { $0.key < $1.key }.map { Clinic.toMany($0, $1, inverse: nil) }
            return entity
        }
        return try Schema(checking: draft)
    }

    /// Which properties changed together in a store, by entity; the sets in the order of their names.
    private func changes(_ path: String, _ shapes: [Shape]) throws -> [String: Set<String>]? {
        let folder = Folder()
        guard let url = try copy(path, in: folder) else { return nil }
        let schema = try schema(shapes)
        var found: [String: Set<String>] = [:]
        for row in try SQLiteFile(url).rows(
            "SELECT DISTINCT e.Z_NAME || ' ' || hex(ZCOLUMNS) FROM ACHANGE JOIN Z_PRIMARYKEY e ON e.Z_ENT = ZENTITY "
                + "WHERE ZCHANGETYPE = 1")
        {
            let parts = row.split(separator: " ").map(String.init)
            guard let entity = schema.entity(named: parts[0]) else { continue }
            let mask = ChangeMask(entity, schema)
            let bits = parts[1].compactMap(\.hexDigitValue).flatMap { digit in [8, 4, 2, 1].map { digit & $0 != 0 } }
            #expect(bits.count == (mask.properties.count + 7) / 8 * 8, "\(row)")
            #expect(!bits.dropFirst(mask.properties.count).contains(true), "\(row)")
            found[parts[0], default: []].insert(
                zip(mask.properties, bits).filter(\.1).map(\.0).sorted().joined(separator: " "))
            // The same mask comes of the same properties.
            let slots = entity.slots.indices.filter { slot in
                let name = entity.slots[slot].name + (entity.slots[slot].kind == .entityTag ? "#" : "")
                return zip(mask.properties, bits).contains { $0.0 == name && $0.1 }
            }
            let toMany = entity.toMany.filter { index in
                zip(mask.properties, bits).contains { $0.0 == schema[index].name && $0.1 }
            }
            let made = mask.bytes(slots: slots, relationships: toMany).map { String($0, radix: 16) }
            #expect(made.map { $0.count == 1 ? "0" + $0 : $0 }.joined().uppercased() == parts[1])
        }
        return found
    }

    @Test(
        "To-ones come first, then attributes, then to-manys: time that was used grows whenever an item of it is added")
    func order() throws {
        let found = try changes(
            Self.screenTime,
            [
                Shape(
                    name: "Usage", toOnes: ["device": "Other", "user": "Other"],
                    attributes: "lastEventDate lastUpdatedDate",
                    toManys: ["blocks": "Other"]),
                Shape(
                    name: "UsageCategory", toOnes: ["block": "Other"], attributes: "identifier totalTimeInSeconds",
                    toManys: ["timedItems": "Other"]),
                Shape(
                    name: "UsageTimedItem", toOnes: ["category": "Other"],
                    attributes: "bundleIdentifier domain totalTimeInSeconds usageTrusted"),
                Shape(
                    name: "UsageCountedItem", toOnes: ["block": "Other"],
                    attributes: "bundleIdentifier numberOfNotifications numberOfPickups usageTrusted"),
                Shape(name: "UsageRequest", attributes: "acknowledgedDate forUserDSID isBackgroundTask requestedDate"),
                Shape(name: "Other", attributes: "name"),
            ])
        guard let found else { return }
        #expect(
            found == [
                "Usage": ["lastUpdatedDate", "blocks lastUpdatedDate", "blocks"],
                "UsageCategory": ["totalTimeInSeconds", "timedItems totalTimeInSeconds"],
                "UsageTimedItem": ["totalTimeInSeconds"],
                "UsageCountedItem": ["numberOfNotifications", "numberOfPickups"],
                "UsageRequest": ["acknowledgedDate", "requestedDate"],
            ])
    }

    @Test(
        "What is inherited comes before what is declared, and an entity tag behind its to-one: a sent note's record comes back"
    )
    func inheritance() throws {
        let object = Shape(
            name: "ICCloudSyncingObject", toOnes: ["cloudState": "ICCloudState"],
            attributes: "activityEventsData assetCryptoInitializationVector assetCryptoTag cryptoInitializationVector "
                + "cryptoIterationCount cryptoSalt cryptoTag cryptoWrappedKey encryptedValuesJSON identifier isPasswordProtected "
                + "markedForDeletion minimumSupportedNotesVersion needsInitialFetchFromCloud needsToBeFetchedFromCloud "
                + "needsToSaveUserSpecificRecord passwordHint replicaIDToNotesVersionData serverRecordData serverShareData "
                + "unappliedEncryptedRecord userSpecificServerRecordData zoneOwnerName")
        let found = try changes(
            Self.notes,
            [
                object,
                Shape(
                    name: "ICDeviceMigrationState", parent: "ICCloudSyncingObject",
                    toOnes: ["account": "ICCloudSyncingObject"],
                    attributes: "deviceIdentifier state stateModificationDate"
                ).plain(),
                Shape(
                    name: "ICCloudState", toOnes: ["cloudSyncingObject": "ICCloudSyncingObject"],
                    attributes: "currentLocalVersion inCloud latestVersionSyncedToCloud localVersionDate"),
                Shape(
                    name: "ICNoteData", toOnes: ["note": "Note"],
                    attributes: "cryptoInitializationVector cryptoTag data"),
                Shape(name: "Note", attributes: "title"),
            ])
        guard let found else { return }
        #expect(
            found == [
                "ICDeviceMigrationState": ["serverRecordData"], "ICNoteData": ["data"],
                "ICCloudState": [
                    "currentLocalVersion localVersionDate", "latestVersionSyncedToCloud", "inCloud",
                    "inCloud latestVersionSyncedToCloud",
                ],
            ])
    }

    @Test("Tombstones begin with what is inherited: an event's UUID stands before its own flag")
    func tombstones() throws {
        let folder = Folder()
        guard let url = try copy("log2timeline+plaso/test_data/macos/knowledgec-10.13.db", in: folder) else { return }
        var object = EntityDraft("Object", [Clinic.attribute("uuid", .string)])
        object.attributes[0].preservesValueInHistoryOnDeletion = true
        var event = EntityDraft(
            "Event", [Clinic.attribute("shouldSync", .boolean), Clinic.attribute("startDate", .date)], parent: "Object")
        event.attributes[0].preservesValueInHistoryOnDeletion = true
        let schema = try Schema(checking: SchemaDraft(object, event))
        let entity = try #require(schema.entity(named: "Event"))
        let kept = ChangeMask(entity, schema).tombstones.map { entity.slots[$0].name }
        #expect(kept == ["uuid", "shouldSync"])
        let types = try SQLiteFile(url).rows(
            "SELECT DISTINCT typeof(ZTOMBSTONE0) || ' ' || length(ZTOMBSTONE0) || ' ' || typeof(ZTOMBSTONE1) || ' ' "
                + "|| typeof(ZTOMBSTONE2) FROM ACHANGE JOIN Z_PRIMARYKEY e ON e.Z_ENT = ZENTITY "
                + "WHERE ZCHANGETYPE = 2 AND e.Z_NAME = 'Event' AND ZTOMBSTONE0 IS NOT NULL")
        #expect(types == ["text 36 integer null"])
    }

    // MARK: Going on

    @Test("A store of Apple's goes on with its history where Apple's Core Data left it")
    func goesOn() throws {
        let folder = Folder()
        guard let url = try copy(Self.books, in: folder) else { return }
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel(draft: DerivedTriggerTests.sample()))
        let raw = try SQLiteFile(url)
        let definitions = "SELECT sql FROM sqlite_master WHERE type <> 'trigger' ORDER BY rowid"
        let before = try raw.rows(definitions)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSIgnorePersistentStoreVersioningOption: true, NSPersistentHistoryTrackingKey: true])
        let context = coordinator.context()
        context.transactionAuthor = "server"
        let book = try #require(try context.all("Book").first)
        let page = try #require((book.value(forKey: "pages") as? Set<NSManagedObject>)?.first)
        let keys = [book, page].map { $0.objectID.uriRepresentation().lastPathComponent.dropFirst() }
        book.setValue("Retitled", forKey: "title")
        context.delete(page)
        try context.save()
        #expect(try raw.rows(definitions) == before)
        #expect(
            try raw.rows(
                "SELECT c.Z_PK || ' ' || ZTRANSACTIONID || ' ' || ZCHANGETYPE || ' ' || ZENTITYPK || ' ' || IFNULL(hex(ZCOLUMNS), '') "
                    + "FROM ACHANGE c WHERE ZTRANSACTIONID > 1 ORDER BY 1")
                == ["5469 2 1 \(keys[0]) 05", "5470 2 2 \(keys[1]) "])
        #expect(
            try raw.rows("SELECT Z_ENT || Z_NAME || Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT IN (16001, 16002) ORDER BY 1")
                == ["16001CHANGE5470", "16002TRANSACTION2"])
        #expect(
            try raw.rows(
                "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS WHERE t.Z_PK = 2")
                == ["server"])
        #expect(
            try raw.rows("SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK < 3") == [
                "com.apple.dt.xctest.tool", "xctest",
            ])
        #expect(try raw.rows("PRAGMA integrity_check") == ["ok"])
    }

    @Test("A store whose history Apple's Core Data made and never wrote to takes its first transaction")
    func first() throws {
        let folder = Folder()
        guard let url = try copy(Self.books, in: folder) else { return }
        // As in the collected default.store: the tables are there, their rows of Z_PRIMARYKEY are not.
        for sql in [
            "DELETE FROM ACHANGE", "DELETE FROM ATRANSACTION", "DELETE FROM ATRANSACTIONSTRING",
            "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000",
        ] { try SQLiteFile(url).run(sql) }
        let coordinator = try NSPersistentStoreCoordinator(
            NSManagedObjectModel(draft: DerivedTriggerTests.sample()), at: url,
            options: [NSIgnorePersistentStoreVersioningOption: true, NSPersistentHistoryTrackingKey: true])
        let context = coordinator.context()
        try #require(try context.all("Book").first).setValue("Retitled", forKey: "title")
        try context.save()
        #expect(
            try SQLiteFile(url).rows(
                "SELECT Z_ENT || Z_NAME || Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT IN (16001, 16002) ORDER BY 1")
                == ["16001CHANGE1", "16002TRANSACTION1"])
    }
}

extension AppleHistoryTests.Shape {
    /// Without sub-entities at the other end of its to-ones, as in the store's model.
    fileprivate func plain() -> Self {
        var shape = self
        shape.toOnes = shape.toOnes.mapValues { _ in "Note" }
        return shape
    }
}
