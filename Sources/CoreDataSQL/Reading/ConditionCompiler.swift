// Bound conditions as SQL with the same meaning as in memory.

import CoreDataValues

/// Compiles conditions over the rows of the levels that a statement goes through.
///
/// In memory a condition is true or false, never unknown. What is compiled here may come to NULL where memory says false; AND, OR
/// and WHERE cannot tell the two apart, and NOT is written `IS NOT TRUE`, which can and does.
struct ConditionCompiler {
    let scopes: LevelScopes
    /// The levels whose rows this part alone may leave out of the result, so that an index may find the others; none inside of what
    /// is negated and of a value.
    private var found: [Int] = []
    /// Whether a range may find members, which it leaves any number of.
    private var takesRanges = true

    init(scopes: LevelScopes) { self.scopes = scopes }

    /// What all rows of a SELECT fulfil, which goes through the rows of some levels and finds them by it.
    ///
    /// - Parameter takesRanges: whether a range may find members.
    static func filter(_ condition: BoundCondition, of levels: [Int], takesRanges: Bool = true, _ scopes: LevelScopes)
        throws -> String
    {
        scopes.need(condition, in: levels)
        var compiler = ConditionCompiler(scopes: scopes)
        (compiler.found, compiler.takesRanges) = (levels, takesRanges)
        return try compiler.compile(condition)
    }

    /// The same for rows that are found by something else.
    static func test(_ condition: BoundCondition, of levels: [Int], _ scopes: LevelScopes) throws -> String {
        scopes.need(condition, in: levels)
        return try ConditionCompiler(scopes: scopes).compile(condition)
    }

    private var builder: SelectBuilder { scopes.builder }
    private var operands: OperandCompiler { OperandCompiler(scopes: scopes) }
    private var dialect: any SQLDialect { scopes.builder.map.dialect }

    func compile(_ condition: BoundCondition) throws -> String {
        switch condition {
        case .constant(let value): return dialect.condition(value)
        case .and(let parts): return try (namesValues(parts) ? tests : self).join(parts, " AND ")
        case .or(let parts): return try (isFound(condition) ? self : tests).join(parts, " OR ")
        case .not(.exists(let chain, let part)): return "NOT \(try exists(chain, part))"
        case .not(let part): return "(\(try tests.compile(part))) IS NOT TRUE"
        case .isNull(let operand): return try operands.isNull(operand)
        case .compare(let comparison): return try compare(comparison)
        case .between(let operand, let low, let high, let options): return try between(operand, low, high, options)
        case .among(let operand, let values, let options):
            let test = MembershipCompiler(builder: builder).test(values.map { folded($0, options) })
            return "\(try side(operand, options)) \(test)"
        case .exists(let chain, let part): return try isFound(condition) ? membership(chain, part) : exists(chain, part)
        }
    }

    /// The compiler of parts by which no rows are found.
    private var tests: ConditionCompiler { found.isEmpty ? self : ConditionCompiler(scopes: scopes) }

    private func isFound(_ condition: BoundCondition) -> Bool {
        found.contains { level in
            let lookup = condition.lookup(from: level)
            return (takesRanges ? lookup : lookup.ofValues).isServed(by: builder.map.isIndexed)
        }
    }

    /// Whether the rows' own values, named one by one, leave few of them: then their members are better looked at one by one, too.
    private func namesValues(_ parts: [BoundCondition]) -> Bool {
        guard !found.isEmpty, parts.contains(where: \.goesThroughMembers) else { return false }
        let rest = parts.filter { !$0.goesThroughMembers }
        return found.contains { level in
            rest.contains { $0.lookup(from: level).ofValues.isServed(by: builder.map.isIndexed) }
        }
    }

