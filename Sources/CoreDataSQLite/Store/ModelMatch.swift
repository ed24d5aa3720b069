// Whether a store was written with the model it is opened with, and what differs when it was not.

import CoreDataSQL
import CoreDataValues
import Foundation

/// Compares version hashes; only when they differ the tables are looked at, to name what differs.
struct ModelMatch {
    let map: StoreMap
    let metadata: StoreMetadata
    let connection: Connection

    /// - Throws: 134100 with the entities and properties that differ.
    func check() throws {
        let differing = self.differing()
        if differing.isEmpty { return }
        let columns = try ColumnDifference(map: map, connection: connection).sentences(for: differing)
        let details =
            columns.isEmpty
            ? ["no column differs, so it is optionality, an inverse, a bound or a modifier"] : columns
        throw StoreError(
            134100,
            "The model does not fit the store at \(connection.path). Differing entities: "
                + differing.map(\.sentence).joined(separator: ", ") + ". In detail: "
                + details.joined(separator: "; ")
                + ". Open the store with the model that wrote it, or migrate it.",
            path: connection.path, entity: differing.first?.name)
    }

    /// Whether all hashes are the same, so that they alone say that the store fits.
    var isExact: Bool {
        metadata.versionHashes.count == map.entities.count
            && map.entities.allSatisfy { metadata.versionHashes[$0.name] == $0.versionHash }
    }

    struct Difference {
        enum Kind { case changed, onlyInModel, onlyInStore }
        let name: String
        let kind: Kind
        var sentence: String {
            switch kind {
            case .changed: name
            case .onlyInModel: "\(name) (not in the store)"
            case .onlyInStore: "\(name) (not in the model)"
            }
        }
    }

    private func differing() -> [Difference] {
        let expected = Dictionary(
            map.entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { a, _ in a })
        let names = Set(expected.keys).union(metadata.versionHashes.keys).sorted()
        return names.compactMap { name in
            switch (expected[name], metadata.versionHashes[name]) {
            case (nil, _): Difference(name: name, kind: .onlyInStore)
            case (_, nil): Difference(name: name, kind: .onlyInModel)
            case (let a?, let b?): a == b || fits(name, b) ? nil : Difference(name: name, kind: .changed)
            }
        }
    }

    /// A hash that cannot be compared (store format §4.5): columns and triggers decide.
    private func fits(_ name: String, _ recorded: Data) -> Bool {
        guard let entity = map.schema.entity(named: name), VersionHash.isForeign(recorded, for: entity) else {
            return false
        }
        let difference = Difference(name: name, kind: .changed)
        let columns = try? ColumnDifference(map: map, connection: connection).sentences(for: [difference])
        return columns?.isEmpty == true && (try? hasTriggers(entity)) == true
    }

    /// Whether the file derives what the model says is derived; an attribute that was a plain one has no trigger.
    private func hasTriggers(_ entity: Entity) throws -> Bool {
        try entity.derivedSlots.allSatisfy { slot in
            let owner = map.schema[entity.slots[slot].owner].name
            let statement = try Statement(
                "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'Z_DA_%' AND instr(name, ?) > 0",
                on: connection)
            defer { statement.finish() }
            try statement.bind(1, .text("_\(owner)_\(entity.slots[slot].name)_"))
            return try statement.step()
        }
    }
}

/// Compares the columns in the file with those the model asks for.
struct ColumnDifference {
    let map: StoreMap
    let connection: Connection

    func sentences(for differences: [ModelMatch.Difference]) throws -> [String] {
        let names = Set(differences.map(\.name))
        let roots = Set(map.entities.filter { names.contains($0.name) }.map(\.root))
        return try map.tables.filter { roots.contains($0.root) }.flatMap(sentences)
    }

    private func sentences(_ table: TableMap) throws -> [String] {
        let found = try columns(of: table.name)
        if found.isEmpty {
            return ["the store has no table \(table.name) for \(map.schema[table.root].name)"]
        }
        let missing = table.columns.compactMap { column -> String? in
            let owner = "\(map.schema[column.entity].name).\(column.property)"
            guard let type = found[column.name] else {
                return "\(owner) is not in the store (no column \(column.name) in \(table.name))"
            }
            return type.uppercased() == column.type
                ? nil : "\(owner) is \(column.type) in the model and \(type) in the store"
        }
        let known = Set(table.columns.map(\.name) + ["Z_PK", "Z_ENT", "Z_OPT"])
        let extra = found.keys.filter { !known.contains($0) }.sorted().map {
            "the store's column \(table.name).\($0) belongs to no property of the model"
        }
        return missing + extra
    }

    private func columns(of table: String) throws -> [String: String] {
        let statement = try Statement("SELECT name, type FROM pragma_table_info(?)", on: connection)
        defer { statement.finish() }
        try statement.bind(1, .text(table))
        var result: [String: String] = [:]
        while try statement.step() {
            if let name = statement.text(0) { result[name] = statement.text(1) ?? "" }
        }
        return result
    }
}
