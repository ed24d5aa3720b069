// Histories that Apple's Core Data wrote, read through requests and by plain SQL.

import CoreData
import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@Suite("Reading histories written by Core Data") struct AppleReadingTests {
    static let stores = [
        // The older layout, which writes out its texts.
        "log2timeline+plaso/test_data/macos/knowledgec-10.13.db",
        // Its first hundred transactions were removed by its program.
        "log2timeline+plaso/test_data/ios/RMAdminStore-Local.sqlite",
        "log2timeline+plaso/test_data/ios/NoteStore.sqlite",
        "ink-splatters+osxphotos/tests/Test-RAW-10.15.1.photoslibrary/database/Photos.sqlite",
        "alemar11+CoreDataPlus/Tests/Resources/SampleModel2/Fixtures/SampleModel2_V1.sqlite",
        "alemar11+CoreDataPlus/Tests/Resources/SampleModel2/Fixtures/SampleModel2_V2.sqlite",
    ]

    /// The entities that a file says it has, without properties.
    private func draft(of tables: SQLiteFile) throws -> SchemaDraft {
        let rows = try tables.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1")
            .map { $0.split(separator: "|").map(String.init) }
        let names = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        var draft = SchemaDraft()
        draft.entities = rows.map { row in
            EntityDraft(row[1], parent: names[row[2]])
        }
        return draft
    }

    @Test("Transactions, changes, authors and times are what the tables say", arguments: stores, [true, false])
    func reading(_ path: String, _ isReadOnly: Bool) throws {
        guard let stores = Corpus.stores else { return }
        let folder = Folder()
        let url = folder.file("store")
        try Data(contentsOf: stores.appendingPathComponent(path)).write(to: url)
        let tables = try SQLiteFile(url)
        let isOld = try !tables.rows("SELECT name FROM pragma_table_info('ATRANSACTION')").contains("ZAUTHORTS")
        func text(_ name: String) -> String {
            isOld ? "Z\(name)" : "(SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = Z\(name)TS)"
        }
        let origin = ["AUTHOR", "CONTEXTNAME", "BUNDLEID", "PROCESSID"].map(text).joined(separator: ", ")
        let expected = try tables.rows(
            "SELECT Z_PK, \(origin), printf('%.3f', ZTIMESTAMP) FROM ATRANSACTION ORDER BY 1")
        let changes = try tables.rows(
            "SELECT c.Z_PK, ZTRANSACTIONID, ZCHANGETYPE, Z_NAME, ZENTITYPK FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = ZENTITY "
                + "ORDER BY ZTRANSACTIONID, 1")
        let authors = try tables.rows(
            "SELECT IFNULL(\(text("PROCESSID")), '-'), COUNT(*), group_concat(Z_PK) FROM (SELECT * FROM ATRANSACTION ORDER BY Z_PK) GROUP BY 1"
        )
        let desk = try Desk(
            NSManagedObjectModel(draft: draft(of: tables)), in: folder,
            options: [NSIgnorePersistentStoreVersioningOption: true, NSReadOnlyPersistentStoreOption: isReadOnly])
        let all = try desk.transactions()
        #expect(
            all.map { transaction in
                let texts = [transaction.author, transaction.contextName, transaction.bundleID, transaction.processID]
                    .map { $0 ?? "-" }
                let time = String(format: "%.3f", transaction.timestamp.timeIntervalSinceReferenceDate)
                return ([String(transaction.transactionNumber)] + texts.map { $0.isEmpty ? "-" : $0 } + [time]).joined(
                    separator: "|")
            } == expected)
        let read = all.flatMap { transaction in
            (transaction.changes ?? []).map { change in
                let id = change.changedObjectID
                let row = id.uriRepresentation().lastPathComponent.dropFirst()
                return
                    "\(change.changeID)|\(transaction.transactionNumber)|\(change.changeType.rawValue)|\(id.entity.name ?? "")|\(row)"
            }
        }
        #expect(read == changes && !read.isEmpty)
        // Found by SQL as well, through either layout.
        for row in authors {
            let parts = row.split(separator: "|").map(String.init)
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate =
                parts[0] == "-"
                ? NSPredicate(format: "processID == nil") : NSPredicate(format: "processID == %@", parts[0])
            let found = try desk.transactions(.fetchHistory(withFetch: fetch))
            #expect(found.map { String($0.transactionNumber) }.joined(separator: ",") == parts[2])
        }
        if let first = all.first, first.transactionNumber > 1 {
            let early = NSPersistentHistoryToken.archived([desk.store.identifier: 0])
            #expect(code { _ = try desk.transactions(.fetchHistory(after: early)) } == 134301)
        }
    }

    /// What an entity of a file has, as far as its history is about it: to-ones, attributes, those that outlive a row, to-manys.
    private struct Shape {
        var toOnes: [String] = []
        var attributes: [String] = []
        var kept: [String: AttributeType] = [:]
        var toManys: [String] = []
        /// In the order of bits, for an entity without parent.
        var bits: [String] { toOnes.sorted() + attributes.sorted() + toManys.sorted() }
    }

    private static let usage: [String: Shape] = [
        "Usage": Shape(
            toOnes: ["device", "user"], attributes: ["lastEventDate", "lastUpdatedDate"], toManys: ["blocks"]),
        "UsageCategory": Shape(
            toOnes: ["block"], attributes: ["identifier", "totalTimeInSeconds"], toManys: ["timedItems"]),
        "UsageTimedItem": Shape(
            toOnes: ["category"], attributes: ["bundleIdentifier", "domain", "totalTimeInSeconds", "usageTrusted"]),
        "UsageCountedItem": Shape(
            toOnes: ["block"],
            attributes: ["bundleIdentifier", "numberOfNotifications", "numberOfPickups", "usageTrusted"]),
        "UsageRequest": Shape(attributes: ["acknowledgedDate", "forUserDSID", "isBackgroundTask", "requestedDate"]),
        "InstalledApp": Shape(
            attributes: [
                "bundleIdentifier", "displayName", "iconData", "installedLocally", "sortKey", "uniqueIdentifier",
            ],
            kept: [
                "bundleIdentifier": .string, "installedLocally": .boolean, "sortKey": .binary,
                "uniqueIdentifier": .string,
            ]),
    ]

    private static func flag(_ value: Any?) -> String { (value as? Bool).map { $0 ? "1" : "0" } ?? "-" }

    /// - Parameter end: an entity without others below it, to which relationships lead.
    private func desk(_ path: String, _ shapes: [String: Shape], end: String, in folder: Folder) throws -> (
        Desk, SQLiteFile
    )? {
        guard let stores = Corpus.stores else { return nil }
        let url = folder.file("store")
        try Data(contentsOf: stores.appendingPathComponent(path)).write(to: url)
        let tables = try SQLiteFile(url)
        var draft = try self.draft(of: tables)
        for place in draft.entities.indices {
            guard let shape = shapes[draft.entities[place].name] else { continue }
            draft.entities[place].attributes = shape.attributes.map { name in
                var attribute = Clinic.attribute(name, shape.kept[name] ?? .string)
                attribute.preservesValueInHistoryOnDeletion = shape.kept[name] != nil
                return attribute
            }
            draft.entities[place].relationships =
                shape.toOnes.map { Clinic.toOne($0, end, inverse: nil) }
                + shape.toManys.map { Clinic.toMany($0, end, inverse: nil) }
        }
        let options = [NSIgnorePersistentStoreVersioningOption: true, NSReadOnlyPersistentStoreOption: true]
        return (try Desk(NSManagedObjectModel(draft: draft), in: folder, options: options), tables)
    }

    @Test("Updated properties are the bits of the masks, and tombstones the values that the tables keep")
    func properties() throws {
        let folder = Folder()
        guard let (desk, tables) = try desk(Self.stores[1], Self.usage, end: "UsageRequest", in: folder) else { return }
        var masks: [Int64: Set<String>] = [:]
        for row in try tables.rows(
            "SELECT c.Z_PK, Z_NAME, hex(ZCOLUMNS) FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = ZENTITY WHERE ZCHANGETYPE = 1"
        ) {
            let parts = row.split(separator: "|").map(String.init)
            guard let shape = Self.usage[parts[1]], let number = Int64(parts[0]) else { continue }
            let bits = parts[2].flatMap { digit in (0..<4).map { (digit.hexDigitValue ?? 0) & (8 >> $0) != 0 } }
            masks[number] = Set(zip(shape.bits, bits).filter(\.1).map(\.0))
        }
        let changes = try desk.transactions().flatMap { $0.changes ?? [] }
        let read = changes.filter { masks[$0.changeID] != nil }
        #expect(read.count == masks.count && masks.count > 1500)
        for change in read { #expect(Set((change.updatedProperties ?? []).map(\.name)) == masks[change.changeID]) }
        let expected = try tables.rows(
            "SELECT c.Z_PK, ZTOMBSTONE0, ZTOMBSTONE1, hex(ZTOMBSTONE2), ZTOMBSTONE3 FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = ZENTITY "
                + "WHERE ZCHANGETYPE = 2 AND Z_NAME = 'InstalledApp' ORDER BY 1")
        let left = changes.filter { $0.changeType == .delete && $0.changedObjectID.entity.name == "InstalledApp" }.map {
            change -> String in
            let values = change.tombstone ?? [:]
            let key: String = (values["sortKey"] as? Data ?? Data()).map { String(format: "%02X", $0) }.joined()
            let texts = ["bundleIdentifier", "uniqueIdentifier"].map { values[$0] as? String ?? "-" }
            return "\(change.changeID)|\(texts[0])|\(Self.flag(values["installedLocally"]))|\(key)|\(texts[1])"
        }
        #expect(left == expected && left.count == 74)
    }

    @Test("Tombstones of the older layout begin with what is inherited")
    func inherited() throws {
        let folder = Folder()
        let shapes = [
            "Object": Shape(attributes: ["uuid"], kept: ["uuid": .string]),
            "Event": Shape(attributes: ["shouldSync"], kept: ["shouldSync": .boolean]),
        ]
        guard let (desk, tables) = try desk(Self.stores[0], shapes, end: "Source", in: folder) else { return }
        let expected = try tables.rows(
            "SELECT ZENTITYPK, ZTOMBSTONE0, ZTOMBSTONE1 FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = ZENTITY "
                + "WHERE ZCHANGETYPE = 2 AND Z_NAME = 'Event' ORDER BY ZTRANSACTIONID, c.Z_PK")
        let changes: [NSPersistentHistoryChange] = try desk.transactions().flatMap { $0.changes ?? [] }
        let deletions = changes.filter { change in
            change.changeType == .delete && change.changedObjectID.entity.name == "Event"
        }
        let left = deletions.map { change -> String in
            let row = change.changedObjectID.uriRepresentation().lastPathComponent.dropFirst()
            let uuid = change.tombstone?["uuid"] as? String ?? "-"
            return "\(row)|\(uuid)|\(Self.flag(change.tombstone?["shouldSync"]))"
        }
        #expect(left == expected && left.count == 507)
    }
}

extension NSPersistentHistoryToken {
    /// The token that an archive with these numbers holds.
    static func archived(_ numbers: [String: Int64]) -> NSPersistentHistoryToken? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(
            NSDictionary(dictionary: numbers.mapValues { NSNumber(value: $0) }),
            forKey: "NSPersistentHistoryTokenDictionary")
        archiver.finishEncoding()
        guard let coder = try? NSKeyedUnarchiver(forReadingFrom: archiver.encodedData) else { return nil }
        coder.requiresSecureCoding = true
        return NSPersistentHistoryToken(coder: coder)
    }
}
