// How a store in a database is read.

import CoreDataValues
import Synchronization

/// Turns what a store is asked for into statements of sessions that are lent.
package struct SQLReader: Sendable {
    let plan: StorePlan
    let source: any SQLSource
    private var schema: Schema { plan.map.schema }
    private var selects: SelectCompiler { plan.selects }

    package init(_ plan: StorePlan, _ source: any SQLSource) {
        self.plan = plan
        self.source = source
    }

    // MARK: Rows and values of a query

    package func fetch(_ plan: FetchPlan, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep) throws {
        let (shape, selection) = try selection(of: plan)
        if selection.readsFiles { return try rows(of: plan, selection, shape, view).forEach(receive) }
        let steps = RowSteps(shape, expected: expected(of: plan))
        guard isBrief(plan) else {
            return try source.read(view) { try run($0.open(selection), steps, receive) }
        }
        var batches: [RowBatch] = []
        try source.read(view, isBrief: true) { session in
            batches = []
            try run(session.open(selection), steps) { batch in
                batches.append(batch)
                return .more
            }
        }
        for batch in batches where try receive(batch) == .stop { return }
    }

    /// Whether a block of `write` may read the rows while other writers wait: a few, which are received when that is over.
    private func isBrief(_ plan: FetchPlan) -> Bool {
        (1...64).contains(plan.limit) && Cancellation.current?.isOfWriter == true
    }

    package func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> {
        let (shape, selection) = try selection(of: plan)
        if selection.readsFiles { return try rows(of: plan, selection, shape, view) }
        return try cursor(view, RowSteps(shape, expected: expected(of: plan))) { try $0.open(selection) }
    }

    private func selection(of plan: FetchPlan) throws -> (RowShape, SelectionCache.Known) {
        let shape = try self.plan.shapes.shape(
            plan.entity, withSubentities: plan.includesSubentities, includesValues: plan.includesValues)
        return (shape, try self.plan.selections.selection(plan, in: schema) { try selects.select($0, shape: shape) })
    }

    private func expected(of plan: FetchPlan) -> Int { plan.limit > 0 ? plan.limit : .max }

    package func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows> {
        let query = try Query(valuesOf: plan, in: schema)
        guard let projection = query.bound.projection else { return StepCursor([]) }
        let values = try selects.values(query, projection)
        let bindings = values.selection.values(for: query)
        if values.selection.readsFiles {
            return try whole(view, ValueSteps(values.shape)) { try $0.open(values.selection.sql, bindings) }
        }
        return try cursor(view, ValueSteps(values.shape)) { try $0.open(values.selection.sql, bindings) }
    }

    package func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int {
        let selection = try self.plan.counts.selection(plan, in: schema) { try selects.count($0) }
        var count: Int64?
        try readingFiles(if: selection.readsFiles, view) { session in
            let numbers = try session.numbers(.text(selection.sql), each: 1, selection.bindings, self.plan.writes)
            count = numbers.first.flatMap { $0 }
        }
        return Int(count ?? 0)
    }

    // MARK: Values in files

    @inline(never)
    private func rows(
        of plan: FetchPlan, _ selection: SelectionCache.Known, _ shape: RowShape, _ view: ReadView
    ) throws -> any ReadCursor<RowBatch> {
        try whole(view, RowSteps(shape, expected: expected(of: plan))) { try $0.open(selection) }
    }

    /// All of a result, which nobody has seen anything of before it is there.
    private func whole<Steps: ResultSteps>(
        _ view: ReadView, _ steps: Steps, _ ready: (any SQLReading) throws -> any SQLResult
    ) throws -> any ReadCursor<Steps.Batch> {
        var batches: [Steps.Batch] = []
        try readingFiles(if: true, view) { session in
            batches = []
            try run(ready(session), steps) { batch in
                batches.append(batch)
                return .more
            }
        }
        return StepCursor(batches)
    }

    /// Reads again where a file has gone that a row named: a save has replaced value and file since, and the row names another one now.
    /// A file that the row still names is missing for good.
    private func readingFiles(if readsFiles: Bool, _ view: ReadView, _ body: (any SQLReading) throws -> Void) throws {
        var missed: EngineError?
        while true {
            do {
                return try source.read(view, body)
            } catch let error as StoreError where readsFiles && error.isOfMissingFile {
                guard error.engine != missed else {
                    throw StoreError(134060, error.engine?.message ?? error.sentence, path: error.path)
                }
                missed = error.engine
            }
        }
    }

    /// The statement of a plan, with what is bound, and the query that it is of.
    ///
    /// - Parameter counts: whether only the number of rows is asked for.
    package func statement(of plan: FetchPlan, counts: Bool) throws -> (sql: String, values: [Value], query: Query) {
        if case .values = plan.projection {
            let query = try Query(valuesOf: plan, in: schema)
            guard let projection = query.bound.projection else { return ("", [], query) }
            let selection = try selects.values(query, projection).selection
            return (selection.sql, selection.values(for: query), query)
        }
        let query = try Query(plan, in: schema)
        if counts {
            let selection = try selects.count(query)
            return (selection.sql, selection.values(for: query), query)
        }
        let known = try self.selection(of: plan).1
        return (known.sql, known.bindings, query)
    }

    // MARK: Rows by key

    package func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        guard let first = numbers.first else { return }
        let shape = try plan.shapes.tree(root)
        try source.read(view) { session in
            let result =
                numbers.count == 1
                ? try session.open(.row(shape.first), key: first, shape, selects)
                : try session.open(.rows(shape.first), keys: numbers, shape, selects)
            try run(result, RowSteps(shape, expected: numbers.count), receive)
        }
    }

    package func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        let shape = try shape(of: relationship)
        try source.read(view) { session in
            try run(session.open(.members(relationship), key: owner.number, shape, selects), RowSteps(shape), receive)
        }
    }

    package func isMember(
        _ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView
    ) throws -> Bool {
        var isMember = false
        try source.read(view) { isMember = try $0.isMember(member.number, of: owner.number, in: relationship, selects) }
        return isMember
    }

    package func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        try members(
            by: .targets(relationship), selects.ownerSlot(of: schema[relationship]), of: relationship, owners, view,
            receive)
    }

    package func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        guard let slot = try selects.ownerSlotOfAll(schema[relationship]) else {
            return try targets(of: relationship, from: owners, view, receive)
        }
        try members(by: .targetsOfAll(relationship), slot, of: relationship, owners, view, receive)
    }

    private func members(
        by statement: SQLShape, _ ownerSlot: Int?, of relationship: RelationshipIndex, _ owners: [Int64],
        _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let shape = try shape(of: relationship)
        try source.read(view) { session in
            let result = try session.open(statement, keys: owners, shape, selects)
            try run(result, MemberSteps(shape, ownerSlot: ownerSlot), receive)
        }
    }

    /// All rows that may be at the other end, with their values.
    private func shape(of relationship: RelationshipIndex) throws -> RowShape {
        let entity = schema[schema[relationship].destination]
        return try plan.shapes.shape(entity, last: entity.last, includesValues: true)
    }

    // MARK: Results

    private func run<Steps: ResultSteps>(
        _ result: any SQLResult, _ steps: Steps, _ receive: (Steps.Batch) throws -> FetchStep
    ) throws {
        defer { result.end() }
        var steps = steps
        while let batch = try steps.next(result) {
            if try receive(batch) == .stop { return }
        }
    }

    /// - Parameter ready: makes the statement ready.
    func cursor<Steps: ResultSteps>(
        _ view: ReadView, _ steps: Steps, _ ready: (any SQLReading) throws -> any SQLResult
    ) throws -> any ReadCursor<Steps.Batch> {
        if let held = try source.hold(view, ready) { return ResultCursor(held, steps) }
        var batches: [Steps.Batch] = []
        try source.read(view) { session in
            try run(ready(session), steps) { batch in
                batches.append(batch)
                return .more
            }
        }
        return StepCursor(batches)
    }
}

