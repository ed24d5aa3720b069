// The copies of a migration as statements: as many for a million rows as for one.

import CoreDataValues

/// Rows and pairs of tables that were set aside, as insertions into the new ones.
struct CopyCompiler {
    typealias Statement = (sql: String, values: [Value])
    let migration: BoundMigration
    /// The former tables under the names that they have meanwhile.
    let from: StoreMap
    let to: StoreMap
    private var dialect: any SQLDialect { to.dialect }
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
        for fill in copy.values {
            switch fill.source {
            case .constant(let value): add(fill.slot, value.isNull ? nil : builder.bind(value))
            case .operand(let operand): add(fill.slot, try OperandCompiler(scopes: LevelScopes(scope)).compile(operand))
            case .kept(let former, let other):
                let column = try column(former, copy.source, scope)
                guard let index = copy.source.slots[former].relationship else {
                    add(fill.slot, other.isNull ? column : dialect.value(column, or: builder.bind(other)))
                    continue
                }
                let relationship = migration.source[index]
                add(fill.slot, try key(column, among: relationship.destinations))
                let slots = copy.destination.slots
                guard fill.slot + 1 < slots.count, slots[fill.slot + 1].kind == .entityTag else { continue }
                let tag = relationship.hasEntityTag ? try self.column(former + 1, copy.source, scope) : nil
                add(fill.slot + 1, self.tag(tag, of: column, among: relationship.destinations))
            }
        }
        for (column, value) in try places(copy, table, scope) {
            columns.append(column)
            values.append(value)
        }
        var sql = "INSERT INTO \(quoted(table.name)) (\(columns.map(quoted).joined(separator: ", "))) "
            + "SELECT \(values.joined(separator: ", ")) FROM \(try scope.from())"
        if from.schema[copy.source.root].hasSubentities { sql += " WHERE \(scope.column("Z_ENT")) = \(copy.source.index.number)" }
        return (sql, builder.bindings.map { $0.value(among: []) })
    }

    private func column(_ slot: Int, _ entity: Entity, _ scope: SelectScope) throws -> String {
        let table = try from.table(of: entity.index)
        return scope.column(try table.column(slot, of: entity, use: "the migration").name)
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
            guard copy.destination.isKind(of: to.schema[column.entity]), let link = migration.links[index] else { return nil }
            let former = migration.source[link]
            let source = try from.table(of: former.destination)
            guard source.root == copy.source.root else { return nil }
            if case .order = column.role {
                guard let order = source.orderColumn(of: link), copy.source.isKind(of: from.schema[order.entity]) else { return nil }
                return (column.name, scope.column(order.name))
            }
            guard let owner = source.ownerColumn(of: link), copy.source.isKind(of: from.schema[owner.entity]) else { return nil }
            let owners = from.schema[former.owner]
            return try key(scope.column(owner.name), among: owners.index.rawValue...owners.last.rawValue).map { (column.name, $0) }
        }
    }

    // MARK: Keys

    /// A key, or null where the row that it names does not come along; nil where none of them does.
    private func key(_ column: String, among entities: ClosedRange<UInt16>) throws -> String? {
        let kept = entities.filter { migration.destinations[EntityIndex(rawValue: $0)] != nil }
        if kept.isEmpty { return nil }
        if kept.count == entities.count { return column }
        return "CASE WHEN \(try isKept(column, among: entities, kept)) THEN \(column) END"
    }

    private func isKept(_ column: String, among entities: ClosedRange<UInt16>, _ kept: [UInt16]) throws -> String {
        let table = try from.table(of: EntityIndex(rawValue: entities.lowerBound))
        let numbers = kept.map { "\(EntityIndex(rawValue: $0).number)" }.joined(separator: ", ")
        return "EXISTS (SELECT 1 FROM \(quoted(table.name)) AS k WHERE k.\"Z_PK\" = \(column) AND k.\"Z_ENT\" IN (\(numbers)))"
    }

    /// The number of a target's entity.
    ///
    /// - Parameter tag: its number before; nil where only one entity could be the target.
    private func tag(_ tag: String?, of key: String, among entities: ClosedRange<UInt16>) -> String? {
        let numbers = entities.compactMap { value -> (from: Int, to: Int)? in
            let entity = EntityIndex(rawValue: value)
            return migration.destinations[entity].map { (entity.number, $0.number) }
        }
        if numbers.isEmpty { return nil }
        guard let tag else { return "CASE WHEN \(dialect.isPresent(key)) THEN \(numbers[0].to) END" }
        if numbers.count == entities.count, numbers.allSatisfy({ $0.from == $0.to }) { return tag }
        return "CASE \(tag) " + numbers.map { "WHEN \($0.from) THEN \($0.to) " }.joined() + "END"
    }

    // MARK: Pairs

    /// nil for a join table that begins without pairs.
    func pairs(_ table: JoinTable) throws -> Statement? {
        guard let link = migration.links[table.relationship], let former = from.join(of: link) else { return nil }
        let relationship = migration.source[link]
        let (side, source) = (table.side(of: table.relationship), former.side(of: link))
        var columns = [(side.owner, source.owner), (side.member, source.member)]
        if let order = side.order, let place = source.order { columns.append((order, place)) }
        if !table.isReflexive, let inverse = relationship.inverse, let order = table.inverseSide.order,
            let place = former.side(of: inverse).order
        {
            columns.append((order, place))
        }
        let owners = from.schema[relationship.owner]
        let ends = [
            (source.owner, owners.index.rawValue...owners.last.rawValue), (source.member, relationship.destinations),
        ]
        let conditions = try ends.compactMap { column, entities -> String? in
            let kept = entities.filter { migration.destinations[EntityIndex(rawValue: $0)] != nil }
            if kept.count == entities.count { return nil }
            return kept.isEmpty ? dialect.condition(false) : try isKept("j.\(quoted(column))", among: entities, kept)
        }
        let sql = "INSERT INTO \(quoted(table.name)) (\(columns.map { quoted($0.0) }.joined(separator: ", "))) "
            + "SELECT \(columns.map { "j.\(quoted($0.1))" }.joined(separator: ", ")) FROM \(quoted(former.name)) AS j"
        return (conditions.isEmpty ? sql : sql + " WHERE \(conditions.joined(separator: " AND "))", [])
    }
}
