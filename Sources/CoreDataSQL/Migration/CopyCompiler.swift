// The copies of a migration as statements: as many for a million rows as for one.

import CoreDataValues

/// Rows and pairs of former tables, as insertions into new ones.
struct CopyCompiler {
    typealias Statement = (sql: String, values: [Value])
    let migration: BoundMigration
    /// The former tables under the names that they have meanwhile.
    let from: StoreMap
    let to: StoreMap
    private var dialect: any SQLDialect { to.dialect }
    private var rows: KeptRows { KeptRows(migration: migration, from: from) }
    private func quoted(_ name: String) -> String { to.dialect.quoted(name) }

    // MARK: Rows

    func rows(_ copy: BoundMigration.Copy) throws -> Statement {
        let builder = SelectBuilder(from)
        let scope = SelectScope(builder, entity: copy.source)
        let table = try to.table(of: copy.destination.index)
        var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
        var values = [scope.column("Z_PK"), "\(copy.destination.index.number)", scope.column("Z_OPT")]
        func add(_ slot: Int, _ value: String?) {
            guard let value, let place = table.column(of: slot, in: copy.destination.index) else { return }
            columns.append(table.columns[place].name)
            values.append(value)
        }
        /// A key with its tag, if it has one.
        func add(_ slot: Int, key: String, tag: String?, among range: ClosedRange<UInt16>) throws {
            guard let index = copy.destination.slots[slot].relationship else { return }
            let end = migration.destination[index].destinations
            add(slot, try rows.key(key, among: range, as: end))
            let slots = copy.destination.slots
            guard slot + 1 < slots.count, slots[slot + 1].kind == .entityTag else { return }
            add(slot + 1, try rows.tag(tag, of: key, among: range))
        }
        for fill in copy.values {
            switch fill.source {
            case .derived: break
            case .constant(let value): add(fill.slot, value.isNull ? nil : builder.bind(value))
            case .operand(let operand): add(fill.slot, try OperandCompiler(scopes: LevelScopes(scope)).compile(operand))
            case .owner(let link):
                try add(fill.slot, key: owner(of: link, scope), tag: nil, among: from.schema.range(of: owners(link)))
            case .kept(let former, let other):
                let slot = copy.source.slots[former]
                let column = try column(former, copy.source, scope)
                guard let index = slot.relationship else {
                    let value = moved(column, slot.kind, copy.destination.slots[fill.slot].kind)
                    add(fill.slot, other.isNull ? value : dialect.value(value, or: builder.bind(other)))
                    continue
                }
                let relationship = migration.source[index]
                let tag = relationship.hasEntityTag ? try self.column(former + 1, copy.source, scope) : nil
                try add(fill.slot, key: column, tag: tag, among: relationship.destinations)
            }
        }
        for (column, value) in try places(copy, table, scope) {
            columns.append(column)
            values.append(value)
        }
        var sql =
            "INSERT INTO \(quoted(table.name)) (\(columns.map(quoted).joined(separator: ", "))) "
            + "SELECT \(values.joined(separator: ", ")) FROM \(try scope.from())"
        if from.schema[copy.source.root].hasSubentities {
            sql += " WHERE \(scope.column("Z_ENT")) = \(copy.source.index.number)"
        }
        return (sql, builder.bindings.map { $0.value(among: []) })
    }

    private func column(_ slot: Int, _ entity: Entity, _ scope: SelectScope) throws -> String {
        let table = try from.table(of: entity.index)
        return scope.column(try table.column(slot, of: entity, use: "the migration").name)
    }

    /// Binary data have another form where they may lie in files.
    private func moved(_ column: String, _ former: SlotKind, _ later: SlotKind) -> String {
        if former == .data, later == .externalData { return dialect.inlined(column) }
        if former == .externalData, later == .data { return dialect.content(column, length: nil) }
        return column
    }

    private func owners(_ link: RelationshipIndex) -> EntityIndex { migration.source[link].owner }

    /// The key of the object that has a row among its members, or as its target; of several the first.
    private func owner(of link: RelationshipIndex, _ scope: SelectScope) throws -> String {
        let relationship = migration.source[link]
        if relationship.isToMany {
            let table = try from.table(of: relationship.destination)
            if let back = relationship.inverse.map({ migration.source[$0] }), let slot = back.slot {
                return try column(slot, migration.source[back.owner], scope)
            }
            return table.ownerColumn(of: link).map { scope.column($0.name) } ?? "NULL"
        }
        let owners = migration.source[relationship.owner]
        guard let slot = relationship.slot else { return "NULL" }
        let table = try from.table(of: owners.index)
        let target = quoted(try table.column(slot, of: owners, use: "the migration").name)
        return "(SELECT MIN(o.\"Z_PK\") FROM \(quoted(table.name)) AS o WHERE o.\(target) = \(scope.column("Z_PK")))"
    }

