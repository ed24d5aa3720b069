// Queries that two stores can be compared by, whatever the layout of each.

import CoreDataValues

/// Answers rows that are the same in two databases that hold the same, in any order.
package struct FingerprintStatements {
    private let map: StoreMap
    private var dialect: any SQLDialect { map.dialect }
    private func quoted(_ name: String) -> String { map.dialect.quoted(name) }

    package init(_ map: StoreMap) { self.map = map }

    /// The objects of an entity itself.
    ///
    /// - Parameter keyed: whether their numbers are the same in both databases; here and in what follows.
    package func objects(of entity: Entity, keyed: Bool) throws -> String {
        "SELECT \(keyed ? quoted("Z_PK") : "1") FROM \(quoted(try map.table(of: entity.index).name)) WHERE \(isOf(entity))"
    }

    /// What an attribute has, but for null; bytes that may lie in files as they are, wherever they lie.
    package func values(of slot: Int, in entity: Entity, keyed: Bool) throws -> String {
        let table = try map.table(of: entity.index)
        let column = quoted(try table.column(slot, of: entity, use: "a comparison").name)
        let value = entity.slots[slot].kind == .externalData ? dialect.content(column, length: nil) : column
        return
            "SELECT \(keyed ? quoted("Z_PK") + ", " : "")\(value) FROM \(quoted(table.name)) WHERE \(isOf(entity)) AND \(dialect.isPresent(column))"
    }

    /// The pairs of a relationship, those of an entity itself with members of some entities, with their places where that is asked for.
    ///
    /// - Returns: nil where the database has no places, or no such pairs.
    package func pairs(
        of relationship: ResolvedRelationship, from owner: Entity, to members: [Entity], keyed: Bool, ordered: Bool
    ) throws -> String? {
        guard let first = members.first, let table = try? map.table(of: first.index),
            let source = try source(relationship, owner)
        else { return nil }
        guard !ordered || source.place != nil else { return nil }
        let columns = keyed ? [source.owner, source.member] + (ordered ? [source.place].compactMap { $0 } : []) : ["1"]
        let owners = quoted(try map.table(of: owner.index).name)
        let numbers = members.map { "\($0.index.number)" }.joined(separator: ", ")
        return
            "SELECT \(columns.joined(separator: ", ")) FROM \(source.from) WHERE \(source.owner) IN (SELECT \(quoted("Z_PK")) FROM \(owners) "
            + "WHERE \(isOf(owner))) AND \(source.member) IN (SELECT \(quoted("Z_PK")) FROM \(quoted(table.name)) "
            + "WHERE \(quoted("Z_ENT")) IN (\(numbers)))"
    }

    private func isOf(_ entity: Entity) -> String { "\(quoted("Z_ENT")) = \(entity.index.number)" }

    /// Where pairs are, with the columns of both ends and of the members' places.
    private func source(
        _ relationship: ResolvedRelationship, _ owner: Entity
    ) throws -> (from: String, owner: String, member: String, place: String?)? {
        if let join = map.join(of: relationship.index) {
            let side = join.side(of: relationship.index)
            return (quoted(join.name), quoted(side.owner), quoted(side.member), side.order.map(quoted))
        }
        if let slot = relationship.slot {
            let table = try map.table(of: owner.index)
            return (
                quoted(table.name), quoted("Z_PK"), quoted(try table.column(slot, of: owner, use: "a comparison").name),
                nil
            )
        }
        let table = try map.table(of: relationship.destination)
        let back = relationship.inverse.map { map.schema[$0] }
        let inverse = back.flatMap { back in back.slot.flatMap { table.column(of: $0, in: back.owner) } }.map {
            table.columns[$0]
        }
        guard let column = inverse ?? table.ownerColumn(of: relationship.index) else { return nil }
        return (
            quoted(table.name), quoted(column.name), quoted("Z_PK"),
            table.orderColumn(of: relationship.index).map { quoted($0.name) }
        )
    }
}
