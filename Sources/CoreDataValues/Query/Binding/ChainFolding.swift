// Long chains of comparisons of one property as one list or one range.

/// Joins the parts of an AND or OR in n log n at most.
enum ChainFolding {
    /// A chain of fewer parts is as well compared one by one.
    private static let shortest = 4

    static func any(_ parts: [BoundCondition], foldsConstants: Bool) -> BoundCondition {
        .any(foldsConstants && parts.count >= shortest ? folded(parts, .any) : parts)
    }

    static func all(_ parts: [BoundCondition], foldsConstants: Bool) -> BoundCondition {
        .all(foldsConstants && parts.count >= shortest ? folded(parts, .all) : parts)
    }

    private enum Kind { case any, all }

    /// What folds with what: the same property, compared in the same way.
    private struct Place: Hashable {
        /// `union` is of ranges of which one must hold, `common` of such that all must.
        enum Use: Hashable { case list, floats, lower, upper, union, common }
        let use: Use
        let level: Int
        let hops: [RelationshipIndex]
        let end: Int
        let options: Comparison.Options

        init?(_ operand: BoundOperand, _ use: Use, _ options: Comparison.Options) {
            // By locale texts that are not the same may be equal.
            guard case .path(let path) = operand, !options.contains(.localeSensitive) else { return nil }
            self.use = use
            self.options = options
            level = path.level
            hops = path.hops.map(\.index)
            switch path.end {
            case .attribute(let slot): end = slot
            case .target(let relationship): end = -2 - relationship.index.rawValue
            case .object: end = -1
            case .entity: end = .min
            }
        }
    }

    private struct Group {
        let position: Int
        let operand: BoundOperand
        var values: [Value] = []
        var floats: [FloatRange] = []
        var ranges: [ValueRange] = []
        var bound: (op: Comparison.Operator, value: Value)?
    }

    /// The groups in the order in which they begin. Their lists grow in place: taken out of a dictionary and put back, each would be
    /// copied for each of its values.
    private struct Groups {
        private(set) var all: [(place: Place, group: Group)] = []
        private var numbers: [Place: Int] = [:]

        /// The number of the group of a place, which begins at a part if it is new.
        mutating func number(_ place: Place, beginning position: Int, _ operand: BoundOperand) -> Int {
            if let number = numbers[place] { return number }
            numbers[place] = all.count
            all.append((place, Group(position: position, operand: operand)))
            return all.count - 1
        }

        mutating func append(_ value: Value, to number: Int) { all[number].group.values.append(value) }
        mutating func append(_ values: [Value], to number: Int) { all[number].group.values += values }
        mutating func append(_ float: FloatRange, to number: Int) { all[number].group.floats.append(float) }
        mutating func append(_ range: ValueRange, to number: Int) { all[number].group.ranges.append(range) }
        mutating func setRange(_ range: ValueRange, of number: Int) { all[number].group.ranges = [range] }
        mutating func setBound(_ bound: (op: Comparison.Operator, value: Value), of number: Int) {
            all[number].group.bound = bound
        }
    }

    /// The first part of a group stands for all of it.
    private static func folded(_ parts: [BoundCondition], _ kind: Kind) -> [BoundCondition] {
        var groups = Groups()
        var kept: [BoundCondition?] = []
        kept.reserveCapacity(parts.count)
        for part in parts {
            kept.append(fold(part, kind, at: kept.count, into: &groups) ? nil : part)
        }
        for (place, group) in groups.all { kept[group.position] = condition(place, group, kind) }
        return kept.compactMap { $0 }
    }

    private static func fold(_ part: BoundCondition, _ kind: Kind, at position: Int, into groups: inout Groups) -> Bool
    {
        switch (kind, part) {
        case (.any, .among(let operand, let values, let options)),
            (.all, .not(.among(let operand, let values, let options))):
            guard let place = Place(operand, .list, options) else { return false }
            groups.append(values, to: groups.number(place, beginning: position, operand))
            return true
        case (.any, .between(let operand, let low, let high, let options)),
            (.all, .not(.between(let operand, let low, let high, let options))):
            return fold(operand, from: low, to: high, options, isUnion: true, at: position, into: &groups)
        case (.all, .between(let operand, let low, let high, let options)):
            return fold(operand, from: low, to: high, options, isUnion: false, at: position, into: &groups)
        case (_, .compare(let comparison)):
            guard case .value(.constant(let value)) = comparison.right else { return false }
            return fold(comparison, value, kind, at: position, into: &groups)
        case (.any, _), (.all, _): return false
        }
    }

