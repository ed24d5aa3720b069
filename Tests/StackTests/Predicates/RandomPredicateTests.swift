// Random predicates of random models: every store, every state of the context and the objects themselves answer alike.

import CoreDataAgreement
import Foundation
import Testing

@Suite("Random predicates") struct RandomPredicateTests {
    /// `Scripts/agreement` asks 50,000 and more in a release build.
    @Test(
        "A predicate finds the same rows in every store, whatever is unsaved, and is true of just these objects",
        arguments: 1...3 as ClosedRange<UInt64>)
    func agree(_ seed: UInt64) throws {
        var agreement = try Agreement(seed: seed)
        try agreement.ask(250)
        for difference in agreement.differences.prefix(5) { Issue.record("\(difference)") }
        #expect(agreement.differences.isEmpty)
        #expect(agreement.damaged.taken > 0)
    }
}
