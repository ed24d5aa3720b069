// How texts compare: one definition for the evaluator, the sort order and the functions registered in SQLite.

import Foundation

/// Without options texts compare by Unicode scalar; `[c]` and `[d]` compare folded texts, `[l]` asks the
/// current locale, `[n]` says that the texts are prepared already and overrides the others.
package enum TextComparison {
    package typealias Options = Comparison.Options

    /// The text that stands for all texts equal to it under `options`. Costs nothing for ASCII without upper case.
    package static func fold(_ text: String, options: Options) -> String {
        let folding = foldingOptions(options)
        if folding.isEmpty { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return folding.contains(.caseInsensitive) ? asciiLowercase(text) : text
        }
        // One normal form, because folding may answer composed and decomposed texts for equal ones.
        return text.folding(options: folding, locale: nil).precomposedStringWithCanonicalMapping
    }

    package static func isEqual(_ a: String, _ b: String, options: Options = []) -> Bool {
        if comparesByLocale(options) { return localeOrder(a, b, options) == .orderedSame }
        if foldingOptions(options).isEmpty { return a.hasSameBytes(b) }
        return fold(a, options: options).hasSameBytes(fold(b, options: options))
    }

    package static func compare(_ a: String, _ b: String, options: Options = []) -> ComparisonResult {
        if comparesByLocale(options) { return localeOrder(a, b, options) }
        if foldingOptions(options).isEmpty { return scalarOrder(a, b) }
        return scalarOrder(fold(a, options: options), fold(b, options: options))
    }

    /// The order of a sort key. Texts that a case-insensitive order calls equal stay equal: the next key decides.
    package static func compare(_ a: String, _ b: String, by comparison: SortTerm.Comparison) -> ComparisonResult {
        switch comparison {
        case .binary: scalarOrder(a, b)
        case .caseInsensitive: compare(a, b, options: .caseInsensitive)
        case .localized: a.localizedCompare(b)
        case .localizedCaseInsensitive: a.localizedCaseInsensitiveCompare(b)
        case .localizedStandard: a.localizedStandardCompare(b)
        }
    }

    package static func contains(_ text: String, _ part: String, options: Options = []) -> Bool {
        search(fold(text, options: options), fold(part, options: options), .anywhere)
    }

    package static func begins(_ text: String, with part: String, options: Options = []) -> Bool {
        search(fold(text, options: options), fold(part, options: options), .start)
    }

    package static func ends(_ text: String, with part: String, options: Options = []) -> Bool {
        search(fold(text, options: options), fold(part, options: options), .end)
    }

    // MARK: Folded texts

    enum Place { case start, end, anywhere }

    /// Looks for the bytes of `part`; both are folded already. The empty text is a part of every text.
    static func search(_ text: String, _ part: String, _ place: Place) -> Bool {
        var text = text
        var part = part
        return text.withUTF8 { bytes in
            part.withUTF8 { wanted in
                guard wanted.count <= bytes.count else { return false }
                switch place {
                case .start: return bytes.starts(with: wanted)
                case .end: return bytes[(bytes.count - wanted.count)...].elementsEqual(wanted)
                case .anywhere: return find(wanted, in: bytes)
                }
            }
        }
    }

    private static func find(_ wanted: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = wanted.first else { return true }
        var start = 0
        let lastStart = bytes.count - wanted.count
        while start <= lastStart {
            if bytes[start] == first, bytes[start..<(start + wanted.count)].elementsEqual(wanted) { return true }
            start += 1
        }
        return false
    }

    /// UTF-8 order, which is the order of Unicode scalars and of SQLite's BINARY collation.
    static func scalarOrder(_ a: String, _ b: String) -> ComparisonResult {
        var a = a
        var b = b
        return a.withUTF8 { x in
            b.withUTF8 { y in
                var index = 0
                let shared = min(x.count, y.count)
                while index < shared {
                    if x[index] != y[index] { return x[index] < y[index] ? .orderedAscending : .orderedDescending }
                    index += 1
                }
                if x.count == y.count { return .orderedSame }
                return x.count < y.count ? .orderedAscending : .orderedDescending
            }
        }
    }

    // MARK: Options

    static func comparesByLocale(_ options: Options) -> Bool {
        options.contains(.localeSensitive) && !options.contains(.normalized)
    }

    private static func foldingOptions(_ options: Options) -> String.CompareOptions {
        var result: String.CompareOptions = []
        guard !options.contains(.normalized) else { return result }
        if options.contains(.caseInsensitive) { result.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { result.insert(.diacriticInsensitive) }
        return result
    }

    private static func localeOrder(_ a: String, _ b: String, _ options: Options) -> ComparisonResult {
        a.compare(b, options: foldingOptions(options), range: nil, locale: Locale.current)
    }

    private static func asciiLowercase(_ text: String) -> String {
        guard text.utf8.contains(where: { 0x41 <= $0 && $0 <= 0x5A }) else { return text }
        return String(decoding: text.utf8.map { 0x41 <= $0 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
