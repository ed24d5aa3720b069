// Fetch plans and other reads as SELECT statements.

import CoreDataValues

/// Compiles reads over one store's map.
package struct SelectCompiler: Sendable {
    package let map: StoreMap
    package init(_ map: StoreMap) { self.map = map }

    /// The rows of a query, in its order.
    package func select(_ query: Query, shape: RowShape) throws -> Selection {
        let builder = SelectBuilder(map, query.values)
        let scope = SelectScope(builder, entity: query.bound.entity)
        let scopes = LevelScopes(scope)
        var condition = try self.condition(query.bound, scopes, readsInOrder: readsInOrder(query))
        let order = try self.order(query.bound.order, scopes)
        var part = ""
        if query.isPart {
            let limit = builder.bind(query.boundLimit)
            var offset = query.offset > 0 ? builder.bind(query.boundOffset) : nil
            if let bound = offset, condition.isEmpty, let start = try pageStart(query, scope, offset: bound) {
                (condition, offset) = (" WHERE " + start.condition, start.offset)
            }
            part = map.dialect.part(limit: limit, offset: offset)
        }
        return Selection("SELECT \(shape.columnList) FROM \(try scope.from())\(condition)\(order)\(part)", of: builder)
    }

    /// How many rows a query finds, limit and offset included.
    package func count(_ query: Query) throws -> Selection {
        let builder = SelectBuilder(map, query.values)
        let scope = SelectScope(builder, entity: query.bound.entity)
        let condition = try self.condition(query.bound, LevelScopes(scope))
        guard query.isPart else {
            return Selection("SELECT COUNT(*) FROM \(try scope.from())\(condition)", of: builder)
        }
        let rows = "SELECT 1 FROM \(try scope.from())\(condition)\(limit(query, builder))"
        return Selection(map.dialect.count(of: rows), of: builder)
    }

    /// One row of a tree by its number.
    package func row(in root: Entity, shape: RowShape) throws -> String {
        try rows(in: root, shape: shape, test: "= \(firstKey)")
    }

    /// Rows of a tree by a list of their numbers.
    package func rows(in root: Entity, shape: RowShape) throws -> String {
        try rows(in: root, shape: shape, test: isInKeys)
    }

    /// The first parameter, where it is a key.
    private var firstKey: String { map.dialect.parameter(1, like: .int(0)) }

    /// Whether a value is in the list of keys that is the first parameter.
    var isInKeys: String { map.dialect.isIn(SQLList(map.dialect.parameter(1, like: map.dialect.list([Int64(0)])))) }

    private func rows(in root: Entity, shape: RowShape, test: String) throws -> String {
        let table = try map.table(of: root.index)
        return "SELECT \(shape.columnList) FROM \(map.dialect.quoted(table.name)) t0 WHERE t0.\"Z_PK\" \(test)"
    }

    /// The members of a to-many of the object whose key is the first parameter.
    package func members(of relationship: ResolvedRelationship, shape: RowShape) throws -> String {
        let builder = SelectBuilder(map)
        let scope = SelectScope(builder, entity: map.schema[relationship.destination])
        let link = try MemberLink(builder).condition(relationship, member: scope, owner: firstKey)
        var sql = "SELECT \(shape.columnList) FROM \(try scope.from())\(link.join) WHERE \(link.condition)"
        if let entities = memberFilter(scope) { sql += " AND \(entities)" }
        if let order = link.order {
            sql += " ORDER BY \(order)\(map.dialect.nullOrder(isAscending: true)), \(scope.column("Z_PK"))"
        }
        return sql
    }

    /// A row if the second parameter is the key of a member of a to-many of the object whose key is the first.
    package func membership(in relationship: ResolvedRelationship) throws -> String {
        let builder = SelectBuilder(map)
        let scope = SelectScope(builder, entity: map.schema[relationship.destination])
        let link = try MemberLink(builder).condition(relationship, member: scope, owner: firstKey)
        return
            "SELECT 1 FROM \(try scope.from())\(link.join) WHERE \(link.condition) AND \(scope.column("Z_PK")) = \(map.dialect.parameter(2, like: .int(0)))"
    }

    /// nil where no index tells it, or one on the only sort key gives the rows in their order.
    private func pageStart(_ query: Query, _ scope: SelectScope, offset: String) throws -> PageStart? {
        guard query.bound.order.count > 1, readsInOrder(query), let first = query.bound.order.first,
            case .path(let path) = first.operand, case .attribute(let slot) = path.end,
            let place = try map.table(of: scope.entity.index).column(of: slot, in: scope.entity.index)
        else { return nil }
        let column = try map.table(of: scope.entity.index).columns[place].name
        return try PageStart(column, isAscending: first.isAscending, scope, offset: offset)
    }

    /// Whether the first rows in the order of an index are wanted. As many members as a range leaves are not found first then.
    private func readsInOrder(_ query: Query) -> Bool {
        guard query.isPart, let first = query.bound.order.first, first.comparison == .binary,
            case .path(let path) = first.operand,
            path.hops.isEmpty, let candidate = path.candidate(isOrder: true)
        else { return false }
        return map.isIndexed(candidate)
    }

    func condition(_ query: BoundQuery, _ scopes: LevelScopes, readsInOrder: Bool = false) throws -> String {
        var parts: [String] = []
        let spatial = try query.condition.flatMap { try SpatialLookup(scopes[0]).test($0, of: 0) }
        let isFound = spatial != nil || query.condition?.lookup(from: 0).isServed(by: map.isIndexed) ?? false
        if let filter = entityFilter(query.entity, last: query.last, scopes[0], isFound: isFound) {
            parts.append(filter)
        }
        if let spatial { parts.append(spatial) }
        if let condition = query.condition {
            let text = try ConditionCompiler.filter(condition, of: [0], takesRanges: !readsInOrder, scopes)
            parts.append(condition.isJunction ? "(\(text))" : text)
        }
        return parts.isEmpty ? "" : " WHERE " + parts.joined(separator: " AND ")
    }

    /// The entities of members that are found by their owner.
    func memberFilter(_ scope: SelectScope) -> String? {
        entityFilter(scope.entity, last: scope.entity.last, scope, isFound: true)
    }

    /// Rows of other entities of the table, and of none, stay unseen. The index on `Z_ENT` answers for whoever asks for a subentity
    /// alone. It is kept out where another one leads to the rows, which a database that knows nothing of the values may well take for
    /// the worse of the two, and for a whole tree, where the test cannot select anything.
    private func entityFilter(_ entity: Entity, last: EntityIndex, _ scope: SelectScope, isFound: Bool) -> String? {
        let root = map.schema[entity.root]
        guard root.hasSubentities else { return nil }
        let isWhole = entity.index == root.index && last == root.last
        let column = isFound || isWhole ? map.dialect.unindexed(scope.column("Z_ENT")) : scope.column("Z_ENT")
        return last == entity.index
            ? "\(column) = \(entity.index.number)" : "\(column) BETWEEN \(entity.index.number) AND \(last.number)"
    }

    /// The number of the row breaks ties in the direction of the last key, which an index on that key gives
    /// for nothing.
    func order(_ keys: [BoundSort], _ scopes: LevelScopes) throws -> String {
        guard let last = keys.last else { return "" }
        var parts = try keys.map { key in
            try OperandCompiler(scopes: scopes).compile(key.operand)
                + direction(key.operand, key.comparison, isAscending: key.isAscending)
        }
        parts.append(scopes[0].column("Z_PK") + (last.isAscending ? "" : " DESC"))
        return " ORDER BY " + parts.joined(separator: ", ")
    }

    /// What follows a sort key: collation, direction and the place of null.
    func direction(_ operand: BoundOperand, _ comparison: SortTerm.Comparison, isAscending: Bool) throws -> String {
        let collation = operand.family == .text ? map.dialect.collation(comparison) : ""
        return collation + (isAscending ? "" : " DESC") + map.dialect.nullOrder(isAscending: isAscending)
    }

    func limit(_ query: Query, _ builder: SelectBuilder) -> String {
        let limit = builder.bind(query.boundLimit)
        return map.dialect.part(limit: limit, offset: query.offset > 0 ? builder.bind(query.boundOffset) : nil)
    }
}
