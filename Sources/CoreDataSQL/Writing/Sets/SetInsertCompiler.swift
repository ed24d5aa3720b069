// Insertions that keep or update what has the same unique values, as statements.

import CoreDataValues

package struct SetInsertCompiler {
    private let map: StoreMap
    private let writes: WriteCompiler
    private func quoted(_ name: String) -> String { map.dialect.quoted(name) }

    package init(_ map: StoreMap) {
        self.map = map
        writes = WriteCompiler(map)
    }

    /// As `WriteCompiler.insert`. Leaves rows out whose unique values are taken, and answers the keys of the others.
    package func insert(_ entity: Entity, rows: Int) throws -> String {
        try writes.insert(entity, rows: rows) + " ON CONFLICT DO NOTHING RETURNING \"Z_PK\""
    }

    /// The values of a constraint. Answers number and entity of the row that has them.
    package func find(_ constraint: UniquenessConstraint, of entity: Entity) throws -> String {
        let table = try map.table(of: entity.index)
        let conditions = constraint.slots.compactMap { table.column(of: $0, in: entity.index) }.enumerated().map {
            "\(quoted(table.columns[$0.element].name)) = \(map.dialect.next($0.offset + 1))"
        }
        return "SELECT \"Z_PK\", \"Z_ENT\" FROM \(quoted(table.name)) WHERE \(conditions.joined(separator: " AND "))"
    }

    /// The slots that are stored, then the key: the version rises.
    package func update(_ entity: Entity, slots: [Int]) throws -> String {
        let table = try map.table(of: entity.index)
        let columns = slots.compactMap { table.column(of: $0, in: entity.index) }.enumerated().map {
            ", \(quoted(table.columns[$0.element].name)) = \(map.dialect.next($0.offset + 1))"
        }
        return "UPDATE \(quoted(table.name)) SET \"Z_OPT\" = \(map.dialect.risen("\"Z_OPT\""))\(columns.joined()) "
            + "WHERE \"Z_PK\" = \(map.dialect.next(columns.count + 1))"
    }
}
