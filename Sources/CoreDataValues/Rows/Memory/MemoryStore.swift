// A store that keeps its rows in memory and forgets them when it goes.

import Foundation
import Synchronization

/// `NSInMemoryStoreType`, and the store that the others are compared with in tests.
///
/// Readers work on a copy of the tables that costs nothing until a commit meets it; a commit checks everything, then
/// writes, so that it is all or nothing. Every operation is linear in the rows it looks at, and a fetch looks at all rows of
/// its entity's tree. Rows are kept as values and packed into chunks on the way out: slower than SQLite on large results.
package final class MemoryStore: RowStore {
    struct State {
        var tables = MemoryTables()
        var metadata: StoreMetadata
        var isClosed = false
    }

    package let schema: Schema
    package var capabilities: StoreCapabilities { [.membership, .pinnedViews] }
    package let identifier: String
    let state: Mutex<State>
    /// nil when no attribute is derived.
    let derived: MemoryDerivation?
    /// Which entities the configuration has, nil for all.
    let contained: Set<EntityIndex>?

    /// Makes an empty store.
    ///
    /// - Throws: `StoreError` (134020) when the schema has no such configuration.
    package init(schema: Schema, configuration: String? = nil, uuid: UUID = UUID()) throws(StoreError) {
        guard let entities = schema.entities(inConfiguration: configuration) else {
            throw StoreError(
                134020,
                "The model has no configuration “\(configuration ?? "")”; it has "
                    + "\(schema.configurations.keys.sorted().joined(separator: ", ")).")
        }
        self.schema = schema
        contained = configuration == nil ? nil : Set(entities.map(\.index))
        identifier = uuid.uuidString
        let roots = Set(entities.map(\.root))
        try StorableCheck(schema: schema).run(roots)
        derived = MemoryDerivation(try schema.derivedAttributes(in: roots), schema: schema)
        let hashes = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.versionHash) })
        state = Mutex(
            State(
                metadata: StoreMetadata(
                    uuid: uuid.uuidString, type: "InMemory", modelVersionIdentifiers: schema.versionIdentifiers,
                    versionHashes: hashes)))
    }

    /// A store with the same content, or with another one.
    init(like other: MemoryStore, _ content: State) {
        schema = other.schema
        contained = other.contained
        derived = other.derived
        identifier = content.metadata.uuid
        state = Mutex(content)
    }

    package func metadata() throws -> StoreMetadata { try withState { $0.metadata } }

    package func setMetadata(_ metadata: StoreMetadata) throws { try withState { $0.metadata = metadata } }

    package func pinnedView() throws -> ReadView { .pinned(MemoryView(of: self, try tables(.latest))) }

    package func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> {
        let rows = try rows(of: plan, view)
        return BatchPacker(schema: schema, includesValues: plan.includesValues).cursor(rows)
    }

    package func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows> {
        let tables = try tables(view)
        try checkContained(plan.entity)
        let query = try Query(valuesOf: plan, in: schema)
        guard let projection = query.bound.projection else { return StepCursor([]) }
        return try MemoryFetch(query, tables: tables).values(projection)
    }

    package func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int { try rows(of: plan, view).count }

    private func rows(of plan: FetchPlan, _ view: ReadView) throws -> ArraySlice<MemoryRow> {
        let tables = try tables(view)
        try checkContained(plan.entity)
        return try MemoryFetch(try Query(plan, in: schema), tables: tables).rows()
    }

    package func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        let tables = try tables(view)
        try checkContained(root)
        var seen: Set<Int64> = []
        let found = numbers.filter { seen.insert($0).inserted }
            .compactMap { tables.row($0, in: schema[root].root) }
        try BatchPacker(schema: schema).pack(found[...], receive)
    }

    package func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        let description = try toMany(relationship)
        let members = try tables(view).members(of: description, owner: owner.number, in: schema)
        try BatchPacker(schema: schema).pack(members[...], receive)
    }

    package func isMember(
        _ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView
    ) throws -> Bool {
        try tables(view).isMember(member.number, of: toMany(relationship), owner: owner.number, in: schema)
    }

    /// - Throws: 134060 for a to-one, whose target stands in its own cell.
    func toMany(_ relationship: RelationshipIndex) throws -> ResolvedRelationship {
        let description = schema[relationship]
        guard description.isToMany else {
            throw StoreError(
                134060, "The members of “\(description.name)” were asked for, which is a to-one; read its cell.",
                entity: schema[description.owner].name, property: description.name)
        }
        return description
    }

    package func allocateKeys(_ count: Int, in root: EntityIndex) throws -> Range<Int64> {
        try checkContained(root)
        let tree = schema[root].root
        return try withState { state in
            let first = state.tables.trees[tree, default: MemoryTree()].next
            let (end, overflow) = first.addingReportingOverflow(Int64(max(0, count)))
            guard !overflow else {
                throw StoreError(134030, "No numbers are left for new rows.", entity: schema[tree].name)
            }
            state.tables.trees[tree, default: MemoryTree()].next = end
            return first..<end
        }
    }

    package func commit(_ batch: ChangeBatch) throws -> CommitOutcome {
        try withState { state in try commit(batch, to: &state) }
    }

    func commit(_ batch: ChangeBatch, to state: inout State) throws -> CommitOutcome {
        let (changes, overtaken): (MemoryChanges, [RowKey])
        do {
            let commit = try MemoryCommit(batch, tables: state.tables, schema: schema, derived: derived)
            guard commit.conflicts.isEmpty else { return .conflicts(commit.conflicts) }
            (changes, overtaken) = (commit.changes(), commit.overtaken)
        }
        let touched = changes.apply(to: &state.tables, schema: schema, derived: derived)
        return .committed(touched: touched, overtaken: overtaken)
    }

    package func close() throws {
        state.withLock { state in
            state.isClosed = true
            state.tables = MemoryTables()
        }
    }

    /// The tables of a view.
    func tables(_ view: ReadView) throws -> MemoryTables {
        let now = try withState { $0.tables }
        guard case .pinned(let view) = view else { return now }
        guard let own = view as? MemoryView, own.store === self else { throw ReadView.foreign }
        return try own.tables()
    }

    func withState<R: Sendable>(_ body: (inout State) throws -> R) throws -> R {
        try state.withLock { state in
            guard !state.isClosed else {
                throw StoreError(134070, "The store \(state.metadata.uuid) was used after it was closed.")
            }
            return try body(&state)
        }
    }

    private func checkContained(_ index: EntityIndex) throws(StoreError) {
        guard let contained, contained.isDisjoint(with: tree(index)) else { return }
        throw StoreError(
            134020,
            "The store's configuration does not hold the entity \(schema[index].name); "
                + "add the entity to the configuration or ask a store that has it.", entity: schema[index].name)
    }

    private func tree(_ index: EntityIndex) -> [EntityIndex] {
        (index.value...schema[index].last.value).map { EntityIndex($0) }
    }
}
