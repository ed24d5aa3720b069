// Stores that are open with a history and without one.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Histories that begin while a store is open", .serialized) struct UntrackedTests {
    @Test(
        "Whoever has opened the file before somebody asked for a history is refused from then on, by the name of the option, and reads on"
    )
    func refused() throws {
        let plain = try Desk(tracks: false)
        let bed = try plain.addBed(1)
        let desk = try Desk(in: plain.folder)
        let refused = caught { try plain.addBed(2) }
        #expect(
            refused.number == 134030 && refused.sentence.contains("NSPersistentHistoryTrackingKey"),
            "\(refused.sentence)")
        let update = NSBatchUpdateRequest(entityName: "Bed")
        update.propertiesToUpdate = ["number": 7]
        for request in [update, NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Bed"))]
            as [NSPersistentStoreRequest]
        {
            #expect(code { try plain.context().execute(request) } == 134030)
        }
        let context = plain.context()
        context.delete(try context.existingObject(with: bed.objectID))
        #expect(code { try context.save() } == 134030)
        #expect(try plain.context().all("Bed").count == 1)
        try desk.addBed(3)
        #expect(try plain.context().all("Bed").count == 2)
        #expect(try desk.transactions().map { $0.changes?.count } == [1])
        try plain.coordinator.remove(plain.store)
        let again = try Desk(in: plain.folder)
        try again.addBed(4)
        #expect(try desk.transactions().count == 2)
    }

    @Test("Another process that writes without a history is refused at its first save after one was begun")
    func otherProcess() throws {
        let plain = try Desk(tracks: false)
        try plain.coordinator.remove(plain.store)
        let writer = try Writer(plain.url, "beds until refused", "1000", "plain")
        let tables = try SQLiteFile(plain.url)
        func beds() -> Int { ((try? tables.rows("SELECT COUNT(*) FROM ZBED")) ?? []).first.flatMap { Int($0) } ?? 0 }
        #expect(wait(20) { beds() > 2 } != nil)
        let desk = try Desk(in: plain.folder)
        writer.wait()
        let count = beds()
        #expect(count < 1000)
        try desk.addBed(1)
        #expect(try beds() == count + 1 && desk.transactions().count == 1)
    }

    @Test(
        "A coordinator that tracks is told tokens, though another one of the process opened the store before without a history"
    )
    func mixed() throws {
        let plain = try Desk(tracks: false, options: RemoteChangeTests.told)
        try plain.addBed(0)
        let desk = try Desk(in: plain.folder, options: RemoteChangeTests.told)
        let (told, other) = (RemoteChangeTests.Told(desk), RemoteChangeTests.Told(plain))
        try desk.addBed(1)
        #expect(told.numbers == [1] && other.notes.count == 1)
        try Writer(desk.url, "beds", "2").wait()
        #expect(wait { told.notes.count >= 3 && other.notes.count >= 3 } != nil && told.staysAt(3))
        #expect(told.numbers == [1, 2, 3] && other.notes.count == 3 && other.notes.allSatisfy { $0.token == nil })
        // The one that tracks leaves, and commits are counted again, from that moment on.
        try desk.coordinator.remove(desk.store)
        try Writer(plain.url, "beds", "1").wait()
        #expect(wait { other.notes.count >= 4 } != nil && other.staysAt(4))
    }
}
