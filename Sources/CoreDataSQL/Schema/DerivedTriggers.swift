// The triggers that keep derived attributes up to date, as Core Data's own files have them.

import CoreDataValues

/// Triggers by name: `Z_DA_<table>_<entity>_<attribute>_<role>`.
///
/// The forms of `toMany.@count`, of a key path over one to-one and of `now()` are those of Apple-written
/// stores, to the letter. A sum, a longer path and a relationship with a join table follow them. `canonical:`
/// and its like have no trigger here: their column is written with the row (`DerivedTexts`), because the
/// function that Core Data's triggers call for it is not known.
package struct DerivedTriggers: Sendable {
    package let map: StoreMap
    package init(_ map: StoreMap) { self.map = map }
    private var dialect: any SQLDialect { map.dialect }
    private func bare(_ name: String) -> String { map.dialect.defined(name) }
    /// The row that changed, or rows with its key.
    private var key: String { bare("Z_PK") }
    private var newKey: String { "NEW." + bare("Z_PK") }

    package func statements() throws -> [String] { try triggers().flatMap(map.dialect.trigger) }

    func triggers() throws -> [SQLTrigger] {
        try map.derived.flatMap { derived in
            guard let target = try target(derived) else { return [SQLTrigger]() }
            switch derived.derivation {
            case .now: return now(target)
            case .text: return []
            case .copy(let hops, let slot): return try copy(target, from: derived.entity, hops: hops, slot: slot)
            case .count(let relationship): return try count(target, Members(relationship, map))
            case .sum(let relationship, let slot): return try sum(target, Members(relationship, map), slot)
            }
        }
    }

    private func target(_ derived: DerivedAttribute) throws -> Target? {
        let table = try map.table(of: derived.entity)
        guard let column = table.column(of: derived.slot, in: derived.entity) else { return nil }
        let entity = map.schema[derived.entity]
        return Target(
            dialect: map.dialect, table: table.name, column: table.columns[column].name, entity: entity.name,
            attribute: derived.name, entities: entity.parent == nil ? nil : entity.index.number...entity.last.number)
    }

    // MARK: All rows

    /// Computes an attribute anew in all rows that have it: what it is for a row that has just been inserted.
    func computation(of derived: DerivedAttribute) throws -> String? {
        guard let target = try target(derived) else { return nil }
        let value: String
        switch derived.derivation {
        case .now: value = dialect.now
        case .text(let form, let slot):
            let table = try map.table(of: derived.entity)
            guard let column = table.column(of: slot, in: derived.entity) else { return nil }
            value = dialect.derived(form, of: bare(table.columns[column].name))
        case .copy(let hops, let slot):
            value = try Path(from: derived.entity, hops: hops, slot: slot, map: map).value(after: 0, of: "d")
        case .count(let relationship): value = counted(try Members(relationship, map), "d.\(key)")
        case .sum(let relationship, let slot):
            let members = try Members(relationship, map)
            let table = try map.table(of: members.relationship.destination)
            guard let column = table.column(of: slot, in: members.relationship.destination) else { return nil }
            value = members.total(of: bare(table.columns[column].name), in: bare(table.name))("d.\(key)")
        }
        let number = bare("Z_ENT")
        let rows =
            target.entities.map { " WHERE \($0.lowerBound) <= \(number) AND \(number) <= \($0.upperBound)" } ?? ""
        return "UPDATE \(bare(target.table)) AS d SET \(target.value) = \(value)\(rows)"
    }

    private func counted(_ members: Members, _ owner: String) -> String {
        let (table, column) = (bare(members.table), bare(members.owner))
        return "(SELECT \(dialect.value("COUNT(\(column))", or: "0")) FROM \(table) WHERE \(column) = \(owner))"
    }

    // MARK: Forms

    private func now(_ target: Target) -> [SQLTrigger] {
        let row = "\(key) = \(newKey)"
        return [
            target.trigger(nil, "INSERT", .insert, set: dialect.now, where: row, isInsert: true),
            target.trigger(nil, "UPDATE", .update(["Z_OPT"]), set: dialect.now, where: row),
        ]
    }

    private func count(_ target: Target, _ members: Members) -> [SQLTrigger] {
        steps(
            target, members, columns: [members.owner],
            up: "\(dialect.value(target.value, or: "0")) + 1", more: "\(target.value) + 1", less: "\(target.value) - 1")
            + [
                target.trigger(
                    nil, "SOURCE_INSERT", .insert, set: counted(members, newKey), where: "\(key) = \(newKey)",
                    isInsert: true)
            ]
    }

    /// Adds and takes away, a member at a time.
    private func steps(
        _ target: Target, _ members: Members, columns: [String], up: String, more: String, less: String
    ) -> [SQLTrigger] {
        let owner = bare(members.owner)
        let (new, old) = ("\(key) = NEW.\(owner)", "\(key) = OLD.\(owner)")
        let (isNew, wasOld) = (dialect.isPresent("NEW.\(owner)"), dialect.isPresent("OLD.\(owner)"))
        // A row that is its own member is counted by SOURCE_INSERT already.
        let isOther = members.table == target.table ? "\(isNew) AND NEW.\(owner) <> \(newKey)" : isNew
        return [
            target.trigger(members.table, "PARAMETER_INSERT", .insert, when: isOther, set: up, where: new),
            target.trigger(
                members.table, "PARAMETER_UPDATE_INCREMENT", .update(columns), when: isNew, set: more, where: new),
            target.trigger(
                members.table, "PARAMETER_UPDATE_DECREMENT", .update(columns), when: wasOld, set: less, where: old),
            target.trigger(members.table, "PARAMETER_DELETE", .delete, when: wasOld, set: less, where: old),
        ]
    }

    /// Whole numbers are added and taken away; of others, whose sum depends on the order, the sum is made
    /// anew.
    private func sum(_ target: Target, _ members: Members, _ slot: Int) throws -> [SQLTrigger] {
        let relationship = members.relationship
        let memberTable = try map.table(of: relationship.destination)
        guard let position = memberTable.column(of: slot, in: relationship.destination) else { return [] }
        let column = bare(memberTable.columns[position].name)
        let total = members.total(of: column, in: bare(memberTable.name))
        let source = target.trigger(
            nil, "SOURCE_INSERT", .insert, set: total(newKey), where: "\(key) = \(newKey)", isInsert: true)
        let kind = map.schema[relationship.destination].slots[slot].kind
        if members.member == nil, kind == .int || kind == .bool {
            let (new, old) = (dialect.value("NEW.\(column)", or: "0"), dialect.value("OLD.\(column)", or: "0"))
            let held = dialect.value(target.value, or: "0")
            return steps(
                target, members, columns: [members.owner, memberTable.columns[position].name],
                up: "\(held) + \(new)", more: "\(held) + \(new)", less: "\(held) - \(old)") + [source]
        }
        let owner = bare(members.owner)
        let anew = total("\(bare(target.table)).\(key)")
        let updated = members.member == nil ? [members.owner, memberTable.columns[position].name] : [members.owner]
        var triggers = [
            target.trigger(members.table, "PARAMETER_INSERT", .insert, set: anew, where: "\(key) = NEW.\(owner)"),
            target.trigger(
                members.table, "PARAMETER_UPDATE", .update(updated), set: anew,
                where: "\(key) IN (NEW.\(owner), OLD.\(owner))"),
            target.trigger(members.table, "PARAMETER_DELETE", .delete, set: anew, where: "\(key) = OLD.\(owner)"),
        ]
        if let member = members.member {
            triggers.append(
                target.trigger(
                    memberTable.name, "PARAMETER_VALUE", .update([memberTable.columns[position].name]), set: anew,
                    where: "\(key) IN (SELECT \(owner) FROM \(bare(members.table)) WHERE \(bare(member)) = \(newKey))"))
        }
        return triggers + [source]
    }

    private func copy(
        _ target: Target, from entity: EntityIndex, hops: [RelationshipIndex], slot: Int
    ) throws -> [SQLTrigger] {
        let path = try Path(from: entity, hops: hops, slot: slot, map: map)
        let row = "\(key) = \(newKey)"
        var triggers = [
            target.trigger(nil, "SOURCE_INSERT", .insert, set: path.value(after: 0), where: row, isInsert: true),
            target.trigger(nil, "SOURCE_UPDATE", .update([path.columns[0]]), set: path.value(after: 0), where: row),
        ]
        guard !hops.isEmpty else { return triggers }
        for hop in 1...hops.count {
            let role = hop == hops.count ? "PARAMETER" : "PARAMETER\(hop)"
            let (value, rows) = (path.value(after: hop), path.rows(before: hop))
            triggers += [
                target.trigger(
                    path.tables[hop], "\(role)_INSERT", .insert, set: value, where: rows, isInsert: true),
                target.trigger(
                    path.tables[hop], "\(role)_UPDATE", .update([path.columns[hop]]), set: value, where: rows),
            ]
        }
        return triggers
    }
}

