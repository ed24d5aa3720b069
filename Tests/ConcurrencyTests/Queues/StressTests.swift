// The stress run in short: eight contexts over one store.

import CoreDataStress
import CoreDataTestSupport
import Foundation
import Testing

@Suite struct StressTests {
    @Test(
        "Eight contexts that link, save, merge, delete and fault leave the store as the sum of what they committed",
        .timeLimit(.minutes(30)))
    func eightContexts() async throws {
        let folder = Folder()
        let report = try Stress.run(seconds: 1.5, saves: 20, seed: 7, in: folder.url)
        #expect(report.complaints == [])
        #expect(report.saves.allSatisfy { $0 > 0 })
        #expect(report.counts.count >= 6, "\(report.summary)")
    }

    @Test("A save that nobody noted is found by the comparison at the end", .timeLimit(.minutes(30)))
    func unnotedSave() async throws {
        let folder = Folder()
        let report = try Stress.run(seconds: 0.2, saves: 2, writers: 4, isTamperedWith: true, in: folder.url)
        #expect(report.complaints.contains { $0.hasPrefix("the store has the counter") })
    }
}
