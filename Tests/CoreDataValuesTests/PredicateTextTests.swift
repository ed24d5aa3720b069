import CoreDataValues
import Foundation
import Testing

@Suite struct PredicateTextTests {
    @Test("Texts are equal by scalar, and by folding when asked")
    func equality() {
        #expect(!TextComparison.isEqual("é", "e\u{301}"))
        #expect(TextComparison.isEqual("É", "e\u{301}", options: .caseInsensitive))
        #expect(TextComparison.isEqual("Éa", "eA", options: [.caseInsensitive, .diacriticInsensitive]))
        #expect(!TextComparison.isEqual("A", "a", options: [.caseInsensitive, .normalized]))
        #expect(TextComparison.compare("Z", "a") == .orderedAscending)
        #expect(TextComparison.compare("\u{FFFD}", "😀") == .orderedAscending)
    }

    @Test(
        "LIKE patterns fit whole texts",
        arguments: [
            ("", "", true), ("*", "", true), ("?", "", false), ("a*", "abc", true), ("*c", "abc", true),
            ("a*c", "abcbc", true),
            ("a?c", "abc", true), ("a?c", "ac", false), ("**a**", "bab", true), ("\\*", "*", true), ("\\*", "a", false),
            ("a\\", "a\\", true), ("?", "é", true), ("*ab*ab*", "xabyabz", true), ("*ab*ab*", "xaby", false),
        ])
    func like(pattern: String, text: String, fits: Bool) {
        #expect(LikePattern(pattern).matches(text) == fits)
    }

    @Test("Numbers compare exactly across their types")
    func numbers() {
        #expect(ValueOrder.order(.int(9_007_199_254_740_993), .double(9_007_199_254_740_992)) == .orderedDescending)
        #expect(ValueOrder.isEqual(.decimal(Decimal(string: "0.1")!), .double(0.1)))
        #expect(ValueOrder.order(.double(.nan), .int(1)) == nil)
        #expect(ValueOrder.order(.int(.max), .double(.infinity)) == .orderedAscending)
        #expect(ValueOrder.isEqual(.bool(true), .int(1)))
        #expect(!ValueOrder.isEqual(.text("1"), .int(1)))
    }

    @Test("A sort order is total: sorting any shuffle gives one result")
    func total() {
        let values: [Value] = [
            .null, .double(.nan), .int(-1), .double(0.5), .bool(true), .text(""), .text("a"), .data(Data([1])),
        ]
        for shift in values.indices {
            let turned = Array(values[shift...] + values[..<shift])
            let sorted = turned.sorted { ValueOrder.sortOrder($0, $1) == .orderedAscending }
            #expect(sorted.map { "\($0)" } == values.map { "\($0)" })
        }
    }

    @Test("A bad MATCHES pattern is refused when the predicate is compiled")
    func badPattern() {
        let predicate = CoreDataValues.Predicate.comparison(Comparison(.this, .matches, .constant(.text("("))))
        #expect(throws: (any Error).self) { _ = try Evaluator(predicate) }
    }
}
