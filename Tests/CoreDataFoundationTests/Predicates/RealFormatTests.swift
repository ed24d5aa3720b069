// The format texts of real programs.

import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataFoundation

@Suite("Format texts of real programs") struct RealFormatTests {
    private enum Outcome: Hashable {
        case predicate, expression
        /// Breaks a rule of the grammar, which is named.
        case invalid(String)
        case failed(String)
    }

    /// The texts that are wrong, by the rule that they break.
    private static let broken: [String: String] = [
        "0 || 1": "OR stands between conditions; a number is none",
        "age === 25": "the operators of equality are = and ==",
        "anyCol CONATINS 0": "a comparison has one of the operators; CONATINS is none",
        "localTimestamp <= %@ AND roomJIDStr NOT IN %@": "NOT stands before a condition, not before an operator",
        "name == <null>": "nil is written NULL, NIL or nil",
        "state == %lud": "after a value stands AND, OR or the end; d is a word of its own",
        "%k like %@": "the placeholder of a key path is %K",
        "SELF like[c] %@?%@": "? is no operator; texts are joined outside",
        "it reads the same as one made by the factory method": "it is a title of a test, no predicate",
        "a contains predicate built by hand reads as the parsed one": "it is a title of a test, no predicate",
    ]

    private func outcome(_ text: String) -> Outcome {
        do {
            let tree = try FormatParser.predicate(text, arguments: PredicateFormatTests.standIn)
            let printed = tree.predicateFormat
            let again = try? FormatParser.predicate(printed, arguments: PredicateFormatTests.standIn)
            #expect(again?.withoutBooleans == tree.withoutBooleans, "\(text) prints \(printed)")
            #expect(again?.predicateFormat == printed, "\(text)")
            return .predicate
        } catch {
            if let tree = try? FormatParser.expression(text, arguments: PredicateFormatTests.standIn) {
                let printed = FormatPrinter().text(tree)
                let again = try? FormatParser.expression(printed, arguments: PredicateFormatTests.standIn)
                #expect(again?.withoutBooleans == tree.withoutBooleans, "\(text) prints \(printed)")
                return .expression
            }
            return Self.broken[text].map { .invalid($0) } ?? .failed(error.sentence)
        }
    }

    @Test(
        "Every literal text is read, prints, and reads back as the same tree, but for the few that break a rule which is named"
    )
    func literals() throws {
        guard let rows = Corpus.rows("predicates/formats.tsv") else { return }
        var counts: [String: [Outcome: Int]] = [:]
        var failures: [String] = []
        var literal = 0
        for row in rows where row.count >= 3 && !row[0].contains("\\(") {
            literal += 1
            let found = outcome(row[0])
            if case .failed(let sentence) = found { failures.append("\(row[0])\n    \(sentence)") }
            let kind = row[2].split(separator: ",").first.map(String.init) ?? ""
            counts[kind, default: [:]][found, default: 0] += 1
        }
        for (kind, outcomes) in counts.sorted(by: { $0.key < $1.key }) {
            let texts = outcomes.map { "\($0.value) \($0.key)" }.sorted()
            print("formats.tsv, \(kind): \(texts.joined(separator: ", "))")
        }
        let invalid = counts.values.reduce(0) { sum, outcomes in
            sum + outcomes.reduce(0) { if case .invalid = $1.key { $0 + $1.value } else { $0 } }
        }
        #expect(literal > 3_900)
        #expect(invalid == Self.broken.count, "a text that the list calls invalid is read")
        #expect(100 * (invalid + failures.count) <= literal)
        // Custom selectors, which need Objective-C.
        #expect(failures.count == 1 && failures[0].hasPrefix("self isKindOfClass: %@"))
    }
}

extension CoreDataValues.Predicate {
    /// YES prints as 1, as on Apple's systems.
    var withoutBooleans: CoreDataValues.Predicate {
        switch self {
        case .constant: self
        case .and(let parts): .and(parts.map(\.withoutBooleans))
        case .or(let parts): .or(parts.map(\.withoutBooleans))
        case .not(let part): .not(part.withoutBooleans)
        case .comparison(let comparison):
            .comparison(
                Comparison(
                    comparison.left.withoutBooleans, comparison.op, comparison.right.withoutBooleans,
                    modifier: comparison.modifier,
                    options: comparison.options))
        }
    }
}

extension CoreDataValues.Expression {
    var withoutBooleans: CoreDataValues.Expression {
        switch self {
        case .constant(.bool(let flag)): .constant(.int(flag ? 1 : 0))
        case .constant, .this, .keyPath, .variable: self
        case .list(let items): .list(items.map(\.withoutBooleans))
        case .function(let name, let items): .function(name, items.map(\.withoutBooleans))
        case .subquery(let collection, let variable, let predicate):
            .subquery(collection: collection.withoutBooleans, variable: variable, predicate: predicate.withoutBooleans)
        case .conditional(let condition, let first, let second):
            .conditional(condition.withoutBooleans, first.withoutBooleans, second.withoutBooleans)
        }
    }
}