    /// The deepest part first, since SQLite's parser keeps what stands before a bracket until it closes; long chains in halves, since
    /// it takes a thousand levels of an expression, and a chain is as deep as it is long.
    private func join(_ parts: [BoundCondition], _ word: String) throws -> String {
        let ordered =
            parts.count > 100
            ? parts
            : parts.enumerated().sorted { a, b in
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

    /// Looks at the members of each row.
    private func exists(_ chain: [BoundMembers], _ part: BoundCondition) throws -> String {
        let source = try MemberSource(chain, scopes: scopes)
        try source.add(part)
        return "EXISTS (SELECT 1 \(try source.rows()))"
    }

    /// Finds the members first, and by them their owners.
    private func membership(_ chain: [BoundMembers], _ part: BoundCondition) throws -> String {
        let source = try MemberSource(chain, scopes: scopes, isOfAll: true)
        try source.add(part)
        return "\(source.owner.outside) IN (SELECT \(source.owner.inside) \(try source.rows()))"
    }

    // MARK: Comparisons

    private func compare(_ comparison: BoundComparison) throws -> String {
        switch comparison.op {
        case .contains, .beginsWith, .endsWith, .like, .matches:
            return try TextCompiler(scopes: scopes).compile(comparison)
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in: break
        }
        let (left, right) = (comparison.left, comparison.right)
        // Of what no schema describes only the values tell how they compare; what a locale calls equal no folding tells.
        if left.family == .unknown || isLocal(comparison.options, left)
            || (right.family == .unknown && !right.isConstant)
        {
            return try operands.test(comparison.op, left, right, comparison.options)
        }
        let cell = try cell(comparison)
        var text = try cell ?? side(left, comparison.options)
        let other = try side(right, comparison.options)
        if let cell { text = builder.content(cell, length: "length(\(other))") }
        switch comparison.op {
        // `=` finds rows by index and cannot match NULL; an inequality is true of NULL, as in memory.
        case .equal: return right.isConstant ? "\(text) = \(other)" : dialect.isSame(text, other)
        case .notEqual: return dialect.isOther(text, other)
        case .less: return "\(text) < \(other)"
        case .lessOrEqual: return "\(text) <= \(other)"
        case .greater: return "\(text) > \(other)"
        case .greaterOrEqual: return "\(text) >= \(other)"
        case .between, .in, .contains, .beginsWith, .endsWith, .like, .matches:
            return try operands.test(comparison.op, left, right, comparison.options)
        }
    }

    /// Bytes that may lie in a file: one of another length is not read.
    private func cell(_ comparison: BoundComparison) throws -> String? {
        guard comparison.left.isExternal, case .path(let path) = comparison.left, comparison.right.isConstant else {
            return nil
        }
        switch comparison.op {
        case .equal, .notEqual: return try operands.compile(path)
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in, .contains, .beginsWith, .endsWith, .like,
            .matches:
            return nil
        }
    }

    private func between(
        _ operand: BoundOperand, _ low: BoundOperand, _ high: BoundOperand, _ options: Comparison.Options
    ) throws -> String {
        if isLocal(options, operand)
            || [operand, low, high].contains(where: { $0.family == .unknown && !$0.isConstant })
        {
            return try operands.test(.greaterOrEqual, operand, low, options) + " AND "
                + operands.test(.lessOrEqual, operand, high, options)
        }
        return "\(try side(operand, options)) BETWEEN \(try side(low, options)) AND \(try side(high, options))"
    }

    private func isLocal(_ options: Comparison.Options, _ operand: BoundOperand) -> Bool {
        options.contains(.localeSensitive) && operand.family == .text
    }

    /// A side as the options `c` and `d` see it. They mean nothing for what is no text.
    private func side(_ operand: BoundOperand, _ options: Comparison.Options) throws -> String {
        if case .value(.constant(let value)) = operand { return builder.bind(folded(value, options)) }
        let text = try operands.compile(operand)
        return options.isEmpty || operand.family != .text ? text : dialect.folded(text, options)
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
/// A list that the database takes as one value is one parameter, so that the statement is the same for any length. Others are bound
/// value by value while they are short, the list filled up to a power of two with its last one, for few statements.
struct MembershipCompiler {
    let builder: SelectBuilder
    /// SQLite reads numbered parameters in a time that grows with the square of their number.
    private static let mostParameters = 64

    /// What follows the value that is to be in the list.
    func test(_ values: [Value]) -> String {
        let dialect = builder.map.dialect
        if let list = dialect.list(values) {
            return dialect.isIn(SQLList(builder.bind(list), values.contains { $0.isText } ? .texts : .wholeNumbers))
        }
        if values.count > MembershipCompiler.mostParameters, let list = dialect.mixedList(values) {
            return dialect.isIn(SQLList(builder.bind(list), .mixed))
        }
        var padded = values
        var size = 1
        while size < values.count { size *= 2 }
        padded += Array(repeating: values[values.count - 1], count: size - values.count)
        return "IN (" + padded.map { builder.bind($0) }.joined(separator: ", ") + ")"
    }
}

extension BoundCondition {
    /// Whether it asks for members, itself or in one of its parts.
    fileprivate var goesThroughMembers: Bool {
        switch self {
        case .exists: true
        case .and(let parts), .or(let parts): parts.contains(where: \.goesThroughMembers)
        case .constant, .not, .isNull, .compare, .between, .among: false
        }
    }
}

extension Value {
    fileprivate var isText: Bool {
        switch self {
        case .text, .uri: true
        case .null, .bool, .int, .double, .decimal, .date, .data, .uuid, .key: false
        }
    }
}
