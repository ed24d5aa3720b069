// Tables that keep their rows, as statements.

import CoreDataValues

/// *references to rows that go · rows that go · names of columns · further columns · values and numbers of entities*
///
/// As many statements for a million rows as for one. A column is added without a default, as Core Data does it: what it holds in the
/// rows that are there is written by one UPDATE, and versions of rows stay as they are.
struct AlterCompiler {
    typealias Statement = (sql: String, values: [Value])
    let migration: BoundMigration
    /// The former tables under the names that they have meanwhile.
    let from: StoreMap
    let to: StoreMap
    private var dialect: any SQLDialect { to.dialect }
    private var rows: KeptRows { KeptRows(migration: migration, from: from) }
    private func bare(_ name: String) -> String { dialect.defined(name) }

    // MARK: What goes

    /// Keys of rows that go, and of rows that may not stand there any more.
    ///
    /// - Parameter table: the former table under its present name.
    func references(_ move: TableMove, in table: TableMap) throws -> [String] {
        try zip(move.columns ?? [], move.to.columns).compactMap { former, later in
            guard let former, let ends = ends(of: later, move) else { return nil }
            let column = bare(former.name)
            let share = try rows.share("\(bare(table.name)).\(column)", among: ends.among, as: ends.as)
            var cleared = [column]
            if let tag = tag(of: former, in: table) { cleared.append(bare(tag.name)) }
            return clearing(cleared.map { "\($0) = NULL" }, column, share, in: table.name)
        }
    }

    /// What a key of a column may name, and what it may name afterwards; nil for a column without keys.
    private func ends(of column: Column, _ move: TableMove) -> (among: ClosedRange<UInt16>, as: ClosedRange<UInt16>)? {
        switch column.role {
        case .order: return nil
        case .owner(let relationship):
            guard let link = migration.links[relationship] else { return nil }
            let later = migration.destination[relationship]
            return (from.schema.range(of: migration.source[link].owner), to.schema.range(of: later.owner))
        case .slot(let slot):
            let owner = migration.destination[column.entity]
            guard let index = owner.slots[slot].relationship, owner.slots[slot].kind == .toOne else { return nil }
            let end = migration.destination[index].destinations
            for copy in move.copies where copy.destination.isKind(of: owner) {
                switch copy.values.first(where: { $0.slot == slot })?.source {
                case .kept(let former, _)?:
                    return copy.source.slots[former].relationship.map { (migration.source[$0].destinations, end) }
                case .owner(let link)?: return (from.schema.range(of: migration.source[link].owner), end)
                case .constant?, .operand?, .derived?, nil: continue
                }
            }
            return nil
        }
    }

    /// The column with the entities of a to-one's targets.
    private func tag(of column: Column, in table: TableMap) -> Column? {
        guard case .slot(let slot) = column.role else { return nil }
        return table.columns.first { $0.role == .slot(slot + 1) && $0.entity == column.entity && $0.kind == .entityTag }
    }

    private func clearing(_ assignments: [String], _ key: String, _ share: KeptRows.Share, in table: String) -> String?
    {
        let sql = "UPDATE \(bare(table)) SET \(assignments.joined(separator: ", ")) WHERE \(dialect.isPresent(key))"
        return switch share {
        case .all: nil
        case .none: sql
        case .those(let condition): "\(sql) AND NOT \(condition)"
        }
    }

    /// Rows of entities that the destination has not. One that became abstract may have rows from before.
    func deletion(_ move: TableMove, in table: TableMap) -> String? {
        if move.dropped.isEmpty { return nil }
        return "DELETE FROM \(bare(table.name)) WHERE \(isIn(move.dropped.map(\.index.number)))"
    }

    func deletions(_ move: JoinMove, in table: JoinTable) throws -> [String] {
        try move.ends.compactMap { end in
            switch try rows.share("\(bare(table.name)).\(bare(end.column))", among: end.among, as: end.as) {
            case .all: nil
            case .none: "DELETE FROM \(bare(table.name))"
            case .those(let condition): "DELETE FROM \(bare(table.name)) WHERE NOT \(condition)"
            }
        }
    }

    private func isIn(_ numbers: [Int]) -> String {
        "\(bare("Z_ENT")) IN (\(numbers.sorted().map(String.init).joined(separator: ", ")))"
    }

    // MARK: Columns

    func columns(_ move: TableMove, in table: TableMap) -> [String] {
        let names = Set(table.columns.map(\.name))
        return renaming(move.renamedColumns, among: names, in: table.name)
            + move.addedColumns.map { addition($0.name, $0.kind, to: table.name) }
    }

    func columns(_ move: JoinMove, in table: JoinTable) -> [String] {
        let sides = [move.from.side, move.from.inverseSide]
        let names = Set(sides.flatMap { [$0.owner, $0.member] + [$0.order].compactMap { $0 } })
        return renaming(move.renamedColumns, among: names, in: table.name)
            + move.addedColumns.map { addition($0, .int, to: table.name) }
    }

    private func addition(_ column: String, _ kind: SlotKind, to table: String) -> String {
        "ALTER TABLE \(bare(table)) ADD COLUMN \(bare(column)) \(dialect.type(kind))"
    }

