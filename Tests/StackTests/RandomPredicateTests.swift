// Random predicates: every store, every state of the context and the objects themselves answer alike.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Random predicates") struct RandomPredicateTests {
    /// How many for each seed; more by the environment.
    static let count: Int = ProcessInfo.processInfo.environment["RANDOM_PREDICATES"].flatMap { Int($0) } ?? 500
    static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["RANDOM_PREDICATE_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? [1, 2, 3, 4]

    @Test("A predicate finds the same rows in every store, whatever is unsaved, and is true of just these objects", arguments: seeds)
    func agree(_ seed: UInt64) throws {
        let file = try LibrarySide.all(NSSQLiteStoreType, seed: seed)
        let memory = try LibrarySide.all(NSInMemoryStoreType, seed: seed)
        let unsaved = Array(file[1...])
        var predicates = RandomPredicate(seed: seed)
        var refused = 0
        for round in 0..<Self.count {
            let text = predicates.next()
            let predicate = try file[0].predicate(text)
            let wanted = file[0].fetched(predicate)
            let place = "seed \(seed), round \(round): \(text.format) \(text.arguments)"
            for side in [unsaved[round % unsaved.count], memory[round % 20 == 0 ? 1 : 0]] {
                let found = side.fetched(try side.predicate(text))
                #expect(found == wanted, "\(side.name), \(place)")
            }
            guard !wanted.hasPrefix("refused") else {
                refused += 1
                continue
            }
            #expect(file[0].evaluated(predicate) == wanted, "objects, \(place)")
            guard round % 5 == 0 else { continue }
            #expect(file[2].evaluated(try file[2].predicate(text)) == wanted, "changed objects, \(place)")
        }
        #expect(refused < Self.count / 10, "\(refused) of \(Self.count) refused")
    }
}
