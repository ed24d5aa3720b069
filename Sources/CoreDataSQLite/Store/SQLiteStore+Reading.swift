// How a SQLite store is read.

import CoreDataSQL
import CoreDataValues

extension SQLiteStore {
    package func pinnedView() throws -> ReadView {
        guard capabilities.contains(.pinnedViews), let lease = try pool.leaseView() else { return .latest }
        return .pinned(SQLiteView(of: self, lease))
    }

    // MARK: Entity rows and values

    package func fetch(_ plan: FetchPlan, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep) throws {
        let (shape, selection) = try selection(of: plan)
        try read(view) { connection in
            let statement = try connection.selection(selection.number, selection.sql)
            try statement.bind(selection.bindings)
            try RowDecoder(shape: shape, schema: schema).run(statement, expected: expected(of: plan), receive)
        }
    }

    package func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> {
        let (shape, selection) = try selection(of: plan)
        let steps = RowSteps(RowDecoder(shape: shape, schema: schema), expected: expected(of: plan))
        return try cursor(view, steps) { connection in
            let statement = try connection.selection(selection.number, selection.sql)
            try statement.bind(selection.bindings)
            return statement
        }
    }

    private func selection(of plan: FetchPlan) throws -> (RowShape, SelectionCache.Known) {
        let entity = schema[plan.entity]
        let last = plan.includesSubentities ? entity.last : entity.index
        let shape = try shapes.shape(entity, last: last, includesValues: plan.includesValues)
        return (shape, try selections.selection(plan, in: schema) { try selects.select($0, shape: shape) })
    }

    private func expected(of plan: FetchPlan) -> Int { plan.limit > 0 ? plan.limit : .max }

    package func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows> {
        let query = try Query(valuesOf: plan, in: schema)
        guard let projection = query.bound.projection else { return StepCursor([]) }
        let values = try selects.values(query, projection)
        return try cursor(view, ValueSteps(values.cells, projection, query.bound.entity)) { connection in
            try connection.addsDecimals(for: values.selection.sql)
            let statement = try connection.statement(values.selection.sql)
            try statement.bind(values.selection.values(for: query))
            return statement
        }
    }

    package func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int {
        let query = try Query(plan, in: schema)
        let selection = try selects.count(query)
        return try read(view) { connection in
            let statement = try connection.statement(selection.sql)
            defer { statement.finish() }
            try statement.bind(selection.values(for: query))
            return try statement.step() ? Int(statement.int(0)) : 0
        }
    }

    package func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        guard let first = numbers.first else { return }
        let shape = try shapes.tree(root)
        try read(view) { connection in
            let statement: Statement
            if numbers.count == 1 {
                statement = try connection.rowStatement(shape.first) {
                    try selects.row(in: schema[shape.first], shape: shape)
                }
                try statement.bind(1, first)
            } else {
                statement = try connection.statement(.rows(shape.first, values: true)) {
                    try selects.rows(in: schema[shape.first], shape: shape)
                }
                try statement.bind(1, plan.map.dialect.list(numbers))
            }
            try RowDecoder(shape: shape, schema: schema).run(statement, expected: numbers.count, receive)
        }
    }

    package func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        let resolved = schema[relationship]
        let entity = schema[resolved.destination]
        let shape = try shapes.shape(entity, last: entity.last, includesValues: true)
        try read(view) { connection in
            let statement = try connection.statement(.members(relationship)) {
                try selects.members(of: resolved, shape: shape)
            }
            try statement.bind(1, owner.number)
            try RowDecoder(shape: shape, schema: schema).run(statement, receive)
        }
    }

    package func isMember(
        _ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView
    ) throws -> Bool {
        try read(view) { connection in
            let statement = try connection.statement(.membership(relationship)) {
                try selects.membership(in: schema[relationship])
            }
            defer { statement.finish(clears: false) }
            try statement.bind(1, owner.number)
            try statement.bind(2, member.number)
            return try statement.step()
        }
    }

    package func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let resolved = schema[relationship]
        let entity = schema[resolved.destination]
        let shape = try shapes.shape(entity, last: entity.last, includesValues: true)
        let targets = try selects.targets(of: resolved, shape: shape)
        try read(view) { connection in
            let statement = try connection.statement(.targets(relationship)) { targets.sql }
            try statement.bind(1, plan.map.dialect.list(owners))
            let decoder = MemberDecoder(shape: shape, schema: schema)
            if let slot = targets.ownerSlot {
                try decoder.run(statement, ownerSlot: slot, receive)
            } else {
                try decoder.run(statement, receive)
            }
        }
    }

    package func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let resolved = schema[relationship]
        let entity = schema[resolved.destination]
        let shape = try shapes.shape(entity, last: entity.last, includesValues: true)
        guard let targets = try selects.targetsOfAll(of: resolved, shape: shape), let slot = targets.ownerSlot else {
            return try self.targets(of: relationship, from: owners, view, receive)
        }
        try read(view) { connection in
            let statement = try connection.statement(.targetsOfAll(relationship)) { targets.sql }
            try statement.bind(1, plan.map.dialect.list(owners))
            try MemberDecoder(shape: shape, schema: schema).run(statement, ownerSlot: slot, receive)
        }
    }

    // MARK: Connections

    /// Inlined, so that the body is known where it is called: 150 instructions a look-up.
    @inline(__always)
    private func read<R>(_ view: ReadView, _ body: (Connection) throws -> R) throws -> R {
        switch view {
        case .latest: try pool.read(body)
        case .pinned(let view): try read(pinned: view, body)
        }
    }

    @inline(never)
    private func read<R>(pinned view: any PinnedView, _ body: (Connection) throws -> R) throws -> R {
        try lease(of: view).use(body)
    }

    /// - Parameter bound: makes the statement ready to be run.
    func cursor<Steps: StatementSteps>(
        _ view: ReadView, _ steps: Steps, _ bound: (Connection) throws -> Statement
    ) throws -> any ReadCursor<Steps.Batch> {
        switch view {
        case .pinned(let view): return try StatementCursor(lease(of: view), ownsLease: false, steps, bound)
        case .latest where pool.isSingle: return StepCursor(try whole(steps, bound))
        case .latest: return try StatementCursor(pool.leaseReader(), ownsLease: true, steps, bound)
        }
    }

    /// The only connection of a store in memory is lent to nobody who might keep it.
    private func whole<Steps: StatementSteps>(
        _ steps: Steps, _ bound: (Connection) throws -> Statement
    ) throws -> [Steps.Batch] {
        var steps = steps
        return try pool.read { connection in
            let statement = try bound(connection)
            statement.begin()
            defer { statement.finish(rows: steps.total) }
            var batches: [Steps.Batch] = []
            while let batch = try steps.next(statement) { batches.append(batch) }
            return batches
        }
    }

    private func lease(of view: any PinnedView) throws -> Lease {
        guard let own = view as? SQLiteView, own.store === self else { throw ReadView.foreign }
        return own.lease
    }
}
