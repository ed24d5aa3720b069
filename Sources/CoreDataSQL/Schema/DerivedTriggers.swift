// The triggers that keep derived attributes up to date, as Core Data's own files have them.

import CoreDataValues

/// Triggers by name (store format §10): `Z_DA_<table>_<entity>_<attribute>_<role>`.
///
/// The forms of `toMany.@count`, of a key path over one to-one and of `now()` are those of Apple-written
/// stores, to the letter. A sum, a longer path and a relationship with a join table follow them. `canonical:`
/// and its like have no trigger here: their column is written with the row (`DerivedTexts`), because the
/// function that Core Data's triggers call for it is not known.
package struct DerivedTriggers: Sendable {
    package let map: StoreMap
    package init(_ map: StoreMap) { self.map = map }

    package func statements() throws -> [String] {
        try map.derived.flatMap { derived in
            let table = try map.table(of: derived.entity)
            guard let column = table.column(of: derived.slot, in: derived.entity) else { return [String]() }
            let entity = map.schema[derived.entity]
            let target = Target(
                table: table.name, column: table.columns[column].name, entity: entity.name, attribute: derived.name,
                entities: entity.parent == nil ? nil : entity.index.number...entity.last.number)
            switch derived.derivation {
            case .now: return now(target)
            case .text: return []
            case .copy(let hops, let slot): return try copy(target, from: derived.entity, hops: hops, slot: slot)
            case .count(let relationship): return try count(target, Members(relationship, map))
            case .sum(let relationship, let slot): return try sum(target, Members(relationship, map), slot)
            }
        }
    }

    // MARK: Forms

    private func now(_ target: Target) -> [String] {
        let row = "Z_PK = NEW.Z_PK"
        return [
            target.trigger(nil, "INSERT", .insert, set: "NSCoreDataNow()", where: row, isInsert: true),
            target.trigger(nil, "UPDATE", .update(["Z_OPT"]), set: "NSCoreDataNow()", where: row),
        ]
    }

    private func count(_ target: Target, _ members: Members) -> [String] {
        let (table, owner) = (bare(members.table), bare(members.owner))
        let counted = "(SELECT IFNULL(COUNT(\(owner)), 0) FROM \(table) WHERE \(owner) = NEW.Z_PK)"
        return steps(
            target, members, columns: [members.owner],
            up: "IFNULL(\(target.value), 0) + 1", more: "\(target.value) + 1", less: "\(target.value) - 1")
            + [target.trigger(nil, "SOURCE_INSERT", .insert, set: counted, where: "Z_PK = NEW.Z_PK", isInsert: true)]
    }

    /// Adds and takes away, a member at a time.
    private func steps(
        _ target: Target, _ members: Members, columns: [String], up: String, more: String, less: String
    ) -> [String] {
        let owner = bare(members.owner)
        let (new, old) = ("Z_PK = NEW.\(owner)", "Z_PK = OLD.\(owner)")
        let (isNew, wasOld) = ("NEW.\(owner) NOT NULL", "OLD.\(owner) NOT NULL")
        // A row that is its own member is counted by SOURCE_INSERT already.
        let isOther = members.table == target.table ? "\(isNew) AND NEW.\(owner) <> NEW.Z_PK" : isNew
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
    private func sum(_ target: Target, _ members: Members, _ slot: Int) throws -> [String] {
        let relationship = members.relationship
        let memberTable = try map.table(of: relationship.destination)
        guard let position = memberTable.column(of: slot, in: relationship.destination) else { return [] }
        let column = bare(memberTable.columns[position].name)
        let total = members.total(of: column, in: bare(memberTable.name))
        let source = target.trigger(
            nil, "SOURCE_INSERT", .insert, set: total("NEW.Z_PK"), where: "Z_PK = NEW.Z_PK", isInsert: true)
        let kind = map.schema[relationship.destination].slots[slot].kind
        if members.member == nil, kind == .int || kind == .bool {
            let (new, old) = ("IFNULL(NEW.\(column), 0)", "IFNULL(OLD.\(column), 0)")
            return steps(
                target, members, columns: [members.owner, memberTable.columns[position].name],
                up: "IFNULL(\(target.value), 0) + \(new)", more: "IFNULL(\(target.value), 0) + \(new)",
                less: "IFNULL(\(target.value), 0) - \(old)") + [source]
        }
        let owner = bare(members.owner)
        let anew = total("\(bare(target.table)).Z_PK")
        let updated = members.member == nil ? [members.owner, memberTable.columns[position].name] : [members.owner]
        var triggers = [
            target.trigger(members.table, "PARAMETER_INSERT", .insert, set: anew, where: "Z_PK = NEW.\(owner)"),
            target.trigger(
                members.table, "PARAMETER_UPDATE", .update(updated), set: anew,
                where: "Z_PK IN (NEW.\(owner), OLD.\(owner))"),
            target.trigger(members.table, "PARAMETER_DELETE", .delete, set: anew, where: "Z_PK = OLD.\(owner)"),
        ]
        if let member = members.member {
            triggers.append(
                target.trigger(
                    memberTable.name, "PARAMETER_VALUE", .update([memberTable.columns[position].name]), set: anew,
                    where: "Z_PK IN (SELECT \(owner) FROM \(bare(members.table)) WHERE \(bare(member)) = NEW.Z_PK)"))
        }
        return triggers + [source]
    }

    private func copy(
        _ target: Target, from entity: EntityIndex, hops: [RelationshipIndex], slot: Int
    ) throws -> [String] {
        let path = try Path(from: entity, hops: hops, slot: slot, map: map)
        let row = "Z_PK = NEW.Z_PK"
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

/// The column that a trigger writes, and the trigger's text around it.
private struct Target {
    enum Event {
        case insert
        case update([String])
        case delete
    }
    let table: String
    let column: String
    let entity: String
    let attribute: String
    /// The entities of the table that have the attribute, nil for all.
    let entities: ClosedRange<Int>?

    var value: String { bare(column) }

    /// - Parameters:
    ///   - other: the table that is watched, nil for the attribute's own.
    ///   - isInsert: whether the rows are told as changed by an insertion.
    func trigger(
        _ other: String?, _ role: String, _ event: Event, when: String? = nil, set expression: String,
        where rows: String, isInsert: Bool = false
    ) -> String {
        var (when, rows) = (when.map { "(\($0))" }, rows)
        // The form of older stores (framework 1044); newer ones have none where an attribute belongs to the
        // whole table.
        if let entities {
            if other == nil {
                when = "\(entities.lowerBound) <= NEW.Z_ENT AND NEW.Z_ENT <= \(entities.upperBound)"
            } else {
                rows += " AND \(entities.lowerBound) <= Z_ENT AND Z_ENT <= \(entities.upperBound)"
            }
        }
        let watched = other ?? table
        let name = bare("Z_DA_\(watched)_\(entity)_\(attribute)_\(role)")
        let moment =
            switch event {
            case .insert: "AFTER INSERT"
            case .update(let columns): "AFTER UPDATE OF " + columns.map(bare).joined(separator: ", ")
            case .delete: "AFTER DELETE"
            }
        let notice = "NSCoreDataDATrigger\(isInsert ? "Insert" : "")UpdatedAffectedObjectValue"
        let condition = when.map { " WHEN \($0)" } ?? ""
        return "CREATE TRIGGER \(name) \(moment) ON \(bare(watched)) FOR EACH ROW\(condition) BEGIN "
            + "UPDATE \(bare(table)) SET \(value) = \(expression) WHERE \(rows); "
            + "SELECT \(notice)(\(literal(table)), Z_ENT, Z_PK, \(literal(attribute)), \(value)) "
            + "FROM \(bare(table)) WHERE \(rows); END"
    }

    private func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}

/// Where the members of a to-many are written down.
private struct Members {
    let relationship: ResolvedRelationship
    let table: String
    /// The column with the owner's key.
    let owner: String
    /// The column with the member's key in a join table; nil when the member's own row has the owner's.
    let member: String?

    init(_ index: RelationshipIndex, _ map: StoreMap) throws {
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
        let (table, owner) = (bare(self.table), bare(self.owner))
        guard let member else {
            return { "(SELECT IFNULL(SUM(m.\(column)), 0) FROM \(table) AS m WHERE m.\(owner) = \($0))" }
        }
        return {
            "(SELECT IFNULL(SUM(m.\(column)), 0) FROM \(table) AS j JOIN \(members) AS m "
                + "ON m.Z_PK = j.\(bare(member)) WHERE j.\(owner) = \($0))"
        }
    }
}

/// A path over to-ones as tables and columns.
private struct Path {
    /// The attribute's own table, then the table each hop leads to.
    private(set) var tables: [String]
    /// In each table the column that leads on; in the last the value.
    private(set) var columns: [String] = []

    init(from entity: EntityIndex, hops: [RelationshipIndex], slot: Int, map: StoreMap) throws {
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
    func value(after hop: Int) -> String {
        var value = "NEW.\(bare(columns[hop]))"
        for next in hop + 1..<max(tables.count, hop + 1) {
            value = "(SELECT \(bare(columns[next])) FROM \(bare(tables[next])) WHERE Z_PK = \(value))"
        }
        return value
    }

    /// The rows whose path comes by the changed row of the table after `hop` hops.
    func rows(before hop: Int) -> String {
        var rows = "\(bare(columns[hop - 1])) = NEW.Z_PK"
        for table in (1..<max(hop, 1)).reversed() {
            rows = "\(bare(columns[table - 1])) IN (SELECT Z_PK FROM \(bare(tables[table])) WHERE \(rows))"
        }
        return rows
    }
}
