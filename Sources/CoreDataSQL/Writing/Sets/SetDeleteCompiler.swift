// Deletions of sets of rows as statements: their number depends on the model and on how deep cascades go, not on how many rows there are.

import CoreDataValues

/// The statements of one deletion, over `KeyTable.rows` and `KeyTable.hits`.
package struct SetDeleteCompiler {
    private let map: StoreMap
    private var schema: Schema { map.schema }
    private func quoted(_ name: String) -> String { map.dialect.quoted(name) }
    /// The relationships of rows that can go, once each.
    private let relationships: [ResolvedRelationship]
    /// Those whose members lose their to-one; a bit each.
    private let nullifying: [ResolvedRelationship]
    /// Those whose members lose a member, of which only a history tells; further bits.
    private let paired: [ResolvedRelationship]
    private var noted: [ResolvedRelationship] { nullifying + paired }

    /// - Parameter notesPairs: whether the members of many-to-manys are noted, too.
    package init(_ entity: Entity, last: EntityIndex, _ map: StoreMap, notesPairs: Bool = false) {
        self.map = map
        let reach = SetDeleteCompiler.reach(entity, last, map.schema)
        let relationships = map.schema.relationships.filter { relationship in
            !relationship.description.isTransient
                && reach.contains { map.schema[$0].relationships.contains(relationship.index) }
        }
        self.relationships = relationships
        nullifying = relationships.filter { relationship in
            guard relationship.description.deleteRule == .nullify, let inverse = relationship.inverse else {
                return false
            }
            return !map.schema[inverse].isToMany
        }
        paired =
            notesPairs
            ? relationships.filter { relationship in
                relationship.description.deleteRule == .nullify && map.join(of: relationship.index) != nil
                    && relationship.inverse != nil
            } : []
    }

    /// The entities of rows that a cascade can lead to.
    private static func reach(_ entity: Entity, _ last: EntityIndex, _ schema: Schema) -> Set<EntityIndex> {
        var reach = Set((entity.index.value...last.value).map { EntityIndex($0) })
        var waiting = Array(reach)
        while let next = waiting.popLast() {
            for index in schema[next].relationships where schema[index].description.deleteRule == .cascade {
                for value in schema[index].destinations where reach.insert(EntityIndex(rawValue: value)).inserted {
                    waiting.append(EntityIndex(rawValue: value))
                }
            }
        }
        return reach
    }

    /// Whether a bit is left for each relationship.
    package var isPossible: Bool { noted.count < 60 }

    package var definitions: [String] {
        [
            KeyTable.define(KeyTable.rows, key: "t, k", map.dialect),
            KeyTable.define(KeyTable.hits, key: "t, k, r", map.dialect),
            "CREATE INDEX IF NOT EXISTS coredata_set_round ON \(KeyTable.rows) (r)",
        ]
    }

    // MARK: Rows that go

    /// Statements that add the rows to which cascades lead from those of a round. Empty when there are none in the model.
    package func cascades(from round: Int) throws -> [String] {
        try relationships.filter { $0.description.deleteRule == .cascade }.compactMap { relationship in
            guard let ends = try ends(of: relationship, "s.r = \(round)") else { return nil }
            let entity =
                schema[schema[relationship.destination].root].hasSubentities
                ? "d.\"Z_ENT\"" : "\(relationship.destination.number)"
            return
                "INSERT INTO \(KeyTable.rows) SELECT \(schema[relationship.destination].root.number), d.\"Z_PK\", \(entity), "
                + "\(round + 1) FROM \(ends) ON CONFLICT DO NOTHING"
        }
    }

    /// Statements that answer a row where a rule denies the deletion.
    package func denials() throws -> [(sql: String, relationship: ResolvedRelationship)] {
        try relationships.filter { $0.description.deleteRule == .deny }.compactMap { relationship in
            try ends(of: relationship, survivors(relationship)).map { ("SELECT 1 FROM \($0) LIMIT 1", relationship) }
        }
    }

    private func survivors(_ relationship: ResolvedRelationship) -> String {
        "NOT EXISTS (SELECT 1 FROM \(KeyTable.rows) AS x WHERE x.t = \(schema[relationship.destination].root.number) "
            + "AND x.k = d.\"Z_PK\")"
    }

    /// FROM and WHERE of the rows `d` at the other end of a relationship of rows `s`; nil where nothing is stored.
    private func ends(of relationship: ResolvedRelationship, _ condition: String) throws -> String? {
        let owner = schema[relationship.owner]
        let destination = try map.table(of: relationship.destination)
        var conditions = [
            "s.t = \(owner.root.number)", KeyTable.among("s.e", owner.index.rawValue...owner.last.rawValue),
        ]
        if schema[schema[relationship.destination].root].hasSubentities {
            conditions.append(KeyTable.among(map.dialect.unindexed("d.\"Z_ENT\""), relationship.destinations))
        }
        let rows = "\(KeyTable.rows) AS s"
        let other = "\(quoted(destination.name)) AS d"
        let from: String
        if let join = map.join(of: relationship.index) {
            let side = join.side(of: relationship.index)
            from =
                "\(rows) JOIN \(quoted(join.name)) AS j ON j.\(quoted(side.owner)) = s.k "
                + "JOIN \(other) ON d.\"Z_PK\" = j.\(quoted(side.member))"
        } else if let slot = relationship.slot {
            let table = try map.table(of: relationship.owner)
            guard let column = table.column(of: slot, in: relationship.owner) else { return nil }
            from =
                "\(rows) JOIN \(quoted(table.name)) AS o ON o.\"Z_PK\" = s.k "
                + "JOIN \(other) ON d.\"Z_PK\" = o.\(quoted(table.columns[column].name))"
        } else {
            guard let column = try foreignKey(of: relationship) else { return nil }
            from = "\(rows) JOIN \(other) ON d.\(quoted(column)) = s.k"
        }
        return "\(from) WHERE \((conditions + [condition]).joined(separator: " AND "))"
    }

    /// The column of the destination's table that names the owner.
    private func foreignKey(of relationship: ResolvedRelationship) throws -> String? {
        let table = try map.table(of: relationship.destination)
        if let column = table.ownerColumn(of: relationship.index) { return column.name }
        guard let inverse = relationship.inverse.map({ schema[$0] }), let slot = inverse.slot else { return nil }
        return table.column(of: slot, in: inverse.owner).map { table.columns[$0].name }
    }

    // MARK: Rows that stay

    /// Statements that note the rows whose to-one is to be emptied, each with that to-one, and those that lose a member.
    package func notes() throws -> [(sql: String, inverse: ResolvedRelationship, bit: Int64)] {
        try noted.enumerated().compactMap { place, relationship in
            guard let inverse = relationship.inverse.map({ schema[$0] }) else { return nil }
            var condition = survivors(relationship)
            if relationship.slot != nil, let column = try foreignKey(of: relationship) {
                condition += " AND d.\(quoted(column)) = s.k"
            }
            guard let ends = try ends(of: relationship, condition) else { return nil }
            let entity =
                schema[schema[relationship.destination].root].hasSubentities
                ? "d.\"Z_ENT\"" : "\(relationship.destination.number)"
            let bit = Int64(1) << Int64(place)
            let sql =
                "INSERT INTO \(KeyTable.hits) SELECT DISTINCT \(schema[relationship.destination].root.number), d.\"Z_PK\", "
                + "\(entity), \(bit) FROM \(ends)"
            return (sql, inverse, bit)
        }
    }

    /// Answers each entity of rows that stay and change with the bits of its relationships, and how many rows have these.
    package static let hitGroups =
        "SELECT e, m, COUNT(*) FROM (SELECT t, k, e, SUM(r) AS m FROM \(KeyTable.hits) GROUP BY t, k, e) AS h GROUP BY e, m"

    /// The rows of one such group, for `IN`.
    package static func hitKeys(_ entity: EntityIndex, bits: Int64) -> String {
        "(SELECT k FROM \(KeyTable.hits) WHERE e = \(entity.number) GROUP BY k HAVING SUM(r) = \(bits))"
    }

    package func inverse(bit: Int) -> ResolvedRelationship? {
        noted.indices.contains(bit) ? noted[bit].inverse.map { schema[$0] } : nil
    }

    /// Empties the to-one of the rows noted.
    package func empty(_ inverse: ResolvedRelationship, bit: Int64) throws -> String? {
        guard let slot = inverse.slot else { return nil }
        let table = try map.table(of: inverse.owner)
        let slots = inverse.hasEntityTag ? [slot, slot + 1] : [slot]
        let columns = slots.compactMap { table.column(of: $0, in: inverse.owner) }.map {
            quoted(table.columns[$0].name) + " = NULL"
        }
        return "UPDATE \(quoted(table.name)) SET \(columns.joined(separator: ", ")) WHERE \"Z_PK\" IN "
            + KeyTable.numbers(of: table.root, in: KeyTable.hits, where: "r = \(bit)")
    }

    /// Raises the version of each row that changes, once.
    package func raise(_ root: EntityIndex) throws -> String {
        "UPDATE \(quoted(try map.table(of: root).name)) SET \"Z_OPT\" = \(map.dialect.risen("\"Z_OPT\"")) WHERE \"Z_PK\" IN "
            + KeyTable.numbers(
                of: root, in: KeyTable.hits, where: paired.isEmpty ? "" : "r < \(Int64(1) << Int64(nullifying.count))")
    }

    package var hitRoots: [EntityIndex] {
        Set(nullifying.map { schema[$0.destination].root }).sorted()
    }

    // MARK: Pairs and rows

    /// Takes pairs out of join tables, and the owners out of members of to-manys without inverse.
    package func partings() throws -> [String] {
        try relationships.compactMap { relationship in
            let owner = schema[relationship.owner]
            let keys = KeyTable.numbers(
                of: owner.root, where: KeyTable.among("e", owner.index.rawValue...owner.last.rawValue))
            if let join = map.join(of: relationship.index) {
                let side = join.side(of: relationship.index)
                let both = join.isReflexive ? " OR \(quoted(side.member)) IN \(keys)" : ""
                return "DELETE FROM \(quoted(join.name)) WHERE \(quoted(side.owner)) IN \(keys)\(both)"
            }
            guard relationship.isToMany, relationship.inverse == nil, relationship.description.deleteRule == .nullify,
                let column = try foreignKey(of: relationship)
            else { return nil }
            let table = try map.table(of: relationship.destination)
            return "UPDATE \(quoted(table.name)) SET \(quoted(column)) = NULL WHERE \(quoted(column)) IN \(keys)"
        }
    }

    package func delete(_ root: EntityIndex) throws -> String {
        "DELETE FROM \(quoted(try map.table(of: root).name)) WHERE \"Z_PK\" IN \(KeyTable.numbers(of: root))"
    }
}
