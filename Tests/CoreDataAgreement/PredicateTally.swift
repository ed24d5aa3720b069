// What random predicates are made of, so that nobody believes in tests of what never comes.

import CoreDataValues
import Foundation

/// Counts operators, options, quantifiers, functions and depths of key paths.
package struct PredicateTally: Sendable {
    package private(set) var counts: [String: Int] = [:]
    package private(set) var total = 0
    package private(set) var refused = 0
    /// Which select some rows and not all.
    package private(set) var telling = 0

    package init() {}

    package mutating func add(_ other: PredicateTally) {
        counts.merge(other.counts) { $0 + $1 }
        total += other.total
        refused += other.refused
        telling += other.telling
    }

    /// One line.
    package var summary: String {
        let each = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }.joined(
            separator: ", ")
        return "refused \(refused), telling \(telling); \(each)"
    }

    /// What is asked too seldom to show anything.
    package var faults: [String] {
        var faults = rare(below: 200).sorted { $0.key < $1.key }.map { "\($0.key) came only \($0.value) times" }
        if refused * 20 > total { faults.append("\(refused) of \(total) are refused") }
        if telling * 10 < total * 6 { faults.append("only \(telling) of \(total) select some rows and not all") }
        return faults
    }

    mutating func add(_ text: String, found: Int?, of rows: Int) {
        total += 1
        guard let found else {
            refused += 1
            return
        }
        if found > 0, found < rows { telling += 1 }
        let tree = try? FormatParser.predicate(text) { place, letter in
            letter == "K" ? .keyPath("key") : .expression(.variable("a\(place)"))
        }
        if let tree { note(tree) }
    }

    /// Those that came less often than they should.
    private func rare(below least: Int) -> [String: Int] {
        let functions = [
            "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "raise:toPower:",
            "bitwiseAnd:with:", "bitwiseOr:with:",
            "bitwiseXor:with:", "leftshift:by:", "rightshift:by:", "onesComplement:", "sum:", "average:", "min:",
            "max:", "count:", "abs:", "floor:",
            "ceiling:", "trunc:", "sqrt:", "ln:", "length:", "uppercase:", "lowercase:", "canonical:",
            "castObject:toType:", "FUNCTION",
            "objectFrom:withIndex:", "FIRST", "LAST", "SIZE", "log:", "exp:", "noindex:",
        ]
        let wanted =
            functions + Comparison.Operator.allCases.map { "\($0)" } + [
                "[c]", "[d]", "[n]", "[l]", "any", "all", "and", "or", "not",
            ]
            + (1...6).map { "depth \($0)" } + [
                "TERNARY", "SUBQUERY", "constant", "@unionOfObjects", "@distinctUnionOfObjects", "@count", "@sum",
                "@avg", "@min", "@max", "nil", "transformable", "element of a composite",
            ]
        return Dictionary(wanted.map { ($0, counts[$0] ?? 0) }) { old, _ in old }.filter { $0.value < least }
    }

    private mutating func note(_ name: String) { counts[name, default: 0] += 1 }

    private mutating func note(_ predicate: CoreDataValues.Predicate) {
        switch predicate {
        case .constant: note("constant")
        case .and(let parts):
            note("and")
            for part in parts { note(part) }
        case .or(let parts):
            note("or")
            for part in parts { note(part) }
        case .not(let part):
            note("not")
            note(part)
        case .comparison(let comparison):
            note("\(comparison.op)")
            if comparison.modifier != .direct { note("\(comparison.modifier)") }
            for (option, name) in [
                (Comparison.Options.caseInsensitive, "[c]"), (.diacriticInsensitive, "[d]"), (.normalized, "[n]"),
                (.localeSensitive, "[l]"),
            ] where comparison.options.contains(option) { note(name) }
            note(comparison.left)
            note(comparison.right)
        }
    }

    private mutating func note(_ expression: CoreDataValues.Expression) {
        switch expression {
        case .constant(.null): note("nil")
        case .constant, .this, .variable: break
        case .list(let items): for item in items { note(item) }
        case .keyPath(let path): note(path)
        case .function(let name, let items):
            note(name)
            for item in items { note(item) }
        case .subquery(let collection, _, let predicate):
            note("SUBQUERY")
            note(collection)
            note(predicate)
        case .conditional(let condition, let first, let second):
            note("TERNARY")
            note(condition)
            note(first)
            note(second)
        }
    }

    private mutating func note(_ path: [String]) {
        for key in path where key.hasPrefix("@") { note(key) }
        note("depth \(path.count { !$0.hasPrefix("@") })")
        if path.last?.hasPrefix("words") == true { note("transformable") }
        if path.dropLast().contains(where: { $0.hasPrefix("place") }) { note("element of a composite") }
    }
}