/// The column that triggers write.
private struct Target {
    let dialect: any SQLDialect
    let table: String
    let column: String
    let entity: String
    let attribute: String
    /// The entities of the table that have the attribute, nil for all.
    let entities: ClosedRange<Int>?

    var value: String { dialect.defined(column) }

    /// - Parameters:
    ///   - other: the table that is watched, nil for the attribute's own.
    ///   - isInsert: whether the rows are told as changed by an insertion.
    func trigger(
        _ other: String?, _ role: String, _ event: SQLTrigger.Event, when: String? = nil, set expression: String,
        where rows: String, isInsert: Bool = false
    ) -> SQLTrigger {
        var (when, rows) = (when.map { "(\($0))" }, rows)
        // The form of older stores (framework 1044); newer ones have none where an attribute belongs to the
        // whole table.
        if let entities {
            let number = dialect.defined("Z_ENT")
            if other == nil {
                when = "\(entities.lowerBound) <= NEW.\(number) AND NEW.\(number) <= \(entities.upperBound)"
            } else {
                rows += " AND \(entities.lowerBound) <= \(number) AND \(number) <= \(entities.upperBound)"
            }
        }
        let watched = other ?? table
        return SQLTrigger(
            name: "Z_DA_\(watched)_\(entity)_\(attribute)_\(role)", watched: watched, event: event, condition: when,
            table: table,
            column: column, attribute: attribute, expression: expression, rows: rows, isInsertion: isInsert)
    }
}

