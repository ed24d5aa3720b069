// Histories that Apple's Core Data wrote, read through requests and by plain SQL.

import CoreData
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

    private static let corpus: URL? = {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let folder = root.appendingPathComponent("shared/corpus/stores")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    /// The entities that a file says it has, without properties.
    private func model(of tables: Tables) throws -> NSManagedObjectModel {
        let rows = try tables.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1")
            .map { $0.split(separator: "|").map(String.init) }
        let names = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        var draft = SchemaDraft()
        draft.entities = rows.map { row in
            var entity = EntityDraft(name: row[1])
            entity.parentName = names[row[2]]
            return entity
        }
        return NSManagedObjectModel(draft: draft)
    }

    @Test("Transactions, changes, authors and times are what the tables say", arguments: stores, [true, false])
    func reading(_ path: String, _ isReadOnly: Bool) throws {
        guard let corpus = Self.corpus else { return print("skipped: there is no shared/corpus beside the package") }
        let folder = Folder()
        let url = folder.file("store")
        try Data(contentsOf: corpus.appendingPathComponent(path)).write(to: url)
        let tables = try Tables(url)
        let isOld = try !tables.rows("SELECT name FROM pragma_table_info('ATRANSACTION')").contains("ZAUTHORTS")
        func text(_ name: String) -> String {
            isOld ? "Z\(name)" : "(SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = Z\(name)TS)"
        }
        let origin = ["AUTHOR", "CONTEXTNAME", "BUNDLEID", "PROCESSID"].map(text).joined(separator: ", ")
        let expected = try tables.rows("SELECT Z_PK, \(origin), printf('%.3f', ZTIMESTAMP) FROM ATRANSACTION ORDER BY 1")
        let changes = try tables.rows(
            "SELECT c.Z_PK, ZTRANSACTIONID, ZCHANGETYPE, Z_NAME, ZENTITYPK FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = ZENTITY "
                + "ORDER BY ZTRANSACTIONID, 1")
        let authors = try tables.rows(
            "SELECT IFNULL(\(text("PROCESSID")), '-'), COUNT(*), group_concat(Z_PK) FROM (SELECT * FROM ATRANSACTION ORDER BY Z_PK) GROUP BY 1")
        let desk = try Desk(
            model(of: tables), in: folder,
            options: [NSIgnorePersistentStoreVersioningOption: true, NSReadOnlyPersistentStoreOption: isReadOnly])
        let all = try desk.transactions()
        #expect(
            all.map { transaction in
                let texts = [transaction.author, transaction.contextName, transaction.bundleID, transaction.processID].map { $0 ?? "-" }
                let time = String(format: "%.3f", transaction.timestamp.timeIntervalSinceReferenceDate)
                return ([String(transaction.transactionNumber)] + texts.map { $0.isEmpty ? "-" : $0 } + [time]).joined(separator: "|")
            } == expected)
        let read = all.flatMap { transaction in
            (transaction.changes ?? []).map { change in
                let id = change.changedObjectID
                let row = id.uriRepresentation().lastPathComponent.dropFirst()
                return "\(change.changeID)|\(transaction.transactionNumber)|\(change.changeType.rawValue)|\(id.entity.name ?? "")|\(row)"
            }
        }
        #expect(read == changes && !read.isEmpty)
        // Found by SQL as well, through either layout.
        for row in authors {
            let parts = row.split(separator: "|").map(String.init)
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = parts[0] == "-" ? NSPredicate(format: "processID == nil") : NSPredicate(format: "processID == %@", parts[0])
            let found = try desk.transactions(.fetchHistory(withFetch: fetch))
            #expect(found.map { String($0.transactionNumber) }.joined(separator: ",") == parts[2])
        }
        if let first = all.first, first.transactionNumber > 1 {
            let early = NSPersistentHistoryToken.archived([desk.store.identifier: 0])
            #expect(failure { _ = try desk.transactions(.fetchHistory(after: early)) }.code == 134301)
        }
    }
}

extension NSPersistentHistoryToken {
    /// The token that an archive with these numbers holds.
    static func archived(_ numbers: [String: Int64]) -> NSPersistentHistoryToken? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(
            NSDictionary(dictionary: numbers.mapValues { NSNumber(value: $0) }), forKey: "NSPersistentHistoryTokenDictionary")
        archiver.finishEncoding()
        guard let coder = try? NSKeyedUnarchiver(forReadingFrom: archiver.encodedData) else { return nil }
        coder.requiresSecureCoding = true
        return NSPersistentHistoryToken(coder: coder)
    }
}
