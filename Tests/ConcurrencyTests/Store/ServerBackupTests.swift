import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Copies of a live store", .timeLimit(.minutes(30)))
struct ServerBackupTests {
    private static func model() -> NSManagedObjectModel {
        var account = EntityDraft(name: "Account")
        account.attributes = [
            Clinic.attribute("name", .string), Clinic.attribute("sum", .integer64),
            Clinic.attribute("seal", .binary, external: true),
        ]
        return NSManagedObjectModel(account)
    }

    private static func open(_ url: URL) throws -> NSPersistentStoreCoordinator {
        try NSPersistentStoreCoordinator(model(), at: url)
    }

    private static func seal(_ sum: Int) -> Data { Data(repeating: UInt8(abs(sum) % 251), count: 150_000) }

    /// Two accounts whose sums are 1,000 together; each has the seal that belongs to its sum.
    private static func prepare(_ coordinator: NSPersistentStoreCoordinator) throws {
        try coordinator.inContext { context in
            for name in ["a", "b"] { _ = context.make("Account", ["name": name, "sum": 500, "seal": seal(500)]) }
            try context.save()
        }
    }

    private static func transfer(_ coordinator: NSPersistentStoreCoordinator, _ amount: Int) throws {
        try coordinator.inContext { context in
            let request = NSFetchRequest<NSManagedObject>("Account", by: "name")
            for (account, part) in zip(try context.fetch(request), [amount, -amount]) {
                let sum = (account.value(forKey: "sum") as? Int ?? 0) + part
                account.setValue(sum, forKey: "sum")
                account.setValue(seal(sum), forKey: "seal")
            }
            try context.save()
        }
    }

    private static func check(_ url: URL) throws {
        #expect(!url.log.exists)
        #expect(url.ask("PRAGMA integrity_check") == "ok")
        let copy = try open(url)
        try copy.inContext { context in
            let accounts = try context.all("Account")
            let sums = accounts.compactMap { $0.value(forKey: "sum") as? Int }
            #expect(accounts.count == 2 && sums.reduce(0, +) == 1000)
            for (account, sum) in zip(accounts, sums) { #expect(account.value(forKey: "seal") as? Data == seal(sum)) }
            try context.save()
        }
        try copy.close()
    }

    @Test("Each copy made while a writer runs opens, is sound, and holds the rows and files of one moment")
    func consistent() throws {
        let folder = Folder()
        let coordinator = try Self.open(folder.file("bank.sqlite"))
        try Self.prepare(coordinator)
        let state = Mutex((isDone: false, transfers: 0))
        let writer = Worker {
            while !state.withLock({ $0.isDone }) {
                try Self.transfer(coordinator, state.withLock { $0.transfers } % 7 - 2)
                state.withLock { $0.transfers += 1 }
            }
        }
        for number in 0..<12 {
            let before = state.withLock { $0.transfers }
            try coordinator.backup(to: folder.file("copy\(number).sqlite"))
            while state.withLock({ $0.transfers }) == before, !writer.hasEnded(within: 0) { usleep(1000) }
        }
        state.withLock { $0.isDone = true }
        try writer.join()
        for number in 0..<12 {
            try Self.check(folder.file("copy\(number).sqlite"))
            let files = try FileManager.default.contentsOfDirectory(
                atPath: folder.file(".copy\(number)_SUPPORT/_EXTERNAL_DATA").path)
            #expect(files.count == 2, "the files of its rows and no other")
        }
        let others = try folder.names()
            .filter { !$0.hasPrefix("copy") && !$0.hasPrefix("bank") && !$0.hasSuffix("_SUPPORT") }
        #expect(others.isEmpty, "\(others)")
    }

    @Test("A copy's files are its own: what happens to the store and its files leaves the copy whole")
    func independent() throws {
        let folder = Folder()
        let coordinator = try Self.open(folder.file("bank.sqlite"))
        try Self.prepare(coordinator)
        try coordinator.backup(to: folder.file("copy.sqlite"))
        let support = folder.file(".bank_SUPPORT/_EXTERNAL_DATA")
        for name in try FileManager.default.contentsOfDirectory(atPath: support.path) {
            let handle = try FileHandle(forWritingTo: support.appendingPathComponent(name))
            try handle.truncate(atOffset: 0)
            try handle.close()
        }
        try coordinator.close()
        try FileManager.default.removeItem(at: folder.file("bank.sqlite"))
        try Self.check(folder.file("copy.sqlite"))
    }

    @Test("A place that is taken, or in no folder, is refused with 134030 and left as it is")
    func taken() throws {
        let folder = Folder()
        let coordinator = try Self.open(folder.file("bank.sqlite"))
        try Self.prepare(coordinator)
        let target = folder.file("note.txt")
        try Data("mine".utf8).write(to: target)
        #expect(code { try coordinator.backup(to: target) } == 134030)
        #expect(try Data(contentsOf: target) == Data("mine".utf8))
        #expect(code { try coordinator.backup(to: folder.file("bank.sqlite")) } == 134030)
        for place in ["none/copy.sqlite", "note.txt/copy.sqlite", "."] {
            #expect(code { try coordinator.backup(to: folder.file(place)) } == 134030)
        }
        try FileManager.default.createDirectory(at: folder.file(".old_SUPPORT"), withIntermediateDirectories: true)
        #expect(code { try coordinator.backup(to: folder.file("old.sqlite")) } == 134030)
        #expect(!folder.file("old.sqlite").exists && folder.file(".old_SUPPORT").exists)
        try Self.transfer(coordinator, 5)
    }

    @Test("A closed store and one that is not SQLite are refused with a sentence")
    func refused() throws {
        let folder = Folder()
        let memory = NSPersistentStoreCoordinator(managedObjectModel: Clinic.model())
        #expect(code { try memory.backup(to: folder.file("x.sqlite")) } == 134070, "it has no store")
        try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(code { try memory.backup(to: folder.file("x.sqlite")) } == 134060)
        let coordinator = try Self.open(folder.file("bank.sqlite"))
        try coordinator.close()
        #expect(code { try coordinator.backup(to: folder.file("x.sqlite")) } == 134070)
        #expect(!folder.file("x.sqlite").exists)
    }
}
