// The members of many owners as one SELECT.

import CoreDataValues

extension SelectCompiler {
    /// The slot of a member that holds its owner's number; nil where the owner is the last column of what `targets` answers.
    package func ownerSlot(of relationship: ResolvedRelationship) -> Int? {
        map.join(of: relationship.index) == nil ? relationship.inverse.flatMap { map.schema[$0].slot } : nil
    }

    /// The members of the owners in a list, the first parameter: owner by owner, in order where the relationship is ordered.
    ///
    /// The index on the owner's column answers owner and key in this order: nothing is sorted unless there is an order.
    package func targets(of relationship: ResolvedRelationship, shape: RowShape) throws -> String {
        let builder = SelectBuilder(map)
        let scope = SelectScope(builder, entity: map.schema[relationship.destination])
        let link = try MemberLink(builder).parts(relationship, member: scope)
        let columns = ownerSlot(of: relationship) == nil ? "\(shape.columnList), \(link.owner)" : shape.columnList
        var sql = "SELECT \(columns) FROM \(try scope.from())\(link.join)"
        sql += " WHERE \(link.owner) \(isInKeys)"
        if let entities = memberFilter(scope) { sql += " AND \(entities)" }
        let order = [
            link.owner, link.order.map { $0 + map.dialect.nullOrder(isAscending: true) }, scope.column("Z_PK"),
        ].compactMap { $0 }
        return sql + " ORDER BY \(order.joined(separator: ", "))"
    }

    /// The slot of a member that holds its owner's number, where the members of all owners may be read in any order; nil where the
    /// relationship has an order or a table of its own.
    package func ownerSlotOfAll(_ relationship: ResolvedRelationship) throws -> Int? {
        guard let slot = ownerSlot(of: relationship) else { return nil }
        return try map.table(of: relationship.destination).orderColumn(of: relationship.index) == nil ? slot : nil
    }

    /// The members of all owners, in any order, where there is a slot of their owner.
    ///
    /// An index that leads to a row each costs half as much again as the rows in the table's order (4,700 against 3,200
    /// instructions a row). So if at least a quarter of the table are members, the table is read from front to back. How many
    /// there are is counted in the index; how large the table is at most, its last key says.
    package func targetsOfAll(of relationship: ResolvedRelationship, shape: RowShape) throws -> String {
        let scope = SelectScope(SelectBuilder(map), entity: map.schema[relationship.destination])
        let link = try MemberLink(scope.builder).parts(relationship, member: scope)
        let table = try scope.from()
        let entities = memberFilter(scope).map { " AND \($0)" } ?? ""
        let rows = "SELECT \(shape.columnList) FROM gate CROSS JOIN \(table) WHERE"
        return """
            WITH gate(isMost) AS MATERIALIZED (SELECT (SELECT COUNT(*) FROM \(table) WHERE \(link.owner) IS NOT NULL) * 4 > \
            (SELECT MAX(\(scope.column("Z_PK"))) FROM \(table))) \
            \(rows) isMost AND \(map.dialect.unindexed(link.owner)) IS NOT NULL\(entities) UNION ALL \
            \(rows) NOT isMost AND \(link.owner) \(isInKeys)\(entities)
            """
    }
}
