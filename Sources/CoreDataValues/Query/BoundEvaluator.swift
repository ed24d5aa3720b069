// A bound condition compiled to closures, once, to be asked about many rows or objects.

import Foundation

/// Judges rows and objects by a query's condition, as every store does.
package struct BoundEvaluator {
    private let test: (inout Frame) -> Bool
    private let levels: Int

    /// - Parameter query: gives the parameters their values.
    package init(_ query: Query) {
        let compiler = BoundCompiler(query)
        test = query.bound.condition.map { compiler.test($0) } ?? { _ in true }
        levels = query.bound.levelCount
    }

    package func matches(_ source: any EvaluationSource) -> Bool {
        var frame = Frame(objects: Array(repeating: .value(.null), count: levels))
        frame.objects[0] = .source(source)
        return test(&frame)
    }
}

/// The order of a query, for rows and objects alike.
package struct BoundOrder {
    private let keys: [(read: (inout Frame) -> Operand, sort: BoundSort)]
    private let levels: Int

    package init(_ query: Query) {
        let compiler = BoundCompiler(query)
        keys = query.bound.order.map { (compiler.code($0.operand), $0) }
        levels = query.bound.levelCount
    }

    package var isEmpty: Bool { keys.isEmpty }
    /// The direction of the last key, in which rows that no key tells apart come by their numbers.
    package var isAscending: Bool { keys.last?.sort.isAscending ?? true }

    /// The values to order by.
    package func values(of source: any EvaluationSource) -> [Value] {
        var frame = Frame(objects: Array(repeating: .value(.null), count: levels))
        frame.objects[0] = .source(source)
        return keys.map { $0.read(&frame).comparable }
    }

    /// Null sorts first; descending reverses the whole order, so null is then last.
    package func compare(_ a: [Value], _ b: [Value]) -> ComparisonResult {
        for (place, key) in keys.enumerated() {
            let result = ValueOrder.sortOrder(a[place], b[place], by: key.sort.comparison)
            if result != .orderedSame { return key.sort.isAscending ? result : result.reversed }
        }
        return .orderedSame
    }
}

/// The objects of the levels while one row is judged.
struct Frame {
    var objects: [Operand]
    /// The values of the group that is judged, in a projection.
    var groups: [Operand] = []
}

/// Makes closures of bound trees.
struct BoundCompiler {
    typealias Test = (inout Frame) -> Bool
    typealias Code = (inout Frame) -> Operand
    private let query: Query
    private let schema: Schema

    init(_ query: Query) {
        self.query = query
        schema = query.bound.schema
    }

    func test(_ condition: BoundCondition) -> Test {
        switch condition {
        case .constant(let flag): return { _ in flag }
        case .and(let parts):
            let tests = parts.map { test($0) }
            return { frame in
                for test in tests where !test(&frame) { return false }
                return true
            }
        case .or(let parts):
            let tests = parts.map { test($0) }
            return { frame in
                for test in tests where test(&frame) { return true }
                return false
            }
        case .not(let part):
            let inner = test(part)
            return { !inner(&$0) }
        case .isNull(let operand):
            let read = code(operand)
            return { read(&$0).isNull }
        case .compare(let comparison): return compare(comparison)
        case .between(let operand, let low, let high, let options):
            return between(code(operand), code(low), code(high), options)
        case .among(let operand, let values, let options): return among(code(operand), values, options)
        case .exists(let chain, let part): return exists(chain, test(part))
        }
    }

    // MARK: Comparisons

    private func compare(_ comparison: BoundComparison) -> Test {
        let (left, right) = (code(comparison.left), code(comparison.right))
        let relation = Relation(op: comparison.op, options: comparison.options)
        if case .value(let bound) = comparison.right, case .text(let text) = query.value(bound) {
            if comparison.op == .like {
                let pattern = LikePattern(text, options: comparison.options)
                return { left(&$0).text.map(pattern.matches) ?? false }
            }
            if comparison.op == .matches, let pattern = try? RegularPattern(text, options: comparison.options) {
                return { left(&$0).text.map(pattern.matches) ?? false }
            }
        }
        guard comparison.op == .equal || comparison.op == .notEqual,
            comparison.left.family == .object || comparison.right.family == .object
        else { return { relation.holds(left(&$0), right(&$0)) } }
        let (schema, isEqual) = (schema, comparison.op == .equal)
        return { BoundCompiler.isSame(left(&$0), right(&$0), schema) == isEqual }
    }

    /// Whether two operands are the same object. A key's entity is a hint that only the row can correct, and a store does not know
    /// its own number.
    private static func isSame(_ a: Operand, _ b: Operand, _ schema: Schema) -> Bool {
        guard case .key(let x) = a.comparable, case .key(let y) = b.comparable else { return a.isNull && b.isNull }
        return x.number == y.number && schema[x.entity].root == schema[y.entity].root
            && (x.store == y.store || x.store == 0 || y.store == 0)
    }

