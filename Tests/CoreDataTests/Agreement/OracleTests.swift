// Random sequences on contexts, step by step against the reference; a failing one is made small and printed.

import CoreData
import CoreDataOracle
import Foundation
import Testing

@Suite struct OracleTests {
    // `Scripts/oracle` runs 10,000 of each kind in a release build.
    @Test(
        "Whatever a program does and undoes, the graph, its sets and the store are as the reference says",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func oneContext(_ type: String) throws {
        let report = try Oracle.searchOne(type, seeds: 1...400)
        if let failure = report.failure { Issue.record("\(failure)") }
        print("oracle on \(type): 400 sequences; \(report.summary)")
        for (deed, count) in report.counts { #expect(count >= 100, "\(deed) occurred too seldom") }
    }

    @Test(
        "Two contexts and a child hold what they should through edits, pushes, merges and conflicts",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func threeContexts(_ type: String) throws {
        let report = try Oracle.searchThree(type, seeds: 1...80)
        if let failure = report.failure { Issue.record("\(failure)") }
        print("three contexts on \(type): 80 sequences; \(report.summary)")
        for (kind, count) in report.counts { #expect(count >= 12, "\(kind) occurred too seldom") }
    }

    @Test(
        "Two threads that push through children into the same few rows, and hold nothing, lose nothing",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func pushes(_ type: String) throws {
        let report = try PushWalk.search(type, seeds: 1...8, steps: 150)
        if let failure = report.failure { Issue.record("\(failure)") }
        print("pushes on \(type): \(report.summary)")
        for (kind, count) in report.counts where !["gone", "invalid"].contains(kind) {
            #expect(count >= 8, "\(kind) occurred too seldom")
        }
    }
}
