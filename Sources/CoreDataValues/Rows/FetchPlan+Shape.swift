// Which fetches differ in nothing but their values.

import Foundation

extension FetchPlan {
    /// The values of another plan in the order in which they stand in it, if it is this one but for them: the same conditions on
    /// the same keys with values of the same kinds, and the same order. nil otherwise, and for what is not compared that simply:
    /// nil, lists, objects, functions, options, ANY and ALL.
    ///
    /// Limit and offset come last, if there is one of them.
    package func values(ofSameShape other: FetchPlan) -> [Value]? {
        let isPart = limit > 0 || offset > 0
        guard entity == other.entity, includesSubentities == other.includesSubentities,
            includesValues == other.includesValues, isPart == (other.limit > 0 || other.offset > 0), sort == other.sort
        else { return nil }
        var values: [Value] = []
        switch (predicate, other.predicate) {
        case (nil, nil): break
        case (let mine?, let theirs?):
            values.reserveCapacity(4)
            guard mine.collect(theirs, into: &values, depth: 0) else { return nil }
        case (nil, _?), (_?, nil): return nil
        }
        if isPart {
            values.append(.int(other.limit > 0 ? Int64(other.limit) : -1))
            values.append(.int(Int64(max(0, other.offset))))
        }
        return values
    }
}

extension Predicate {
    /// A tree that is deeper is not looked at: the walk is recursive.
    private static var deepest: Int { 32 }

    fileprivate func collect(_ other: Predicate, into values: inout [Value], depth: Int) -> Bool {
        guard depth < Predicate.deepest else { return false }
        switch (self, other) {
        case (.comparison(let mine), .comparison(let theirs)): return mine.collect(theirs, into: &values)
        case (.and(let mine), .and(let theirs)), (.or(let mine), .or(let theirs)):
            guard mine.count == theirs.count else { return false }
            for index in mine.indices where !mine[index].collect(theirs[index], into: &values, depth: depth + 1) {
                return false
            }
            return true
        case (.not(let mine), .not(let theirs)): return mine.collect(theirs, into: &values, depth: depth + 1)
        case (.constant(let mine), .constant(let theirs)): return mine == theirs
        case (.comparison, _), (.and, _), (.or, _), (.not, _), (.constant, _): return false
        }
    }
}

extension Comparison {
    fileprivate func collect(_ other: Comparison, into values: inout [Value]) -> Bool {
        guard op == other.op, isPlain, other.isPlain, case .keyPath(let mine) = left, case .keyPath(let theirs) = other.left,
            mine == theirs, case .constant(let value) = right, case .constant(let otherValue) = other.right,
            value.isPlain(like: otherValue)
        else { return false }
        values.append(otherValue)
        return true
    }

    private var isPlain: Bool {
        guard modifier == .direct, options.isEmpty else { return false }
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
        case (.bool, .bool), (.int, .int), (.double, .double), (.decimal, .decimal), (.text, .text), (.date, .date),
            (.data, .data), (.uuid, .uuid):
            return true
        case (.null, _), (.uri, _), (.key, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.text, _), (.date, _),
            (.data, _), (.uuid, _):
            return false
        }
    }
}
