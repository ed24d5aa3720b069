// The orders of texts that sort descriptors ask for by selector.

import Foundation

/// Three-way comparisons: below zero, zero, above zero.
enum TextOrder {
    static func caseInsensitive(_ a: String, _ b: String) -> Int {
        sign(a.compare(b, options: .caseInsensitive, range: nil, locale: nil))
    }
    static func localized(_ a: String, _ b: String) -> Int {
        sign(a.compare(b, options: [], range: nil, locale: .current))
    }
    static func localizedCaseInsensitive(_ a: String, _ b: String) -> Int {
        sign(a.compare(b, options: .caseInsensitive, range: nil, locale: .current))
    }
    /// As a file browser sorts: without case, digits by their number.
    static func localizedStandard(_ a: String, _ b: String) -> Int {
        sign(a.compare(b, options: [.caseInsensitive, .numeric, .widthInsensitive], range: nil, locale: .current))
    }

    private static func sign(_ result: ComparisonResult) -> Int { result.rawValue }
}
