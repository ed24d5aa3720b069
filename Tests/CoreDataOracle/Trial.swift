// Runs sequences, counts what they do, and makes a failing one small.

import CoreData
import CoreDataTestSupport

/// What a search found.
package struct SearchReport: Sendable {
    /// How often each kind of action occurred.
    package var counts: [String: Int] = [:]
    /// The smallest failing sequence and what went wrong, nil when all went well.
    package var failure: String?

    package var summary: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

/// Random sequences on real contexts, step by step against the reference.
package enum Oracle {
    private static var options: [AnyHashable: Any] { ["NSSQLitePragmasOption": ["synchronous": "OFF"]] }

    /// One context with undo: sequences of 20 to 60 actions, one for each seed.
    package static func searchOne(_ type: String, seeds: ClosedRange<UInt64>) throws -> SearchReport {
        try search(
            type, seeds, kinds: Deed.allCases.map(\.rawValue), sequence: Step.sequence, name: \.deed.rawValue,
            run: run(_:on:), describe: describe(_:))
    }

    /// Two contexts and a child of the first: sequences of 20 to 200 moves, one for each seed.
    package static func searchThree(_ type: String, seeds: ClosedRange<UInt64>) throws -> SearchReport {
        try search(
            type, seeds, kinds: Turn.kinds, sequence: Turn.sequence, name: \.name, run: run(_:on:),
            describe: describe(_:))
    }

    private static func search<Element>(
        _ type: String, _ seeds: ClosedRange<UInt64>, kinds: [String], sequence: (UInt64) -> [Element],
        name: (Element) -> String,
        run: ([Element], Stack) -> String?, describe: ([Element]) -> String
    ) throws -> SearchReport {
        StoreMaker.registerSamples()
        let stack = try Stack(type, undo: false, options: options)
        // A kind that never occurs is counted too.
        var report = SearchReport(counts: Dictionary(uniqueKeysWithValues: kinds.map { ($0, 0) }))
        for seed in seeds {
            let elements = sequence(seed)
            for element in elements { report.counts[name(element), default: 0] += 1 }
            guard let failure = run(elements, stack) else { continue }
            let small = try shrink(elements) { run($0, try Stack(type, undo: false)) }
            report.failure = """
                seed \(seed) on \(type): \(failure)
                smallest sequence:
                \(describe(small.elements))
                \(small.failure)
                """
            break
        }
        return report
    }

    // MARK: Runs

    /// The first discrepancy, nil when there is none. Leaves the store empty.
    private static func run(_ steps: [Step], on stack: Stack) -> String? {
        let live = Live(stack)
        var reference = Reference()
        do {
            for (place, step) in steps.enumerated() where step.action.isApplicable(in: reference) {
                reference.apply(step.action)
                do {
                    try live.apply(step.action)
                    try live.compare(reference, after: step.action)
                } catch { return "after step \(place + 1), \(step.action): \(error)" }
            }
            try live.compareStore(reference)
            try empty(stack)
            return nil
        } catch { return "at the end: \(error)" }
    }

    private static func run(_ turns: [Turn], on stack: Stack) -> String? {
        let live = LiveTrio(stack)
        var trio = Trio()
        do {
            for (place, turn) in turns.enumerated() where trio.isApplicable(turn.move) {
                let before = trio
                trio.apply(turn.move)
                do {
                    try live.apply(turn.move, before: before, after: trio)
                } catch { return "after step \(place + 1), \(turn.move): \(error)" }
            }
            try live.compareStore(trio)
            try empty(stack)
            return nil
        } catch { return "at the end: \(error)" }
    }

    private static func empty(_ stack: Stack) throws {
        let context = stack.another()
        for role in Role.allCases { for object in try context.all(role.rawValue) { context.delete(object) } }
        try context.save()
    }

    // MARK: Failures

    /// Drops steps, in blocks and then one by one, as long as the sequence still fails.
    private static func shrink<Element>(
        _ elements: [Element], _ run: ([Element]) throws -> String?
    ) throws -> (elements: [Element], failure: String) {
        var best = elements
        var failure = try run(elements) ?? "did not fail again"
        func keep(_ candidate: [Element]) throws -> Bool {
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

    private static func describe(_ steps: [Step]) -> String {
        var reference = Reference()
        var lines: [String] = []
        for step in steps where step.action.isApplicable(in: reference) {
            reference.apply(step.action)
            lines.append(line(lines.count, step.action))
        }
        return lines.joined(separator: "\n")
    }

    private static func describe(_ turns: [Turn]) -> String {
        var trio = Trio()
        var lines: [String] = []
        for turn in turns where trio.isApplicable(turn.move) {
            trio.apply(turn.move)
            lines.append(line(lines.count, turn.move))
        }
        return lines.joined(separator: "\n")
    }

    private static func line(_ count: Int, _ what: Any) -> String {
        "  \(count + 1). " + "\(what)".replacingOccurrences(of: "CoreDataOracle.", with: "")
    }
}
