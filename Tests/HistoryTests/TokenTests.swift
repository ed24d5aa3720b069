// Tokens: what they name, how long they live, who carries them.

import CoreData
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@Suite("History tokens") struct TokenTests {
    @Test("12.4 A token is archived and leads on after the store was opened anew, by another coordinator too")
    func archived() throws {
        let folder = Folder()
        var data = Data()
        try {
            let desk = try Desk(in: folder)
            try desk.addBed(1)
            data = try NSKeyedArchiver.archivedData(withRootObject: desk.token, requiringSecureCoding: true)
            try desk.addBed(2)
            try desk.coordinator.remove(desk.store)
        }()
        let desk = try Desk(in: folder)
        let token = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
        #expect(try desk.transactions(.fetchHistory(after: token)).map(\.transactionNumber) == [2])
        #expect(try token == desk.transactions()[0].token)
        #expect(try token != desk.token)
        let other = try Desk(in: folder)
        #expect(try desk.token == other.token)
        #expect(try desk.token.hash == other.token.hash)
    }

    @Test(
        "The token of a save is in its notifications and messages: that of its own transaction, whatever others save meanwhile"
    )
    func saves() throws {
        let desk = try Desk()
        let rival = try Desk(in: desk.folder)
        let context = desk.context()
        nonisolated(unsafe) var seen: [NSPersistentHistoryToken?] = []
        let names = [
            NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { posted in
                // Whoever saves now must not be skipped by a reader of this token.
                _ = try? rival.addBed(9)
                seen.append(posted.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)
            }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        context.make("Bed", ["number": 1])
        try context.save()
        let own = try #require(
            try desk.transactions().first { $0.changes?.first?.changedObjectID.entity.name == "Bed" })
        #expect(own.transactionNumber == 1 && seen.count == 2 && seen.allSatisfy { $0 == own.token })
        #expect(try desk.token != own.token)
        // A save that changes nothing has none.
        seen = []
        let plain = try Desk(tracks: false)
        let other = plain.context()
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: other, queue: nil
        ) { posted in seen.append(posted.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken) }
        defer { NotificationCenter.default.removeObserver(observer) }
        other.make("Bed")
        try other.save()
        #expect(seen == [nil] && plain.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    }
}