    /// In an order in which no table has two columns of one name; a circle is broken by a name that nobody has.
    private func renaming(_ renames: [(from: String, to: String)], among names: Set<String>, in table: String)
        -> [String]
    {
        var (open, present, statements) = (renames, names, [String]())
        func rename(_ former: String, _ later: String) {
            present.remove(former)
            present.insert(later)
            statements.append("ALTER TABLE \(bare(table)) RENAME COLUMN \(bare(former)) TO \(bare(later))")
        }
        while !open.isEmpty {
            if let free = open.firstIndex(where: { !present.contains($0.to) }) {
                let (former, later) = open.remove(at: free)
                rename(former, later)
            } else {
                let aside = "Z_FORMER_" + open[0].from
                rename(open[0].from, aside)
                open[0].from = aside
            }
        }
        return statements
    }

    // MARK: Values

    /// - Parameter name: of the table at present, which has its later columns.
    func values(_ move: TableMove, in name: String) throws -> [Statement] {
        let copies = move.copies
        var statements = copies.flatMap { defaults($0, move, in: name, alone: copies.count == 1) }
        var groups: [Group] = []
        for copy in copies {
            let assignments = try assignments(copy, move)
            if let same = groups.firstIndex(where: { $0.assignments == assignments }) {
                groups[same].entities.append(copy)
            } else {
                groups.append(Group(assignments: assignments, entities: [copy]))
            }
        }
        let numbers = copies.map { (from: $0.source.index.number, to: $0.destination.index.number) }.sorted {
            $0.from < $1.from
        }
        let renumbered = numbers.contains { $0.from != $0.to } ? number(numbers) : nil
        if groups.count == 1 {
            let all =
                groups[0].assignments
                + (renumbered.map { [Assignment(column: bare("Z_ENT"), sql: $0, value: nil)] } ?? [])
            return statements + update(all, name, where: nil)
        }
        for group in groups {
            statements += update(group.assignments, name, where: isIn(group.entities.map(\.source.index.number)))
        }
        return statements + (renumbered.map { [("UPDATE \(bare(name)) SET \(bare("Z_ENT")) = \($0)", [])] } ?? [])
    }

    /// Whether rows of an entity are written at all.
    func rewrites(_ copy: BoundMigration.Copy, _ move: TableMove) throws -> Bool {
        if copy.source.index != copy.destination.index { return true }
        let isDerived = copy.values.contains { if case .derived = $0.source { true } else { false } }
        return try isDerived || !defaults(copy, move, in: "", alone: true).isEmpty || !assignments(copy, move).isEmpty
    }

    private struct Assignment: Equatable {
        let column: String
        /// A text, or nil for a value that is bound.
        let sql: String?
        let value: Value?
    }

    private struct Group {
        let assignments: [Assignment]
        var entities: [BoundMigration.Copy]
    }

    private func number(_ numbers: [(from: Int, to: Int)]) -> String {
        numbers.count == 1 ? "\(numbers[0].to)" : KeptRows.renumbered(bare("Z_ENT"), numbers)
    }

    private func update(_ assignments: [Assignment], _ table: String, where condition: String?) -> [Statement] {
        if assignments.isEmpty { return [] }
        var values: [Value] = []
        let texts = assignments.map { assignment in
            if let sql = assignment.sql { return "\(assignment.column) = \(sql)" }
            values.append(assignment.value ?? .null)
            return "\(assignment.column) = \(dialect.parameter(values.count, like: assignment.value ?? .null))"
        }
        return [
            (
                "UPDATE \(bare(table)) SET \(texts.joined(separator: ", "))\(condition.map { " WHERE " + $0 } ?? "")",
                values
            )
        ]
    }

    /// Default values in the place of nulls.
    private func defaults(_ copy: BoundMigration.Copy, _ move: TableMove, in name: String, alone: Bool) -> [Statement] {
        copy.values.compactMap { fill in
            guard case .kept(_, let other) = fill.source, !other.isNull, let column = column(fill.slot, copy, move)
            else { return nil }
            let rows = alone ? "" : " AND \(isIn([copy.source.index.number]))"
            let value = dialect.parameter(1, like: other)
            return ("UPDATE \(bare(name)) SET \(column) = \(value) WHERE \(column) IS NULL\(rows)", [other])
        }
    }

    private func column(_ slot: Int, _ copy: BoundMigration.Copy, _ move: TableMove) -> String? {
        move.to.column(of: slot, in: copy.destination.index).map { bare(move.to.columns[$0].name) }
    }

    private func assignments(_ copy: BoundMigration.Copy, _ move: TableMove) throws -> [Assignment] {
        try copy.values.flatMap { fill -> [Assignment] in
            guard let column = column(fill.slot, copy, move) else { return [] }
            switch fill.source {
            case .constant(let value): return value.isNull ? [] : [Assignment(column: column, sql: nil, value: value)]
            case .derived, .operand: return []
            case .owner(let link):
                return try tag(
                    fill.slot, column, copy, move, from.schema.range(of: migration.source[link].owner), hadTag: false)
            case .kept(let former, _):
                guard let index = copy.source.slots[former].relationship else { return [] }
                let relationship = migration.source[index]
                return try tag(
                    fill.slot, column, copy, move, relationship.destinations, hadTag: relationship.hasEntityTag)
            }
        }
    }

    /// The numbers of targets' entities, where they are other ones or were not written down.
    private func tag(
        _ slot: Int, _ key: String, _ copy: BoundMigration.Copy, _ move: TableMove, _ range: ClosedRange<UInt16>,
        hadTag: Bool
    ) throws -> [Assignment] {
        let slots = copy.destination.slots
        guard slots.indices.contains(slot + 1), slots[slot + 1].kind == .entityTag,
            let column = column(slot + 1, copy, move),
            let value = try rows.tag(hadTag ? column : nil, of: key, among: range), value != column
        else { return [] }
        return [Assignment(column: column, sql: value, value: nil)]
    }
}
