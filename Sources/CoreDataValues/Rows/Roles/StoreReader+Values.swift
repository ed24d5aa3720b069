// Values without an entity, from a store that only has rows.

import Foundation

extension StoreReader {
    /// Reads the rows and what the columns lead to, each row once: what a store does that knows nothing better.
    package func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows> {
        try ValueReading.evaluate(plan, view, of: [(self, plan.predicate)], in: schema)
    }
}

/// Columns of values from several stores at once.
package enum ValueReading {
    /// A store, and the plan's predicate as it is asked.
    package typealias Asked = (reader: any StoreReader, predicate: Predicate?)

    /// - Throws: 134060 for columns and groups of objects, whose keys name rows of one store, where there are several.
    package static func open(
        _ plan: FetchPlan, _ view: ReadView, of stores: [Asked], in schema: Schema
    ) throws -> any ReadCursor<ValueRows> {
        guard stores.count == 1 else { return try evaluate(plan, view, of: stores, in: schema) }
        var plan = plan
        plan.predicate = stores[0].predicate
        return try stores[0].reader.openValues(plan, view)
    }

    fileprivate static func evaluate(
        _ plan: FetchPlan, _ view: ReadView, of stores: [Asked], in schema: Schema
    ) throws -> any ReadCursor<ValueRows> {
        let query = try Query(valuesOf: plan, in: schema)
        guard let projection = query.bound.projection else { return StepCursor([]) }
        if stores.count > 1 { try refuseKeys(projection, schema[plan.entity]) }
        var evaluator = ProjectionEvaluator(query, projection)
        var rows = FetchPlan(entity: plan.entity)
        rows.includesSubentities = plan.includesSubentities
        for (store, predicate) in stores where !evaluator.isComplete {
            rows.predicate = predicate
            let related = RelatedReader(store, view)
            try store.fetch(rows, view) { batch in
                for row in batch.memoryRows {
                    evaluator.accumulate(RowSource(row: row, tables: related, schema: schema))
                    try related.throwFailure()
                    if evaluator.isComplete { return .stop }
                }
                return .more
            }
        }
        evaluator.end()
        return StepCursor { evaluator.next() }
    }

    private static func refuseKeys(_ projection: BoundProjection, _ entity: Entity) throws(StoreError) {
        let types = projection.columns.map(\.type) + projection.groupValues.map(\.type)
        guard types.contains(where: { $0.family == .object }) else { return }
        throw StoreError(
            134060,
            "A fetch of values of \(entity.name) names objects, and several stores have the entity. Ask each store by itself "
                + "(affectedStores).", entity: entity.name)
    }
}

/// Reads the rows that others lead to, and keeps them while one query is answered.
final class RelatedReader: RelatedRows {
    private struct Place: Hashable {
        let relationship: RelationshipIndex
        let owner: Int64
    }
    private let store: any StoreReader
    private let view: ReadView
    private var rows: [RowKey: MemoryRow?] = [:]
    private var members: [Place: [MemoryRow]] = [:]
    /// Sources cannot throw.
    private var failure: (any Error)?

    init(_ store: any StoreReader, _ view: ReadView) {
        self.store = store
        self.view = view
    }

    func throwFailure() throws { if let failure { throw failure } }

    func row(_ number: Int64, in root: EntityIndex) -> MemoryRow? {
        let key = RowKey(entity: root, number: number)
        if let known = rows[key] { return known }
        let found = read { try store.rows(for: [number], in: root, view, $0) }.first
        rows[key] = .some(found)
        return found
    }

    func members(of relationship: ResolvedRelationship, owner: Int64, in schema: Schema) -> [MemoryRow] {
        let place = Place(relationship: relationship.index, owner: owner)
        if let known = members[place] { return known }
        let key = RowKey(entity: relationship.owner, number: owner)
        let found = read { try store.members(of: relationship.index, owner: key, view, $0) }
        members[place] = found
        return found
    }

    func content(ofFile name: String) -> Data? {
        guard failure == nil else { return nil }
        do { return try store.content(ofFile: name) } catch {
            failure = error
            return nil
        }
    }

    private func read(_ body: ((RowBatch) throws -> FetchStep) throws -> Void) -> [MemoryRow] {
        var found: [MemoryRow] = []
        guard failure == nil else { return found }
        do {
            try body { batch in
                found += batch.memoryRows
                return .more
            }
        } catch { failure = error }
        return found
    }
}

extension RowBatch {
    /// The rows as values, in order.
    var memoryRows: [MemoryRow] {
        let chunks = chunks
        let order = order ?? (0..<first.count).map { Reference(chunk: 0, row: $0) }
        return order.map { place in
            let chunk = chunks[Int(place.chunk)]
            let row = chunk.row(Int(place.row))
            return MemoryRow(
                key: RowKey(entity: chunk.layout.entity, number: row.key(chunk.layout)),
                version: row.version(chunk.layout),
                values: chunk.values(row: Int(place.row)))
        }
    }
}
