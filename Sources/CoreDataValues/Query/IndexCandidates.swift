// Which properties an index could find the rows of a query by.

extension BoundQuery {
    /// Properties that comparisons with constants ask for, which all rows of the result fulfil, and the first property of the order.
    package var indexCandidates: [IndexCandidate] {
        var found = condition.map(candidates) ?? []
        if let first = order.first, first.comparison == .binary, case .path(let path) = first.operand, path.hops.isEmpty {
            found += candidate(path, isOrder: true)
        }
        var seen: Set<IndexCandidate> = []
        return found.filter { seen.insert($0).inserted }
    }

    private func candidates(_ condition: BoundCondition) -> [IndexCandidate] {
        switch condition {
        case .and(let parts): return parts.flatMap(candidates)
        case .or(let parts):
            // One part that no index serves reads every row.
            let parts = parts.map(candidates)
            return parts.contains(where: \.isEmpty) ? [] : parts.flatMap { $0 }
        case .isNull(let operand): return candidates(operand, [])
        case .compare(let comparison): return comparison.isServed ? candidates(comparison.left, comparison.options) : []
        case .between(let operand, let low, let high, let options):
            return low.isConstant && high.isConstant ? candidates(operand, options) : []
        case .among(let operand, _, let options): return candidates(operand, options)
        case .constant, .not, .exists: return []
        }
    }

    private func candidates(_ operand: BoundOperand, _ options: Comparison.Options) -> [IndexCandidate] {
        guard case .path(let path) = operand, path.level == 0, options.isEmpty || operand.family != .text else { return [] }
        return candidate(path, isOrder: false)
    }

    private func candidate(_ path: BoundPath, isOrder: Bool) -> [IndexCandidate] {
        switch path.end {
        case .attribute(let slot):
            let isInRow = path.entity.slots[slot].kind != .externalData
            return isInRow ? [IndexCandidate(entity: path.entity.index, slot: slot, isOrder: isOrder)] : []
        case .target(let relationship):
            return relationship.slot.map { [IndexCandidate(entity: path.entity.index, slot: $0, isOrder: isOrder)] } ?? []
        case .object, .entity: return []
        }
    }
}

extension BoundComparison {
    /// Whether an index on the left side finds the rows.
    fileprivate var isServed: Bool {
        guard right.isConstant else { return false }
        switch op {
        case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .between, .in: return true
        case .notEqual, .contains, .endsWith, .like, .matches: return false
        }
    }
}
