// The predicates of real programs, asked of things without a model.

import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataFoundation

@Suite("Predicates of real programs without a model") struct RealFormatEvaluationTests {
    private struct Tally {
        var evaluated = 0
        /// Which hold for some subjects and not for all.
        var telling = 0
        /// Which mean the same of an object as of a dictionary with its keys.
        var compared = 0
        var refused: [String] = []
    }

    /// What is not evaluated, and why.
    private static let refused = ["distanceToLocation:fromLocation:(location, %@) < %f": "there are no locations here"]

    @Test(
        "Dictionaries, objects with keys, values and lists answer every predicate of real programs, alike and as its printed text does"
    )
    func evaluate() throws {
        guard let rows = Corpus.rows("predicates/formats.tsv") else { return }
        var tally = Tally()
        var count = 0
        for row in rows where !row[0].contains("\\(") {
            let read = try? FormatParser.predicate(row[0]) { place, letter in
                letter == "K" ? .keyPath("key") : .expression(.variable("a\(place)\(letter)"))
            }
            guard let read else { continue }
            count += 1
            try ask(row[0], read, seed: UInt64(count), &tally)
        }
        print(
            "formats.tsv without a model: \(tally.evaluated) of \(count) evaluated, \(tally.telling) of them telling, \(tally.compared) alike of objects; refused \(tally.refused)"
        )
        #expect(count == 3_945)
        #expect(tally.evaluated + tally.refused.count == count)
        #expect(Set(tally.refused) == Set(Self.refused.keys))
        #expect(tally.telling >= 3_360 && tally.compared == 3_790)
    }

    private func ask(_ text: String, _ tree: CoreDataValues.Predicate, seed: UInt64, _ tally: inout Tally) throws {
        var subjects = PlainSubjects(tree, seed: seed)
        var values = subjects.variableValues()
        // A variable in the place of a key is left alone unless it is given a text.
        for name in NSPredicate.filled(tree, values).openVariables { values[name] = "key" }
        let (predicate, negated) = (NSPredicate.filled(tree, values), NSPredicate.filled(.not(tree), values))
        var translation = Translation(.bindingForeign)
        do { _ = try Evaluator(translation.predicate(predicate), isLenient: true) } catch {
            return tally.refused.append(text)
        }
        let printed = try? NSPredicate(parsing: "\(predicate)")
        var answers: Set<Bool> = []
        for round in 0..<24 {
            let dictionary = subjects.dictionary()
            let answer = predicate.evaluate(with: dictionary)
            answers.insert(answer)
            guard !subjects.isRandom, round < 8 else { continue }
            #expect(negated.evaluate(with: dictionary) == !answer, "\(text)")
            if let printed {
                #expect(printed.evaluate(with: dictionary) == answer, "\(text), as \(predicate), of \(dictionary)")
            }
            if subjects.meansTheSameOfObjects {
                #expect(predicate.evaluate(with: dictionary.asThing) == answer, "\(text), of \(dictionary)")
            }
        }
        for _ in 0..<(subjects.asksForItself ? 24 : 4) {
            let bare = subjects.bare()
            let answer = predicate.evaluate(with: bare)
            answers.insert(answer)
            if let printed, !subjects.isRandom {
                #expect(printed.evaluate(with: bare) == answer, "\(text), as \(predicate), of \(bare)")
            }
        }
        tally.evaluated += 1
        if subjects.meansTheSameOfObjects { tally.compared += 1 }
        if answers.count == 2 { tally.telling += 1 }
    }
}

extension NSPredicate {
    fileprivate var openVariables: Set<String> {
        var translation = Translation(.bindingForeign)
        guard let tree = try? translation.predicate(self) else { return [] }
        return tree.freeVariables.filter { translation.bound[$0] == nil }
    }

    fileprivate static func filled(_ tree: CoreDataValues.Predicate, _ values: [String: Any]) -> NSPredicate {
        NSPredicate.made(of: tree) { _ in nil }.withSubstitutionVariables(values)
    }
}
