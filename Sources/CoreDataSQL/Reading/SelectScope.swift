// What a SELECT is built from: values, aliases, and the joins that key paths ask for.

import CoreDataValues

/// Collects the values of one statement and names its tables. Parameters are numbered, so their order in the
/// text is free.
final class SelectBuilder {
    let map: StoreMap
    private(set) var bindings: [Value] = []
    private var aliases = 0

    init(_ map: StoreMap) { self.map = map }

    func bind(_ value: Value) -> String {
        bindings.append(value)
        return "?\(bindings.count)"
    }

    func alias() -> String {
        defer { aliases += 1 }
        return "t\(aliases)"
    }
}

/// One table in a FROM clause with the to-one joins hanging on it.
final class SelectScope {
    let builder: SelectBuilder
    let entity: Entity
    let alias: String
    private var joined: [[String]: SelectScope] = [:]
    private(set) var joins: [String] = []

    init(_ builder: SelectBuilder, entity: Entity) {
        self.builder = builder
        self.entity = entity
        alias = builder.alias()
    }

    var schema: Schema { builder.map.schema }

    func column(_ name: String) -> String { "\(alias).\(quoted(name))" }

    /// `"ZPAGE" t0 LEFT JOIN "ZBOOK" t1 ON …`
    func from() throws -> String {
        let table = try builder.map.table(of: entity.index)
        return ([quoted(table.name) + " " + alias] + joins).joined(separator: " ")
    }

    /// The destination of a to-one, joined once however often it is named.
    func join(_ relationship: ResolvedRelationship, path: [String], column: String) throws -> SelectScope {
        if let known = joined[path] { return known }
        let target = SelectScope(builder, entity: schema[relationship.destination])
        let table = try builder.map.table(of: relationship.destination)
        joins.append(
            "LEFT JOIN \(quoted(table.name)) \(target.alias) ON \(target.column("Z_PK")) = \(column)")
        joined[path] = target
        return target
    }
}

/// What a key path comes to in SQL.
enum SQLOperand {
    /// A stored attribute.
    case attribute(sql: String, slot: Slot)
    /// A key: a to-one, or the row itself. The entity is the declared one.
    case key(sql: String, entity: Entity)
    /// A to-many of the row `owner` names, and what is asked of each member.
    case members(owner: String, relationship: ResolvedRelationship, rest: [String])
    /// A number computed by the statement.
    case number(sql: String)
}

/// Finds the column a key path means, joining what lies between.
struct KeyPathResolver {
    let scope: SelectScope

    func resolve(_ keyPath: [String]) throws -> SQLOperand {
        var current = scope
        var path =
            keyPath.first.map { ["self", "SELF"].contains($0) } == true ? Array(keyPath.dropFirst()) : keyPath
        if path == ["objectID"] { path = [] }
        var walked: [String] = []
        while let name = path.first {
            let composite = current.entity.compositeKey(of: path)
            let key = composite?.key ?? name
            let rest = Array(path.dropFirst(composite?.length ?? 1))
            walked.append(key)
            guard let place = current.entity.places[key] else {
                if current.entity.composites[key] != nil {
                    throw unsupported("the composite attribute \(key) as a whole", keyPath)
                }
                throw missing(key, in: current.entity, keyPath)
            }
            switch place {
            case .fetched: throw unsupported("the fetched property \(key)", keyPath)
            case .toMany:
                guard let relationship = relationship(key, of: current.entity) else {
                    throw missing(key, in: current.entity, keyPath)
                }
                return try members(
                    relationship, owner: current, rest: rest, isNested: walked.count > 1, keyPath)
            case .slot(let slot):
                let table = try scope.builder.map.table(of: current.entity.index)
                guard let column = table.column(of: slot, in: current.entity.index) else {
                    throw unsupported("the transient property \(key)", keyPath)
                }
                let sql = current.column(table.columns[column].name)
                guard let relationship = relationship(key, of: current.entity) else {
                    guard rest.isEmpty else { throw missing(rest[0], in: current.entity, keyPath) }
                    return .attribute(sql: sql, slot: current.entity.slots[slot])
                }
                if rest.isEmpty || rest == ["objectID"] {
                    return .key(sql: sql, entity: scope.schema[relationship.destination])
                }
                current = try scope.join(relationship, path: walked, column: sql)
                path = rest
            }
        }
        return .key(sql: current.column("Z_PK"), entity: current.entity)
    }

