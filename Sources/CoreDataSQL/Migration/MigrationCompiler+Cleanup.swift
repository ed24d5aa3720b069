// What a migration may put off.

import CoreDataValues

extension MigrationCompiler {
    /// Tables of entities and join tables from which nothing comes, under names that no later table has.
    static func spared(
        _ moves: [TableMove], _ migration: BoundMigration, from: StoreMap, to: StoreMap
    ) -> (tables: [TableMap], joins: [JoinTable]) {
        let later = Set(to.tables.map(\.name) + to.joins.map(\.name))
        let used = Set(to.joins.compactMap { migration.origin(of: $0) }.compactMap { from.join(of: $0.former)?.name })
        return (
            from.tables.filter { table in !later.contains(table.name) && !moves.contains { $0.from === table } },
            from.joins.filter { !later.contains($0.name) && !used.contains($0.name) }
        )
    }

    private func indexes(overLeftOf move: TableMove, _ catalogue: Catalogue) throws -> [String] {
        let columns = Set(move.leftColumns.map(\.name))
        if columns.isEmpty { return [] }
        return try catalogue.indexes(of: move.to.name).filter { !columns.isDisjoint(with: $0.value) }.keys.sorted()
    }

    /// What is left to do, in an order in which it can be done: nothing unless it was asked for.
    func leftovers(_ catalogue: Catalogue) throws -> [CleanupStep] {
        guard defers else { return [] }
        let kept = moves.filter(\.isInPlace)
        let outdated = Set(try outdatedIndexes().filter(\.waits).map(\.name))
        let unwanted = try kept.flatMap { move in
            let declared = try catalogue.indexes(of: move.to.name).keys.filter(outdated.contains)
            return try Set(declared + self.indexes(overLeftOf: move, catalogue)).sorted().map {
                CleanupStep(.index, $0, of: move.to.name)
            }
        }
        let columns = kept.flatMap { move in move.leftColumns.map { (move.to.name, $0) } }
        let files = (columns + spared.tables.flatMap { table in table.columns.map { (table.name, $0) } }).filter {
            $0.1.kind == .externalData
        }
        return unwanted + files.map { CleanupStep(.files, $0.1.name, of: $0.0) }
            + columns.map { CleanupStep(.column, $0.1.name, of: $0.0) }
            + (spared.joins.map(\.name) + spared.tables.map(\.name)).map { CleanupStep(.table, $0, of: $0) }
    }

    /// Join tables that cannot stay: which one keeps what is told by their columns, and with these it would be told wrongly.
    func misleading(_ catalogue: Catalogue) throws -> [String] {
        if spared.joins.isEmpty || to.joins.isEmpty { return [] }
        let computed = JoinTablePlan(schema: to.schema).tables().filter { to.join(of: $0.relationship) != nil }
        let found = StoredJoins(computed, schema: to.schema, tables: try catalogue.joinTables()).resolve().found
        let isRight = computed.enumerated().allSatisfy {
            found[$0.offset]?.name == to.join(of: $0.element.relationship)?.name
        }
        return isRight ? [] : spared.joins.map(\.name)
    }
}
