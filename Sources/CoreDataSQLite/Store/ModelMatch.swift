// Whether a store was written with the model it is opened with, and what differs when it was not.

import CoreDataSQL
import CoreDataValues
import Foundation

/// Compares version hashes; only when they differ the tables are looked at, and alterations of the model are tried until
/// they hash as the store recorded.
struct ModelMatch {
    let map: StoreMap
    let metadata: StoreMetadata
    let connection: Connection

    /// - Throws: 134100 with the entities and properties that differ. Finding these costs a few statements and at most
    ///   `HashSearch.limit` hashes.
    func check() throws {
        let differing = self.differing()
        if differing.isEmpty { return }
        let details = try sentences(differing)
        throw StoreError(
            134100,
            "The model does not fit the store at \(connection.path). Differing entities: "
                + differing.map(\.sentence).joined(separator: ", ") + ". "
                + (details.isEmpty ? "" : "In detail: " + details.joined(separator: "; ") + ". ")
                + "Open the store with the model that wrote it, or migrate it.",
            path: connection.path, entity: differing.first?.name)
    }

    /// Whether all hashes are the same, so that they alone say that the store fits.
    var isExact: Bool {
        metadata.versionHashes.count == map.entities.count
            && map.entities.allSatisfy { metadata.versionHashes[$0.name] == $0.versionHash }
    }

    private struct Difference {
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

    /// What is known for certain of an entity, else what its tables show and that it is not all that is known.
    private func sentences(_ differing: [Difference]) throws -> [String] {
        let tables = try TableDifference(map: map, connection: connection).read()
        let changed = Set(differing.filter { $0.kind == .changed }.map(\.name))
        let comparable = changed.filter { name in
            guard let entity = map.schema.entity(named: name), let hash = metadata.versionHashes[name] else { return false }
            return !VersionHash.isForeign(hash, for: entity)
        }
        let found = HashSearch(schema: map.schema, recorded: metadata.versionHashes, evidence: tables.evidence)
            .run(on: comparable)
        var details: [String] = []
        var unexplained: Set<EntityIndex> = []
        for difference in differing {
            let shown = tables.sentences[difference.name] ?? []
            let entity = map.schema.entity(named: difference.name)
            switch found[difference.name] {
            case .explained(let sentences): details += sentences
            case .renamed(let name): details.append("\(difference.name) was called \(name) in the store")
            case .unknown, nil:
                details += shown
                guard let entity else { break }
                unexplained.insert(entity.root)
                if difference.kind == .changed { details.append(HashSearch.unknown(entity)) }
            }
        }
        let explained = Set(changed.compactMap { map.schema.entity(named: $0)?.root }).subtracting(unexplained)
        let leftovers = tables.leftovers.filter { $0.root.map { !explained.contains($0) } ?? !unexplained.isEmpty }
        return details + leftovers.map(\.sentence)
    }

    /// A hash that cannot be compared (store format §4.5): tables and triggers decide.
    private func fits(_ name: String, _ recorded: Data) -> Bool {
        guard let entity = map.schema.entity(named: name), VersionHash.isForeign(recorded, for: entity),
            let tables = try? TableDifference(map: map, connection: connection).read()
        else { return false }
        let isSame = map.schema.entities.allSatisfy { $0.root != entity.root || tables.sentences[$0.name] == nil }
            && tables.leftovers.allSatisfy { $0.root != entity.root }
        return isSame && (try? hasTriggers(entity)) == true
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
