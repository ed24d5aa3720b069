// Predicates as SQL conditions with the same meaning as in memory.

import CoreDataValues

/// Compiles one predicate in one scope.
///
/// In memory a predicate is true or false, never unknown. A condition compiled here may come to NULL where
/// memory says false; AND, OR and WHERE cannot tell the two apart, and NOT is written `IS NOT TRUE`, which
/// can and does.
struct PredicateCompiler {
    let scope: SelectScope

    func compile(_ predicate: Predicate) throws -> String {
        switch predicate {
        case .constant(let value): return value ? "1" : "0"
        case .and: return try join(predicate.conjuncts, " AND ", empty: "1")
        case .or: return try join(predicate.disjuncts, " OR ", empty: "0")
        case .not(let part): return "((\(try compile(part))) IS NOT TRUE)"
        case .comparison(let comparison): return try compile(comparison)
        }
    }

    /// Joined in halves: SQLite takes a thousand levels of an expression, and a chain is as deep as it is long.
    private func join(_ parts: [Predicate], _ word: String, empty: String) throws -> String {
        if parts.isEmpty { return empty }
        return balanced(try parts.map(compile)[...], word)
    }

    private func balanced(_ parts: ArraySlice<String>, _ word: String) -> String {
        guard parts.count > 100 else { return "(" + parts.joined(separator: word) + ")" }
        let middle = parts.startIndex + parts.count / 2
        return "(" + balanced(parts[..<middle], word) + word + balanced(parts[middle...], word) + ")"
    }

    private func compile(_ comparison: Comparison) throws -> String {
        var comparison = comparison
        // `n` says that the texts are prepared already: it overrides the others.
        if comparison.options.contains(.normalized) { comparison.options = [] }
        if comparison.options.contains(.localeSensitive) {
            throw unsupported("a comparison with the option l")
        }
        switch (comparison.left, comparison.right) {
        case (_, .keyPath(let path)) where isConstant(comparison.left):
            return try compile(flipped(comparison, path))
        case (_, .this) where isConstant(comparison.left): return try compile(flipped(comparison, []))
        default: break
        }
        let left = try operand(comparison.left)
        if case .members(let owner, let relationship, let rest) = left {
            return try overMembers(comparison, owner: owner, relationship: relationship, rest: rest)
        }
        guard comparison.modifier == .direct else {
            throw unsupported("\(comparison.modifier) over the key path of a to-one or an attribute")
        }
        return try direct(left, comparison)
    }

    /// `3 < age` as `age > 3`; `object IN tags` as `ANY tags == object`.
    private func flipped(_ comparison: Comparison, _ path: [String]) throws -> Comparison {
        var result = comparison
        (result.left, result.right) = (comparison.right, comparison.left)
        switch comparison.op {
        case .equal, .notEqual: break
        case .less: result.op = .greater
        case .lessOrEqual: result.op = .greaterOrEqual
        case .greater: result.op = .less
        case .greaterOrEqual: result.op = .lessOrEqual
        case .in:
            guard case .members = try KeyPathResolver(scope: scope).resolve(path) else {
                throw unsupported("IN with a key path to one value on its right")
            }
            result.op = .equal
            result.modifier = .any
        case .between, .contains, .beginsWith, .endsWith, .like, .matches:
            throw unsupported("\(comparison.op) with a constant on its left")
        }
        return result
    }

    private func operand(_ expression: Expression) throws -> SQLOperand {
        switch expression {
        case .this: return try KeyPathResolver(scope: scope).resolve([])
        case .keyPath(let path): return try KeyPathResolver(scope: scope).resolve(path)
        case .constant: throw unsupported("a comparison of two constants")
        case .list: throw unsupported("a list on the left of a comparison")
        case .variable(let name): throw unsupported("the variable $\(name) (give it a value first)")
        case .function(let name, _): throw unsupported("the function \(name)")
        case .subquery: throw unsupported("SUBQUERY")
        }
    }

    private func isConstant(_ expression: Expression) -> Bool {
        switch expression {
        case .constant: true
        case .this, .keyPath, .list, .variable, .function, .subquery: false
        }
    }

    /// ANY is EXISTS, ALL is no member for which it does not hold. The members' key path is compiled in a
    /// scope of its own.
    private func overMembers(
        _ comparison: Comparison, owner: String, relationship: ResolvedRelationship, rest: [String]
    ) throws -> String {
        var inner = comparison
        let all: Bool
        switch (comparison.modifier, comparison.op) {
        case (.any, _): all = false
        case (.all, _): all = true
        case (.direct, .contains) where rest.isEmpty:
            all = false
            inner.op = .equal
        case (.direct, _):
            throw unsupported("a to-many (\(relationship.name)) without ANY or ALL")
        }
        guard isConstant(comparison.right) || isList(comparison.right) else {
            throw unsupported("ANY or ALL compared with something other than a constant")
        }
        let members = SelectScope(scope.builder, entity: scope.schema[relationship.destination])
        let link = try MemberLink(scope.builder).condition(relationship, member: members, owner: owner)
        inner.left = rest.isEmpty ? .this : .keyPath(rest)
        let operand = try KeyPathResolver(scope: members).resolve(rest)
        if case .members = operand {} else { inner.modifier = .direct }
        let condition = try PredicateCompiler(scope: members).compile(.comparison(inner))
        let test = all ? "((\(condition)) IS NOT TRUE)" : condition
        return (all ? "NOT " : "")
            + "EXISTS (SELECT 1 FROM \(try members.from())\(link.join) WHERE \(link.condition) AND \(test))"
    }

