// `IN` with a list of constants.

import CoreDataValues
import Foundation

/// Lists of whole numbers and of texts travel as one JSON value, so that the statement is the same for any
/// length. Other values are bound one by one, the list filled up to a power of two with its last value, for
/// few statements.
struct MembershipCompiler {
    let side: SQLSide
    let scope: SelectScope

    func compile(_ comparison: Comparison) throws -> String {
        let side = self.side.folded(comparison.options)
        guard case .list(let elements) = comparison.right else {
            throw unsupportedPredicate("IN without a list of constants", scope.entity)
        }
        var values: [Value] = []
        var includesNull = false
        for element in elements {
            guard case .constant(let constant) = element else {
                throw unsupportedPredicate("IN with a computed value in its list", scope.entity)
            }
            guard let value = try side.coerced(constant) else { continue }
            if value.isNull { includesNull = true } else { values.append(value) }
        }
        let test = values.isEmpty ? "0" : side.isFloat ? ranges(values[...], side) : "\(side.sql) IN \(list(values))"
        return includesNull ? "(\(test) OR \(side.sql) IS NULL)" : test
    }

    /// Each number with all that are the same Float; in halves, as SQLite limits how deep an expression is.
    private func ranges(_ values: ArraySlice<Value>, _ side: SQLSide) -> String {
        if values.count > 1 {
            let middle = values.startIndex + values.count / 2
            return "(\(ranges(values[..<middle], side)) OR \(ranges(values[middle...], side)))"
        }
        guard let range = values.first.flatMap({ FloatRange($0) }) else { return "0" }
        return "(\(side.sql) BETWEEN \(scope.builder.bind(.double(range.low))) AND \(scope.builder.bind(.double(range.high))))"
    }

    private func list(_ values: [Value]) -> String {
        if let json = Self.json(values) {
            return "(SELECT value FROM json_each(\(scope.builder.bind(.text(json)))))"
        }
        var padded = values
        var size = 1
        while size < values.count { size *= 2 }
        padded += Array(repeating: values[values.count - 1], count: size - values.count)
        return "(" + padded.map(scope.builder.bind).joined(separator: ", ") + ")"
    }

    /// nil when a value has no JSON form that SQLite reads back unchanged: reals, blobs, texts with a NUL.
    private static func json(_ values: [Value]) -> String? {
        var result = "["
        for value in values {
            if result.utf8.count > 1 { result += "," }
            switch value {
            case .int(let number): result += String(number)
            case .bool(let flag): result += flag ? "1" : "0"
            case .text(let text), .uri(let text):
                guard let literal = jsonLiteral(text) else { return nil }
                result += literal
            case .null, .double, .decimal, .date, .data, .uuid, .key: return nil
            }
        }
        return result + "]"
    }

    private static func jsonLiteral(_ text: String) -> String? {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0: return nil
            case 0x22: result += "\\\""
            case 0x5c: result += "\\\\"
            case 1..<0x20:
                result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