    private func between(
        _ read: @escaping Code, _ low: @escaping Code, _ high: @escaping Code, _ options: Comparison.Options
    )
        -> Test
    {
        let relation = Relation(op: .between, options: options)
        return { relation.holds(read(&$0), .collection([low(&$0), high(&$0)])) }
    }

    private func among(_ read: @escaping Code, _ values: [Value], _ options: Comparison.Options) -> Test {
        if values.contains(where: { if case .key = $0 { true } else { false } }) {
            let schema = schema
            let known = Dictionary(grouping: values.map { Operand.value($0) }, by: { BoundCompiler.number($0) })
            return { frame in
                let object = read(&frame)
                return known[BoundCompiler.number(object)]?.contains { BoundCompiler.isSame(object, $0, schema) }
                    ?? false
            }
        }
        let relation = Relation(op: .in, options: options)
        let list = Operand.collection(values.map { .value($0) })
        guard let membership = Membership(values, options) else { return { relation.holds(read(&$0), list) } }
        return { frame in
            let value = read(&frame)
            return membership.contains(value.comparable) ?? relation.holds(value, list)
        }
    }

    private static func number(_ operand: Operand) -> Int64 {
        if case .key(let key) = operand.comparable { key.number } else { 0 }
    }

    // MARK: Members

    private func exists(_ chain: [BoundMembers], _ inner: @escaping Test) -> Test {
        var test = inner
        for members in chain.reversed() {
            let (read, filter, rest, level) = (
                code(members.owner), members.filter.map { self.test($0) }, test, members.level
            )
            let name = members.relationship.name
            test = { frame in
                for member in KeyPathReader.step(read(&frame), name).members {
                    frame.objects[level] = member
                    if filter.map({ $0(&frame) }) ?? true, rest(&frame) { return true }
                }
                return false
            }
        }
        return test
    }

    /// What is asked of each member at the end of a chain; nil where the chain begins at nothing.
    private func collect(_ chain: [BoundMembers], _ operand: BoundOperand?) -> (inout Frame) -> [Operand]? {
        let value = operand.map { code($0) } ?? { _ in .value(.null) }
        var read: (inout Frame) -> [Operand]? = { [value(&$0)] }
        for members in chain.reversed() {
            let (owner, filter, rest, level) = (
                code(members.owner), members.filter.map { test($0) }, read, members.level
            )
            let name = members.relationship.name
            read = { frame in
                let found = KeyPathReader.step(owner(&frame), name)
                if found.isNull { return nil }
                var all: [Operand] = []
                for member in found.members {
                    frame.objects[level] = member
                    if filter.map({ $0(&frame) }) ?? true { all += rest(&frame) ?? [] }
                }
                return all
            }
        }
        return read
    }

    // MARK: Operands

    func code(_ operand: BoundOperand) -> Code {
        switch operand {
        case .value(let bound):
            let value = Operand.value(query.value(bound))
            return { _ in value }
        case .path(let path): return code(path)
        case .aggregate(let aggregate): return code(aggregate)
        case .conditional(let condition, let first, let second):
            let (test, yes, no) = (test(condition), code(first), code(second))
            return { test(&$0) ? yes(&$0) : no(&$0) }
        case .grouped(let value):
            let place = value.place
            return { $0.groups[place] }
        case .call(let name, let arguments):
            let codes = arguments.map { code($0) }
            guard let apply = PredicateFunctions.named(name, count: codes.count) else { return { _ in .null } }
            return { frame in
                var operands: [Operand] = []
                for code in codes { operands.append(code(&frame)) }
                return apply(operands)
            }
        }
    }

    private func code(_ path: BoundPath) -> Code {
        var keys = path.hops.map(\.name)
        switch path.end {
        case .attribute(let slot): keys.append(path.entity.slots[slot].name)
        case .target(let relationship): keys.append(relationship.name)
        case .object: break
        case .entity: keys.append("entity")
        }
        let level = path.level
        // Constants beside it are coerced already.
        if path.slot?.kind == .float {
            return { frame in keys.reduce(frame.objects[level]) { KeyPathReader.step($0, $1) }.widened }
        }
        if keys.count == 1 {
            let key = keys[0]
            return { KeyPathReader.step($0.objects[level], key) }
        }
        return { frame in keys.reduce(frame.objects[level]) { KeyPathReader.step($0, $1) } }
    }

    private func code(_ aggregate: BoundAggregate) -> Code {
        let read = collect(aggregate.chain, aggregate.operand)
        return { frame in
            guard let values = read(&frame) else { return .null }
            switch aggregate.function {
            case .count: return .value(.int(Int64(values.count)))
            case .sum: return Aggregate.sum(values)
            case .average: return Aggregate.average(values)
            case .minimum: return Aggregate.extreme(values, .orderedAscending)
            case .maximum: return Aggregate.extreme(values, .orderedDescending)
            case .item(let place): return values.indices.contains(place) ? values[place] : .null
            case .last: return values.last ?? .null
            }
        }
    }
}
