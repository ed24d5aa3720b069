// A schema as tables.

import CoreDataValues

/// Where a store keeps everything of a schema: computed once when a store is opened, then only read.
package final class StoreMap: Sendable {
    package let schema: Schema
    /// In whose words statements over these tables are made.
    package let dialect: any SQLDialect
    /// The entities the store keeps: all, or those of a configuration.
    package let entities: [Entity]
    /// One table for each root entity that the store keeps.
    package let tables: [TableMap]
    package let joins: [JoinTable]
    /// The derived attributes of the tables.
    package let derived: [DerivedAttribute]
    /// The fetch indexes that are R-trees, whose triggers write to virtual tables.
    package let rTrees: [(entity: Entity, index: FetchIndex)]
    /// The names of those that the file does not have: a model with another index fits it as before.
    let absentRTrees: Set<String>
    private let tableOfEntity: [Int?]
    private let joinOfRelationship: [RelationshipIndex: Int]

    /// - Throws: `StoreError` for a configuration that is not there and for attributes that cannot be stored.
    package init(schema: Schema, configuration: String?, dialect: any SQLDialect) throws {
        guard let kept = schema.entities(inConfiguration: configuration) else {
            throw StoreError(
                134060,
                "The model has no configuration named “\(configuration ?? "")”. Use one of "
                    + "\(schema.configurations.keys.sorted()) or none.")
        }
        self.schema = schema
        self.dialect = dialect
        entities = kept
        let roots = Set(kept.map(\.root))
        try StorableCheck(schema: schema).run(roots)
        rTrees = kept.flatMap { entity in
            entity.draft.indexes.filter { $0.elements.contains(where: \.isRTree) }.map { (entity, $0) }
        }
        absentRTrees = []
        derived = try schema.derivedAttributes(in: roots)
        var names = Namespace(["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"])
        var tables: [TableMap] = []
        for entity in schema.entities where entity.parent == nil {
            let name = names.reserve("Z" + entity.name.uppercased())
            if roots.contains(entity.index) {
                tables.append(TableMap(root: entity, name: name, schema: schema))
            }
        }
        self.tables = tables
        let positions = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.root, $0) })
        tableOfEntity = schema.entities.map { positions[$0.root] }
        joins = JoinTablePlan(schema: schema).tables().filter { table in
            [table.relationship, table.inverse].allSatisfy { roots.contains(schema[schema[$0].owner].root) }
        }
        var joinOfRelationship: [RelationshipIndex: Int] = [:]
        for (position, table) in joins.enumerated() {
            joinOfRelationship[table.relationship] = position
            joinOfRelationship[table.inverse] = position
        }
        self.joinOfRelationship = joinOfRelationship
    }

    /// The same for a file that gives its join tables other names.
    ///
    /// - Parameter joins: one for each of the other map's, in their order.
    package convenience init(_ map: StoreMap, joins: [JoinTable]) { self.init(map, tables: map.tables, joins: joins) }

    /// The same with all tables under other names.
    convenience init(_ map: StoreMap, named name: (String) -> String) {
        self.init(
            map, tables: map.tables.map { TableMap($0, name: name($0.name)) },
            joins: map.joins.map { join in
                JoinTable(
                    name: name(join.name), relationship: join.relationship, inverse: join.inverse, side: join.side,
                    inverseSide: join.inverseSide)
            })
    }

    /// The same for a file without some R-trees of the model.
    convenience init(_ map: StoreMap, withoutRTrees names: Set<String>) {
        self.init(map, tables: map.tables, joins: map.joins, absentRTrees: names)
    }

    private init(_ map: StoreMap, tables: [TableMap], joins: [JoinTable], absentRTrees: Set<String>? = nil) {
        schema = map.schema
        dialect = map.dialect
        entities = map.entities
        self.tables = tables
        derived = map.derived
        rTrees = map.rTrees
        self.absentRTrees = absentRTrees ?? map.absentRTrees
        tableOfEntity = map.tableOfEntity
        joinOfRelationship = map.joinOfRelationship
        self.joins = joins
    }

    /// - Throws: when the entity belongs to another configuration.
    package func table(of entity: EntityIndex) throws -> TableMap {
        guard let position = tableOfEntity[entity.value] else {
            let name = schema[entity].name
            throw StoreError(
                134060,
                "The store's configuration does not hold the entity \(name). Use a store that holds it.",
                entity: name)
        }
        return tables[position]
    }

    package func join(of relationship: RelationshipIndex) -> JoinTable? {
        joinOfRelationship[relationship].map { joins[$0] }
    }
}
