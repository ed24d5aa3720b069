// Fetch plans and other reads as SELECT statements.

import CoreDataValues

/// Compiles reads over one store's map.
package struct SelectCompiler: Sendable {
    package let map: StoreMap
    package init(_ map: StoreMap) { self.map = map }

    /// The rows of a plan, in its order.
    package func select(_ plan: FetchPlan, shape: RowShape) throws -> Selection {
        let entity = map.schema[plan.entity]
        let builder = SelectBuilder(map)
        let scope = SelectScope(builder, entity: entity)
        let condition = try self.condition(plan, scope)
        let order = try self.order(plan.sort, scope)
        var sql = "SELECT \(shape.columnList) FROM \(try scope.from())\(condition)\(order)"
        if plan.limit > 0 || plan.offset > 0 { sql += limit(plan, builder) }
        return Selection(sql: sql, bindings: builder.bindings)
    }

    /// How many rows a plan finds, limit and offset included.
    package func count(_ plan: FetchPlan) throws -> Selection {
        let builder = SelectBuilder(map)
        let scope = SelectScope(builder, entity: map.schema[plan.entity])
        let condition = try self.condition(plan, scope)
        guard plan.limit > 0 || plan.offset > 0 else {
            return Selection(
                sql: "SELECT COUNT(*) FROM \(try scope.from())\(condition)", bindings: builder.bindings)
        }
        let rows = "SELECT 1 FROM \(try scope.from())\(condition)\(limit(plan, builder))"
        return Selection(sql: "SELECT COUNT(*) FROM (\(rows))", bindings: builder.bindings)
    }

    /// One row of a tree by its number (`?1`).
    package func row(in root: Entity, shape: RowShape) throws -> String {
        try rows(in: root, shape: shape, test: "= ?1")
    }

    /// Rows of a tree by their numbers, a JSON list (`?1`).
    package func rows(in root: Entity, shape: RowShape) throws -> String {
        try rows(in: root, shape: shape, test: "IN (SELECT value FROM json_each(?1))")
    }

    private func rows(in root: Entity, shape: RowShape, test: String) throws -> String {
        let table = try map.table(of: root.index)
        return "SELECT \(shape.columnList) FROM \(quoted(table.name)) t0 WHERE t0.\"Z_PK\" \(test)"
    }

    /// The members of a to-many of the object `?1`.
    package func members(of relationship: ResolvedRelationship, shape: RowShape) throws -> String {
        let builder = SelectBuilder(map)
        let scope = SelectScope(builder, entity: map.schema[relationship.destination])
        let link = try MemberLink(builder).condition(relationship, member: scope, owner: "?1")
        var sql = "SELECT \(shape.columnList) FROM \(try scope.from())\(link.join) WHERE \(link.condition)"
        if let entities = entityFilter(scope.entity, last: scope.entity.last, scope) {
            sql += " AND \(entities)"
        }
        if let order = link.order { sql += " ORDER BY \(order), \(scope.column("Z_PK"))" }
        return sql
    }

    /// A row if the row `?2` is a member of a to-many of the object `?1`.
    package func membership(in relationship: ResolvedRelationship) throws -> String {
        let builder = SelectBuilder(map)
        let scope = SelectScope(builder, entity: map.schema[relationship.destination])
        let link = try MemberLink(builder).condition(relationship, member: scope, owner: "?1")
        return "SELECT 1 FROM \(try scope.from())\(link.join) WHERE \(link.condition) AND \(scope.column("Z_PK")) = ?2"
    }

    private func condition(_ plan: FetchPlan, _ scope: SelectScope) throws -> String {
        var parts: [String] = []
        let last = plan.includesSubentities ? scope.entity.last : scope.entity.index
        if let filter = entityFilter(scope.entity, last: last, scope) { parts.append(filter) }
        if let predicate = plan.predicate, predicate != .and([]) {
            parts.append(try PredicateCompiler(scope: scope).compile(predicate))
        }
        return parts.isEmpty ? "" : " WHERE " + parts.joined(separator: " AND ")
    }

    /// Rows of other entities of the table, and of none, stay unseen. For a whole tree the test cannot select
    /// anything, so a unary plus keeps it from being answered by the index on `Z_ENT` instead of a better
    /// one.
    func entityFilter(_ entity: Entity, last: EntityIndex, _ scope: SelectScope) -> String? {
        let root = map.schema[entity.root]
        guard root.hasSubentities else { return nil }
        let column = scope.column("Z_ENT")
        if last == entity.index { return "\(column) = \(entity.index.number)" }
        let plus = entity.index == root.index && last == root.last ? "+" : ""
        return "\(plus)\(column) BETWEEN \(entity.index.number) AND \(last.number)"
    }

    /// The number of the row breaks ties in the direction of the last key, which an index on that key gives
    /// for nothing.
    private func order(_ terms: [SortTerm], _ scope: SelectScope) throws -> String {
        guard let last = terms.last else { return "" }
        var parts = try terms.map { try sortKey($0, scope) + ($0.isAscending ? "" : " DESC") }
        parts.append(scope.column("Z_PK") + (last.isAscending ? "" : " DESC"))
        return " ORDER BY " + parts.joined(separator: ", ")
    }

    private func sortKey(_ term: SortTerm, _ scope: SelectScope) throws -> String {
        switch try KeyPathResolver(scope: scope).resolve(term.keyPath) {
        case .attribute(let sql, let slot):
            guard slot.kind == .text || slot.kind == .uri, let name = TextFunction.collation(term.comparison)
            else {
                return sql
            }
            return "\(sql) COLLATE \(name)"
        case .key(let sql, _): return sql
        case .number(let sql): return sql
        case .members:
            let name = term.keyPath.joined(separator: ".")
            throw unsupportedSort("the to-many key path \(name)", scope.entity)
        }
    }

    private func unsupportedSort(_ what: String, _ entity: Entity) -> StoreError {
        StoreError(
            134060,
            "A fetch of \(entity.name) sorts by \(what), which SQLite stores do not support. Sort the result in memory.",
            entity: entity.name)
    }

    private func limit(_ plan: FetchPlan, _ builder: SelectBuilder) -> String {
        let limit = builder.bind(.int(plan.limit > 0 ? Int64(plan.limit) : -1))
        // Each row is counted once more for an offset, be it 0.
        return plan.offset > 0 ? " LIMIT \(limit) OFFSET \(builder.bind(.int(Int64(plan.offset))))" : " LIMIT \(limit)"
    }
}
