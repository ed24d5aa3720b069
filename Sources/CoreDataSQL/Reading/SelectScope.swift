// What a SELECT is built from: values, aliases, and the joins that key paths ask for.

import CoreDataValues

/// Collects the values of one statement and names its tables. Parameters are numbered, so their order in the
/// text is free.
final class SelectBuilder {
    let map: StoreMap
    /// Of a query of the shape.
    private let values: [Value]
    private(set) var bindings: [BoundValue] = []
    /// Whether it compares values that may lie in files.
    private(set) var readsFiles = false
    private var aliases = 0

    init(_ map: StoreMap, _ values: [Value] = []) {
        self.map = map
        self.values = values
    }

    func bind(_ value: BoundValue) -> String {
        bindings.append(value)
        return map.dialect.parameter(bindings.count, like: value.value(among: values))
    }

    func bind(_ value: Value) -> String { bind(.constant(value)) }

    /// The bytes of a value that may lie in a file; null where their number is another than the one that is given.
    func content(_ cell: String, length: String?) -> String {
        readsFiles = true
        return map.dialect.content(cell, length: length)
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
    private var joins: [(path: [String], table: String)] = []
    /// The to-ones without which there is no row of the result.
    private var needed: Set<[String]> = []
    /// Whether its rows are found from a row outside, a few for each. An index on what else is asked of them finds as many each time
    /// as there are in the whole table, and a database that knows nothing of the values would as soon take that one.
    var isLinked = false

    init(_ builder: SelectBuilder, entity: Entity) {
        self.builder = builder
        self.entity = entity
        alias = builder.alias()
    }

    var schema: Schema { builder.map.schema }

    func column(_ name: String) -> String { "\(alias).\(builder.map.dialect.quoted(name))" }

    /// `"ZPAGE" t0 JOIN "ZBOOK" t1 ON … LEFT JOIN "ZAUTHOR" t2 ON …`, to be asked once everything is compiled.
    ///
    /// From what is needed the database may go back to the rows by the indexes of both; from a LEFT JOIN it cannot.
    func from() throws -> String {
        let table = try builder.map.table(of: entity.index)
        let inner = joins.filter { needed.contains($0.path) }.map { " JOIN " + $0.table }
        let outer = joins.filter { !needed.contains($0.path) }.map { " LEFT JOIN " + $0.table }
        return builder.map.dialect.quoted(table.name) + " " + alias + inner.joined() + outer.joined()
    }

    /// Notes to-ones that lead somewhere from all rows of the result, with those on their way.
    func need(_ paths: Set<[String]>) { needed.formUnion(paths) }

    /// The destination of a to-one, joined once however often it is named.
    func join(_ relationship: ResolvedRelationship, path: [String], column: String) throws -> SelectScope {
        if let known = joined[path] { return known }
        let target = SelectScope(builder, entity: schema[relationship.destination])
        let table = try builder.map.table(of: relationship.destination)
        joins.append(
            (path, "\(builder.map.dialect.quoted(table.name)) \(target.alias) ON \(target.column("Z_PK")) = \(column)"))
        joined[path] = target
        return target
    }
}

/// The rows that stand for the levels of a query while it is compiled.
final class LevelScopes {
    let builder: SelectBuilder
    private var scopes: [Int: SelectScope] = [:]
    private let row: SelectScope
    /// The values of groups as they are compiled, by their places.
    var groupTexts: [Int: String] = [:]
    /// Whether decimals are added up as decimals: a column shows their sum, a condition only compares it.
    var addsDecimals = false

    init(_ row: SelectScope) {
        builder = row.builder
        self.row = row
    }

    /// A level is entered before anything in it is compiled.
    subscript(level: Int) -> SelectScope {
        get { scopes[level] ?? row }
        set { scopes[level] = newValue }
    }

    /// Notes what all rows of a SELECT fulfil, which goes through the rows of some levels.
    func need(_ condition: BoundCondition, in levels: [Int]) {
        for level in levels { self[level].need(condition.reached(from: level)) }
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
            let (alias, quoted) = (builder.alias(), builder.map.dialect.quoted)
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
