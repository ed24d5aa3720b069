// The members of many owners as one SELECT.

import CoreDataValues

extension SelectCompiler {
    /// How to read the members of a to-many of the owners in `?1`, a JSON list.
    package struct Targets: Sendable {
        package let sql: String
        /// The slot of a member that holds its owner's number; nil when the owner is the result's last column.
        package let ownerSlot: Int?
    }

    /// The members of many owners, owner by owner, in order where the relationship is ordered.
    ///
    /// The index on the owner's column answers owner and key in this order: nothing is sorted unless there is an order.
    package func targets(of relationship: ResolvedRelationship, shape: RowShape) throws -> Targets {
        let builder = SelectBuilder(map)
        let scope = SelectScope(builder, entity: map.schema[relationship.destination])
        let link = try MemberLink(builder).parts(relationship, member: scope)
        let inverse = relationship.inverse.map { map.schema[$0] }
        let slot = link.join.isEmpty ? inverse?.slot : nil
        let columns = slot == nil ? "\(shape.columnList), \(link.owner)" : shape.columnList
        var sql = "SELECT \(columns) FROM \(try scope.from())\(link.join)"
        sql += " WHERE \(link.owner) IN (SELECT value FROM json_each(?1))"
        if let entities = entityFilter(scope.entity, last: scope.entity.last, scope) { sql += " AND \(entities)" }
        let order = [link.owner, link.order, scope.column("Z_PK")].compactMap { $0 }
        sql += " ORDER BY \(order.joined(separator: ", "))"
        return Targets(sql: sql, ownerSlot: slot)
    }
}
