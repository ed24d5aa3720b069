// Histories of several stores, and of stores that others lock or shorten.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Histories of several stores") struct SeveralStoresTests {
    private func pair(_ folder: Folder, _ options: [String: Any] = [:]) throws -> (
        NSPersistentStoreCoordinator, [NSPersistentStore]
    ) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Clinic.model())
        let stores = try ["a", "b"].map { name in
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(name),
                options: [NSPersistentHistoryTrackingKey: true].merging(name == "b" ? options : [:]) { $1 })
        }
        return (coordinator, stores)
    }

    private func addBed(_ coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore) throws {
        let context = coordinator.context()
        context.assign(context.make("Bed", ["number": 1]), to: store)
        try context.save()
    }

    @Test("A store's own order holds among others, though its clock was set back")
    func order() throws {
        let folder = Folder()
        let (coordinator, stores) = try pair(folder)
        for _ in 1...3 { for store in stores { try addBed(coordinator, store) } }
        try SQLiteFile(folder.file("a")).run("UPDATE ATRANSACTION SET ZTIMESTAMP = ZTIMESTAMP - 1000 WHERE Z_PK = 2")
        let context = coordinator.context()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        request.resultType = .transactionsOnly
        let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
        let all = try #require(result.result as? [NSPersistentHistoryTransaction])
        for store in stores {
            #expect(all.filter { $0.storeID == store.identifier }.map(\.transactionNumber) == [1, 2, 3])
        }
        #expect(all.map(\.storeID) == [0, 0, 1, 1, 0, 1].map { stores[$0].identifier ?? "" })
    }

    @Test("A store that is locked is in a token where it was when it was last known, not left out")
    func locked() throws {
        let folder = Folder()
        let (coordinator, stores) = try pair(
            folder, [NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 0])
        for store in stores { try addBed(coordinator, store) }
        let before = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(before.transactions.count == 2)
        let tables = try SQLiteFile(folder.file("b"))
        try tables.run("BEGIN EXCLUSIVE")
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == before)
        try addBed(coordinator, stores[0])
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil)?.transactions[stores[1].identifier] == 1)
        try tables.run("ROLLBACK")
    }

    @Test("A limit, an offset and an order are for one store; several refuse them by name, and no store has no history")
    func limits() throws {
        let folder = Folder()
        let (coordinator, stores) = try pair(folder)
        for _ in 1...3 { for store in stores { try addBed(coordinator, store) } }
        let settings: [(NSFetchRequest<any NSFetchRequestResult>) -> Void] = [
            { $0.fetchLimit = 2 }, { $0.fetchOffset = 1 },
            { $0.sortDescriptors = [NSSortDescriptor(key: "timestamp", ascending: false)] },
        ]
        func asked(_ stores: [NSPersistentStore]?, _ set: (NSFetchRequest<any NSFetchRequestResult>) -> Void) throws
            -> Int
        {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
            request.fetchRequest.map(set)
            request.affectedStores = stores
            request.resultType = .transactionsOnly
            let result = try coordinator.context().execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [Any])?.count ?? -1
        }
        for set in settings {
            let error = #expect(throws: CocoaError.self) { try asked(nil, set) }
            #expect("\(error as Any)".contains("affectedStores"))
        }
        #expect(try settings.map { try asked([stores[0]], $0) } == [2, 2, 3])
        #expect(try asked(nil) { $0.sortDescriptors = [] } == 6 && asked([]) { _ in } == 0)
    }

    @Test("A deletion takes no request, and no date that is none")
    func deletions() throws {
        let desk = try Desk()
        for number in 1...3 { try desk.addBed(number) }
        let filtered = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
        filtered.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        filtered.fetchRequest?.predicate = NSPredicate(format: "author == 'nobody'")
        let none = Date(timeIntervalSinceReferenceDate: .nan)
        for request in [filtered, .deleteHistory(before: none), .fetchHistory(after: none)] {
            #expect(throws: CocoaError.self) { try desk.context().execute(request) }
        }
        #expect(throws: CocoaError.self) { try desk.coordinator.purgeHistory(olderThan: none) }
        #expect(try desk.transactions().count == 3)
    }

    @Test(
        "A history that says what cannot be is read without its parts, and written to no more, with an error",
        arguments: [
            ("UPDATE ACHANGE SET ZENTITY = -9223372036854775808 WHERE Z_PK = 1", false),
            ("UPDATE ACHANGE SET ZENTITYPK = -9223372036854775808 WHERE Z_PK = 1", false),
            ("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775806 WHERE Z_ENT = 16001", true),
            ("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'Bed'", true),
            ("UPDATE Z_PRIMARYKEY SET Z_MAX = 1e300", true),
        ])
    func damaged(_ sql: String, isRefused: Bool) throws {
        let folder = Folder()
        try {
            let desk = try Desk(in: folder)
            try desk.addBed(1)
            try desk.coordinator.close()
        }()
        try SQLiteFile(folder.file("store")).run(sql)
        let desk = try Desk(in: folder)
        for change in try desk.transactions().flatMap({ $0.changes ?? [] }) {
            _ = change.changedObjectID.uriRepresentation()
        }
        if isRefused {
            let error = #expect(throws: CocoaError.self) { try desk.addBed(2) }
            #expect("\(error as Any)".contains("Z_PRIMARYKEY"))
        } else {
            try desk.addBed(2)
        }
    }

    @Test("Without a log a history is read at one moment: a purge in between takes nothing unnoticed")
    func purged() throws {
        let folder = Folder()
        let purge = Purge(folder.file("store"))
        let desk = try Desk(
            in: folder, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"], SQLTraceOption: purge.trace])
        for number in 1...5 { try desk.addBed(number) }
        let token = try desk.transactions()[0].token
        purge.isArmed.store(true, ordering: .relaxed)
        let numbers = try desk.transactions(.fetchHistory(after: token)).map(\.transactionNumber)
        let isArmed = purge.isArmed.load(ordering: .relaxed)
        #expect(!isArmed)
        #expect(numbers == [2, 3, 4, 5])
    }

    /// Shortens a history as soon as somebody has asked how much of it there is.
    private final class Purge: Sendable {
        let isArmed = Atomic<Bool>(false)
        private let url: URL
        init(_ url: URL) { self.url = url }

        var trace: SQLTrace {
            SQLTrace { [self] statement in
                guard statement.sql.contains("SELECT MIN("), isArmed.exchange(false, ordering: .relaxed) else { return }
                let tables = try? SQLiteFile(url)
                for sql in ["DELETE FROM ACHANGE WHERE ZTRANSACTIONID < 4", "DELETE FROM ATRANSACTION WHERE Z_PK < 4"] {
                    _ = try? tables?.run(sql)
                }
            }
        }
    }
}
