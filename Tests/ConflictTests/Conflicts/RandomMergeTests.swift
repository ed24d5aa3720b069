// Three writers that change the same few objects at random, under every merging policy.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct RandomMergeTests {
    /// Which seeds are tried in memory: `MERGE_SEEDS=2000` makes a longer search, `MERGE_SEEDS=500-1000` a part of it. A file
    /// costs more and is tried with a tenth.
    private static let seeds: Range<Int> = {
        let ends =
            ProcessInfo.processInfo.environment["MERGE_SEEDS"]?.split(separator: "-").compactMap { Int($0) } ?? [15]
        return (ends.count == 2 ? ends[0] : 0)..<(ends.last ?? 0)
    }()

    private static func seeds(_ rivalry: Rivalry) -> Range<Int> {
        rivalry == .memory ? seeds : seeds.lowerBound / 10..<seeds.upperBound / 10
    }

    @Test(
        "6.3 Whatever three writers do, saves pass, the store holds no loose end, and merged objects are as stored, on both sides",
        arguments: RelationshipMergeTests.merging, Rivalry.allCases)
    func random(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        try search(type, rivalry, Clinic.draft())
    }

    @Test(
        "6.3 The same with orders on both sides of pairs", arguments: RelationshipMergeTests.merging,
        [Rivalry.sqlite, .memory])
    func ordered(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        try search(type, rivalry, Clinic.orderedDraft(), salt: 1)
    }

    @Test(
        "6.5 The same with numbers that must be unique, which new and changed objects often claim twice",
        arguments: RelationshipMergeTests.merging, [Rivalry.sqlite, .memory])
    func unique(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        var draft = Clinic.draft()
        for index in draft.entities.indices where ["Patient", "Doctor", "Bed"].contains(draft.entities[index].name) {
            draft.entities[index].uniquenessConstraints = [["code"]]
        }
        try search(type, rivalry, draft, salt: 2)
    }

    private func search(_ type: NSMergePolicyType, _ rivalry: Rivalry, _ draft: SchemaDraft, salt: UInt64 = 0) throws {
        var count = 0
        for seed in Self.seeds(rivalry) {
            let steps = steps((UInt64(seed) &* 31 &+ UInt64(type.rawValue)) &* 3 &+ salt)
            let run = MergeRun(type, rivalry, draft, keepsObjects: seed % 4 != 0)
            guard try run.flaws(of: steps) != nil else { continue }
            let failed = try run.flaws(of: shrunk(steps) { try run.flaws(of: $0) != nil })
            Issue.record("seed \(seed): \(failed ?? "")")
            count += 1
            if count == 5 { return }
        }
    }

    /// A third writer saves seldom, so that what it knows is old. The last step is a save.
    private func steps(_ seed: UInt64) -> [MergeStep] {
        var dice = SplitMix(seed &+ 0x9E37_79B9_7F4A_7C15)
        var steps: [MergeStep] = []
        for _ in 0..<Int.random(in: 2...8, using: &dice) {
            for place in 0...2 {
                for _ in 0..<Int.random(in: place == 2 ? 0...1 : 1...3, using: &dice) {
                    steps.append(MergeStep(place: place, dice: dice.next(), isSave: false))
                }
            }
            steps.append(
                MergeStep(place: [0, 0, 0, 1, 1, 1, 2].randomElement(using: &dice) ?? 0, dice: 0, isSave: true))
        }
        return steps
    }

    /// The fewest steps that still fail, one being left out at a time.
    private func shrunk(_ steps: [MergeStep], _ fails: ([MergeStep]) throws -> Bool) rethrows -> [MergeStep] {
        var steps = steps
        var place = steps.count - 1
        while place >= 0 {
            var fewer = steps
            fewer.remove(at: place)
            if try fails(fewer) { steps = fewer }
            place = min(place, steps.count) - 1
        }
        return steps
    }
}
