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
        var tally = PredicateTally()
        for round in 0..<Self.count {
            let text = predicates.next()
            let predicate = try file[0].predicate(text)
            let wanted = file[0].fetched(predicate)
            let place = "seed \(seed), round \(round): \(text.format) \(text.arguments)"
            for side in [unsaved[round % unsaved.count], memory[round % 20 == 0 ? 1 : 0]] {
                let found = side.fetched(try side.predicate(text))
                #expect(found == wanted, "\(side.name), \(place)")
            }
            let isRefused = wanted.hasPrefix("refused")
            tally.add(text.format, found: isRefused ? nil : wanted.count { $0 == "," } + (wanted == "[]" ? 0 : 1), of: 36)
            if isRefused { continue }
            #expect(file[0].evaluated(predicate) == wanted, "objects, \(place)")
            guard round % 5 == 0 else { continue }
            #expect(file[2].evaluated(try file[2].predicate(text)) == wanted, "changed objects, \(place)")
        }
        let counts = tally.counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("random predicates, seed \(seed): \(tally.total), refused \(tally.refused), telling \(tally.telling); \(counts)")
        #expect(tally.refused * 20 <= tally.total, "\(tally.refused) of \(tally.total) refused")
        #expect(Self.count < 5_000 || tally.telling * 10 >= tally.total * 6, "only \(tally.telling) of \(tally.total) select some rows and not all")
        // Of 50,000 with four seeds each comes 200 times.
        let rare = tally.rare(below: 50 * Self.count / 12_500)
        #expect(Self.count < 5_000 || rare.isEmpty, "\(rare)")
    }
}
