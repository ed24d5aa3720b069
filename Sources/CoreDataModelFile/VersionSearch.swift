// Which version of a package a store was written with.

import CoreDataValues
import Foundation

/// Looks for the version whose hashes a store records, by reading as few of them as possible.
///
/// The bytes of all versions are looked at. One that declares other entities is out; of the others, the nearest are read first, and
/// whatever in a version that was read hashes otherwise than the store says rules out all versions that have it in the same bytes.
/// A version with exactly the store's hashes is before one that only may have them, since some of them cannot be compared.
struct VersionSearch {
    private let package: ModelPackage
    private let recorded: [String: Data]
    /// What hashes otherwise than the store says.
    private var wrong: Set<VersionOutline.Block> = []
    /// What hashes otherwise too, but need not hash alike.
    private var inexact: Set<VersionOutline.Block> = []
    /// What a compiled package says of its versions, by the tools that wrote stores with them: hashes that we cannot compute too.
    private let told: [String: [String: Data]]
    /// How many models were read.
    private(set) var readCount = 0

    init(_ package: ModelPackage, recorded: [String: Data]) {
        self.package = package
        self.recorded = recorded
        told = (try? CompiledVersions(in: package.url))?.hashes ?? [:]
    }

    struct Found {
        let version: ModelVersion
        let draft: SchemaDraft
        let schema: Schema
        /// Whether it has exactly the store's hashes, by what it says or by what its package tells.
        var isExact = false
    }

    private struct Candidate {
        let version: ModelVersion
        let outline: VersionOutline?
        /// How many entities the store has not.
        let surplus: Int
    }

    mutating func run() -> Found? {
        if recorded.isEmpty { return nil }
        var accepting: Found?
        for candidate in candidates() where !isRuledOut(candidate, by: wrong) {
            if accepting != nil, isRuledOut(candidate, by: inexact) { continue }
            readCount += 1
            guard let draft = try? package.draft(of: candidate.version), let schema = try? Schema(checking: draft)
            else { continue }
            var found = Found(version: candidate.version, draft: draft, schema: schema)
            found.isExact = schema.fitsExactly(recorded) || isTold(candidate.version) == true
            if found.isExact { return found }
            if isTold(candidate.version) == false { continue }
            if accepting == nil, schema.fits(recorded) { accepting = found }
            if let outline = candidate.outline { learn(schema, outline) }
        }
        return accepting
    }

    /// Those that have the store's entities, with the fewest others first; of equals the last one, but the one that asks after all others.
    private func candidates() -> [Candidate] {
        let all = package.versions.reversed().compactMap { version -> Candidate? in
            guard let contents = try? package.contents(of: version) else { return nil }
            guard let outline = VersionOutline(contents) else {
                return Candidate(
                    version: version, outline: nil,
                    surplus: told[version.name].map { abs($0.count - recorded.count) } ?? .max)
            }
            guard recorded.keys.allSatisfy({ outline.blocks[$0] != nil }) else { return nil }
            return Candidate(version: version, outline: outline, surplus: outline.blocks.count - recorded.count)
        }
        // Sorting keeps no order among equals.
        func rank(_ candidate: Candidate) -> Int { candidate.version.name == package.asking ? 1 : 0 }
        return all.enumerated().sorted {
            ($0.element.surplus, rank($0.element), $0.offset) < ($1.element.surplus, rank($1.element), $1.offset)
        }.map(\.element)
    }

    /// Whether a version is the one by what its package says; nil where the store was written here, or nothing is said.
    private func isTold(_ version: ModelVersion) -> Bool? {
        guard let hashes = told[version.name], !recorded.values.contains(where: VersionHash.isOurs) else { return nil }
        return recorded.allSatisfy { name, hash in hashes[name] == hash }
    }

    private func isRuledOut(_ candidate: Candidate, by blocks: Set<VersionOutline.Block>) -> Bool {
        !blocks.isEmpty && candidate.outline?.blocks.values.contains(where: blocks.contains) == true
    }

    /// Where the parent hashes as it should, an entity that does not is to blame itself.
    private mutating func learn(_ schema: Schema, _ outline: VersionOutline) {
        for entity in schema.entities {
            guard let hash = recorded[entity.name], hash != entity.versionHash, let block = outline.blocks[entity.name]
            else { continue }
            let parent = entity.parent.map { schema[$0] }
            guard parent.map({ recorded[$0.name] == $0.versionHash }) ?? true else { continue }
            if VersionHash.isForeign(hash, for: entity) { inexact.insert(block) } else { wrong.insert(block) }
        }
    }
}

extension ModelPackage: SchemaVersions {
    package var name: String { url.lastPathComponent }

    package func version(fitting recorded: [String: Data]) -> SchemaVersion? {
        var search = VersionSearch(self, recorded: recorded)
        return search.run().map {
            SchemaVersion(name: $0.version.name, schema: $0.schema, draft: $0.draft, isExact: $0.isExact)
        }
    }

    /// The versions among which one is; nil for a model that lies in no package.
    var siblings: ModelPackage? {
        let kinds = ["xcdatamodeld", "momd"]
        if kinds.contains(url.pathExtension.lowercased()) { return self }
        let inner = current.contents.deletingLastPathComponent()
        let folder = current.isCompiled ? inner : inner.deletingLastPathComponent()
        return kinds.contains(folder.pathExtension.lowercased()) ? try? ModelPackage(at: folder) : nil
    }
}