    /// A range, or the equality of a Float, which is one.
    private static func fold(
        _ operand: BoundOperand, from low: BoundOperand, to high: BoundOperand, _ options: Comparison.Options,
        isUnion: Bool,
        at position: Int, into groups: inout Groups
    ) -> Bool {
        guard case .path(let path) = operand, case .value(.constant(let first)) = low,
            case .value(.constant(let last)) = high
        else { return false }
        if isUnion, path.slot?.kind == .float, let float = FloatRange(from: first, to: last) {
            guard let place = Place(operand, .floats, options) else { return false }
            groups.append(float, to: groups.number(place, beginning: position, operand))
            return true
        }
        guard let range = ValueRange(first, last, options),
            let place = Place(operand, isUnion ? .union : .common, options)
        else { return false }
        let number = groups.number(place, beginning: position, operand)
        guard let known = groups.all[number].group.ranges.first else {
            groups.append(range, to: number)
            return true
        }
        guard let common = known.common(with: range, options) else { return false }
        if isUnion { groups.append(range, to: number) } else { groups.setRange(common, of: number) }
        return true
    }

    private static func fold(
        _ comparison: BoundComparison, _ value: Value, _ kind: Kind, at position: Int, into groups: inout Groups
    ) -> Bool {
        let use: Place.Use
        switch (kind, comparison.op) {
        case (.any, .equal), (.all, .notEqual): use = .list
        case (_, .greater), (_, .greaterOrEqual): use = .lower
        case (_, .less), (_, .lessOrEqual): use = .upper
        case (.any, _), (.all, _): return false
        }
        guard let place = Place(comparison.left, use, comparison.options) else { return false }
        let number = groups.number(place, beginning: position, comparison.left)
        if use == .list {
            groups.append(value, to: number)
        } else if let bound = groups.all[number].group.bound {
            guard let isStronger = isStronger((comparison.op, value), than: bound, use, comparison.options) else {
                return false
            }
            if isStronger == (kind == .all) { groups.setBound((comparison.op, value), of: number) }
        } else {
            groups.setBound((comparison.op, value), of: number)
        }
        return true
    }

    /// Whether fewer values satisfy one bound than another; nil where their values have no order.
    private static func isStronger(
        _ a: (op: Comparison.Operator, value: Value), than b: (op: Comparison.Operator, value: Value), _ use: Place.Use,
        _ options: Comparison.Options
    ) -> Bool? {
        guard let order = ValueOrder.order(a.value, b.value, options: options) else { return nil }
        switch order {
        case .orderedSame: return a.op == .less || a.op == .greater
        case .orderedAscending: return use == .upper
        case .orderedDescending: return use == .lower
        }
    }

    private static func condition(_ place: Place, _ group: Group, _ kind: Kind) -> BoundCondition {
        if let bound = group.bound {
            return .compare(
                BoundComparison(
                    left: group.operand, op: bound.op, right: .value(.constant(bound.value)), options: place.options))
        }
        switch place.use {
        case .list, .lower, .upper: break
        case .floats:
            let test = BoundCondition.floats(group.operand, group.floats, place.options)
            return kind == .any ? test : test.negated
        case .common, .union:
            let ranges = ValueRange.united(group.ranges, place.options)
            let test = BoundCondition.any(ranges.map { $0.test(of: group.operand, place.options) })
            return kind == .any || place.use == .common ? test : test.negated
        }
        if group.values.count == 1 {
            return .compare(
                BoundComparison(
                    left: group.operand, op: kind == .any ? .equal : .notEqual,
                    right: .value(.constant(group.values[0])),
                    options: place.options))
        }
        let test = BoundCondition.among(group.operand, group.values, place.options)
        return kind == .any ? test : .not(test)
    }
}