// MARK: - How the rows of a result become batches, one after the other

protocol ResultSteps {
    associatedtype Batch
    /// The next batch; nil at the end.
    mutating func next(_ result: any SQLResult) throws -> Batch?
}

/// The first batch is small, so that the first objects are there soon; they grow, so that a short result does not pay for rows that
/// never come.
private let firstBatch = 32

/// Rows of entities.
struct RowSteps: ResultSteps {
    private let shape: RowShape
    private var size: Int
    /// How many rows can still come.
    private var rest: Int

    /// - Parameter expected: how many rows can come at most, if that is known; nobody looks for more, and chunks are not made larger.
    init(_ shape: RowShape, expected: Int = .max) {
        self.shape = shape
        size = min(firstBatch, max(1, expected))
        rest = expected
    }

    mutating func next(_ result: any SQLResult) throws -> RowBatch? {
        guard rest > 0 else { return nil }
        let batch = try result.rows(size, of: shape)
        rest -= batch?.count ?? 0
        size = min(2 * size, RowChunk.maximumCount)
        return batch
    }
}

/// Rows with their owners.
struct MemberSteps: ResultSteps {
    private let shape: RowShape
    /// The slot that holds the owner's number; nil where the owner is the last column.
    private let ownerSlot: Int?
    private var rows: RowSteps

