// The rows of a stream on their way into a store in memory.

/// Takes over one chunk after the other and lets it go, so that no row is there twice: what a chunk takes is less than what its rows
/// take here, so that the most is in use at the end. What was taken over is taken back when a later row is refused.
struct MemoryInsertion {
    private let store: MemoryStore
    private let work: SetWork
    private let rules: StreamRules
    private var schema: Schema { store.schema }
    /// By tree: the first number that no row had before.
    private let first: [EntityIndex: Int64]
    /// Rows that were there before and have other values now, as they were.
    private var former: [RowKey: MemoryRow] = [:]
    private var changed: Set<RowKey> = []
    private var outcome = SetOutcome()

    init(_ store: MemoryStore, _ work: SetWork, _ rules: StreamRules, _ state: MemoryStore.State) {
        self.store = store
        self.work = work
        self.rules = rules
        first = state.tables.trees.mapValues(\.next)
    }

    mutating func run(_ rows: StreamedRows, _ state: inout MemoryStore.State) throws -> SetOutcome {
        var chunks = rows.giveAway()
        if work.change.uniqueness == .fail { reserve(chunks, &state) }
        do {
            while let rows = chunks.popLast() { try insert(rows, &state) }
        } catch {
            rollBack(&state)
            throw error
        }
        outcome.touched.changed += changed.sorted { ($0.entity, $0.number) < ($1.entity, $1.number) }
        return outcome.cut(to: work.change.answer)
    }

    private func reserve(_ chunks: [NewRows], _ state: inout MemoryStore.State) {
        for (entity, chunks) in Dictionary(grouping: chunks, by: \.chunk.layout.entity) {
            let count = chunks.reduce(0) { $0 + $1.chunk.count }
            state.tables.trees[schema[entity].root, default: MemoryTree()].reserve(count)
            state.tables.constraints.reserve(count * schema[entity].constraints.count)
        }
    }

    private mutating func insert(_ rows: NewRows, _ state: inout MemoryStore.State) throws {
        let plan = try plan(rows, state)
        for group in plan.batch.updates { note(group, state.tables) }
        var touched = plan.outcome.touched.changed
        if !plan.batch.isEmpty {
            switch try store.commit(plan.batch, to: &state) {
            case .committed(let rows, let overtaken): touched += rows + overtaken
            case .conflicts(let conflicts): if let error = work.refusal(conflicts, isLast: true) { throw error }
            }
        }
        outcome.count += plan.outcome.count
        let old = touched.filter { $0.number < self.first(of: $0.entity) }
        guard work.change.answer != .count else { return outcome.touched.entities.formUnion(old.map(\.entity)) }
        outcome.keys += plan.outcome.keys
        outcome.effects += plan.outcome.effects
        changed.formUnion(old)
    }

    /// Nothing of it holds the tables afterwards, which would have them copied.
    private func plan(_ rows: NewRows, _ state: MemoryStore.State) throws -> SetPlan {
        let reader = MemoryStore(like: store, state)
        defer { try? reader.close() }
        return try InsertPlanner([rows], rules, work.change.uniqueness, reader) { chunk, entity in
            holders(of: chunk, entity, state.tables)
        }.plan()
    }

    /// The rows that have unique values of new ones.
    private func holders(of chunk: RowChunk, _ entity: Entity, _ tables: MemoryTables) -> [MemoryRow] {
        (0..<chunk.count).flatMap { index in
            ConstraintIndex.claims(of: MemoryRow(chunk, index, entity), schema: schema).compactMap { claim in
                tables.constraints.taken[claim].flatMap { tables.row($0, in: entity.root) }
            }
        }
    }

    private func first(of entity: EntityIndex) -> Int64 { first[schema[entity].root] ?? 1 }

    // MARK: The way back

    private mutating func note(_ group: UpdateGroup, _ tables: MemoryTables) {
        let root = schema[group.entity].root
        for index in 0..<group.chunk.count {
            let number = group.chunk.row(index).key(group.chunk.layout)
            guard number < first(of: group.entity), let row = tables.row(number, in: root), former[row.key] == nil
            else { continue }
            former[row.key] = row
        }
    }

    /// Numbers that were handed out are not given again.
    private func rollBack(_ state: inout MemoryStore.State) {
        let new = state.tables.trees.flatMap { root, tree in tree.rows(from: first[root] ?? 1) }
        let now = former.keys.compactMap { state.tables.row($0.number, in: schema[$0.entity].root) }
        let changes = MemoryChanges(batch: ChangeBatch(), written: Array(former.values), replaced: now, removed: new)
        _ = changes.apply(to: &state.tables, schema: schema, derived: store.derived)
        // What was derived of the time is as it was, too.
        for row in former.values { state.tables.put(row, schema: schema) }
    }
}
