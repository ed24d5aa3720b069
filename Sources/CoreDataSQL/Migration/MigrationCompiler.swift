// A migration as statements.

import CoreDataValues

/// All of a migration's statements over the entities of one store, in the order in which they run: *set the former tables aside ·
/// make the new ones · copy rows and pairs · drop what was set aside · make indexes and triggers*
///
/// The new tables are those of a new store, to the letter.
package struct MigrationCompiler {
    private let migration: BoundMigration
    private let from: StoreMap
    private let to: StoreMap
    private let aside: StoreMap
    private let copies: CopyCompiler
    private func bare(_ name: String) -> String { to.dialect.defined(name) }
    private func quoted(_ name: String) -> String { to.dialect.quoted(name) }

    /// - Throws: 134110 where rows would leave the store or come from another one.
    package init(_ migration: BoundMigration, from: StoreMap, to: StoreMap) throws {
        self.migration = migration
        self.from = from
        self.to = to
        aside = StoreMap(from) { "Z_FORMER_" + $0 }
        copies = CopyCompiler(migration: migration, from: aside, to: to)
        for copy in migration.copies where Self.keeps(from, copy.source) != Self.keeps(to, copy.destination) {
            throw StoreError(
                134110,
                "The migration plan copies \(copy.source.name) to \(copy.destination.name), and only one of them is in the store's "
                    + "configuration; nothing was changed.", entity: copy.destination.name)
        }
    }

    private static func keeps(_ map: StoreMap, _ entity: Entity) -> Bool { (try? map.table(of: entity.index)) != nil }

    // MARK: Before the copies

    package var preparations: [String] {
        get throws {
            let dialect = to.dialect
            let triggers = try DerivedTriggers(from).triggers().map(dialect.dropTrigger)
            let spatial = try Definitions(from).spatialIndexes().flatMap(dialect.dropSpatialIndex)
            let names = zip(from.tables.map(\.name) + from.joins.map(\.name), aside.tables.map(\.name) + aside.joins.map(\.name))
            let definitions = Definitions(to)
            return try triggers + spatial + names.map { "ALTER TABLE \(bare($0)) RENAME TO \(bare($1))" }
                + to.tables.map(definitions.table) + to.joins.map(definitions.join)
                + definitions.spatialIndexes().flatMap(dialect.spatialIndex)
        }
    }

    // MARK: Copies

    package var insertions: [(sql: String, values: [Value])] {
        get throws {
            try migration.copies.filter { Self.keeps(to, $0.destination) }.map(copies.rows) + to.joins.compactMap(copies.pairs)
        }
    }

    /// A statement that answers a row if a value is not allowed.
    package struct Check {
        package let sql: String
        package let entity: Entity
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
                guard case .operand(.call) = fill.source, copy.destination.slots[fill.slot].kind == .int else { return nil }
                return "\(column) <> CAST(\(column) AS \(to.dialect.type(.int)))"
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
                let sql = "SELECT 1 FROM \(quoted(table.name)) WHERE \"Z_ENT\" = \(entity.index.number) AND \(condition) LIMIT 1"
                checks.append(Check(sql: sql, entity: entity, slot: entity.slots[fill.slot]))
            }
        }
        return checks
    }

    private func mayBeNull(_ fill: BoundMigration.Fill, of copy: BoundMigration.Copy) -> Bool {
        switch fill.source {
        case .constant: false
        case .operand: true
        case .kept(let former, let other):
            copy.source.slots[former].relationship != nil || (other.isNull && !copy.source.slots[former].isRequired)
        }
    }

    // MARK: After the copies

    package var completions: [String] {
        get throws {
            let definitions = Definitions(to)
            let made = Set(try definitions.spatialIndexes().flatMap(to.dialect.spatialIndex))
            let indexes = try to.entities.flatMap(definitions.declaredIndexes).filter { !made.contains($0) }
            return try (aside.tables.map(\.name) + aside.joins.map(\.name)).map { "DROP TABLE \(bare($0))" }
                + to.tables.flatMap(definitions.keyIndexes) + to.joins.map(definitions.joinIndex) + indexes
                + DerivedTriggers(to).statements()
        }
    }

    /// What becomes of a history: changes of rows that go are removed, the others follow their entity. Where a mask, or the values
    /// that a deleted row has left, would mean other properties, they are removed.
    ///
    /// - Parameter tombstones: how many values of a deleted row the tables have room for.
    package func history(tombstones: Int) -> [String] {
        let changes = HistoryMigration(migration, from: from.schema, to: to.schema)
        return changes.statements(tombstones: tombstones, HistoryStatements(to.dialect))
    }
}
