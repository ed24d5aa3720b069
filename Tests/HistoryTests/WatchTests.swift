// What is heard of a file, wherever it lies and whatever becomes of its folder, and what hearing costs.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Watching files", .serialized) struct WatchTests {
    private typealias Told = RemoteChangeTests.Told
    private static var told: [String: Any] { RemoteChangeTests.told }

    @Test("Whoever is told of a save may read and merge in the very context that saved, which is through with it")
    func reentrant() throws {
        let desk = try Desk(options: Self.told)
        let context = desk.context()
        nonisolated(unsafe) var seen: [String] = []
        nonisolated(unsafe) var token: NSPersistentHistoryToken?
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: desk.coordinator, queue: nil
        ) { posted in
            let said = posted.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            context.performAndWait {
                token = said
                let beds = (try? context.all("Bed")) ?? []
                let transactions = (try? desk.transactions()) ?? []
                for transaction in transactions {
                    context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                }
                seen.append(
                    "\(context.hasChanges) \(beds.count) \(beds.filter { $0.objectID.isTemporaryID || $0.isInserted }.count)"
                )
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.performAndWait {
            for number in 1...3 {
                context.make("Bed", ["number": number])
                try context.save()
            }
            #expect(!context.hasChanges)
        }
        // A look at the file may come before the save's own word; it is told on a thread that waits for the context, with what is there then.
        #expect(wait { context.performAndWait { seen.count } >= 3 } != nil)
        let told = context.performAndWait { (seen.sorted(), token) }
        #expect(
            told.0.count == 3 && told.0.last == "false 3 0"
                && told.0.allSatisfy { $0.hasPrefix("false ") && $0.hasSuffix(" 0") }, "\(told.0)")
        #expect(try desk.transactions().count == 3 && told.1 != nil)
    }

    @Test("A save over two stores is told once both have it")
    func twoStores() throws {
        let folder = Folder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Clinic.model())
        let options = Self.told.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
        let stores = try ["a", "b"].map {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file($0), options: options)
        }
        let context = coordinator.context()
        func addBeds() { for store in stores { context.assign(context.make("Bed", ["number": 1]), to: store) } }
        addBeds()
        try context.save()
        let files = ["a", "b"].map { folder.file($0) }
        nonisolated(unsafe) var seen: [[String]] = []
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { _ in
            seen.append((try? files.flatMap { try SQLiteFile($0).rows("SELECT COUNT(*) FROM ZBED") }) ?? [])
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        // The second store is locked for as long as its file needs to be looked at several times.
        let lock = try SQLiteFile(files[1])
        try lock.run("BEGIN IMMEDIATE")
        nonisolated(unsafe) let locked = lock
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.4)
            _ = try? locked.run("COMMIT")
        }
        addBeds()
        try context.save()
        #expect(seen == [["2", "2"], ["2", "2"]])
        try coordinator.close()
    }

    @Test("What another process writes while a save over two stores is on its way is told when that has ended")
    func besideTwoStores() throws {
        let desks = try [Desk(options: Self.told), Desk(options: Self.told)]
        let told = Told(desks[0])
        let held = RemoteChanges.beginSpanningSave(over: desks.map(\.store))
        #expect(held.count == 2)
        try Writer(desks[0].url, "beds", "1").wait()
        #expect(told.staysAt(0))
        for place in held { place.endSpanningSave() }
        #expect(wait { told.notes.count == 1 } != nil)
    }

    @Test("An observer that takes its time over one store does not keep others from being told")
    func slowObserver() throws {
        let (slow, other) = (try Desk(options: Self.told), try Desk(options: Self.told))
        let told = Told(other)
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: slow.coordinator, queue: nil
        ) { _ in
            begun.signal()
            end.wait()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        defer { end.signal() }
        try Writer(slow.url, "beds", "1").wait()
        #expect(begun.wait(timeout: .now() + 10) == .success)
        try Writer(other.url, "beds", "1").wait()
        #expect(wait { told.notes.count == 1 } != nil)
    }

    @Test("A store that is opened through a link is told of others' saves to the file")
    func link() throws {
        let (folder, place) = (Folder(), Folder())
        try {
            let first = try Desk(in: place)
            try first.coordinator.remove(first.store)
        }()
        try FileManager.default.createSymbolicLink(at: folder.file("store"), withDestinationURL: place.file("store"))
        let desk = try Desk(in: folder, options: Self.told)
        let told = Told(desk)
        try Writer(place.file("store"), "beds", "2").wait()
        #expect(wait { told.notes.count >= 2 } != nil && told.staysAt(2))
        // And a coordinator of the process that has the file without the link.
        let other = try Desk(in: place, options: Self.told)
        try other.addBed(1)
        #expect(told.notes.count == 3 && told.staysAt(3))
    }

    @Test("A refusal of a file behind a link leaves the log as it is")
    func linkedLog() throws {
        let (folder, place, source) = (Folder(), Folder(), Folder())
        let desk = try Desk(in: source)
        try desk.addBed(1)
        for name in ["store", "store-wal"] {
            try FileManager.default.copyItem(at: source.file(name), to: place.file(name))
        }
        let size = try Data(contentsOf: place.file("store-wal")).count
        try #require(size > 0)
        try FileManager.default.createSymbolicLink(at: folder.file("store"), withDestinationURL: place.file("store"))
        var draft = Clinic.draft()
        draft.entities.removeLast()
        for place in draft.entities.indices {
            draft.entities[place].relationships.removeAll { $0.destinationName == "Bed" }
        }
        let model = NSManagedObjectModel(draft: draft)
        #expect(code { _ = try Desk(model, in: folder) } == 134100)
        #expect(try Data(contentsOf: place.file("store-wal")).count == size)
    }

    @Test(
        "A store in a folder that was made anew is heard, while one of the former folder is still there",
        arguments: [true, false])
    func folderAnew(_ isMoved: Bool) throws {
        let folder = Folder()
        let former = try Desk(in: folder, options: Self.told)
        try former.addBed(1)
        let aside = Folder()
        if isMoved {
            try FileManager.default.moveItem(at: folder.url, to: aside.file("former"))
        } else {
            try FileManager.default.removeItem(at: folder.url)
        }
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let desk = try Desk(in: folder, options: Self.told)
        let told = Told(desk)
        try Writer(desk.url, "beds", "2").wait()
        #expect(wait { told.notes.count >= 2 } != nil && told.staysAt(2))
        #expect(former.store.identifier != desk.store.identifier)
    }

    @Test("The watch goes on when the log is removed and made anew under it")
    func logAnew() throws {
        let desk = try Desk()
        try desk.addBed(1)
        let rings = Shared()
        let watch = RemoteChanges.watch(desk.store) { rings.count.wrappingAdd(1, ordering: .relaxed) }
        let log = URL(fileURLWithPath: desk.url.path + "-wal")
        try FileManager.default.removeItem(at: log)
        #expect(wait { rings.value > 0 } != nil)
        try Data([1]).write(to: log, options: [])
        // The looks end by themselves.
        var before = -1
        while before != rings.value {
            before = rings.value
            Thread.sleep(forTimeInterval: 2.6)
        }
        let handle = try FileHandle(forWritingTo: log)
        try handle.write(contentsOf: Data([2]))
        try handle.close()
        #expect(wait { rings.value > before } != nil)
        withExtendedLifetime(watch) {}
    }

    private final class Shared: Sendable {
        let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
    }

    @Test("A save that comes while the looks after another are far apart is told within a second as well")
    func lateSave() throws {
        let desk = try Desk(options: Self.told)
        let silent = try Desk(in: desk.folder)
        let told = Told(desk)
        try silent.addBed(1)
        #expect(wait { told.notes.count == 1 } != nil)
        Thread.sleep(forTimeInterval: 0.85)
        try silent.addBed(2)
        let late = try #require(wait { told.notes.count == 2 })
        #expect(late < 1)
    }

    @Test(
        "While another process writes without pause there are a hundred looks a second at most, and hardly any once it has ended"
    )
    func looks() throws {
        let log = StatementLog()
        let desk = try Desk(options: Self.told.merging(log.options) { $1 })
        let told = Told(desk)
        let (before, start) = (log.texts.count, Date())
        try Writer(desk.url, "beds", "600").wait()
        #expect(wait(5) { told.notes.count == 600 } != nil)
        let seconds = Date().timeIntervalSince(start)
        let looks = log.texts.count - before
        #expect(looks > 1 && Double(looks) <= seconds * 100 + 10, "\(looks) in \(seconds) s")
        Thread.sleep(forTimeInterval: 6)
        let rest = log.texts.count
        Thread.sleep(forTimeInterval: 0.5)
        #expect(log.texts.count == rest)
    }

    @Test("A file without a log is watched as well")
    func rollback() throws {
        let desk = try Desk(options: Self.told.merging([NSSQLitePragmasOption: ["journal_mode": "DELETE"]]) { $1 })
        let told = Told(desk)
        try Writer(desk.url, "beds", "5", "rollback").wait()
        #expect(wait { told.notes.count >= 5 } != nil && told.staysAt(5))
        #expect(told.numbers == (1...5).map(Int64.init))
        #expect(!FileManager.default.fileExists(atPath: desk.url.path + "-wal"))
    }
}
