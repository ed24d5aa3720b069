// A fetch from a store in memory: filter, sort, cut, hand out.

/// Answers one query from one copy of the tables.
struct MemoryFetch {
    private let query: Query
    private let tables: MemoryTables
    private let schema: Schema

    init(_ query: Query, tables: MemoryTables) {
        self.query = query
        self.tables = tables
        schema = query.bound.schema
    }

    /// *filter · sort · cut*
    func rows() throws -> ArraySlice<MemoryRow> {
        let evaluator = BoundEvaluator(query)
        let interruption = Interruption()
        let found = try candidates().filter {
            try interruption.look()
            return evaluator.matches(source($0))
        }
        let kept = try sorted(found).dropFirst(max(0, query.offset))
        return query.limit > 0 ? kept.prefix(query.limit) : kept
    }

    /// *filter · project*
    func values(_ projection: BoundProjection) throws -> any ReadCursor<ValueRows> {
        let condition = BoundEvaluator(query)
        var evaluator = ProjectionEvaluator(query, projection)
        let interruption = Interruption()
        for row in candidates() {
            try interruption.look()
            let source = source(row)
            guard condition.matches(source) else { continue }
            evaluator.accumulate(source)
            if evaluator.isComplete { break }
        }
        evaluator.end()
        return StepCursor { evaluator.next() }
    }

    private func source(_ row: MemoryRow) -> MemorySource {
        MemorySource(row: row, tables: tables, schema: schema)
    }

    private func candidates() -> [MemoryRow] {
        let entity = query.bound.entity
        guard let tree = tables.trees[entity.root] else { return [] }
        return tree.rows.filter { entity.index <= $0.key.entity && $0.key.entity <= query.bound.last }
    }

    /// Rows that no term tells apart come by their numbers, in the direction of the last term, as a database
    /// gives them.
    private func sorted(_ rows: [MemoryRow]) throws -> [MemoryRow] {
        let order = BoundOrder(query)
        if order.isEmpty { return rows }
        let interruption = Interruption()
        let keyed = try rows.map {
            try interruption.look()
            return (order.values(of: source($0)), $0)
        }
        return keyed.sorted { a, b in
            let result = order.compare(a.0, b.0)
            if result != .orderedSame { return result == .orderedAscending }
            return (a.1.key.number < b.1.key.number) == order.isAscending
        }.map(\.1)
    }
}

/// Packs rows into batches of at most 256, one chunk for each entity that occurs.
package struct BatchPacker {
    private let schema: Schema
    private let includesValues: Bool

    package init(schema: Schema, includesValues: Bool = true) {
        self.schema = schema
        self.includesValues = includesValues
    }

    /// Packs the rows as they are pulled.
    package func cursor(_ rows: ArraySlice<MemoryRow>) -> any ReadCursor<RowBatch> {
        var rest = rows
        return StepCursor { try next(&rest) }
    }

    /// Calls `receive` until it has everything or says stop.
    package func pack(_ rows: ArraySlice<MemoryRow>, _ receive: (RowBatch) throws -> FetchStep) throws {
        var rest = rows
        while let batch = try next(&rest) {
            if try receive(batch) == .stop { return }
        }
    }

    private func next(_ rest: inout ArraySlice<MemoryRow>) throws -> RowBatch? {
        try Interruption().look()
        var packer = ValuePacker(schema, room: rest.count)
        var order: [RowBatch.Reference] = []
        for row in rest {
            let place = try packer.append(row.key, version: row.version, values: includesValues ? row.values : nil)
            let chunk = packer.chunks[place]
            order.append(RowBatch.Reference(chunk: place, row: chunk.count - 1))
            if chunk.isFull || order.count == RowChunk.maximumCount { break }
        }
        rest = rest.dropFirst(order.count)
        let chunks = packer.chunks
        guard let first = chunks.first else { return nil }
        return chunks.count == 1
            ? RowBatch(chunk: first) : RowBatch(first: first, others: Array(chunks.dropFirst()), order: order)
    }
}
