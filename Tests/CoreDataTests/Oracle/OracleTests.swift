// Random sequences on a context, step by step against the reference; a failing one is made small and printed.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct OracleTests {
    /// `ORACLE_SEQUENCES` asks for a longer search; the first 2,000 are always the same.
    static let sequences =
        max(2000, UInt64(ProcessInfo.processInfo.environment["ORACLE_SEQUENCES"] ?? "") ?? 2000)

    @Test(
        "Whatever a program does and undoes, the graph, its sets and the store are as the reference says",
        arguments: OracleTests.stores)
    func agreement(_ type: String) throws {
        let stack = try Stack(type, undo: false, options: ["NSSQLitePragmasOption": ["synchronous": "OFF"]])
        var counts: [Deed: Int] = [:]
        for seed in 1...OracleTests.sequences {
            let steps = Step.sequence(seed: seed)
            for step in steps { counts[step.deed, default: 0] += 1 }
            guard let failure = Trial.run(steps, on: stack) else { continue }
            let small = try Trial.shrink(steps) { Trial.run($0, on: try Stack(type, undo: false)) }
            Issue.record(
                """
                seed \(seed) on \(type): \(failure)
                smallest sequence:
                \(Trial.describe(small.steps))
                \(small.failure)
                """)
            return
        }
        let table = Deed.allCases.map { "\($0.rawValue) \(counts[$0] ?? 0)" }.joined(separator: ", ")
        print("oracle on \(type): \(OracleTests.sequences) sequences; \(table)")
        for deed in Deed.allCases { #expect(counts[deed] ?? 0 >= 500, "\(deed) occurred too seldom") }
    }

    static let stores = [NSSQLiteStoreType, NSInMemoryStoreType]
}

/// One run of a sequence.
enum Trial {
    /// The first discrepancy, nil when there is none. Leaves the store empty.
    static func run(_ steps: [Step], on stack: Stack) -> String? {
        let live = Live(stack)
        var reference = Reference()
        do {
            for (place, step) in steps.enumerated() where step.action.isApplicable(in: reference) {
                let action = step.action
                reference.apply(action)
                do {
                    try live.apply(action)
                    try live.compare(reference, after: action)
                } catch { return "after step \(place + 1), \(action): \(error)" }
            }
            try live.compareStore(reference)
            try empty(stack)
            return nil
        } catch { return "at the end: \(error)" }
    }

    private static func empty(_ stack: Stack) throws {
        let context = stack.another()
        for kind in Role.allCases { for object in try context.all(kind.rawValue) { context.delete(object) } }
        try context.save()
    }

    /// Drops steps, in blocks and then one by one, as long as the sequence still fails.
    static func shrink(
        _ steps: [Step], _ run: ([Step]) throws -> String?
    ) throws -> (steps: [Step], failure: String) {
        var best = steps
        var failure = try run(steps) ?? "did not fail again"
        func keep(_ candidate: [Step]) throws -> Bool {
            guard let found = try run(candidate) else { return false }
            (best, failure) = (candidate, found)
            return true
        }
        var size = max(1, best.count / 2)
        while size > 0 {
            var start = 0
            var dropped = false
            while start < best.count {
                var candidate = best
                candidate.removeSubrange(start..<min(start + size, best.count))
                if try keep(candidate) { dropped = true } else { start += size }
            }
            if !dropped || size > 1 { size /= 2 }
        }
        return (best, failure)
    }

    static func describe(_ steps: [Step]) -> String {
        var reference = Reference()
        var lines: [String] = []
        for step in steps where step.action.isApplicable(in: reference) {
            reference.apply(step.action)
            let action = "\(step.action)".replacingOccurrences(of: "CoreDataTests.", with: "")
            lines.append("  \(lines.count + 1). \(action)")
        }
        return lines.joined(separator: "\n")
    }
}
