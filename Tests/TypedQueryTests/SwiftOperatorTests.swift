// What else Swift's macro writes: places, extremes, casts, dates, conditionals.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Operators of Swift's predicates") struct SwiftOperatorTests {
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Harbour.model())

    private func check(
        _ predicate: Foundation.Predicate<Ship>, finds wanted: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws { try Harbour.check(predicate, finds: wanted, sourceLocation: sourceLocation) }

    @Test("Places in an ordered to-many")
    func places() throws {
        try check(#Predicate { $0.moorings.count > 1 && $0.moorings[1].port == "Bergen" })
        try check(#Predicate { !$0.moorings.isEmpty && $0.moorings[0].port == "Oslo" })
        try check(#Predicate { $0.moorings.first?.port == "Oslo" })
        try check(#Predicate { $0.moorings.last?.port == "Bergen" })
        try check(#Predicate { $0.moorings.first == nil })
        let place = 1
        try check(#Predicate { $0.moorings.count > place && $0.moorings[place].port != "Turku" })
    }

    @Test("The least and the greatest of captured values; entries of captured dictionaries and lists")
    func extremes() throws {
        let (crews, floors, table) = ([7, 3, 5], Set([2, 4]), ["Ada": 3])
        try check(#Predicate { $0.crew > crews.max() ?? 0 }, finds: "crew > 7")
        try check(#Predicate { $0.crew < crews.min() ?? 0 }, finds: "crew < 3")
        try check(#Predicate { $0.crew == floors.max() ?? 0 }, finds: "crew == 4")
        try check(#Predicate { $0.crew == crews[1] }, finds: "crew == 3")
        try check(#Predicate { $0.crew == table["Ada"] ?? 9 }, finds: "crew == 3")
        let slice = [0, 1, 2, 3]
        try check(#Predicate { slice[1..<3].contains($0.crew) })
        let defaults = ["Ada": 3]
        try check(#Predicate { $0.crew == defaults["Bo", default: 5] }, finds: "crew == 5")
    }

    @Test("An entry whose key a property tells is answered by memory alone; a store says so")
    func entries() throws {
        let table = ["Ada": 1, "Bella": 2]
        let predicate = #Predicate<Ship> { table[$0.name] == 1 }
        let translated = try #require(NSPredicate(predicate))
        for type in Harbour.types {
            let stack = try Harbour.stack(type)
            let ships = try stack.context.fetch(NSFetchRequest<Ship>(entityName: "Ship"))
            let right = try ships.filter { try predicate.evaluate($0) }.map(\.crew)
            #expect(ships.filter { translated.evaluate(with: $0) }.map(\.crew) == right && right.count == 1)
            let error = #expect(throws: CocoaError.self) { try stack.context.crews(translated) }
            #expect(error?.code.rawValue == 134060)
            for (format, crews) in [
                ("crew == %@['Bella']", [2]), ("crew == %@['none']", []), ("crew == %@[SIZE]", [2]),
                ("1 == %@[name]", [-2]),
            ] {
                // Stores know no places but those of an ordered to-many.
                let text = NSPredicate(format: format, table as NSDictionary)
                #expect(ships.filter { text.evaluate(with: $0) }.map(\.crew) == crews, "\(format)")
                if !format.contains("name"), !format.contains("SIZE") {
                    #expect(try stack.context.crews(text) == crews, "\(format)")
                }
            }
        }
    }

    @Test("Casts that must hold, where they do")
    func casts() throws {
        try check(#Predicate { $0 is Steamer && ($0 as! Steamer).crew > 3 })
        try check(#Predicate { ($0 as? Steamer)?.name == "Bella" })
        try check(#Predicate { ($0 as? Steamer)?.nick != nil })
    }

    @Test("Dates: orders, ranges, seconds")
    func dates() throws {
        let (first, last) = (Date(timeIntervalSinceReferenceDate: 2500), Date(timeIntervalSinceReferenceDate: 7000))
        let never = Date.distantPast
        try check(#Predicate { ($0.launched ?? never) > first })
        try check(#Predicate { $0.launched != nil && $0.launched! <= last })
        try check(#Predicate { (first...last).contains($0.launched ?? never) })
        try check(#Predicate { (first..<last).contains($0.launched ?? never) })
        try check(#Predicate { $0.launched.flatMap { $0.timeIntervalSinceReferenceDate / 2.0 > 1600.0 } ?? false })
    }

    @Test("Conditionals in conditionals, in arithmetic and beside nil")
    func conditionals() throws {
        try check(
            #Predicate { if $0.isAfloat { $0.crew > 2 } else { if $0.crew > 4 { true } else { $0.length < 0.5 } } })
        try check(#Predicate { ($0.isAfloat ? $0.crew : -$0.crew) > 0 })
        try check(#Predicate { ($0.isAfloat ? $0.guns : nil) != nil })
        try check(#Predicate { ($0.guns ?? $0.crew) % 3 == 0 })
        try check(#Predicate { -$0.length < -1.0 && $0.crew - 1 < 6 })
        try check(#Predicate { ($0.crew - 3) % 2 == -1 })
        try check(#Predicate { ($0.crew - 5) / 2 == -1 })
    }

    @Test("Texts behind what may be nil")
    func optionalTexts() throws {
        try check(#Predicate { $0.nick?.localizedStandardContains("OLD") ?? false })
        try check(#Predicate { $0.nick?.starts(with: "Old") == true })
        try check(#Predicate { $0.name.starts(with: $0.nick ?? "x") })
        let descending = ComparisonResult.orderedDescending
        try check(#Predicate { $0.name.caseInsensitiveCompare("aa") == descending })
        try check(#Predicate { $0.name.caseInsensitiveCompare("aa") != descending })
    }

    /// As Foundation of this toolchain has them.
    private static let parts = [
        "Arithmetic", "ClosedRange", "CollectionContainsCollection", "CollectionIndexSubscript",
        "CollectionRangeSubscript", "Comparison",
        "Conditional", "ConditionalCast", "Conjunction", "DictionaryKeyDefaultValueSubscript", "DictionaryKeySubscript",
        "Disjunction", "Equal",
        "ExpressionEvaluate", "Filter", "FloatDivision", "ForceCast", "ForcedUnwrap", "IntDivision", "IntRemainder",
        "KeyPath", "Negation",
        "NilCoalesce", "NilLiteral", "NotEqual", "OptionalFlatMap", "PredicateRegex", "Range",
        "RangeExpressionContains", "SequenceAllSatisfy",
        "SequenceContains", "SequenceContainsWhere", "SequenceMaximum", "SequenceMinimum", "SequenceStartsWith",
        "StringContainsRegex", "TypeCheck",
        "UnaryMinus", "Value", "Variable",
    ]

    @Test("The page on the language names each part of Foundation's predicates")
    func page() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../Documentation/PredicateLanguage.md")
        let words = Set(try String(contentsOf: file, encoding: .utf8).split { !$0.isLetter }.map(String.init))
        for part in Self.parts { #expect(words.contains(part), "\(part)") }
    }
}
