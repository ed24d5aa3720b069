// Bound conditions as SQL with the same meaning as in memory.

import CoreDataValues

/// Compiles conditions over the rows of the levels that a statement goes through.
///
/// In memory a condition is true or false, never unknown. What is compiled here may come to NULL where memory says false; AND, OR
/// and WHERE cannot tell the two apart, and NOT is written `IS NOT TRUE`, which can and does.
struct ConditionCompiler {
    let scopes: LevelScopes
    private var builder: SelectBuilder { scopes.builder }
    private var operands: OperandCompiler { OperandCompiler(scopes: scopes) }

    func compile(_ condition: BoundCondition) throws -> String {
        switch condition {
        case .constant(let value): return value ? "1" : "0"
        case .and(let parts): return try join(parts, " AND ")
        case .or(let parts): return try join(parts, " OR ")
        case .not(.exists(let chain, let part)): return "NOT \(try exists(chain, part))"
        case .not(let part): return "(\(try compile(part))) IS NOT TRUE"
        case .isNull(let operand): return "\(try operands.compile(operand)) IS NULL"
        case .compare(let comparison): return try compare(comparison)
        case .between(let operand, let low, let high, let options): return try between(operand, low, high, options)
        case .among(let operand, let values, let options):
            let list = MembershipCompiler(builder: builder).list(values.map { folded($0, options) })
            return "\(try side(operand, options)) IN \(list)"
        case .exists(let chain, let part): return try exists(chain, part)
        }
    }

    /// The deepest part first, since SQLite's parser keeps what stands before a bracket until it closes; long chains in halves, since
    /// it takes a thousand levels of an expression, and a chain is as deep as it is long.
    private func join(_ parts: [BoundCondition], _ word: String) throws -> String {
        let ordered = parts.count > 100 ? parts : parts.enumerated().sorted { a, b in
            let (x, y) = (a.element.depth, b.element.depth)
            return x == y ? a.offset < b.offset : x > y
        }.map(\.element)
        let texts = try ordered.map { part in
            let text = try compile(part)
            return part.isJunction ? "(\(text))" : text
        }
        return texts.count > 100 ? balanced(texts[...], word) : texts.joined(separator: word)
    }

    private func balanced(_ parts: ArraySlice<String>, _ word: String) -> String {
        guard parts.count > 100 else { return "(" + parts.joined(separator: word) + ")" }
        let middle = parts.startIndex + parts.count / 2
        return "(" + balanced(parts[..<middle], word) + word + balanced(parts[middle...], word) + ")"
    }

    private func exists(_ chain: [BoundMembers], _ part: BoundCondition) throws -> String {
        let source = try MemberSource(chain, scopes: scopes)
        let condition = try compile(part)
        return "EXISTS (SELECT 1 FROM \(try source.from()) WHERE \(source.condition)"
            + (condition == "1" ? ")" : " AND \(part.isJunction ? "(\(condition))" : condition))")
    }

    // MARK: Comparisons

    private func compare(_ comparison: BoundComparison) throws -> String {
        switch comparison.op {
        case .contains, .beginsWith, .endsWith, .like, .matches:
            return try TextCompiler(scopes: scopes).compile(comparison)
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in: break
        }
        let (left, right) = (comparison.left, comparison.right)
        // Of what no schema describes only the values tell how they compare.
        if left.family == .unknown || (right.family == .unknown && !right.isConstant) {
            return try operands.test(comparison.op, left, right, comparison.options)
        }
        let text = try side(left, comparison.options)
        let other = try side(right, comparison.options)
        switch comparison.op {
        // `=` finds rows by index and cannot match NULL; `IS NOT` is true of NULL, as in memory.
        case .equal: return "\(text) \(right.isConstant ? "=" : "IS") \(other)"
        case .notEqual: return "\(text) IS NOT \(other)"
        case .less: return "\(text) < \(other)"
        case .lessOrEqual: return "\(text) <= \(other)"
        case .greater: return "\(text) > \(other)"
        case .greaterOrEqual: return "\(text) >= \(other)"
        case .between, .in, .contains, .beginsWith, .endsWith, .like, .matches:
            return try operands.test(comparison.op, left, right, comparison.options)
        }
    }

    private func between(
        _ operand: BoundOperand, _ low: BoundOperand, _ high: BoundOperand, _ options: Comparison.Options
    ) throws -> String {
        if [operand, low, high].contains(where: { $0.family == .unknown && !$0.isConstant }) {
            return try operands.test(.greaterOrEqual, operand, low, options) + " AND "
                + operands.test(.lessOrEqual, operand, high, options)
        }
        return "\(try side(operand, options)) BETWEEN \(try side(low, options)) AND \(try side(high, options))"
    }

    /// A side as the options `c` and `d` see it. They mean nothing for what is no text.
    private func side(_ operand: BoundOperand, _ options: Comparison.Options) throws -> String {
        if case .value(.constant(let value)) = operand { return builder.bind(folded(value, options)) }
        let text = try operands.compile(operand)
        return options.isEmpty || operand.family != .text ? text : "\(TextFunction.fold)(\(text), \(options.rawValue))"
    }

    private func folded(_ value: Value, _ options: Comparison.Options) -> Value {
        switch value {
        case .text(let text), .uri(let text): .text(TextComparison.fold(text, options: options))
        case .key(let key): .int(key.number)
        case .null, .bool, .int, .double, .decimal, .date, .data, .uuid: value
        }
    }
}

/// `IN` with a list of constants.
///
/// Lists of whole numbers and of texts travel as one JSON value, so that the statement is the same for any
/// length. Other values are bound one by one, the list filled up to a power of two with its last value, for
/// few statements.
struct MembershipCompiler {
    let builder: SelectBuilder

    func list(_ values: [Value]) -> String {
        if let json = Self.json(values) {
            return "(SELECT value FROM json_each(\(builder.bind(.text(json)))))"
        }
        var padded = values
        var size = 1
        while size < values.count { size *= 2 }
        padded += Array(repeating: values[values.count - 1], count: size - values.count)
        return "(" + padded.map { builder.bind($0) }.joined(separator: ", ") + ")"
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