    /// Owners and places of members that their rows keep for to-manys.
    private func places(
        _ copy: BoundMigration.Copy, _ table: TableMap, _ scope: SelectScope
    ) throws -> [(column: String, value: String)] {
        try table.columns.compactMap { column in
            let index: RelationshipIndex
            switch column.role {
            case .slot: return nil
            case .order(let relationship), .owner(let relationship): index = relationship
            }
            guard copy.destination.isKind(of: to.schema[column.entity]), let link = migration.links[index] else {
                return nil
            }
            let former = migration.source[link]
            let source = try from.table(of: former.destination)
            guard source.root == copy.source.root else { return nil }
            if case .order = column.role {
                guard let order = source.orderColumn(of: link), copy.source.isKind(of: from.schema[order.entity]) else {
                    return nil
                }
                return (column.name, scope.column(order.name))
            }
            guard copy.source.isKind(of: from.schema[former.destination]) else { return nil }
            let later = migration.destination[index]
            return try rows.key(
                owner(of: link, scope), among: from.schema.range(of: former.owner), as: to.schema.range(of: later.owner)
            )
            .map { (column.name, $0) }
        }
    }

    // MARK: Pairs

    /// nil for a join table that begins without pairs.
    func pairs(_ table: JoinTable) throws -> Statement? {
        guard let (later, link) = migration.origin(of: table) else { return nil }
        let (former, relationship) = (migration.source[link], migration.destination[later])
        let side = table.side(of: later)
        let source = try PairSource(link, migration, from)
        var columns = [(side.owner, source.owner), (side.member, source.member)]
        if let order = side.order, let place = source.order { columns.append((order, place)) }
        if !table.isReflexive, let inverse = relationship.inverse, let order = table.side(of: inverse).order,
            let place = source.inverseOrder
        {
            columns.append((order, place))
        }
        let ends = [
            (source.owner, from.schema.range(of: former.owner), to.schema.range(of: relationship.owner)),
            (source.member, former.destinations, relationship.destinations),
        ]
        var conditions = source.conditions
        for (column, range, end) in ends {
            switch try rows.share(column, among: range, as: end) {
            case .all: break
            case .none: conditions.append(dialect.condition(false))
            case .those(let condition): conditions.append(condition)
            }
        }
        let sql =
            "INSERT INTO \(quoted(table.name)) (\(columns.map { quoted($0.0) }.joined(separator: ", "))) "
            + "SELECT \(columns.map(\.1).joined(separator: ", ")) FROM \(quoted(source.table)) AS j"
        return (conditions.isEmpty ? sql : sql + " WHERE \(conditions.joined(separator: " AND "))", [])
    }
}

/// The table in which the pairs of a relationship are written down, with its columns.
private struct PairSource {
    let table: String
    let owner: String
    let member: String
    var order: String?
    var inverseOrder: String?
    var conditions: [String] = []

    init(_ link: RelationshipIndex, _ migration: BoundMigration, _ from: StoreMap) throws {
        let relationship = migration.source[link]
        let dialect = from.dialect
        func named(_ column: String) -> String { "j.\(dialect.quoted(column))" }
        let key = named("Z_PK")
        switch migration.place(of: link) {
        case .pairs:
            guard let join = from.join(of: link) else { throw PairSource.missing(relationship, from) }
            let side = join.side(of: link)
            (table, owner, member, order) = (join.name, named(side.owner), named(side.member), side.order.map(named))
            inverseOrder = relationship.inverse.flatMap { join.side(of: $0).order }.map(named)
        case .owner:
            let rows = try from.table(of: relationship.owner)
            guard let slot = relationship.slot else { throw PairSource.missing(relationship, from) }
            let column = try rows.column(slot, of: migration.source[relationship.owner], use: "the migration").name
            (table, owner, member) = (rows.name, key, named(column))
            inverseOrder = relationship.inverse.flatMap { rows.orderColumn(of: $0) }.map { named($0.name) }
            conditions = [dialect.isPresent(named(column))]
        case .members:
            let rows = try from.table(of: relationship.destination)
            let back = relationship.inverse.map { migration.source[$0] }
            let place = back.flatMap { back in back.slot.flatMap { rows.column(of: $0, in: back.owner) } }
            guard let column = place.map({ rows.columns[$0] }) ?? rows.ownerColumn(of: link) else {
                throw PairSource.missing(relationship, from)
            }
            (table, owner, member) = (rows.name, named(column.name), key)
            order = rows.orderColumn(of: link).map { named($0.name) }
            conditions = [dialect.isPresent(named(column.name))]
        }
    }

    private static func missing(_ relationship: ResolvedRelationship, _ from: StoreMap) -> StoreError {
        let name = from.schema[relationship.owner].name
        return StoreError(
            134110, "The members of \(name).\(relationship.name) are not in this store.", entity: name,
            property: relationship.name)
    }
}

extension BoundMigration {
    /// The relationship of a later join table whose members are known, and the former relationship that had them.
    func origin(of table: JoinTable) -> (later: RelationshipIndex, former: RelationshipIndex)? {
        for later in [table.relationship, table.inverse] {
            if let former = links[later] { return (later, former) }
        }
        return nil
    }
}
