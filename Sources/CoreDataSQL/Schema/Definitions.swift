// The statements that create a store's tables and indexes, in the form Core Data's own files have them.

import CoreDataValues

/// Definitions for one store. Pure text; nothing is run here.
package struct Definitions: Sendable {
    package let map: StoreMap
    package init(_ map: StoreMap) { self.map = map }
    private var integer: String { map.dialect.type(.int) }
    private var text: String { map.dialect.type(.text) }
    private var data: String { map.dialect.type(.data) }
    private func bare(_ name: String) -> String { map.dialect.defined(name) }

    /// All statements in the order they are run.
    ///
    /// - Parameter missing: why the database that runs them has no spatial indexes, as part of a sentence; nil where it has.
    /// - Throws: `StoreError` for indexes that have no form here.
    package func statements(withoutSpatial missing: String? = nil) throws -> [String] {
        if let missing, let (entity, index) = map.rTrees.first {
            throw unsupported(index, entity, "an R-tree element, and \(missing)")
        }
        return try map.tables.map(table) + map.joins.map(join) + map.tables.flatMap(keyIndexes)
            + map.joins.map(joinIndex) + map.entities.flatMap(declaredIndexes) + DerivedTriggers(map).statements()
            + fixed()
    }

    /// The R-trees among the declared indexes, which fill themselves as rows come.
    package func spatialIndexes() throws -> [SQLSpatialIndex] {
        try map.rTrees.map { entity, index in
            try FetchIndexDefinition(index: index, entity: entity, table: map.table(of: entity.index), map: map)
                .spatialIndex
        }
    }

    private func fixed() -> [String] {
        [
            "CREATE TABLE \(bare("Z_PRIMARYKEY")) (\(bare("Z_ENT")) \(integer) PRIMARY KEY, \(bare("Z_NAME")) \(text), "
                + "\(bare("Z_SUPER")) \(integer), \(bare("Z_MAX")) \(integer))",
            "CREATE TABLE \(bare("Z_METADATA")) (\(bare("Z_VERSION")) \(integer) PRIMARY KEY, \(bare("Z_UUID")) VARCHAR(255), "
                + "\(bare("Z_PLIST")) \(data))",
            "CREATE TABLE \(bare("Z_MODELCACHE")) (\(bare("Z_CONTENT")) \(data))",
        ]
    }

    package func table(_ table: TableMap) -> String {
        let columns = table.columns.map { ", \(bare($0.name)) \(map.dialect.type($0.kind))" }.joined()
        return "CREATE TABLE \(bare(table.name)) "
            + "( \(bare("Z_PK")) \(integer) PRIMARY KEY, \(bare("Z_ENT")) \(integer), \(bare("Z_OPT")) \(integer)\(columns) )"
    }

    package func join(_ table: JoinTable) -> String {
        let (a, b) = (bare(table.side.owner), bare(table.side.member))
        var orders = [table.side.order]
        if !table.isReflexive { orders.append(table.inverseSide.order) }
        let extra = orders.compactMap { $0 }.map { ", \(bare($0)) \(integer)" }.joined()
        return
            "CREATE TABLE \(bare(table.name)) ( \(a) \(integer), \(b) \(integer)\(extra), PRIMARY KEY (\(a), \(b)) )"
    }

    package func joinIndex(_ table: JoinTable) -> String {
        let (a, b) = (table.side.owner, table.side.member)
        return
            "CREATE INDEX \(bare("\(table.name)_\(b)_INDEX")) ON \(bare(table.name)) (\(bare(b)), \(bare(a)))"
    }

    /// The indexes every table has: entity numbers where there are sub-entities, and each key column.
    package func keyIndexes(_ table: TableMap) -> [String] {
        let tree = map.schema[table.root]
        let entities = tree.hasSubentities ? ["Z_ENT"] : []
        let keys = table.columns.filter(isKey).map(\.name)
        return (keys + entities).map {
            "CREATE INDEX \(bare("\(table.name)_\($0)_INDEX")) ON \(bare(table.name)) (\(bare($0)))"
        }
    }

    private func isKey(_ column: Column) -> Bool {
        switch column.role {
        case .slot(let slot): map.schema[column.entity].slots[slot].kind == .toOne
        case .order: false
        case .owner: true
        }
    }

    /// Uniqueness constraints, fetch indexes and the legacy `indexed` flag of one entity.
    package func declaredIndexes(_ entity: Entity) throws -> [String] { try namedIndexes(entity).flatMap(\.statements) }

    /// The same with the name of each.
    func namedIndexes(_ entity: Entity) throws -> [(name: String, statements: [String])] {
        let table = try map.table(of: entity.index)
        let unique = try entity.constraints.filter { $0.owner == entity.index }.map {
            (Self.constraintName($0.names, of: entity), [try constraint($0, of: entity, in: table)])
        }
        let names = Set(entity.draft.indexes.map(\.name))
        let legacy = entity.draft.attributes.filter { $0.isIndexed && !$0.isTransient }.compactMap { attribute in
            let name = "by" + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst() + "Index"
            return names.contains(name)
                ? nil : FetchIndex(name: name, elements: [FetchIndex.Element(property: attribute.name)])
        }
        let fetch = try (entity.draft.indexes + legacy).map { index in
            let definition = FetchIndexDefinition(index: index, entity: entity, table: table, map: map)
            return (definition.name, try definition.statements())
        }
        return fetch + unique
    }

    /// The name of the index that guards a uniqueness constraint.
    package static func constraintName(_ attributes: [String], of entity: Entity) -> String {
        "Z_\(entity.name)_UNIQUE_" + attributes.joined(separator: "_")
    }

    func constraint(_ constraint: UniquenessConstraint, of entity: Entity, in table: TableMap) throws -> String {
        let columns = try constraint.slots.map {
            let column = try table.column($0, of: entity, use: "the uniqueness constraint")
            return map.dialect.indexed(bare(column.name), column.kind, isAscending: true)
        }
        return
            "CREATE UNIQUE INDEX \(bare(Self.constraintName(constraint.names, of: entity))) ON \(bare(table.name)) "
            + "(\(columns.joined(separator: ", ")))"
    }
}

extension StoreMap {
    /// The names, in capitals, of all tables that a file of this layout may have: those of its objects, Core Data's others, a history's
    /// and our own beside them.
    package func tableNames() throws -> Set<String> {
        let objects = try tables.map(\.name) + joins.map(\.name) + Definitions(self).spatialIndexes().map(\.name)
        let others =
            ["Z_PRIMARYKEY", "Z_METADATA", MetadataStatements.modelCopy] + HistoryTables.Table.allCases.map(\.name)
        return Set((objects + others + [FormerValueTable.name, HistoryMarkTable.name]).map { $0.uppercased() })
    }
}
