// Comparisons of texts: CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES.

import CoreDataValues
import Foundation

/// Forms that compare scalar by scalar, NUL included, as memory does; with `c` or `d` both sides are folded
/// first.
struct TextCompiler {
    let scopes: LevelScopes
    private var builder: SelectBuilder { scopes.builder }
    private var dialect: any SQLDialect { scopes.builder.map.dialect }

    func compile(_ comparison: BoundComparison) throws -> String {
        // Searches in texts ask no locale.
        let (left, options) = (comparison.left, comparison.options.subtracting(.localeSensitive))
        guard left.family == .text, !left.isConstant, case .value(.constant(let value)) = comparison.right,
            let text = value.text
        else { return try OperandCompiler(scopes: scopes).test(comparison.op, left, comparison.right, options) }
        let plain = try OperandCompiler(scopes: scopes).compile(left)
        let side = options.isEmpty ? plain : dialect.folded(plain, options)
        let folded = TextComparison.fold(text, options: options)
        switch comparison.op {
        case .contains: return dialect.contains(side, builder.bind(.text(folded)))
        case .beginsWith: return prefix(folded, side)
        case .endsWith: return suffix(folded, side)
        case .like: return dialect.isLike(plain, builder.bind(.text(text)), options)
        case .matches: return dialect.matches(plain, builder.bind(.text(text)), options)
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

    private func suffix(_ text: String, _ side: String) -> String {
        text.isEmpty ? "\(side) IS NOT NULL" : dialect.hasSuffix(side, text) { builder.bind($0) }
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
