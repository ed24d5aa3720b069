// Which fetches differ in nothing but their values.

import Foundation

extension FetchPlan {
    /// The values of another plan in the order in which they stand in it, if it is this one but for them: the same conditions on
    /// the same keys with values of the same kinds, and the same order. nil otherwise, and for what is not compared that simply:
    /// nil, long lists, objects, functions, options, ANY and ALL.
    ///
    /// The limit comes last, if there is one of them, and then the offset, if there is one.
    package func values(ofSameShape other: FetchPlan) -> [Value]? {
        let isPart = limit > 0 || offset > 0
        guard entity == other.entity, includesSubentities == other.includesSubentities,
            projection.isSameRows(as: other.projection), isPart == (other.limit > 0 || other.offset > 0),
            (offset > 0) == (other.offset > 0), sort == other.sort
        else { return nil }
        var values: [Value] = []
        switch condition.pair(other.condition) {
        // Written out, as an array of a few that is filled one by one takes three times as long.
        case .value(let value)? where !isPart: return [value]
        case .value(let value)? where other.offset == 0: return [value, other.limitValue]
        case .value(let value)?: return [value, other.limitValue, .int(Int64(other.offset))]
        case .everything?: break
        case .trees(let mine, let theirs)?:
            values.reserveCapacity(4)
            guard mine.collect(theirs, into: &values, depth: 0) else { return nil }
        case nil: return nil
        }
        if isPart {
            values.append(other.limitValue)
            if other.offset > 0 { values.append(.int(Int64(other.offset))) }
        }
        return values
    }

    private var limitValue: Value { .int(limit > 0 ? Int64(limit) : -1) }
}

extension FetchCondition {
    /// What two conditions of perhaps one shape have in common.
    fileprivate enum Pair {
        case everything
        case value(Value)
        case trees(Predicate, Predicate)
    }

    /// - Returns: nil for conditions of different shapes.
    fileprivate func pair(_ other: FetchCondition) -> Pair? {
        // Not as pairs, which would copy both.
        switch self {
        case .everything: return other.isEverything ? .everything : nil
        case .filled(let mine, let value):
            guard let otherValue = mine.value(in: other), value.isPlain(like: otherValue) else { return nil }
            return .value(otherValue)
        case .tree(let mine):
            switch other {
            case .everything: return nil
            case .filled(let theirs, let otherValue):
                guard let value = theirs.value(in: self), value.isPlain(like: otherValue) else { return nil }
                return .value(otherValue)
            case .tree(let theirs): return .trees(mine, theirs)
            }
        }
    }
}

extension PlainComparison {
    /// The value that a condition compares the same key path with in the same way; nil for any other condition.
    fileprivate func value(in condition: FetchCondition) -> Value? {
        switch condition {
        case .everything: return nil
        case .filled(let other, let value):
            let isSame = self === other || comparison.op == other.comparison.op && keyPath == other.keyPath
            return isSame ? value : nil
        case .tree(.comparison(let other)):
            guard comparison.op == other.op, other.isPlain, case .keyPath(let path) = other.left, path == keyPath,
                case .constant(let value) = other.right
            else { return nil }
            return value
        case .tree: return nil
        }
    }
}

extension Predicate {
    /// A tree that is deeper is not looked at: the walk is recursive.
    private static var deepest: Int { 32 }

    fileprivate func collect(_ other: Predicate, into values: inout [Value], depth: Int) -> Bool {
        guard depth < Predicate.deepest else { return false }
        // Not as a pair, which would copy both.
        switch self {
        case .comparison(let mine):
            guard case .comparison(let theirs) = other else { return false }
            return mine.collect(theirs, into: &values)
        case .and(let mine):
            guard case .and(let theirs) = other else { return false }
            return Predicate.collect(mine, theirs, into: &values, depth: depth)
        case .or(let mine):
            guard case .or(let theirs) = other else { return false }
            return Predicate.collect(mine, theirs, into: &values, depth: depth)
        case .not(let mine):
            guard case .not(let theirs) = other else { return false }
            return mine.collect(theirs, into: &values, depth: depth + 1)
        case .constant(let mine):
            guard case .constant(let theirs) = other else { return false }
            return mine == theirs
        }
    }

    private static func collect(_ mine: [Predicate], _ theirs: [Predicate], into values: inout [Value], depth: Int)
        -> Bool
    {
        guard mine.count == theirs.count else { return false }
        for index in mine.indices where !mine[index].collect(theirs[index], into: &values, depth: depth + 1) {
            return false
        }
        return true
    }
}

extension Comparison {
    fileprivate func collect(_ other: Comparison, into values: inout [Value]) -> Bool {
        guard op == other.op, isBare, other.isBare, case .keyPath(let mine) = left,
            case .keyPath(let theirs) = other.left, mine == theirs
        else { return false }
        switch (right, other.right) {
        case (.constant(let value), .constant(let otherValue)) where isPlain:
            guard value.isPlain(like: otherValue) else { return false }
            values.append(otherValue)
        case (.list(let items), .list(let otherItems)) where op == .in && items.count <= Comparison.longestSharedList:
            guard items.count == otherItems.count, !mine.isComputed else { return false }
            for (item, otherItem) in zip(items, otherItems) {
                guard case .constant(let value) = item, case .constant(let otherValue) = otherItem,
                    value.isPlain(like: otherValue)
                else { return false }
                values.append(otherValue)
            }
        default: return false
        }
        return true
    }

    /// Each length is a shape of its own, so only those of a few values are.
    private static var longestSharedList: Int { 4 }

    /// Whether it has no options and goes through no members.
    private var isBare: Bool { modifier == .direct && options.isEmpty }

    /// Whether it only compares, without options and members.
    var isPlain: Bool {
        guard isBare else { return false }
        switch op {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: return true
        case .between, .in, .contains, .beginsWith, .endsWith, .like, .matches: return false
        }
    }
}

extension Value {
    /// Whether both are of one kind that is bound as it is.
    fileprivate func isPlain(like other: Value) -> Bool {
        switch (self, other) {
        case (.bool, .bool), (.int, .int), (.text, .text), (.data, .data), (.uuid, .uuid): return true
        // What is not a number is null, which has a shape of its own.
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)): return !a.isNaN && !b.isNaN
        // Beside whole numbers a fraction has a shape of its own.
        case (.decimal(let a), .decimal(let b)): return !a.isNaN && !b.isNaN && a.isWhole == b.isWhole
        case (.null, _), (.uri, _), (.key, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.text, _),
            (.date, _),
            (.data, _), (.uuid, _):
            return false
        }
    }
}

extension [String] {
    /// Whether it may be worked out for a row, which is not to be done for each value of a list.
    fileprivate var isComputed: Bool {
        switch last {
        case "entity", "length", "uppercaseString", "lowercaseString", "capitalizedString": true
        default: contains { $0.hasPrefix("@") }
        }
    }
}
