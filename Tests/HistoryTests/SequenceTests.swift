// Transactions as they come, and named places among them.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("History as it comes") struct SequenceTests {
    @Test(
        "What is there comes first, then what is saved, here, by another coordinator and by another process",
        .timeLimit(.minutes(30)))
    func following() async throws {
        let desk = try Desk()
        let other = try Desk(in: desk.folder)
        for number in 0..<100 { try desk.addBed(number) }
        var iterator = desk.coordinator.transactions(after: nil).makeAsyncIterator()
        var numbers: [Int64] = []
        for _ in 0..<100 { numbers.append(try #require(try await iterator.next()).transactionNumber) }
        let saving = Task.detached {
            try await Task.sleep(for: .milliseconds(50))
            try desk.addBed(1)
            try await Task.sleep(for: .milliseconds(50))
            try other.addBed(2)
            try Writer(desk.url, "beds", "3").wait()
        }
        for _ in 0..<5 { numbers.append(try #require(try await iterator.next()).transactionNumber) }
        try await saving.value
        #expect(numbers == (1...105).map(Int64.init))
    }

    @Test("It is resumed by the token of what was taken last, and ends where it is told not to wait")
    func resuming() async throws {
        let desk = try Desk()
        for number in 0..<10 { try desk.addBed(number) }
        var token: NSPersistentHistoryToken?
        for try await transaction in desk.coordinator.transactions(after: nil, waiting: false).prefix(4) {
            token = transaction.token
        }
        var rest: [Int64] = []
        for try await transaction in desk.coordinator.transactions(after: token, waiting: false) {
            rest.append(transaction.transactionNumber)
            #expect(transaction.changes?.count == 1)
        }
        #expect(rest == (5...10).map(Int64.init))
    }

    @Test("No more is read than 64 transactions ahead of whoever pulls")
    func backPressure() async throws {
        let log = StatementLog()
        let desk = try Desk(options: log.options)
        for number in 0..<300 { try desk.addBed(number) }
        var iterator = desk.coordinator.transactions(after: nil, waiting: false).makeAsyncIterator()
        func reads() -> Int { log.texts.filter { $0.contains("FROM ACHANGE WHERE") }.count }
        _ = try await iterator.next()
        #expect(reads() == 1)
        for _ in 0..<63 { _ = try await iterator.next() }
        #expect(reads() == 1)
        #expect(try await iterator.next()?.transactionNumber == 65)
        #expect(reads() == 2)
    }

    @Test("It ends when its task is cancelled, and with 134301 where its place was removed")
    func ending() async throws {
        let desk = try Desk()
        try desk.addBed(1)
        let start = try desk.token
        let waiting = Task { for try await _ in desk.coordinator.transactions(after: start) {} }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        for number in 2...4 { try desk.addBed(number) }
        _ = try desk.fetch(.deleteHistory(before: desk.token), .statusOnly, as: Bool.self)
        let error = await #expect(throws: CocoaError.self) {
            for try await _ in desk.coordinator.transactions(after: start) {}
        }
        #expect(error?.code.rawValue == 134301)
        let plain = try Desk(tracks: false)
        let none = await #expect(throws: CocoaError.self) {
            for try await _ in plain.coordinator.transactions(after: nil) {}
        }
        #expect(none?.code.rawValue == 134091)
    }

    @Test(
        "Whoever waits is told when the store is removed or closed, though another process would keep the log",
        .timeLimit(.minutes(30)), arguments: [true, false])
    func closing(_ isRemoved: Bool) async throws {
        let desk = try Desk()
        let other = try Desk(in: desk.folder)
        try desk.addBed(1)
        let (taken, hand) = AsyncStream.makeStream(of: Int64.self)
        let waiting = Task {
            for try await transaction in desk.coordinator.transactions(after: nil) {
                hand.yield(transaction.transactionNumber)
            }
        }
        for await _ in taken { break }
        try await Task.sleep(for: .milliseconds(50))
        if isRemoved { try desk.coordinator.remove(desk.store) } else { try desk.coordinator.close() }
        let error = await #expect(throws: CocoaError.self) { try await waiting.value }
        #expect(error?.code.rawValue == 134070)
        try other.addBed(2)
    }

    @Test(
        "An iterator whose task was cancelled may be asked again, and waits without looking on and on",
        .timeLimit(.minutes(30)))
    func again() async throws {
        let log = StatementLog()
        let desk = try Desk(options: log.options)
        try desk.addBed(1)
        let walk = Walk(desk.coordinator.transactions(after: try desk.token))
        let first = Task { try await walk.next() }
        try await Task.sleep(for: .milliseconds(200))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await walk.next() }
        try await Task.sleep(for: .milliseconds(200))
        let count = log.texts.count
        try await Task.sleep(for: .seconds(1))
        // A look takes ten statements, and each store that another test opens or closes meanwhile is a reason for one.
        #expect(log.texts.count - count < 2000)
        try desk.addBed(2)
        #expect(try await second.value == 2)
    }

    @Test(
        "A store that is added while somebody waits is heard, and one that is removed and added again",
        .timeLimit(.minutes(30)))
    func later() async throws {
        let desk = try Desk()
        try desk.addBed(1)
        let walk = Walk(desk.coordinator.transactions(after: try desk.token))
        let first = Task { try await walk.next() }
        try await Task.sleep(for: .milliseconds(200))
        let other = try Desk()
        let second = try desk.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: other.url,
            options: [NSPersistentHistoryTrackingKey: true])
        // The look at what was there when it came is over.
        try await Task.sleep(for: .milliseconds(500))
        try other.addBed(1)
        #expect(try await first.value == 1)
        let waiting = Task { try await walk.next() }
        try await Task.sleep(for: .milliseconds(200))
        try desk.coordinator.remove(second)
        let error = await #expect(throws: CocoaError.self) { try await waiting.value }
        #expect(error?.code.rawValue == 134070)
        try other.addBed(2)
        try desk.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: other.url,
            options: [NSPersistentHistoryTrackingKey: true])
        #expect(try await walk.next() == 2)
        let last = Task { try await walk.next() }
        try await Task.sleep(for: .milliseconds(500))
        try other.addBed(3)
        #expect(try await last.value == 3)
    }

    // MARK: Cursors

    @Test("A cursor is kept in the store, is listed with number and date, moves forward only, and is removed")
    func cursors() throws {
        let desk = try Desk()
        for number in 0..<4 { try desk.addBed(number) }
        let tokens = try desk.transactions().map(\.token)
        #expect(try desk.coordinator.historyCursors().isEmpty && desk.coordinator.historyToken(ofCursor: "mail") == nil)
        let before = Date()
        #expect(try desk.coordinator.moveHistoryCursor("mail", to: tokens[2]) == tokens[2])
        #expect(try desk.coordinator.moveHistoryCursor("mail", to: tokens[0]) == tokens[2])
        try desk.coordinator.moveHistoryCursor("'quoted'", to: tokens[1])
        let other = try Desk(in: desk.folder)
        let all = try other.coordinator.historyCursors()
        #expect(all.map(\.name) == ["'quoted'", "mail"] && all.map(\.transactionNumber) == [2, 3])
        #expect(all.allSatisfy { $0.storeID == desk.store.identifier && $0.date >= before && $0.date <= Date() })
        #expect(all[1].token == tokens[2])
        #expect(try other.coordinator.historyToken(ofCursor: "mail") == tokens[2])
        #expect(try desk.coordinator.removeHistoryCursor("mail"))
        #expect(try desk.coordinator.removeHistoryCursor("mail") == false)
        #expect(try other.coordinator.historyToken(ofCursor: "mail") == nil)
        let foreign = try Desk()
        try foreign.addBed(1)
        #expect(code { try desk.coordinator.moveHistoryCursor("x", to: foreign.token) } == 134060)
    }

    @Test(
        "A token from before a return to a backup moves no cursor, and one that is ahead goes back to the present token"
    )
    func backup() throws {
        let folder = Folder()
        let copy = folder.file("copy")
        let late = try {
            let desk = try Desk(in: folder)
            try desk.addBed(1)
            try desk.coordinator.backup(to: copy)
            for number in 2...6 { try desk.addBed(number) }
            let token = try desk.token
            try desk.coordinator.remove(desk.store)
            try desk.coordinator.replacePersistentStore(
                at: desk.url, withPersistentStoreFrom: copy, ofType: NSSQLiteStoreType)
            return token
        }()
        let desk = try Desk(in: folder)
        let coordinator = desk.coordinator
        let refused = caught { try coordinator.moveHistoryCursor("w", to: late) }
        #expect(
            refused.number == 134301 && refused.sentence.contains("“w”") && refused.sentence.contains("is 1, as after"))
        #expect(try coordinator.historyCursors().isEmpty)
        // One that somebody has moved there all the same.
        try coordinator.moveHistoryCursor("w", to: desk.token)
        try SQLiteFile(desk.url).run("UPDATE OCDHISTORYCURSOR SET ZTRANSACTIONID = 6")
        let ahead = caught { _ = try coordinator.historyToken(ofCursor: "w") }
        #expect(ahead.number == 134301 && ahead.sentence.contains("present token"))
        let present = try desk.token
        #expect(try coordinator.moveHistoryCursor("w", to: present) == present)
        #expect(try coordinator.historyToken(ofCursor: "w") == present)
        for number in 2...9 { try desk.addBed(number) }
        let told = try desk.transactions(.fetchHistory(after: coordinator.historyToken(ofCursor: "w")))
        #expect(told.map(\.transactionNumber) == (2...9).map(Int64.init))
        try coordinator.moveHistoryCursor("w", to: told[3].token)
        #expect(try coordinator.moveHistoryCursor("w", to: present) == told[3].token)
    }

    @Test("Two processes that move one cursor at once lose nothing: it is where the farther one put it")
    func rivals() throws {
        let desk = try Desk()
        for number in 0..<40 { try desk.addBed(number) }
        let writers = try (0..<2).map { try Writer(desk.url, "cursor", "\($0)") }
        for writer in writers { writer.wait() }
        let all = try desk.coordinator.historyCursors()
        #expect(all.map(\.name) == ["own 0", "own 1", "shared"])
        #expect(all.map(\.transactionNumber) == [40, 39, 40])
    }

    @Test("Purging waits for cursors, but for those that nobody has moved for a while, which are told 134301")
    func purging() throws {
        let desk = try Desk()
        for number in 0..<6 { try desk.addBed(number) }
        let tokens = try desk.transactions().map(\.token)
        try desk.coordinator.moveHistoryCursor("slow", to: tokens[1])
        try desk.coordinator.moveHistoryCursor("fast", to: tokens[4])
        #expect(try desk.coordinator.purgeHistory(olderThan: .distantPast) == 0)
        #expect(try desk.coordinator.purgeHistory(olderThan: .distantFuture) == 2)
        #expect(try desk.coordinator.historyToken(ofCursor: "slow") == tokens[1])
        #expect(try desk.transactions(.fetchHistory(after: tokens[1])).count == 4)
        try SQLiteFile(desk.url).run("UPDATE OCDHISTORYCURSOR SET ZTIMESTAMP = ZTIMESTAMP - 1000 WHERE ZNAME = 'slow'")
        #expect(try desk.coordinator.purgeHistory(olderThan: .distantFuture, passingCursorsIdleFor: 2000) == 0)
        #expect(try desk.coordinator.purgeHistory(olderThan: .distantFuture, passingCursorsIdleFor: 500) == 3)
        let passed = caught { _ = try desk.coordinator.historyToken(ofCursor: "slow") }
        #expect(passed.number == 134301 && passed.sentence.contains("slow"))
        #expect(try desk.transactions(.fetchHistory(after: desk.coordinator.historyToken(ofCursor: "fast"))).count == 1)
        try desk.coordinator.moveHistoryCursor("slow", to: desk.token)
        #expect(try desk.coordinator.historyToken(ofCursor: "slow") == desk.token)
    }
}

/// An iterator that tasks use one after the other.
private final class Walk: @unchecked Sendable {
    private var iterator: HistoryTransactions.Iterator

    init(_ transactions: HistoryTransactions) { iterator = transactions.makeAsyncIterator() }

    func next() async throws -> Int64? { try await iterator.next()?.transactionNumber }
}
