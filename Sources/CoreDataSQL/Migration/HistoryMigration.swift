// What a migration makes of the changes that a history has recorded.

import CoreDataValues

/// Entities with other numbers, and masks and tombstones that would mean other properties.
struct HistoryMigration {
    private let numbers: [(from: Int, to: Int)]
    private let dropped: [Int]
    /// The entities, by their former numbers, whose masks mean the same, and whose tombstones do.
    private let masks: [Int]
    private let tombstones: [Int]

    init(_ migration: BoundMigration, from: Schema, to: Schema) {
        numbers = migration.copies.map { ($0.source.index.number, $0.destination.index.number) }.sorted { $0.0 < $1.0 }
        dropped = from.entities.filter { migration.destinations[$0.index] == nil }.map(\.index.number)
        masks = migration.copies.filter { copy in
            let names = Self.names(copy, migration, from, to)
            return ChangeMask(copy.source, from).properties.map { names[$0] } == ChangeMask(copy.destination, to).properties
        }.map(\.source.index.number).sorted()
        tombstones = migration.copies.filter { copy in
            let names = Self.names(copy, migration, from, to)
            let former = ChangeMask(copy.source, from).tombstones.map { names[copy.source.slots[$0].name] }
            return former == ChangeMask(copy.destination, to).tombstones.map { copy.destination.slots[$0].name }
        }.map(\.source.index.number).sorted()
    }

    /// The names that properties have now, as masks spell them.
    private static func names(
        _ copy: BoundMigration.Copy, _ migration: BoundMigration, _ from: Schema, _ to: Schema
    ) -> [String: String] {
        var names: [String: String] = [:]
        for fill in copy.values {
            guard case .kept(let former, _) = fill.source else { continue }
            let (name, later) = (copy.source.slots[former].name, copy.destination.slots[fill.slot].name)
            names[name] = later
            names[name + "#"] = later + "#"
        }
        for (later, former) in migration.links where copy.source.toMany.contains(former) { names[from[former].name] = to[later].name }
        return names
    }

    /// Nothing where nothing differs.
    func statements(tombstones count: Int, _ history: HistoryStatements) -> [String] {
        let (table, entity) = (history.name(HistoryTables.Table.change.name), history.name("ZENTITY"))
        func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }
        var statements: [String] = []
        if !dropped.isEmpty { statements.append("DELETE FROM \(table) WHERE \(entity) IN (\(list(dropped)))") }
        func kept(_ column: String, in same: [Int]) -> String? {
            if same.count == numbers.count { return nil }
            let name = history.name(column)
            return same.isEmpty ? "\(name) = NULL" : "\(name) = CASE WHEN \(entity) IN (\(list(same))) THEN \(name) END"
        }
        var changes = [kept("ZCOLUMNS", in: masks)] + (0..<count).map { kept("ZTOMBSTONE\($0)", in: tombstones) }
        if numbers.contains(where: { $0.from != $0.to }) {
            let cases = numbers.map { "WHEN \($0.from) THEN \($0.to) " }.joined()
            changes.append("\(entity) = CASE \(entity) \(cases)ELSE \(entity) END")
        }
        let assignments = changes.compactMap { $0 }
        if assignments.isEmpty || numbers.isEmpty { return statements }
        let known = list(numbers.map(\.from))
        return statements + ["UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(entity) IN (\(known))"]
    }
}
