// Random sequences on contexts, step by step against the reference; a failing one is made small and printed.

import CoreData
import CoreDataOracle
import Foundation
import Testing

@Suite struct OracleTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `ORACLE_SEQUENCES` asks for a longer search; the first 2,000 are always the same.
    static let sequences = max(2000, UInt64(environment["ORACLE_SEQUENCES"] ?? "") ?? 2000)

    @Test(
        "Whatever a program does and undoes, the graph, its sets and the store are as the reference says",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func oneContext(_ type: String) throws {
        let report = try Oracle.searchOne(type, seeds: 1...OracleTests.sequences)
        if let failure = report.failure { Issue.record("\(failure)") }
        print("oracle on \(type): \(OracleTests.sequences) sequences; \(report.summary)")
        for (deed, count) in report.counts { #expect(count >= 500, "\(deed) occurred too seldom") }
    }

    /// `Scripts/oracle` runs 10,000 on every store in a release build.
    @Test(
        "Two contexts and a child hold what they should through edits, pushes, merges and conflicts",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func threeContexts(_ type: String) throws {
        let report = try Oracle.searchThree(type, seeds: 1...300)
        if let failure = report.failure { Issue.record("\(failure)") }
        print("three contexts on \(type): 300 sequences; \(report.summary)")
        for (kind, count) in report.counts { #expect(count >= 50, "\(kind) occurred too seldom") }
    }

    @Test(
        "Two threads that push through children into the same few rows, and hold nothing, lose nothing",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func pushes(_ type: String) throws {
        let report = try PushWalk.search(type, seeds: 1...20, steps: 150)
        if let failure = report.failure { Issue.record("\(failure)") }
        print("pushes on \(type): \(report.summary)")
        for (kind, count) in report.counts where !["gone", "invalid"].contains(kind) {
            #expect(count >= 20, "\(kind) occurred too seldom")
        }
    }
}
