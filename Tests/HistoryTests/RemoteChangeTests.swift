// What is told of writes by others.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Remote changes", .serialized) struct RemoteChangeTests {
    static var told: [String: Any] { [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true] }

    /// The remote changes that a coordinator is told.
    final class Told: Sendable {
        struct Note: Sendable {
            let uuid: String?
            let url: URL?
            let token: NSPersistentHistoryToken?
        }
        private nonisolated(unsafe) let observer: any NSObjectProtocol

        init(_ desk: Desk) {
            let all = Shared()
            observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: desk.coordinator, queue: nil
            ) {
                let info = $0.userInfo ?? [:]
                let note = Note(
                    uuid: info[NSStoreUUIDKey] as? String, url: info[NSPersistentStoreURLKey] as? URL,
                    token: info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)
                all.notes.withLock { $0.append(note) }
            }
            shared = all
        }

        deinit { NotificationCenter.default.removeObserver(observer) }

        private final class Shared: Sendable { let notes = Mutex<[Note]>([]) }
        private let shared: Shared
        var notes: [Note] { shared.notes.withLock { $0 } }
        var numbers: [Int64] { notes.compactMap { $0.token?.transactions.values.first } }

        /// Whether nothing more comes for a while.
        func staysAt(_ count: Int) -> Bool {
            Thread.sleep(forTimeInterval: 0.9)
            return notes.count == count
        }
    }

    @Test("A save by another process is told within a second, once, with URL, UUID and token")
    func otherProcess() throws {
        let desk = try Desk(options: Self.told)
        let told = Told(desk)
        try Writer(desk.url, "beds", "1").wait()
        let late = try #require(wait { !told.notes.isEmpty })
        #expect(late < 1)
        #expect(told.staysAt(1))
        #expect(told.notes[0].uuid == desk.store.identifier && told.notes[0].url == desk.store.url)
        #expect(told.notes[0].token == (try desk.transactions()[0].token))
        try Writer(desk.url, "beds", "25").wait()
        #expect(wait { told.notes.count >= 26 } != nil && told.staysAt(26))
        #expect(told.numbers == (1...26).map(Int64.init))
    }

    @Test(
        "Own saves are told at once and once, also between coordinators of one process, mixed with those of another process"
    )
    func mixed() throws {
        let desk = try Desk(options: Self.told)
        let second = try Desk(in: desk.folder, options: Self.told)
        let silent = try Desk(in: desk.folder)
        let (first, other, none) = (Told(desk), Told(second), Told(silent))
        try desk.addBed(1)
        #expect(first.notes.count == 1 && other.notes.count == 1)
        let writer = try Writer(desk.url, "beds", "40")
        for number in 0..<40 { try (number % 2 == 0 ? desk : second).addBed(number) }
        writer.wait()
        // One that did not ask to be told tells nobody at once; the file does.
        try silent.addBed(2)
        #expect(wait { first.notes.count >= 82 && other.notes.count >= 82 } != nil)
        #expect(first.staysAt(82) && other.notes.count == 82 && none.notes.isEmpty)
        #expect(Set(first.numbers) == Set(1...82) && Set(other.numbers) == Set(1...82))
    }

    @Test("Without history: told without token, once a save; a numbering of rows alone is none")
    func withoutHistory() throws {
        let desk = try Desk(tracks: false, options: Self.told)
        let told = Told(desk)
        try desk.addBed(0)
        #expect(told.staysAt(1))
        try Writer(desk.url, "beds", "1", "plain").wait()
        #expect(wait { told.notes.count >= 2 } != nil && told.staysAt(2))
        #expect(told.notes.allSatisfy { $0.token == nil && $0.uuid == desk.store.identifier })
        try Writer(desk.url, "beds slowly", "5", "plain").wait()
        #expect(wait { told.notes.count >= 7 } != nil && told.staysAt(7))
        for number in 0..<50 { try desk.addBed(number) }
        #expect(told.notes.count == 57 && told.staysAt(57))
    }

    @Test("Without history: a change of another coordinator's row is told, also after rows of one's own were numbered")
    func afterOwnNumbering() throws {
        let desk = try Desk(tracks: false, options: Self.told)
        let told = Told(desk)
        let silent = try Desk(in: desk.folder, tracks: false)
        let context = silent.context()
        let bed = context.make("Bed", ["number": 0])
        try context.save()
        #expect(wait { told.notes.count >= 1 } != nil && told.staysAt(1))
        for number in 2...9 {
            if number % 2 == 0 {
                try desk.addBed(number)
            } else {
                bed.setValue(number, forKey: "number")
                try context.save()
            }
            #expect(wait(3) { told.notes.count >= number } != nil && told.staysAt(number))
        }
    }

    @Test("Without history a batch insertion is told, though it numbers its rows in one commit with them")
    func batchInsertion() throws {
        let desk = try Desk(tracks: false, options: Self.told)
        let told = Told(desk)
        let silent = try Desk(in: desk.folder, tracks: false)
        for count in 1...3 {
            try silent.context().execute(NSBatchInsertRequest(entityName: "Bed", objects: [["number": count]]))
            #expect(wait { told.notes.count >= count } != nil && told.staysAt(count))
        }
    }

    @Test(
        "A commit that comes seconds after it was written is told",
        .enabled(if: ChildProgram.strace != nil, "strace is not installed"))
    func slowDisk() throws {
        let desk = try Desk(tracks: false, options: Self.told)
        let told = Told(desk)
        try desk.addBed(1)
        try SQLiteFile(desk.url).run("PRAGMA wal_checkpoint(TRUNCATE)")
        try Writer(desk.url, "beds", "1", "plain", "full", syncsTake: 3).wait()
        #expect(wait { told.notes.count >= 2 } != nil)
    }

    @Test("Without history and without a log the first save by another coordinator is told, too")
    func withoutLog() throws {
        let pragmas: [String: Any] = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
        let desk = try Desk(tracks: false, options: pragmas.merging(Self.told) { $1 })
        let told = Told(desk)
        let saving = try Desk(in: desk.folder, tracks: false, options: pragmas)
        for number in 1...3 {
            let before = told.notes.count
            try saving.addBed(number)
            #expect(wait { told.notes.count > before } != nil)
            Thread.sleep(forTimeInterval: 0.9)
            // A look between the commit that numbers the bed and that of its row tells each of them.
            #expect(told.notes.count <= before + 2)
        }
    }

    @Test(
        "Rollbacks and checkpoints are not told, with history and without; saves after a log that was begun anew are",
        arguments: [true, false])
    func others(_ tracks: Bool) throws {
        let desk = try Desk(tracks: tracks, options: Self.told)
        let told = Told(desk)
        let plain = tracks ? "" : "plain"
        try desk.addBed(1)
        let tables = try SQLiteFile(desk.url)
        for sql in [
            "BEGIN IMMEDIATE", "UPDATE ZBED SET ZCODE = 7", "ROLLBACK", "PRAGMA wal_checkpoint(PASSIVE)",
            "PRAGMA wal_checkpoint(TRUNCATE)",
        ] { try tables.run(sql) }
        try Writer(desk.url, "refused", "1", plain).wait()
        #expect(told.staysAt(1))
        try Writer(desk.url, "beds", "1", plain).wait()
        #expect(wait { told.notes.count >= 2 } != nil)
        try tables.run("PRAGMA wal_checkpoint(TRUNCATE)")
        try Writer(desk.url, "beds", "1", plain).wait()
        #expect(wait { told.notes.count >= 3 } != nil && told.staysAt(3))
    }

    @Test("A store that is removed and added again has a log made anew, and goes on being told")
    func logAnew() throws {
        let folder = Folder()
        try {
            let desk = try Desk(in: folder, options: Self.told)
            try desk.addBed(1)
            try desk.coordinator.remove(desk.store)
        }()
        #expect(!FileManager.default.fileExists(atPath: folder.file("store-wal").path))
        let desk = try Desk(in: folder, options: Self.told)
        let told = Told(desk)
        try Writer(desk.url, "beds", "2").wait()
        #expect(wait { told.notes.count >= 2 } != nil && told.staysAt(2))
        try desk.coordinator.close()
        try Writer(desk.url, "beds", "1").wait()
        #expect(told.staysAt(2))
    }

    @Test("Where the system gives no watch the file is compared four times a second")
    func polling() throws {
        let desk = try Desk()
        let watcher = LogWatcher(polls: true)
        let place = WatchedStore(desk.store)
        place.begin(with: desk.store)
        place.add(desk.store)
        watcher.add(place)
        let told = Told(desk)
        LogWatcher.shared.remove(place)
        try Writer(desk.url, "beds", "3").wait()
        let late = try #require(wait { told.notes.count >= 3 })
        #expect(late < 1 && told.staysAt(3))
        watcher.remove(place)
    }

    @Test("A remote change comes as a message, and in an asynchronous sequence")
    func messages() async throws {
        let desk = try Desk(options: Self.told)
        let messages = NotificationCenter.default.messages(of: desk.coordinator, for: .remoteChange)
        let writer = try Writer(desk.url, "beds", "2")
        var iterator = messages.makeAsyncIterator()
        let (first, second) = (try await iterator.next(), try await iterator.next())
        writer.wait()
        #expect(first?.persistentStoreCoordinator === desk.coordinator && first?.storeURL == desk.store.url)
        #expect(first?.storeUUID == desk.store.identifier)
        let tokens = try desk.transactions().map(\.token)
        #expect([first, second].map { $0?.historyToken } == tokens)
        let again = first.flatMap {
            NSPersistentStoreCoordinator.RemoteChangeMessage.makeMessage(
                NSPersistentStoreCoordinator.RemoteChangeMessage.makeNotification($0))
        }
        #expect(again?.historyToken == first?.historyToken && again?.storeURL == first?.storeURL)
    }

    @Test("A process that merges what it is told is equal to the store after 10,000 changes by another")
    func merging() throws {
        let desk = try Desk(options: Self.told)
        let held = desk.context()
        for number in 0..<50 { held.make("Patient", ["name": "start \(number)"]) }
        try held.save()
        let context = held
        nonisolated(unsafe) var token = try desk.token
        nonisolated(unsafe) var objects: [NSManagedObjectID: NSManagedObject] = [:]
        for object in try context.all("Patient") { objects[object.objectID] = object }
        nonisolated(unsafe) var changes = 0
        nonisolated(unsafe) var failures: [any Error] = []
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: desk.coordinator, queue: nil
        ) { _ in
            context.performAndWait {
                do {
                    let result =
                        try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
                        as? NSPersistentHistoryResult
                    for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                        context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                        for change in transaction.changes ?? [] where change.changedObjectID.entity.name == "Patient" {
                            let id = change.changedObjectID
                            // Values are held in memory, so that only a merge brings others. What a later save has deleted is gone already.
                            if change.changeType == .insert { objects[id] = try? context.existingObject(with: id) }
                            if change.changeType == .delete { objects[id] = nil }
                        }
                        changes += transaction.changes?.count ?? 0
                        token = transaction.token
                    }
                    for object in objects.values { _ = object.value(forKey: "name") }
                } catch { failures.append(error) }
            }
        }
        // Several changes of an object in one save are one.
        let writer = try Writer(desk.url, "change", "14000")
        writer.wait()
        let last = try desk.token
        #expect(wait(60) { context.performAndWait { token == last } } != nil)
        NotificationCenter.default.removeObserver(observer)
        #expect(failures.count == 0, "\(failures.prefix(3))")
        context.performAndWait {
            let rows = try? SQLiteFile(desk.url).rows(
                "SELECT p.Z_PK, p.ZNAME, p.ZAGE, w.ZNAME FROM ZPATIENT p LEFT JOIN ZPLACE w ON w.Z_PK = p.ZWARD ORDER BY 1"
            )
            let ours = objects.sorted { $0.key.key.number < $1.key.key.number }.map { id, object in
                let values = [
                    object.value(forKey: "name"), object.value(forKey: "age"),
                    (object.value(forKey: "ward") as? NSManagedObject)?.value(forKey: "name"),
                ]
                return (["\(id.key.number)"] + values.map { $0.map { "\($0)" } ?? "-" }).joined(separator: "|")
            }
            #expect(ours == rows && ours.count > 1000)
        }
        #expect(changes >= 10_000)
    }
}
