// Stores with a history: how they are opened, and where they are in it.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite("Stores with a history") struct HistoryOpeningTests {
    private func rename(_ context: NSManagedObjectContext, _ name: String) throws {
        try #require(try context.all("Patient").first).setValue(name, forKey: "name")
    }

    @Test("A store that had no history gets one when it is opened with the option; its rows stay as they are")
    func begin() throws {
        let rig = Rig()
        let store = try rig.add()
        try rig.filled()
        try rig.coordinator.remove(store)
        let rows = try rig.history().rows("SELECT Z_PK, Z_OPT, ZNAME FROM ZPATIENT")
        let fresh = Rig()
        try fresh.add(options: Rig.tracking)
        let again = Rig(in: rig.folder)
        try again.add(options: Rig.tracking)
        let file = try again.history()
        #expect(try file.definitions() == fresh.history().definitions())
        #expect(try file.definitions().count == 11)
        #expect(try file.rows("SELECT Z_PK, Z_OPT, ZNAME FROM ZPATIENT") == rows)
        let context = again.context(author: "late")
        try rename(context, "Eva")
        try context.save()
        #expect(try file.transactions() == ["1|late|-"])
    }

    @Test("12.5 A store with a history that is opened without the option is read-only, and stays as it is")
    func closed() throws {
        let rig = Rig()
        let store = try rig.add(options: Rig.tracking)
        try rig.filled()
        try rig.coordinator.remove(store)
        let bytes = try Data(contentsOf: rig.folder.file("store"))
        for options in [nil, [NSPersistentHistoryTrackingKey: false]] as [[AnyHashable: Any]?] {
            let other = Rig(in: rig.folder)
            let closed = try other.add(options: options)
            #expect(closed.isReadOnly)
            let context = other.context()
            try rename(context, "Eva")
            let said = sentence { try context.save() }
            #expect(code { try context.save() } == 134030)
            #expect(said.contains("NSPersistentHistoryTrackingKey"), "\(said)")
            context.rollback()
            _ = context.make("Doctor", ["name": "Bo"])
            #expect(code { try context.save() } == 134070)
            #expect(NSPersistentHistoryToken(of: [closed]) == nil)
            try other.coordinator.remove(closed)
            #expect(try Data(contentsOf: rig.folder.file("store")) == bytes)
        }
        let open = Rig(in: rig.folder)
        #expect(try open.add(options: Rig.tracking).isReadOnly == false)
        let context = open.context()
        try rename(context, "Eva")
        try context.save()
        #expect(try open.history().transactions().count == 2)
    }

    @Test("Opened read-only with the option, a store tells where its history is and is not written")
    func readOnly() throws {
        let rig = Rig()
        let store = try rig.add(options: Rig.tracking)
        try rig.filled()
        try rig.coordinator.remove(store)
        let reader = try Rig(in: rig.folder).add(
            options: [NSPersistentHistoryTrackingKey: true, NSReadOnlyPersistentStoreOption: true])
        #expect(NSPersistentHistoryToken(of: [reader])?.transactions.values.first == 1)
        let plain = Rig()
        try plain.coordinator.remove(try plain.add())
        let without = try Rig(in: plain.folder).add(
            options: [NSPersistentHistoryTrackingKey: true, NSReadOnlyPersistentStoreOption: true])
        #expect(NSPersistentHistoryToken(of: [without]) == nil)
        #expect(try plain.history().keepsHistory == false)
    }

    @Test("A history of Core Data's first form, with its texts written out, gets the columns that it lacks")
    func oldForm() throws {
        let rig = Rig()
        let store = try rig.add()
        try rig.filled()
        try rig.coordinator.remove(store)
        let file = try rig.history()
        // As in knowledgec-10.13.db of the collected stores.
        for sql in [
            "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, "
                + "ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
            "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, "
                + "ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
            "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
            "INSERT INTO ATRANSACTION VALUES (536, 16002, NULL, 545433821.127018, NULL, 'com.example', NULL, 'example', NULL)",
            "INSERT INTO ACHANGE VALUES (1115, 16001, NULL, 0, 4, 1, 536, NULL)",
            "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 1115), (16002, 'TRANSACTION', 0, 536)",
        ] { try file.run(sql) }
        var draft = Clinic.draft()
        draft.entities[0].attributes[0].preservesValueInHistoryOnDeletion = true
        let again = Rig(NSManagedObjectModel(draft: draft), in: rig.folder)
        try again.add(
            options: [NSPersistentHistoryTrackingKey: true, NSIgnorePersistentStoreVersioningOption: true])
        let context = again.context(author: "new")
        context.delete(try #require(try context.all("Patient").first))
        try context.save()
        #expect(try file.transactions() == ["536|-|-", "537|new|-"])
        let former = "SELECT ZBUNDLEID, ZPROCESSID, ZAUTHORTS FROM ATRANSACTION WHERE Z_PK = 536"
        #expect(try file.rows(former) == ["com.example|example|-"])
        #expect(try file.rows("SELECT MIN(Z_PK) FROM ACHANGE WHERE ZTRANSACTIONID = 537") == ["1116"])
        #expect(try file.rows("SELECT ZTOMBSTONE0 FROM ACHANGE WHERE ZTOMBSTONE0 IS NOT NULL") == ["Eve"])
        #expect(try file.rows("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'ATRANSACTION%INDEX'") == ["4"])
    }

    @Test(
        "12.4 Tokens of two coordinators on one file are equal at the same point, also archived; without history there is none"
    )
    func tokens() throws {
        let first = Rig()
        let store = try first.add(options: Rig.tracking)
        let second = Rig(in: first.folder)
        let same = try second.add(options: Rig.tracking)
        let start = try #require(NSPersistentHistoryToken(of: [store]))
        #expect(start.transactions == [store.identifier: 0])
        let context = try first.filled()
        let now = try #require(first.coordinator.currentPersistentHistoryToken(fromStores: nil))
        let theirs = second.coordinator.currentPersistentHistoryToken(fromStores: [same])
        #expect(now == theirs && now.hash == theirs?.hash)
        #expect(first.coordinator.currentPersistentHistoryToken(fromStores: []) == nil)
        #expect(now != start && now.transactions == [store.identifier: 1])
        #expect(now.description == "{ \"\(store.identifier ?? "")\" = 1; }")
        #expect(now.copy() as? NSPersistentHistoryToken == now)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: now, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: archive) == now)
        try rename(context, "Eva")
        try context.save()
        #expect(NSPersistentHistoryToken(of: [same])?.transactions == [store.identifier: 2])
        let plain = try Rig().add()
        #expect(NSPersistentHistoryToken(of: [plain]) == nil && NSPersistentHistoryToken(of: []) == nil)
        #expect(NSPersistentHistoryToken(of: [plain, store])?.transactions == [store.identifier: 2])
        let memory = try Rig().coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"),
            options: Rig.tracking)
        #expect(NSPersistentHistoryToken(of: [memory])?.transactions.count == 1)
    }

    @Test("10 A remote change carries the token of a store that keeps history, and of no other")
    func remoteChange() throws {
        let told: [AnyHashable: Any] = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
        let rig = Rig()
        let store = try rig.add(options: told.merging(Rig.tracking) { $1 })
        let second = Rig(in: rig.folder)
        try second.add(options: told.merging(Rig.tracking) { $1 })
        let log = StoreLog(second.coordinator)
        try rig.filled()
        let info = try #require(log.notes.first?.userInfo)
        #expect((info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)?.transactions == [store.identifier: 1])
        let plain = Rig()
        try plain.add(options: told)
        let other = StoreLog(plain.coordinator)
        try plain.filled()
        #expect(other.notes.count == 1 && other.notes.first?.userInfo?[NSPersistentHistoryTokenKey] == nil)
    }

    @Test(
        "A store that is not SQLite takes the option and keeps no history",
        arguments: [
            NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType, NSPropertyListStoreType, BoxStore.type,
            ShelfStore.type,
        ])
    func others(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add(type, options: Rig.tracking)
        try rig.filled()
        #expect(NSPersistentHistoryToken(of: [store]) == nil && !store.isReadOnly)
    }

    @Test("A container's description asks for the history as for any option")
    func container() throws {
        let folder = Folder()
        let container = NSPersistentContainer(name: "Clinic", managedObjectModel: Clinic.model())
        let description = NSPersistentStoreDescription(url: folder.file("store"))
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        context.transactionAuthor = "container"
        try context.performAndWait {
            _ = context.make("Doctor", ["name": "Ada"])
            try context.save()
        }
        #expect(try SQLiteFile(folder.file("store")).transactions() == ["1|container|-"])
    }

    @Test("A store copied by migratePersistentStore into one with the option has its copying in the history")
    func migrated() throws {
        let rig = Rig()
        let store = try rig.add()
        try rig.filled()
        try rig.coordinator.migratePersistentStore(
            store, to: rig.folder.file("other"), options: Rig.tracking, withType: NSSQLiteStoreType)
        let file = try SQLiteFile(rig.folder.file("other"))
        #expect(try file.transactions() == ["1|-|-"])
        #expect(try file.lastChanges().count == 5)
    }
}
