// What a condition says of the rows that it leads to.

extension BoundCondition {
    /// The to-ones that lead to an object from each object of a level that satisfies this, by the names on the way.
    ///
    /// Nil is equal to nil alone, differs from all else, and satisfies no order and no test of texts.
    package func reached(from level: Int) -> Set<[String]> {
        switch self {
        case .and(let parts): return parts.reduce(into: []) { $0.formUnion($1.reached(from: level)) }
        case .or(let parts):
            var common = parts.first?.reached(from: level) ?? []
            for part in parts.dropFirst() where !common.isEmpty { common.formIntersection(part.reached(from: level)) }
            return common
        case .not(.isNull(let operand)): return operand.reached(from: level)
        case .compare(let comparison):
            let (left, right) = (comparison.left, comparison.right)
            guard comparison.op != .notEqual, comparison.op != .equal || (right.isConstant && !right.isNull) else {
                return []
            }
            return left.reached(from: level).union(right.reached(from: level))
        case .between(let operand, _, _, _), .among(let operand, _, _): return operand.reached(from: level)
        case .exists(let chain, _): return chain[0].owner.reached(from: level)
        case .constant, .not, .isNull: return []
        }
    }

    /// Whether it names objects of these levels alone, and of those that it goes through itself.
    func isAbout(_ levels: Set<Int>) -> Bool {
        switch self {
        case .constant: true
        case .and(let parts), .or(let parts): parts.allSatisfy { $0.isAbout(levels) }
        case .not(let part): part.isAbout(levels)
        case .isNull(let operand), .among(let operand, _, _): operand.isAbout(levels)
        case .compare(let comparison): comparison.left.isAbout(levels) && comparison.right.isAbout(levels)
        case .between(let operand, let low, let high, _): [operand, low, high].allSatisfy { $0.isAbout(levels) }
        case .exists(let chain, let part): chain.isAbout(levels) { part.isAbout($0) }
        }
    }
}

extension BoundPath {
    /// Each to-one on the way, if it begins at an object of the level.
    package func reached(from level: Int) -> Set<[String]> {
        guard level == self.level, !hops.isEmpty else { return [] }
        let names = hops.map(\.name)
        return Set(names.indices.map { Array(names[...$0]) })
    }
}

extension BoundOperand {
    fileprivate func reached(from level: Int) -> Set<[String]> {
        switch self {
        case .path(let path): path.reached(from: level)
        // Nil may make a value of them.
        case .value, .aggregate, .call, .conditional, .grouped: []
        }
    }

    fileprivate func isAbout(_ levels: Set<Int>) -> Bool {
        switch self {
        case .value: true
        case .path(let path): levels.contains(path.level)
        case .aggregate(let aggregate):
            aggregate.chain.isAbout(levels) { levels in aggregate.operand?.isAbout(levels) ?? true }
        case .call(_, let arguments): arguments.allSatisfy { $0.isAbout(levels) }
        case .conditional(let condition, let first, let second):
            condition.isAbout(levels) && first.isAbout(levels) && second.isAbout(levels)
        case .grouped: false
        }
    }
}

extension [BoundMembers] {
    fileprivate func isAbout(_ levels: Set<Int>, _ inner: (Set<Int>) -> Bool) -> Bool {
        var levels = levels
        for members in self {
            guard levels.contains(members.owner.level) else { return false }
            levels.insert(members.level)
            guard members.filter?.isAbout(levels) ?? true else { return false }
        }
        return inner(levels)
    }
}