    init(_ shape: RowShape, ownerSlot: Int?) {
        self.shape = shape
        self.ownerSlot = ownerSlot
        rows = RowSteps(shape)
    }

    mutating func next(_ result: any SQLResult) throws -> MemberBatch? {
        guard let ownerSlot else { return try result.members(RowChunk.maximumCount, of: shape) }
        return try rows.next(result).map { MemberBatch(rows: $0, owners: Self.owners($0, ownerSlot)) }
    }

    private static func owners(_ batch: RowBatch, _ slot: Int) -> [Int64] {
        guard let order = batch.order else {
            let chunk = batch.first
            return (0..<chunk.count).map { Int64(bitPattern: chunk.row($0)[slot]) }
        }
        let chunks = batch.chunks
        return order.map { Int64(bitPattern: chunks[Int($0.chunk)].row(Int($0.row))[slot]) }
    }
}

/// Rows of values.
struct ValueSteps: ResultSteps {
    private let shape: ValueShape
    private var size = firstBatch

    init(_ shape: ValueShape) { self.shape = shape }

    mutating func next(_ result: any SQLResult) throws -> ValueRows? {
        let batch = try result.values(size, of: shape)
        size = min(2 * size, ValueRows.maximumCount)
        return batch
    }
}

// MARK: - The plans by which rows are decoded, which are kept

/// Decode plans, made once for each kind of result.
package final class ShapeCache: Sendable {
    private let map: StoreMap
    /// Four an entity: alone or with its descendants, with values or without.
    private let shapes: Mutex<[RowShape?]>
    /// The same, by what a fetch says instead of the last entity.
    private let fetched: Mutex<[RowShape?]>
    /// That of all rows of an entity's tree, with values.
    private let trees: Mutex<[RowShape?]>

    init(_ map: StoreMap) {
        self.map = map
        shapes = Mutex(Array(repeating: nil, count: 4 * map.schema.entities.count))
        fetched = Mutex(Array(repeating: nil, count: 4 * map.schema.entities.count))
        trees = Mutex(Array(repeating: nil, count: map.schema.entities.count))
    }

    /// All rows of the tree that an entity belongs to, with values.
    package func tree(_ index: EntityIndex) throws -> RowShape {
        if let known = trees.withLock({ $0[index.value] }) { return known }
        let root = map.schema[map.schema[index].root]
        let shape = try shape(root, last: root.last, includesValues: true)
        trees.withLock { $0[index.value] = shape }
        return shape
    }

    package func shape(_ index: EntityIndex, withSubentities: Bool, includesValues: Bool) throws -> RowShape {
        let place = 4 * index.value + (withSubentities ? 2 : 0) + (includesValues ? 1 : 0)
        if let known = fetched.withLock({ $0[place] }) { return known }
        let entity = map.schema[index]
        let shape = try shape(
            entity, last: withSubentities ? entity.last : entity.index, includesValues: includesValues)
        fetched.withLock { $0[place] = shape }
        return shape
    }

    /// - Parameter last: the entity itself, or the last of its descendants.
    package func shape(_ entity: Entity, last: EntityIndex, includesValues: Bool) throws -> RowShape {
        let place = 4 * entity.index.value + (last == entity.index ? 0 : 2) + (includesValues ? 1 : 0)
        return try shapes.withLock { shapes in
            if let known = shapes[place] { return known }
            let shape = try RowShape(map: map, entity: entity, last: last, includesValues: includesValues)
            shapes[place] = shape
            return shape
        }
    }
}