/// Where the members of a to-many are written down.
private struct Members {
    let dialect: any SQLDialect
    let relationship: ResolvedRelationship
    let table: String
    /// The column with the owner's key.
    let owner: String
    /// The column with the member's key in a join table; nil when the member's own row has the owner's.
    let member: String?

    init(_ index: RelationshipIndex, _ map: StoreMap) throws {
        dialect = map.dialect
        relationship = map.schema[index]
        if let join = map.join(of: index) {
            let side = join.side(of: index)
            (table, owner, member) = (join.name, side.owner, side.member)
            return
        }
        let destination = try map.table(of: relationship.destination)
        (table, member) = (destination.name, nil)
        if let inverse = relationship.inverse, let slot = map.schema[inverse].slot,
            let column = destination.column(of: slot, in: map.schema[inverse].owner)
        {
            owner = destination.columns[column].name
        } else if let column = destination.ownerColumn(of: index) {
            owner = column.name
        } else {
            let name = map.schema[relationship.owner].name
            throw StoreError(
                134060, "unsupported: the members of \(name).\(relationship.name) are in another store.",
                entity: name, property: relationship.name)
        }
    }

    /// The sum of a column over the members of the owner that a piece of SQL names.
    func total(of column: String, in members: String) -> (String) -> String {
        let (table, owner) = (dialect.defined(self.table), dialect.defined(self.owner))
        let total = dialect.value("SUM(m.\(column))", or: "0")
        guard let member = member.map(dialect.defined) else {
            return { "(SELECT \(total) FROM \(table) AS m WHERE m.\(owner) = \($0))" }
        }
        let key = dialect.defined("Z_PK")
        return {
            "(SELECT \(total) FROM \(table) AS j JOIN \(members) AS m ON m.\(key) = j.\(member) WHERE j.\(owner) = \($0))"
        }
    }
}

/// A path over to-ones as tables and columns.
private struct Path {
    private let dialect: any SQLDialect
    /// The attribute's own table, then the table each hop leads to.
    private(set) var tables: [String]
    /// In each table the column that leads on; in the last the value.
    private(set) var columns: [String] = []

    init(from entity: EntityIndex, hops: [RelationshipIndex], slot: Int, map: StoreMap) throws {
        dialect = map.dialect
        var table = try map.table(of: entity)
        var place = entity
        tables = [table.name]
        for hop in hops {
            let relationship = map.schema[hop]
            if let slot = relationship.slot, let column = table.column(of: slot, in: place) {
                columns.append(table.columns[column].name)
            }
            place = relationship.destination
            table = try map.table(of: place)
            tables.append(table.name)
        }
        if let column = table.column(of: slot, in: place) { columns.append(table.columns[column].name) }
    }

    /// The value at the end, seen from a changed row of the table after `hop` hops.
    ///
    /// - Parameter row: its name.
    func value(after hop: Int, of row: String = "NEW") -> String {
        var value = "\(row).\(dialect.defined(columns[hop]))"
        for next in hop + 1..<max(tables.count, hop + 1) {
            value =
                "(SELECT \(dialect.defined(columns[next])) FROM \(dialect.defined(tables[next])) WHERE \(key) = \(value))"
        }
        return value
    }

    /// The rows whose path comes by the changed row of the table after `hop` hops.
    func rows(before hop: Int) -> String {
        var rows = "\(dialect.defined(columns[hop - 1])) = NEW.\(key)"
        for table in (1..<max(hop, 1)).reversed() {
            rows =
                "\(dialect.defined(columns[table - 1])) IN (SELECT \(key) FROM \(dialect.defined(tables[table])) WHERE \(rows))"
        }
        return rows
    }

    private var key: String { dialect.defined("Z_PK") }
}
