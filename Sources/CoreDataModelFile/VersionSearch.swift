// Which version of a package a store was written with.

import CoreDataValues
import Foundation

/// Looks for the version whose hashes a store records, by reading as few of them as possible.
///
/// The bytes of all versions are looked at. One that declares other entities is out; of the others, the nearest are read first, and
/// whatever in a version that was read hashes otherwise than the store says rules out all versions that have it in the same bytes.
struct VersionSearch {
    private let package: ModelPackage
    private let recorded: [String: Data]
    /// What hashes otherwise than the store says.
    private var wrong: Set<VersionOutline.Block> = []
    /// How many models were read.
    private(set) var readCount = 0

    init(_ package: ModelPackage, recorded: [String: Data]) {
        self.package = package
        self.recorded = recorded
    }

    struct Found {
        let version: ModelVersion
        let draft: SchemaDraft
        let schema: Schema
    }

    private struct Candidate {
        let version: ModelVersion
        let outline: VersionOutline?
        /// How many entities the store has not.
        let surplus: Int
    }

    mutating func run() -> Found? {
        if recorded.isEmpty { return nil }
        for candidate in candidates() where !isRuledOut(candidate) {
            readCount += 1
            guard let draft = try? package.draft(of: candidate.version), let schema = try? Schema(checking: draft) else { continue }
            if schema.fits(recorded) { return Found(version: candidate.version, draft: draft, schema: schema) }
            if let outline = candidate.outline { learn(schema, outline) }
        }
        return nil
    }

    /// Those that have the store's entities, with the fewest others first; of equals the last one.
    private func candidates() -> [Candidate] {
        let all = package.versions.reversed().compactMap { version -> Candidate? in
            guard let contents = try? package.contents(of: version) else { return nil }
            guard let outline = VersionOutline(contents) else { return Candidate(version: version, outline: nil, surplus: .max) }
            guard recorded.keys.allSatisfy({ outline.blocks[$0] != nil }) else { return nil }
            return Candidate(version: version, outline: outline, surplus: outline.blocks.count - recorded.count)
        }
        // Sorting keeps no order among equals.
        return all.enumerated().sorted { ($0.element.surplus, $0.offset) < ($1.element.surplus, $1.offset) }.map(\.element)
    }

    private func isRuledOut(_ candidate: Candidate) -> Bool {
        candidate.outline?.blocks.values.contains(where: wrong.contains) == true
    }

    /// Where the parent hashes as it should, an entity that does not is to blame itself.
    private mutating func learn(_ schema: Schema, _ outline: VersionOutline) {
        for entity in schema.entities {
            guard let hash = recorded[entity.name], hash != entity.versionHash, !VersionHash.isForeign(hash, for: entity),
                let block = outline.blocks[entity.name]
            else { continue }
            let parent = entity.parent.map { schema[$0] }
            if parent.map({ recorded[$0.name] == $0.versionHash }) ?? true { wrong.insert(block) }
        }
    }
}

extension ModelPackage: SchemaVersions {
    package var name: String { url.lastPathComponent }

    package func version(fitting recorded: [String: Data]) -> SchemaVersion? {
        var search = VersionSearch(self, recorded: recorded)
        return search.run().map { SchemaVersion(name: $0.version.name, schema: $0.schema) }
    }

    /// The versions among which one is; nil for a model that lies in no package.
    var siblings: ModelPackage? {
        if url.pathExtension.lowercased() == "xcdatamodeld" { return self }
        let folder = current.contents.deletingLastPathComponent().deletingLastPathComponent()
        return folder.pathExtension.lowercased() == "xcdatamodeld" ? try? ModelPackage(at: folder) : nil
    }
}
