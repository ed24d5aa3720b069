// Where a store keeps the order of a to-many.

import CoreDataValues

/// The columns of an ordered to-many: of the join table, or of the members' own table, where the member is the row itself.
package struct PositionColumns: Sendable, Equatable {
    package let table: String
    package let owner: String
    package let member: String
    package let position: String
}

extension StoreMap {
    /// nil for a relationship without a stored order.
    package func positions(of index: RelationshipIndex) throws -> PositionColumns? {
        if let join = join(of: index) {
            let side = join.side(of: index)
            return side.order.map {
                PositionColumns(table: join.name, owner: side.owner, member: side.member, position: $0)
            }
        }
        let relationship = schema[index]
        let table = try table(of: relationship.destination)
        let inverse = relationship.inverse.map { schema[$0] }
        let toOwner = inverse.flatMap { inverse in inverse.slot.flatMap { table.column(of: $0, in: inverse.owner) } }
        guard let position = table.orderColumn(of: index),
            let owner = toOwner.map({ table.columns[$0] }) ?? table.ownerColumn(of: index)
        else { return nil }
        return PositionColumns(table: table.name, owner: owner.name, member: "Z_PK", position: position.name)
    }
}
