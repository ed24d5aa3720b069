// A save that is killed leaves rows and history as they were, or both as they are after it.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData
@testable import CoreDataVictim

@Suite("Durability of the history", .serialized, .enabled(if: ChildProgram.strace != nil, VictimProcess.whySkipped))
struct HistoryKillTests {
    private static let environment = [VictimStore.historyVariable: "1"]
    private let folder = Folder()

    @Test("A save killed at its n-th write has its transaction in the history if its rows are there, and none if not")
    func kill() throws {
        let store = folder.file("prepared.sqlite")
        try #require(try VictimProcess.run("prepare", store, environment: Self.environment).exitCode == 0)
        let old = try content(store)
        var found = (old: 0, new: 0)
        for number in 1...1000 {
            let victim = folder.file("victim-\(number).sqlite")
            try FileManager.default.copyItem(at: store, to: victim)
            let run = try VictimProcess.run(
                "save", victim, .init(call: "pwrite64", effect: "signal=SIGKILL", number: number),
                environment: Self.environment)
            let new = try content(victim)
            #expect(try SQLiteFile(victim).isSound(), "\(number)")
            if new.people == old.people {
                #expect(new == old, "\(number)")
                found.old += 1
            } else {
                #expect(new.people == ["28"] && new.transactions == ["1", "2"] && new.changes.count == 2, "\(number)")
                found.new += 1
            }
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: victim.path + suffix) }
            guard run.isKilled else {
                #expect(run.exitCode == 0, "\(run.lines)")
                break
            }
        }
        print("history: \(found.old) old, \(found.new) new")
        #expect(found.old > 0 && found.new > 1)
    }

    private struct Content: Equatable {
        var people: [String]
        var transactions: [String]
        /// How many changes each transaction has.
        var changes: [String]
    }

    private func content(_ url: URL) throws -> Content {
        let raw = try SQLiteFile(url)
        return Content(
            people: try raw.rows("SELECT COUNT(*) FROM ZPERSON"),
            transactions: try raw.rows("SELECT Z_PK FROM ATRANSACTION ORDER BY 1"),
            changes: try raw.rows("SELECT COUNT(*) FROM ACHANGE GROUP BY ZTRANSACTIONID ORDER BY ZTRANSACTIONID"))
    }
}

@Suite("A history of several processes") struct HistoryRivalTests {
    private let folder = Folder()

    @Test("Processes that save at the same time number their transactions and changes without gap or repetition")
    func together() throws {
        let environment = [VictimStore.historyVariable: "1"]
        let url = folder.file("shared.sqlite")
        try #require(try VictimProcess.run("prepare", url, environment: environment).exitCode == 0)
        let codes = Mutex<[Int32?]>([])
        DispatchQueue.concurrentPerform(iterations: 3) { _ in
            let run = try? VictimProcess.run("allocate", url, environment: environment)
            codes.withLock { $0.append(run?.exitCode) }
        }
        #expect(codes.withLock { $0 } == [0, 0, 0])
        let raw = try SQLiteFile(url)
        #expect(
            try raw.rows("SELECT COUNT(*) || ' ' || MIN(Z_PK) || ' ' || MAX(Z_PK) FROM ATRANSACTION") == ["16 1 16"])
        #expect(
            try raw.rows(
                "SELECT (MAX(Z_PK) - COUNT(*)) || ' ' || COUNT(DISTINCT ZENTITYPK) FROM ACHANGE WHERE ZTRANSACTIONID > 1"
            )
                == raw.rows("SELECT COUNT(*) || ' 15' FROM ACHANGE WHERE ZTRANSACTIONID = 1"))
        // Whatever process a later number is from, it was written later.
        #expect(
            try raw.rows(
                "SELECT COUNT(*) FROM ATRANSACTION a JOIN ATRANSACTION b ON b.Z_PK = a.Z_PK + 1 WHERE b.ZTIMESTAMP < a.ZTIMESTAMP"
            )
                == ["0"])
        #expect(
            try raw.rows("SELECT COUNT(*) FROM ACHANGE GROUP BY ZTRANSACTIONID ORDER BY ZTRANSACTIONID").count == 16)
    }
}
