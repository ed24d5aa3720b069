// Comparisons of texts: CONTAINS, BEGINSWITH, ENDSWITH.

import CoreDataValues
import Foundation

/// Case- and diacritic-sensitive forms that compare scalar by scalar, NUL included, as memory does.
struct TextCompiler {
    let side: SQLSide
    let scope: SelectScope

    func compile(_ comparison: Comparison) throws -> String {
        guard comparison.options.isEmpty else {
            throw unsupportedPredicate("the option c or d of a text comparison", scope.entity)
        }
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
        case .beginsWith: return prefix(text)
        case .endsWith: return suffix(text)
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in, .like, .matches:
            throw unsupportedPredicate("\(comparison.op)", scope.entity)
        }
    }

    /// A range, so that an index serves it.
    private func prefix(_ text: String) -> String {
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
    private func suffix(_ text: String) -> String {
        if text.isEmpty { return "\(side.sql) IS NOT NULL" }
        let bytes = Data(text.utf8)
        let needle = scope.builder.bind(.data(bytes))
        return "substr(CAST(\(side.sql) AS BLOB), \(scope.builder.bind(.int(Int64(-bytes.count))))) = \(needle)"
    }
}
