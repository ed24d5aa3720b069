// Walks that break the rules of the model.

import CoreDataTestSupport
import Testing

@testable import CoreData

@Suite struct RefusalWalkTests {
    @Test(
        "4.8 A save gives just the errors that the rules ask for, and leaves everything as it was when it is refused",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType], [false, true])
    func walks(_ type: String, _ isChild: Bool) throws {
        var (saves, refusals) = (0, 0)
        for seed in 0..<UInt64(40) {
            do {
                let walk = try RefusalWalk(type, seed: seed, isChild: isChild)
                defer { (saves, refusals) = (saves + walk.saves, refusals + walk.refusals) }
                try walk.run(20)
            } catch { Issue.record("seed \(seed): \(error)") }
        }
        #expect(saves > 40 && refusals > 40)
    }
}
