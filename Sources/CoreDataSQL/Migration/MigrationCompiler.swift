// A migration as statements.

import CoreDataValues

/// All of a migration's statements over the entities of one store, in the order in which they run: *drop triggers · set tables aside ·
/// make new ones · copy rows and pairs · alter the tables that stay · drop what was set aside · derive · make indexes and triggers*
///
/// A table is set aside and copied where a column goes or a value moves; the new one is that of a new store, to the letter. All others
/// are altered, as Core Data alters them: indexes keep the names that they were made with. Where clean-up is put off, columns that go,
/// indexes that are not wanted and tables from which nothing comes stay until later (`leftovers`).
package struct MigrationCompiler {
    private let migration: BoundMigration
    private let from: StoreMap
    package let to: StoreMap
    /// Whether clean-up is put off.
    let defers: Bool
    /// Tables that stay although nothing comes of them.
    let spared: (tables: [TableMap], joins: [JoinTable])
    /// The former tables under the names that they have while rows move.
    private let aside: StoreMap
    let moves: [TableMove]
    let joins: [JoinMove]
    private let copies: CopyCompiler
    private let alterations: AlterCompiler
    private var dialect: any SQLDialect { to.dialect }
    private func bare(_ name: String) -> String { to.dialect.defined(name) }
    private func quoted(_ name: String) -> String { to.dialect.quoted(name) }

    /// - Throws: 134110 where rows would leave the store or come from another one.
    package init(_ migration: BoundMigration, from: StoreMap, to: StoreMap, defers: Bool = false) throws {
        (self.migration, self.defers) = (migration, defers)
        self.from = from
        self.to = to
        for copy in migration.copies where Self.keeps(from, copy.source) != Self.keeps(to, copy.destination) {
            throw StoreError(
                134110,
                "The migration plan copies \(copy.source.name) to \(copy.destination.name), and only one of them is in the store's "
                    + "configuration; nothing was changed.", entity: copy.destination.name)
        }
        let moves = to.tables.compactMap { table -> TableMove? in
            let root = migration.copies.first { $0.destination.root == table.root }?.source.root
            guard let former = root.flatMap({ try? from.table(of: $0) }) else { return nil }
            // What is found by place is kept beside the rows as they come.
            let isSpatial =
                from.rTrees.contains { $0.entity.root == former.root }
                || to.rTrees.contains { $0.entity.root == table.root }
            return TableMove(from: former, to: table, migration, isInPlace: !isSpatial, keepsColumns: defers)
        }
        self.moves = moves
        let spared = defers ? Self.spared(moves, migration, from: from, to: to) : ([], [])
        self.spared = spared
        joins = to.joins.compactMap { JoinMove(to: $0, migration, from: from) }
        let kept = Dictionary(
            moves.filter(\.isInPlace).map { ($0.from.name, $0.to.name) } + joins.map { ($0.from.name, $0.to.name) },
            uniquingKeysWith: { first, _ in first })
        let later = Set(to.tables.map(\.name) + to.joins.map(\.name))
        let staying = Set(spared.0.map(\.name) + spared.1.map(\.name))
        aside = StoreMap(from) { name in
            if staying.contains(name) { return name }
            guard let next = kept[name], next == name || !later.contains(name) else { return Self.asidePrefix + name }
            return name
        }
        copies = CopyCompiler(migration: migration, from: aside, to: to)
        alterations = AlterCompiler(migration: migration, from: aside, to: to)
    }

    /// What the names of tables begin with that are set aside.
    static let asidePrefix = "Z_FORMER_"

    /// A change of the schema, if there is no other: whoever has the store open notices it before the next statement.
    private static let (mark, unmark) = ("CREATE TABLE Z_FORMER ( Z_PK INTEGER PRIMARY KEY )", "DROP TABLE Z_FORMER")

    /// Whether columns of tables that stay come, go or get other names, which is such a change.
    private var altersColumns: Bool {
        get throws {
            try moves.contains { move in
                guard move.isInPlace else { return false }
                return try !alterations.columns(move, in: present(move.from)).isEmpty
            }
        }
    }

    private static func keeps(_ map: StoreMap, _ entity: Entity) -> Bool { (try? map.table(of: entity.index)) != nil }

    private func isInPlace(_ table: TableMap) -> Bool { moves.contains { $0.isInPlace && $0.to.name == table.name } }
    private func isInPlace(_ table: JoinTable) -> Bool { joins.contains { $0.to.name == table.name } }
    /// A former table under its present name.
    private func present(_ table: TableMap) throws -> TableMap { try aside.table(of: table.root) }
    private func present(_ table: JoinTable) -> JoinTable { aside.join(of: table.relationship) ?? table }

    // MARK: All of it

    /// Every statement that changes the file, but for those of metadata and history, in their order; bound values stand behind it.
    package var statements: [String] {
        get throws {
            let bound = try (insertions + changes).map { sql, values in
                values.isEmpty ? sql : sql + " -- " + values.map(\.shown).joined(separator: ", ")
            }
            return try preparations + bound + completions
        }
    }

    /// The former entities whose rows are written anew.
    package var rewritten: [Entity] {
        get throws {
            try migration.copies.filter { copy in
                guard let table = try? to.table(of: copy.destination.index) else { return false }
                guard let move = moves.first(where: { $0.isInPlace && $0.to.name == table.name }) else { return true }
                return try alterations.rewrites(copy, move)
            }.map(\.source)
        }
    }

    // MARK: Before the copies

    /// The former tables that do not stay, under their former names.
    var remade: [String] {
        let stay = Set(spared.tables.map(\.name) + spared.joins.map(\.name))
        let tables = from.tables.filter { table in !moves.contains { $0.isInPlace && $0.from === table } }.map(\.name)
        let pairs = from.joins.map(\.name).filter { name in !joins.contains { $0.from.name == name } }
        return (tables + pairs).filter { !stay.contains($0) }
    }

    package var preparations: [String] {
        get throws {
            let triggers = try DerivedTriggers(from).triggers().map(dialect.dropTrigger)
            let spatial = try Definitions(from).spatialIndexes().flatMap(dialect.dropSpatialIndex)
            let names = zip(
                from.tables.map(\.name) + from.joins.map(\.name), aside.tables.map(\.name) + aside.joins.map(\.name)
            ).filter { $0 != $1 }
            let (definitions, left) = (Definitions(to), Set(remade))
            func renames(_ isLeft: Bool) -> [String] {
                names.filter { left.contains($0.0) == isLeft }.map {
                    "ALTER TABLE \(bare($0)) RENAME TO \(bare($1))"
                }
            }
            return try (altersColumns ? [] : [Self.mark]) + triggers + spatial
                + renames(false) + dialect.renamingAlone(renames(true))
                + to.tables.filter { !isInPlace($0) }.map(definitions.table)
                + to.joins.filter { !isInPlace($0) }.map(definitions.join)
                + definitions.spatialIndexes().flatMap(dialect.spatialIndex)
        }
    }

    // MARK: Copies

    package var insertions: [(sql: String, values: [Value])] {
        get throws {
            let copied = try migration.copies.filter { copy in
                guard let table = try? to.table(of: copy.destination.index) else { return false }
                return !isInPlace(table)
            }.map(copies.rows)
            return try copied + to.joins.filter { !isInPlace($0) }.compactMap(copies.pairs)
        }
    }

    // MARK: Tables that stay

    package var changes: [(sql: String, values: [Value])] {
        get throws {
            let kept = moves.filter(\.isInPlace)
            var texts: [String] = []
            for move in kept { texts += try alterations.references(move, in: present(move.from)) }
            for join in joins { texts += try alterations.deletions(join, in: present(join.from)) }
            for move in kept { texts += try [alterations.deletion(move, in: present(move.from))].compactMap { $0 } }
            for move in kept { texts += try alterations.columns(move, in: present(move.from)) }
            for join in joins { texts += alterations.columns(join, in: present(join.from)) }
            var names = try kept.map { (try present($0.from).name, $0.to.name) }
            names += joins.map { (present($0.from).name, $0.to.name) }
            return try texts.map { ($0, []) } + kept.flatMap { try alterations.values($0, in: present($0.from).name) }
                + names.filter { $0 != $1 }.map { ("ALTER TABLE \(bare($0)) RENAME TO \(bare($1))", []) }
        }
    }

    /// A statement that answers the numbers of rows with a value that is not allowed, as many as are named one by one.
    package struct Check {
        package let sql: String
        /// Answers how many there are.
        package let count: String
        package let entity: Entity
        /// What the row's entity was.
        let former: Entity
        package let slot: Slot
    }

    /// Of values that must be there.
    package var checks: [Check] {
        get throws {
            try checks { copy, fill, column in
                copy.destination.slots[fill.slot].isRequired && mayBeNull(fill, of: copy) ? "\(column) IS NULL" : nil
            }
        }
    }

    /// Of whole numbers that were computed.
    package var overflows: [Check] {
        get throws {
            try checks { copy, fill, column in
                guard case .operand(.call) = fill.source, copy.destination.slots[fill.slot].kind == .int else {
                    return nil
                }
                return "\(column) <> CAST(\(column) AS \(dialect.type(.int)))"
            }
        }
    }

    private func checks(_ condition: (BoundMigration.Copy, BoundMigration.Fill, String) -> String?) throws -> [Check] {
        var checks: [Check] = []
        for copy in migration.copies where Self.keeps(to, copy.destination) {
            let (entity, table) = (copy.destination, try to.table(of: copy.destination.index))
            for fill in copy.values {
                guard let place = table.column(of: fill.slot, in: entity.index),
                    let condition = condition(copy, fill, quoted(table.columns[place].name))
                else { continue }
                let rows = "FROM \(quoted(table.name)) WHERE \"Z_ENT\" = \(entity.index.number) AND \(condition)"
                let key = quoted("Z_PK")
                checks.append(
                    Check(
                        sql: "SELECT \(key) \(rows) ORDER BY \(key) LIMIT \(FailedObject.limit)",
                        count: "SELECT COUNT(*) \(rows)", entity: entity, former: copy.source,
                        slot: entity.slots[fill.slot]))
            }
        }
        return checks
    }

    private func mayBeNull(_ fill: BoundMigration.Fill, of copy: BoundMigration.Copy) -> Bool {
        switch fill.source {
        case .constant, .derived: false
        case .operand, .owner: true
        case .kept(let former, let other):
            copy.source.slots[former].relationship != nil || (other.isNull && !copy.source.slots[former].isRequired)
        }
    }

    // MARK: Afterwards

    package var completions: [String] {
        get throws {
            let stay = Set(spared.tables.map(\.name) + spared.joins.map(\.name))
            let left =
                try from.tables.filter { table in !moves.contains { $0.isInPlace && $0.from === table } }.map {
                    try present($0).name
                }
                + from.joins.filter { join in !joins.contains { $0.from.name == join.name } }.map { present($0).name }
            let indexes = try outdatedIndexes().filter { !$0.waits }.map { "DROP INDEX IF EXISTS \(bare($0.name))" }
            return try (altersColumns ? [] : [Self.unmark])
                + left.filter { !stay.contains($0) }.map { "DROP TABLE \(bare($0))" } + indexes
                + keyIndexes() + derivations()
                + declaredIndexes()
                + DerivedTriggers(to).statements()
        }
    }

    /// Indexes of the model over tables that stay, where the destination has none of the name that is the same. One waits where clean-up
    /// is put off, unless it refuses rows or is in the way of another.
    func outdatedIndexes() throws -> [(name: String, waits: Bool)] {
        let later = try Dictionary(to.entities.flatMap(Definitions(to).namedIndexes).map { ($0.name, $0.statements) }) {
            first, _ in first
        }
        let roots = Set(moves.filter(\.isInPlace).map(\.from.root))
        return try from.entities.filter { roots.contains($0.root) }.flatMap(Definitions(from).namedIndexes)
            .filter { later[$0.name] != $0.statements }
            .map {
                ($0.name, defers && later[$0.name] == nil && !$0.statements.contains { $0.hasPrefix("CREATE UNIQUE") })
            }
    }

    private func derivations() throws -> [String] {
        let slots = Set(
            migration.copies.flatMap { copy in
                copy.values.compactMap { fill -> Slot? in
                    if case .derived = fill.source { copy.destination.slots[fill.slot] } else { nil }
                }
            }.map { ObjectIdentifier($0) })
        let derived = to.derived.filter { slots.contains(ObjectIdentifier(to.schema[$0.entity].slots[$0.slot])) }
        return try derived.compactMap(DerivedTriggers(to).computation)
    }

    private func keyIndexes() -> [String] {
        let definitions = Definitions(to)
        let keys = to.tables.flatMap { table in
            definitions.keyIndexes(table).map { isInPlace(table) ? unlessThere($0) : $0 }
        }
        let pairs = to.joins.compactMap { join -> String? in
            guard let move = joins.first(where: { $0.to.name == join.name }) else { return definitions.joinIndex(join) }
            return move.isUnchanged ? nil : unlessThere(definitions.joinIndex(join))
        }
        return keys + pairs
    }

    private func declaredIndexes() throws -> [String] {
        let definitions = Definitions(to)
        let made = Set(try definitions.spatialIndexes().flatMap(dialect.spatialIndex))
        // A file may have what was there under a name of its own.
        let former = Set(
            try from.entities.flatMap { entity in
                let renamed = renamedNames(of: try from.table(of: entity.index))
                return try Definitions(from).declaredIndexes(entity).filter { !mentions($0, renamed) }
            })
        return try to.entities.flatMap { entity in
            let isKept = isInPlace(try to.table(of: entity.index))
            let wanted = try definitions.declaredIndexes(entity).filter {
                !made.contains($0) && !(isKept && former.contains($0))
            }
            return wanted.map { isKept ? unlessThere($0) : $0 }
        }
    }

    /// Former and later names of a table that stays and of its columns, where they differ: an index over them is another one now.
    private func renamedNames(of table: TableMap) -> Set<String> {
        guard let move = moves.first(where: { $0.from === table }) else { return [] }
        let names = move.renamedColumns.flatMap { [$0.from, $0.to] }
        return Set(move.from.name == move.to.name ? names : names + [move.from.name, move.to.name])
    }

    private func mentions(_ statement: String, _ names: Set<String>) -> Bool {
        !names.isEmpty && names.contains { statement.contains(bare($0)) }
    }

    /// What the statements that make indexes begin with, and what stands behind it in those that do nothing where there is one.
    static let (indexStarts, condition) = (["CREATE INDEX ", "CREATE UNIQUE INDEX "], "IF NOT EXISTS ")

    private func unlessThere(_ index: String) -> String {
        for start in Self.indexStarts where index.hasPrefix(start) {
            return start + Self.condition + index.dropFirst(start.count)
        }
        return index
    }

    /// All uniqueness constraints, with the statement that makes the index of each unless it is there.
    func constraints() throws -> [(entity: Entity, constraint: UniquenessConstraint, sql: String)] {
        try to.entities.flatMap { entity in
            try entity.constraints.filter { $0.owner == entity.index }.map { constraint in
                let made = try Definitions(to).constraint(constraint, of: entity, in: to.table(of: entity.index))
                return (entity, constraint, unlessThere(made))
            }
        }
    }
}
