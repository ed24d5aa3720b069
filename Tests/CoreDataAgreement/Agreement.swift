// Random predicates of one model and graph, asked of every side.

import CoreDataSeeds
import Foundation

import CoreData

/// Asks SQLite, the store in memory and the objects, clean and beside unsaved changes; the same seed asks the same.
package struct Agreement {
    package private(set) var tally = PredicateTally()
    package private(set) var differences: [String] = []
    /// What every store refuses, with the words.
    package private(set) var refusals: [String] = []
    private let seed: UInt64
    private let file: [PredicateSide]
    private let memory: [PredicateSide]
    private var predicates: RandomPredicate
    private var random: SplitMix
    /// How many damaged texts were taken, and by stores too.
    package private(set) var damaged = (asked: 0, taken: 0, answered: 0)

    /// One seed in four asks the library, whose model has every kind of relationship; the others a model of their own.
    package init(seed: UInt64) throws {
        self.seed = seed
        random = SplitMix(seed &+ 1)
        let world = seed % 4 == 1 ? Library.world(seed: seed) : RandomModel.world(seed: seed)
        file = try PredicateSide.all(NSSQLiteStoreType, world)
        memory = try PredicateSide.all(NSInMemoryStoreType, world)
        predicates = RandomPredicate(seed: seed, file[0])
    }

    package mutating func ask(_ count: Int) throws {
        for round in 0..<count {
            let text = predicates.next()
            try ask(text, round)
            if round % 4 == 0 { try askDamaged(text, round) }
        }
    }

    private mutating func ask(_ text: RandomPredicate.Text, _ round: Int) throws {
        let predicate = try file[0].predicate(text)
        let wanted = file[0].fetched(predicate)
        let place = "seed \(seed), round \(round): \(text.format) \(text.arguments)"
        for side in [file[1 + round % 4], memory[round % 10 == 0 ? 1 + round / 10 % 4 : 0]] {
            let found = side.fetched(try side.predicate(text))
            if found != wanted { differences.append("\(side.name) finds \(found), SQLite \(wanted); \(place)") }
        }
        let isRefused = wanted.hasPrefix("refused")
        let all = file[0].serials[file[0].world.root]?.count ?? 0
        tally.add(text.format, found: isRefused ? nil : wanted.count { $0 == "," } + (wanted == "[]" ? 0 : 1), of: all)
        if isRefused {
            refusals.append("\(wanted); \(place)")
            return
        }
        let sides = round % 5 == 0 ? [file[0], file[1 + round / 5 % 4]] : [file[0]]
        for side in sides {
            let found = side.evaluated(side === file[0] ? predicate : try side.predicate(text))
            if found != wanted {
                differences.append("objects, \(side.name): \(found), SQLite finds \(wanted); \(place)")
            }
        }
    }

    /// A damaged text is refused when it is read, or by every store in the same words, or answered alike; nothing ends the process.
    private mutating func askDamaged(_ text: RandomPredicate.Text, _ round: Int) throws {
        var format = text.format
        for _ in 0..<Int.random(in: 1...2, using: &random) { format = DamagedText.damaged(format, &random) }
        damaged.asked += 1
        let damagedText = RandomPredicate.Text(
            format: format, arguments: Array(text.arguments.prefix(format.count { $0 == "%" })))
        guard let predicate = try? file[0].valid(damagedText) else { return }
        damaged.taken += 1
        let wanted = file[0].fetched(predicate)
        let place = "seed \(seed), round \(round), damaged: \(format) \(damagedText.arguments)"
        for side in [file[1], memory[0]] {
            let found = side.fetched(try side.valid(damagedText))
            if found != wanted { differences.append("\(side.name) finds \(found), SQLite \(wanted); \(place)") }
        }
        let found = file[0].evaluated(predicate)
        if wanted.hasPrefix("refused") { return }
        damaged.answered += 1
        if found != wanted { differences.append("objects: \(found), SQLite finds \(wanted); \(place)") }
    }
}
