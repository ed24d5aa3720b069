// A row as predicates, sort orders and projections see it.

import Foundation

/// Where the relationships of a row lead.
protocol RelatedRows {
    func row(_ number: Int64, in root: EntityIndex) -> MemoryRow?
    func members(of relationship: ResolvedRelationship, owner: Int64, in schema: Schema) -> [MemoryRow]
    /// The bytes of a value that is not in its row.
    func content(ofFile name: String) -> Data?
}

extension MemoryTables: RelatedRows {
    /// Every value is in its row.
    func content(ofFile name: String) -> Data? { nil }
}

/// A row of a store in memory.
typealias MemorySource = RowSource<MemoryTables>

/// One row with the tables its relationships lead into.
struct RowSource<Tables: RelatedRows>: EvaluationSource {
    let row: MemoryRow
    let tables: Tables
    let schema: Schema

    var identity: Value {
        .key(ObjectKey(number: row.key.number, entity: row.key.entity, store: 0))
    }

    /// Keys were checked against the schema before the fetch began; an unknown one here answers null.
    func operand(forKey key: String) -> Operand {
        let entity = schema[row.key.entity]
        switch entity.places[key] {
        case .slot(let slot)?:
            guard let index = entity.slots[slot].relationship else {
                let kind = entity.slots[slot].kind
                if kind == .externalData { return content(row.values[slot]) }
                return Operand(row.values[slot], kind)
            }
            return target(of: schema[index], row.values[slot])
        case .toMany(let position)?:
            let relationship = schema[entity.toMany[position]]
            return .collection(
                tables.members(of: relationship, owner: row.key.number, in: schema).map {
                    .source(RowSource(row: $0, tables: tables, schema: schema))
                })
        case nil where key == "objectID": return .value(identity)
        case nil where key == "entity": return .value(.text(entity.name))
        case nil where !entity.composites.isEmpty:
            let values = row.values
            return entity.composites[key].map {
                .source(CompositeSource($0) { Operand(values[$0], entity.slots[$0].kind) })
            } ?? .value(.null)
        case .fetched?, nil: return .value(.null)
        }
    }

    @inline(never)
    private func content(_ value: Value) -> Operand {
        guard case .data(let cell) = value else { return .value(.null) }
        let name = cell.withUnsafeBytes { ExternalReference.name(in: $0) }
        let content = name.map { tables.content(ofFile: $0) } ?? ExternalReference.content(cell)
        return .value(content.map { .data($0) } ?? .null)
    }

    private func target(of relationship: ResolvedRelationship, _ value: Value) -> Operand {
        guard case .int(let number) = value else { return .value(.null) }
        if let row = tables.row(number, in: schema[relationship.destination].root) {
            return .source(RowSource(row: row, tables: tables, schema: schema))
        }
        return .value(.key(ObjectKey(number: number, entity: relationship.destination, store: 0)))
    }
}
