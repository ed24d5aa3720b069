// Comparisons of texts: CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES.

import CoreDataValues
import Foundation

/// The functions and collations that a store registers in SQLite. Behind each stands the code that memory
/// compares with.
package enum TextFunction {
    /// Text, options: the text that stands for all texts equal to it.
    package static var fold: String { "COREDATA_FOLD" }
    /// Text, pattern, options.
    package static var like: String { "COREDATA_LIKE" }
    /// Text, pattern, options.
    package static var matches: String { "COREDATA_MATCHES" }

    /// nil for SQLite's own BINARY.
    package static func collation(_ comparison: SortTerm.Comparison) -> String? {
        switch comparison {
        case .binary: nil
        case .caseInsensitive: "COREDATA_CASE"
        case .localized: "COREDATA_LOCALE"
        case .localizedCaseInsensitive: "COREDATA_LOCALE_CASE"
        case .localizedStandard: "COREDATA_LOCALE_STANDARD"
        }
    }
}

/// Forms that compare scalar by scalar, NUL included, as memory does; with `c` or `d` both sides are folded
/// first.
struct TextCompiler {
    let side: SQLSide
    let scope: SelectScope

    func compile(_ comparison: Comparison) throws -> String {
        if comparison.op == .like || comparison.op == .matches { return try pattern(comparison) }
        let side = self.side.folded(comparison.options)
        guard side.family == .texts else {
            throw unsupportedPredicate("\(comparison.op) on \(side.family.rawValue)", scope.entity)
        }
        guard case .constant(let constant) = comparison.right else {
            throw unsupportedPredicate("\(comparison.op) with a computed value", scope.entity)
        }
        guard let value = try side.coerced(constant) else { return "0" }
        let text: String
        switch value {
        case .null: return "0"
        case .text(let needle), .uri(let needle): text = needle
        case .bool, .int, .double, .decimal, .date, .data, .uuid, .key:
            throw unsupportedPredicate("\(comparison.op) with a value that is no text", scope.entity)
        }
        switch comparison.op {
        case .contains: return "instr(\(side.sql), \(scope.builder.bind(value))) > 0"
        case .beginsWith: return prefix(text, side)
        case .endsWith: return suffix(text, side)
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in, .like,
            .matches:
            throw unsupportedPredicate("\(comparison.op)", scope.entity)
        }
    }

    private func pattern(_ comparison: Comparison) throws -> String {
        guard side.family == .texts, case .constant(let constant) = comparison.right else {
            throw unsupportedPredicate("\(comparison.op) on anything but a text and a constant", scope.entity)
        }
        guard let value = try side.coerced(constant), case .text(let text) = value else { return "0" }
        if comparison.op == .matches {
            do { _ = try RegularPattern(text, options: comparison.options) } catch {
                throw unsupportedPredicate(
                    "matches with “\(text)”, which is no regular expression", scope.entity)
            }
        }
        let name = comparison.op == .like ? TextFunction.like : TextFunction.matches
        return "\(name)(\(side.sql), \(scope.builder.bind(value)), \(comparison.options.rawValue))"
    }

    /// A range, so that an index serves it.
    private func prefix(_ text: String, _ side: SQLSide) -> String {
        if text.isEmpty { return "\(side.sql) IS NOT NULL" }
        let low = "\(side.sql) >= \(scope.builder.bind(.text(text)))"
        guard let end = Self.successor(text) else { return low }
        return "(\(low) AND \(side.sql) < \(scope.builder.bind(.text(end))))"
    }

    /// The first text behind all that begin with `text`; nil when there is none.
    static func successor(_ text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.popLast() {
            var next = last.value + 1
            if next == 0xd800 { next = 0xe000 }
            guard let scalar = Unicode.Scalar(next) else { continue }
            scalars.append(scalar)
            var result = ""
            result.unicodeScalars.append(contentsOf: scalars)
            return result
        }
        return nil
    }

    /// By bytes: `length` and `substr` of a text would stop at a NUL.
    private func suffix(_ text: String, _ side: SQLSide) -> String {
        if text.isEmpty { return "\(side.sql) IS NOT NULL" }
        let bytes = Data(text.utf8)
        let needle = scope.builder.bind(.data(bytes))
        return
            "substr(CAST(\(side.sql) AS BLOB), \(scope.builder.bind(.int(Int64(-bytes.count))))) = \(needle)"
    }
}
