// The table of one many-to-many relationship pair.

import CoreDataValues

/// Pairs of keys, one column for each side, and the order of the members where a side is ordered.
package struct JoinTable: Sendable, Equatable {
    /// One relationship's view of the table.
    package struct Side: Sendable, Hashable {
        /// Holds the key of the object that has the relationship.
        package let owner: String
        /// Holds the keys of its members.
        package let member: String
        /// The members' order, when the relationship is ordered.
        package let order: String?
    }
    package let name: String
    /// The relationship that names the table, and its inverse.
    package let relationship: RelationshipIndex
    package let inverse: RelationshipIndex
    package let side: Side
    package let inverseSide: Side

    /// Whether both ends are one relationship: every pair is then stored in both directions.
    package var isReflexive: Bool { relationship == inverse }

    package func side(of relationship: RelationshipIndex) -> Side {
        relationship == self.relationship ? side : inverseSide
    }
}

/// Names the join tables of a schema: entities alphabetically without case, inherited relationships included;
/// the first side met names the table.
struct JoinTablePlan {
    let schema: Schema

    func tables() -> [JoinTable] {
        var tables: [JoinTable] = []
        var seen: Set<RelationshipIndex> = []
        var tableNames = Namespace()
        var columnNames = Namespace()
        for entity in schema.entities.sorted(by: Self.alphabetical) {
            for relationship in relationships(of: entity) {
                guard let inverse = relationship.inverse, !seen.contains(relationship.index) else { continue }
                seen.formUnion([relationship.index, inverse])
                let (naming, other) = sides(relationship, schema[inverse])
                tables.append(table(naming, other, &tableNames, &columnNames))
            }
        }
        return tables
    }

    /// Two relationships of one entity: the ordered one names the table, else the later by name. One
    /// Apple-written store shows this (`BookmarkEntity.favorites`); the rule behind it is not proven.
    private func sides(
        _ first: ResolvedRelationship, _ second: ResolvedRelationship
    ) -> (ResolvedRelationship, ResolvedRelationship) {
        guard first.owner == second.owner else { return (first, second) }
        return first.isOrdered && !second.isOrdered ? (first, second) : (second, first)
    }

    private static func alphabetical(_ a: Entity, _ b: Entity) -> Bool {
        let (x, y) = (a.name.lowercased(), b.name.lowercased())
        return x == y
            ? a.name.utf8.lexicographicallyPrecedes(b.name.utf8) : x.utf8.lexicographicallyPrecedes(y.utf8)
    }

    private func relationships(of entity: Entity) -> [ResolvedRelationship] {
        entity.toMany.map { schema[$0] }
            .filter { relationship in
                guard let inverse = relationship.inverse, !relationship.description.isTransient else {
                    return false
                }
                return schema[inverse].isToMany
            }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private func table(
        _ relationship: ResolvedRelationship, _ inverse: ResolvedRelationship, _ tables: inout Namespace,
        _ columns: inout Namespace
    ) -> JoinTable {
        let name = tables.reserve("Z_\(relationship.owner.number)" + relationship.name.uppercased())
        if relationship.index == inverse.index {
            let owner = columns.reserve("Z_\(relationship.owner.number)" + relationship.name.uppercased())
            let side = JoinTable.Side(
                owner: owner, member: "REFLEXIVE", order: relationship.isOrdered ? "FOK_REFLEXIVE" : nil)
            return JoinTable(
                name: name, relationship: relationship.index, inverse: inverse.index, side: side,
                inverseSide: side)
        }
        let owner = columns.reserve("Z_\(relationship.owner.number)" + inverse.name.uppercased())
        let member = columns.reserve("Z_\(inverse.owner.number)" + relationship.name.uppercased())
        let side = JoinTable.Side(
            owner: owner, member: member, order: relationship.isOrdered ? Self.orderName(member) : nil)
        let other = JoinTable.Side(
            owner: member, member: owner, order: inverse.isOrdered ? Self.orderName(owner) : nil)
        return JoinTable(
            name: name, relationship: relationship.index, inverse: inverse.index, side: side,
            inverseSide: other)
    }

    private static func orderName(_ column: String) -> String { "Z_FOK_" + column.dropFirst(2) }
}