    private func isList(_ expression: Expression) -> Bool {
        if case .list = expression { true } else { false }
    }

    private func direct(_ left: SQLOperand, _ comparison: Comparison) throws -> String {
        let side = SQLSide(left, scope: scope)
        switch comparison.op {
        case .equal: return try equality(side, comparison, isEqual: true)
        case .notEqual: return try equality(side, comparison, isEqual: false)
        case .less: return try ordering(side, comparison, "<")
        case .lessOrEqual: return try ordering(side, comparison, "<=")
        case .greater: return try ordering(side, comparison, ">")
        case .greaterOrEqual: return try ordering(side, comparison, ">=")
        case .between: return try between(side, comparison)
        case .in: return try MembershipCompiler(side: side, scope: scope).compile(comparison)
        case .contains, .beginsWith, .endsWith, .like, .matches:
            return try TextCompiler(side: side, scope: scope).compile(comparison)
        }
    }

    private func equality(_ left: SQLSide, _ comparison: Comparison, isEqual: Bool) throws -> String {
        let left = left.folded(comparison.options)
        if let other = try columnSide(comparison.right, with: left) {
            return "\(left.sql) \(isEqual ? "IS" : "IS NOT") \(other.folded(comparison.options).sql)"
        }
        guard let value = try left.coerced(constant(comparison.right)) else { return isEqual ? "0" : "1" }
        if value.isNull { return "\(left.sql) \(isEqual ? "IS NULL" : "IS NOT NULL")" }
        if left.isFloat, let range = FloatRange(value) {
            let test = "\(left.sql) BETWEEN \(scope.builder.bind(.double(range.low))) AND \(scope.builder.bind(.double(range.high)))"
            return isEqual ? "(\(test))" : "((\(test)) IS NOT TRUE)"
        }
        // `=` finds rows by index and cannot match NULL; `IS NOT` is true of NULL, as in memory.
        return "\(left.sql) \(isEqual ? "=" : "IS NOT") \(scope.builder.bind(value))"
    }

    private func ordering(_ left: SQLSide, _ comparison: Comparison, _ word: String) throws -> String {
        if left.isKey { throw unsupported("an ordering comparison of objects") }
        let left = left.folded(comparison.options)
        if let other = try columnSide(comparison.right, with: left) {
            return "\(left.sql) \(word) \(other.folded(comparison.options).sql)"
        }
        guard let value = try left.coerced(constant(comparison.right)), !value.isNull else { return "0" }
        if left.isFloat, let range = FloatRange(value) {
            return "\(left.sql) \(word) \(scope.builder.bind(.double(["<", ">="].contains(word) ? range.low : range.high)))"
        }
        return "\(left.sql) \(word) \(scope.builder.bind(value))"
    }

    private func between(_ left: SQLSide, _ comparison: Comparison) throws -> String {
        if left.isKey { throw unsupported("BETWEEN for objects") }
        let left = left.folded(comparison.options)
        guard case .list(let bounds) = comparison.right, bounds.count == 2 else {
            throw unsupported("BETWEEN without a list of two bounds")
        }
        let values = try bounds.map { try left.coerced(constant($0)) }
        guard var low = values[0], var high = values[1], !low.isNull, !high.isNull else { return "0" }
        if left.isFloat, let first = FloatRange(low), let last = FloatRange(high) {
            (low, high) = (.double(first.low), .double(last.high))
        }
        return "\(left.sql) BETWEEN \(scope.builder.bind(low)) AND \(scope.builder.bind(high))"
    }

    /// The right side when it is a column too; its kind must fit the left's.
    private func columnSide(_ expression: Expression, with left: SQLSide) throws -> SQLSide? {
        if isConstant(expression) { return nil }
        let other = SQLSide(try operand(expression), scope: scope)
        if left.family == .tagged || other.family == .tagged {
            throw unsupported(ExternalReference.refusal((left.family == .tagged ? left : other).name))
        }
        guard other.family == left.family, left.family != .members else {
            throw unsupported("a comparison of \(left.family.rawValue) with \(other.family.rawValue)")
        }
        return other
    }

    private func constant(_ expression: Expression) throws -> Value {
        guard case .constant(let value) = expression else { throw unsupported("a computed value here") }
        return value
    }

    private func unsupported(_ part: String) -> StoreError { unsupportedPredicate(part, scope.entity) }
}

/// The error for a predicate that has no SQL form.
func unsupportedPredicate(_ part: String, _ entity: Entity) -> StoreError {
    StoreError(
        134060,
        "The predicate on \(entity.name) uses \(part), which SQLite stores do not support. Fetch without it and filter "
            + "in memory.",
        entity: entity.name)
}
