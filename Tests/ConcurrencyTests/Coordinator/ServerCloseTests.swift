import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Closing a coordinator", .timeLimit(.minutes(30)))
struct ServerCloseTests {
    private func filled(_ options: [AnyHashable: Any]? = nil) throws -> Stack {
        let stack = try Stack(options: options)
        try stack.coordinator.inContext { context in
            for index in 0..<20 { _ = context.make("Doctor", ["name": "\(index)"]) }
            try context.save()
        }
        return stack
    }

    @Test("Closing waits for the read that has begun, leaves one file, and everything later is refused with 134070")
    func drains() throws {
        let stack = try filled()
        let (coordinator, url) = (stack.coordinator, stack.folder.file("store.sqlite"))
        #expect(url.log.exists)
        let read = LongRead(coordinator, "Doctor")
        let closing = Worker { try coordinator.close() }
        #expect(!closing.hasEnded(within: 0.2), "the read is still there")
        #expect(code { _ = try coordinator.count("Doctor") } == 134070, "new work is refused at once")
        try read.end()
        try closing.join()
        #expect(url.exists && !url.log.exists && !URL(fileURLWithPath: url.path + "-shm").exists)
        #expect(url.ask("SELECT COUNT(*) FROM ZDOCTOR") == "20")

        try coordinator.inContext { context in
            #expect(code { _ = try context.all("Doctor") } == 134070)
            _ = context.make("Doctor", ["name": "late"])
            #expect(code { try context.save() } == 134070)
            #expect(context.hasChanges, "nothing is lost: the change is still there")
        }
        let added = code {
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        #expect(added == 134070)
        try coordinator.close()
    }

    @Test("Closing says 134090 when a read does not end in time; the file is closed when it ends")
    func late() throws {
        let stack = try filled([SQLiteConnectionTimeoutOption: 0.2])
        let read = LongRead(stack.coordinator, "Doctor")
        #expect(code { try stack.coordinator.close() } == 134090)
        #expect(stack.folder.file("store.sqlite").log.exists)
        try read.end()
        #expect(!stack.folder.file("store.sqlite").log.exists)
        try stack.coordinator.close()
    }

    @Test("A container closes its stores; savers at work either finish or are told 134070, and no save is half there")
    func container() throws {
        let folder = Folder()
        let container = NSPersistentContainer(name: "Clinic", managedObjectModel: Clinic.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.file("clinic.sqlite"))]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        try #require(failure == nil)
        let coordinator = container.persistentStoreCoordinator
        let savers = (0..<4).map { number in
            Worker {
                for index in 0..<10_000 {
                    let end = try coordinator.inContext { context in
                        for side in 0..<2 { _ = context.make("Doctor", ["name": "\(number) \(index) \(side)"]) }
                        return code { try context.save() }
                    }
                    if let end {
                        #expect(end == 134070)
                        return
                    }
                }
            }
        }
        let url = folder.file("clinic.sqlite")
        while url.ask("SELECT COUNT(*) > 20 FROM ZDOCTOR") != "1" { usleep(10_000) }
        try container.close()
        for saver in savers { try saver.join() }
        #expect(!url.log.exists)
        #expect(url.ask("PRAGMA integrity_check") == "ok")
        #expect(url.ask("SELECT COUNT(*) % 2 FROM ZDOCTOR") == "0")
    }
}
