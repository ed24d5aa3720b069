// The members of many owners as one SELECT.

import CoreDataValues

extension SelectCompiler {
    /// How to read the members of a to-many of the owners in a list, the first parameter.
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
        sql += " WHERE \(link.owner) \(isInKeys)"
        if let entities = entityFilter(scope.entity, last: scope.entity.last, scope) { sql += " AND \(entities)" }
        let order = [link.owner, link.order.map { $0 + map.dialect.nullOrder(isAscending: true) }, scope.column("Z_PK")].compactMap { $0 }
        sql += " ORDER BY \(order.joined(separator: ", "))"
        return Targets(sql: sql, ownerSlot: slot)
    }

    /// The members of all owners, in any order; nil where the relationship has an order or a table of its own.
    ///
    /// An index that leads to a row each costs half as much again as the rows in the table's order (4,700 against 3,200
    /// instructions a row). So if at least a quarter of the table are members, the table is read from front to back. How many
    /// there are is counted in the index; how large the table is at most, its last key says.
    package func targetsOfAll(of relationship: ResolvedRelationship, shape: RowShape) throws -> Targets? {
        guard let slot = relationship.inverse.map({ map.schema[$0] })?.slot else { return nil }
        let scope = SelectScope(SelectBuilder(map), entity: map.schema[relationship.destination])
        let link = try MemberLink(scope.builder).parts(relationship, member: scope)
        guard link.join.isEmpty, link.order == nil else { return nil }
        let table = try scope.from()
        let entities = entityFilter(scope.entity, last: scope.entity.last, scope).map { " AND \($0)" } ?? ""
        let rows = "SELECT \(shape.columnList) FROM gate CROSS JOIN \(table) WHERE"
        let sql = """
            WITH gate(isMost) AS MATERIALIZED (SELECT (SELECT COUNT(*) FROM \(table) WHERE \(link.owner) IS NOT NULL) * 4 > \
            (SELECT MAX(\(scope.column("Z_PK"))) FROM \(table))) \
            \(rows) isMost AND \(map.dialect.unindexed(link.owner)) IS NOT NULL\(entities) UNION ALL \
            \(rows) NOT isMost AND \(link.owner) \(isInKeys)\(entities)
            """
        return Targets(sql: sql, ownerSlot: slot)
    }
}
