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
    let scopes: LevelScopes
    private var builder: SelectBuilder { scopes.builder }

    func compile(_ comparison: BoundComparison) throws -> String {
        let (left, options) = (comparison.left, comparison.options)
        guard left.family == .text, !left.isConstant, case .value(.constant(let value)) = comparison.right,
            let text = value.text
        else { return try OperandCompiler(scopes: scopes).test(comparison.op, left, comparison.right, options) }
        let plain = try OperandCompiler(scopes: scopes).compile(left)
        let side = options.isEmpty ? plain : "\(TextFunction.fold)(\(plain), \(options.rawValue))"
        let folded = TextComparison.fold(text, options: options)
        switch comparison.op {
        case .contains: return "instr(\(side), \(builder.bind(.text(folded)))) > 0"
        case .beginsWith: return prefix(folded, side)
        case .endsWith: return suffix(folded, side)
        case .like: return "\(TextFunction.like)(\(plain), \(builder.bind(.text(text))), \(options.rawValue))"
        case .matches: return "\(TextFunction.matches)(\(plain), \(builder.bind(.text(text))), \(options.rawValue))"
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in:
            return try OperandCompiler(scopes: scopes).test(comparison.op, left, comparison.right, options)
        }
    }

    /// A range, so that an index serves it.
    private func prefix(_ text: String, _ side: String) -> String {
        if text.isEmpty { return "\(side) IS NOT NULL" }
        let low = "\(side) >= \(builder.bind(.text(text)))"
        guard let end = Self.successor(text) else { return low }
        return "(\(low) AND \(side) < \(builder.bind(.text(end))))"
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
    private func suffix(_ text: String, _ side: String) -> String {
        if text.isEmpty { return "\(side) IS NOT NULL" }
        let bytes = Data(text.utf8)
        let needle = builder.bind(.data(bytes))
        return "substr(CAST(\(side) AS BLOB), \(builder.bind(.int(Int64(-bytes.count))))) = \(needle)"
    }
}

extension Value {
    fileprivate var text: String? {
        switch self {
        case .text(let text), .uri(let text): text
        case .null, .bool, .int, .double, .decimal, .date, .data, .uuid, .key: nil
        }
    }
}