    private func relationship(_ name: String, of entity: Entity) -> ResolvedRelationship? {
        entity.relationships.lazy.map { scope.schema[$0] }.first { $0.name == name }
    }

    private func members(
        _ relationship: ResolvedRelationship, owner: SelectScope, rest: [String], isNested: Bool,
        _ keyPath: [String]
    ) throws -> SQLOperand {
        let key = owner.column("Z_PK")
        guard rest.first?.hasPrefix("@") == true else {
            return .members(owner: key, relationship: relationship, rest: rest)
        }
        guard rest == ["@count"] else {
            throw unsupported("the collection operator \(rest.joined(separator: "."))", keyPath)
        }
        let inner = SelectScope(scope.builder, entity: scope.schema[relationship.destination])
        let link = try MemberLink(scope.builder).condition(relationship, member: inner, owner: key)
        let count = "(SELECT COUNT(*) FROM \(try inner.from())\(link.join) WHERE \(link.condition))"
        // Nothing has no count, not even zero.
        return .number(sql: isNested ? "(CASE WHEN \(key) IS NULL THEN NULL ELSE \(count) END)" : count)
    }

    private func missing(_ key: String, in entity: Entity, _ keyPath: [String]) -> StoreError {
        StoreError(
            134060,
            "The key path “\(keyPath.joined(separator: "."))” names “\(key)”, which the entity \(entity.name) does "
                + "not have. Correct the key path.",
            entity: entity.name, property: key)
    }

    private func unsupported(_ what: String, _ keyPath: [String]) -> StoreError {
        StoreError(
            134060,
            "The key path “\(keyPath.joined(separator: "."))” of the entity \(scope.entity.name) uses \(what), which "
                + "SQLite stores do not support. Fetch without it and filter in memory.",
            entity: scope.entity.name, property: keyPath.first)
    }
}

/// How members of a to-many are found from their owner.
struct MemberLink {
    let builder: SelectBuilder
    init(_ builder: SelectBuilder) { self.builder = builder }

    /// A join to append (empty for one-to-many), the condition, and the column of the members' order.
    func condition(
        _ relationship: ResolvedRelationship, member: SelectScope, owner: String
    ) throws -> (join: String, condition: String, order: String?) {
        let parts = try parts(relationship, member: member)
        return (parts.join, "\(parts.owner) = \(owner)", parts.order)
    }

    /// A join to append (empty for one-to-many), the column of the owner, and the column of the members' order.
    func parts(
        _ relationship: ResolvedRelationship, member: SelectScope
    ) throws -> (join: String, owner: String, order: String?) {
        if let table = builder.map.join(of: relationship.index) {
            let side = table.side(of: relationship.index)
            let alias = builder.alias()
            return (
                " JOIN \(quoted(table.name)) \(alias) ON \(alias).\(quoted(side.member)) = \(member.column("Z_PK"))",
                "\(alias).\(quoted(side.owner))", side.order.map { "\(alias).\(quoted($0))" }
            )
        }
        let table = try builder.map.table(of: relationship.destination)
        let order = table.orderColumn(of: relationship.index).map { member.column($0.name) }
        if let column = foreignKey(relationship, in: table) { return ("", member.column(column), order) }
        throw StoreError(
            134060,
            "The relationship \(builder.map.schema[relationship.owner].name).\(relationship.name) is not stored. "
                + "Check whether it or its inverse is transient.",
            entity: builder.map.schema[relationship.owner].name, property: relationship.name)
    }

    private func foreignKey(_ relationship: ResolvedRelationship, in table: TableMap) -> String? {
        if let column = table.ownerColumn(of: relationship.index) { return column.name }
        guard let inverse = relationship.inverse.map({ builder.map.schema[$0] }), let slot = inverse.slot
        else {
            return nil
        }
        return table.column(of: slot, in: inverse.owner).map { table.columns[$0].name }
    }
}
