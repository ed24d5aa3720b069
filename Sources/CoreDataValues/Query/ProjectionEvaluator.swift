// What a projection makes of rows, for every store that only has rows.

/// Takes the rows of a query one by one, then hands out rows of values: *group · keep · read · make distinct · sort · cut*
///
/// Holds one row of values for each group, or for each row where there are no groups.
package struct ProjectionEvaluator {
    private typealias Code = (inout Frame) -> Operand
    private struct Result {
        let values: [Value]
        let order: [Value]
    }
    private struct Group {
        let keys: [Value]
        var aggregates: [GroupAccumulator]
    }
    private let query: Query
    private let projection: BoundProjection
    private let columns: [(read: Code, type: ValueType)]
    private let keys: [(read: Code, type: ValueType)]
    private let aggregates: [(read: Code?, empty: GroupAccumulator)]
    private let order: [(read: Code, sort: BoundProjection.Sort)]
    private let having: ((inout Frame) -> Bool)?
    private var groups: [Group] = []
    private var places: [[Value]: Int] = [:]
    private var results: [Result] = []
    /// What is left to hand out.
    private var rest: ArraySlice<Result> = []

    /// - Parameter query: one of columns of values.
    package init(_ query: Query, _ projection: BoundProjection) {
        self.query = query
        self.projection = projection
        let compiler = BoundCompiler(query)
        columns = projection.columns.map { (compiler.code($0.operand), $0.type) }
        having = projection.having.map { compiler.test($0) }
        order = projection.order.map { (compiler.code($0.operand), $0) }
        var keys: [(read: Code, type: ValueType)] = []
        var aggregates: [(read: Code?, empty: GroupAccumulator)] = []
        for value in projection.groupValues {
            switch value.source {
            case .key(let operand): keys.append((compiler.code(operand), value.type))
            case .aggregate(let aggregate):
                aggregates.append(
                    (aggregate.operand.map { compiler.code($0) }, GroupAccumulator(aggregate, value.type)))
            }
        }
        (self.keys, self.aggregates) = (keys, aggregates)
    }

    /// Whether no further row can change the result.
    package var isComplete: Bool {
        !projection.isGrouped && !projection.isDistinct && order.isEmpty && query.limit > 0
            && results.count >= query.limit + query.offset
    }

    private func frame(_ object: Operand) -> Frame {
        var frame = Frame(objects: Array(repeating: .value(.null), count: query.bound.levelCount))
        frame.objects[0] = object
        return frame
    }

    package mutating func accumulate(_ source: any EvaluationSource) {
        var frame = frame(.source(source))
        guard projection.isGrouped else { return read(&frame) }
        let keys = self.keys.map { $0.type.shown($0.read(&frame)) }
        let name = keys.map(\.identity)
        let place = places[name] ?? groups.count
        if place == groups.count {
            places[name] = place
            groups.append(Group(keys: keys, aggregates: aggregates.map(\.empty)))
        }
        for (number, aggregate) in aggregates.enumerated() {
            groups[place].aggregates[number].accumulate(aggregate.read.map { $0(&frame) })
        }
    }

    /// Ends the rows. Nothing can be accumulated afterwards, and `next` hands out what they came to.
    package mutating func end() {
        endGroups()
        var wanted = projection.isDistinct ? distinct(results) : results
        results = []
        if !order.isEmpty { wanted.sort { compare($0.order, $1.order) } }
        rest = wanted.dropFirst(max(0, query.offset))
        if query.limit > 0 { rest = rest.prefix(query.limit) }
    }

    /// The next rows of values; nil at the end.
    package mutating func next() -> ValueRows? {
        var batch = projection.emptyRows
        while !batch.isFull, let result = rest.popFirst() {
            for (column, value) in result.values.enumerated() { batch.append(value, column) }
            batch.endRow()
        }
        return batch.count > 0 ? batch : nil
    }

    private mutating func endGroups() {
        guard projection.isGrouped else { return }
        // Without keys no rows are a group too.
        if projection.keyCount == 0, groups.isEmpty {
            groups.append(Group(keys: [], aggregates: aggregates.map(\.empty)))
        }
        for group in groups {
            var frame = frame(.value(.null))
            frame.groups = group.keys.map { .value($0) }
            for aggregate in group.aggregates { frame.groups.append(.value(aggregate.result)) }
            if having?(&frame) ?? true { read(&frame) }
        }
        groups = []
    }

    private mutating func read(_ frame: inout Frame) {
        var values: [Value] = []
        values.reserveCapacity(columns.count)
        for column in columns { values.append(column.type.shown(column.read(&frame))) }
        let order = order.map { key in key.sort.column.map { values[$0] } ?? key.read(&frame).comparable }
        results.append(Result(values: values, order: order))
    }

    private func distinct(_ results: [Result]) -> [Result] {
        var seen: Set<[Value]> = []
        return results.filter { seen.insert($0.values.map(\.identity)).inserted }
    }

    private func compare(_ a: [Value], _ b: [Value]) -> Bool {
        for (place, key) in order.enumerated() {
            let result = ValueOrder.sortOrder(a[place], b[place], by: key.sort.comparison)
            if result != .orderedSame { return (result == .orderedAscending) == key.sort.isAscending }
        }
        return false
    }
}

extension BoundProjection {
    /// A batch to be filled.
    package var emptyRows: ValueRows { ValueRows(columns.map { ValueColumn(name: $0.name, type: $0.type) }) }
}
