// Which properties an index could find the rows of a query by.

extension BoundQuery {
    /// Properties that comparisons with constants ask for, which all rows of the result fulfil, and the first property of the order.
    package var indexCandidates: [IndexCandidate] {
        var found = condition?.lookup(from: 0).candidates ?? []
        if let first = order.first, first.comparison == .binary, case .path(let path) = first.operand,
            path.hops.isEmpty,
            let candidate = path.candidate(isOrder: true)
        {
            found.append(candidate)
        }
        var seen: Set<IndexCandidate> = []
        return found.filter { seen.insert($0).inserted }
    }
}

/// How rows that satisfy a condition are found, other than by reading each.
package indirect enum RowLookup: Sendable {
    /// How much a comparison leaves over.
    package enum Use: Sendable { case values, range, null }

    case none
    /// By the numbers of rows.
    case key(Use)
    /// By an index on a property, where there is one.
    case property(IndexCandidate, Use)
    /// In any of these ways: of the parts of an AND one is enough.
    case any([RowLookup])
    /// In all of these ways together: of the parts of an OR each finds some rows.
    case all([RowLookup])

    /// Whether the rows are found with the indexes that there are.
    package func isServed(by isIndexed: (IndexCandidate) -> Bool) -> Bool {
        switch self {
        case .none: false
        case .key: true
        case .property(let candidate, _): isIndexed(candidate)
        case .any(let ways): ways.contains { $0.isServed(by: isIndexed) }
        case .all(let parts): parts.allSatisfy { $0.isServed(by: isIndexed) }
        }
    }

    /// The ways by values that are named one by one, which leave few rows over.
    package var ofValues: RowLookup { only([.values]) }

    func only(_ uses: Set<Use>) -> RowLookup {
        switch self {
        case .none: .none
        case .key(let use): uses.contains(use) ? self : .none
        case .property(_, let use): uses.contains(use) ? self : .none
        case .any(let ways): .any(ways.map { $0.only(uses) })
        case .all(let parts): .all(parts.map { $0.only(uses) })
        }
    }

    private var isNone: Bool {
        switch self {
        case .none: true
        case .key, .property: false
        case .any(let ways): ways.allSatisfy(\.isNone)
        case .all(let parts): parts.contains(where: \.isNone)
        }
    }

    /// The properties that take part in it.
    var candidates: [IndexCandidate] {
        switch self {
        case .none, .key: []
        case .property(let candidate, _): [candidate]
        case .any(let ways): ways.flatMap(\.candidates)
        // One part that no index serves reads every row.
        case .all(let parts): isNone ? [] : parts.flatMap(\.candidates)
        }
    }
}

extension BoundCondition {
    /// How the objects of a level that satisfy this are found: by what they have themselves, or by what stands at the end of
    /// to-ones that lead somewhere in each of them.
    package func lookup(from level: Int) -> RowLookup {
        .any(([[]] + reached(from: level).sorted { $0.count < $1.count }).map { lookup(at: $0, from: level) })
    }

    /// By what the objects at the end of one chain of to-ones have.
    private func lookup(at hops: [String], from level: Int) -> RowLookup {
        switch self {
        case .and(let parts): return .any(parts.map { $0.lookup(at: hops, from: level) })
        case .or(let parts): return .all(parts.map { $0.lookup(at: hops, from: level) })
        // Where a to-one leads nowhere there is no row to find.
        case .isNull(let operand): return hops.isEmpty ? operand.lookup(.null, [], at: hops, from: level) : .none
        case .compare(let comparison):
            guard let use = comparison.use else { return .none }
            return comparison.left.lookup(use, comparison.options, at: hops, from: level)
        case .between(let operand, let low, let high, let options):
            return low.isConstant && high.isConstant ? operand.lookup(.range, options, at: hops, from: level) : .none
        case .among(let operand, _, let options): return operand.lookup(.values, options, at: hops, from: level)
        case .exists(let chain, let part):
            guard chain[0].owner.level == level, chain[0].owner.hops.map(\.name) == hops else { return .none }
            return BoundCondition.lookup(ofOwners: chain, part)
        case .constant, .not: return .none
        }
    }

    /// Owners are found by their members where these are, and where what is asked of them is the same for all owners.
    private static func lookup(ofOwners chain: [BoundMembers], _ part: BoundCondition) -> RowLookup {
        let asked = BoundCondition.all(chain.compactMap(\.filter) + [part])
        let levels = Set(chain.map(\.level))
        guard asked.isAbout(levels), chain.dropFirst().allSatisfy({ levels.contains($0.owner.level) }) else {
            return .none
        }
        // Members without a value may be most of them.
        return .any(chain.map { asked.lookup(from: $0.level).only([.values, .range]) })
    }
}

extension BoundOperand {
    fileprivate func lookup(
        _ use: RowLookup.Use, _ options: Comparison.Options, at hops: [String], from level: Int
    ) -> RowLookup {
        guard case .path(let path) = self, path.level == level, path.hops.map(\.name) == hops,
            options.isEmpty || family != .text
        else { return .none }
        if case .object = path.end { return .key(use) }
        // One of two values leaves half of the rows.
        let use = path.slot?.kind == .bool && use == .values ? .range : use
        return path.candidate(isOrder: false).map { .property($0, use) } ?? .none
    }
}

extension BoundPath {
    /// Its last property, where that has a column.
    package func candidate(isOrder: Bool) -> IndexCandidate? {
        switch end {
        case .attribute(let slot):
            let isInRow = entity.slots[slot].kind != .externalData
            return isInRow ? IndexCandidate(entity: entity.index, slot: slot, isOrder: isOrder) : nil
        case .target(let relationship):
            return relationship.slot.map { IndexCandidate(entity: entity.index, slot: $0, isOrder: isOrder) }
        case .object, .entity: return nil
        }
    }
}

extension BoundComparison {
    /// What an index on the left side leaves over; nil where it finds nothing.
    fileprivate var use: RowLookup.Use? {
        guard case .value(let value) = right else { return nil }
        switch op {
        case .equal: return .values
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return .range
        case .beginsWith: if case .constant(.text("")) = value { return nil } else { return .range }
        case .notEqual, .between, .in, .contains, .endsWith, .like, .matches: return nil
        }
    }
}
