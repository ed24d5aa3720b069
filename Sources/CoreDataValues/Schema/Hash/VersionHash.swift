// Version hashes: how a store recognises the model that it was written with.

import Foundation

/// Computes the hash of every entity of a draft, byte for byte as Core Data does.
///
/// Derived attributes enter by what is known of them, composite attributes by the hashes of their elements: the
/// hash of an entity that has or inherits one is stable, but is not the one that Apple's Core Data computes.
/// It also begins with a mark, so that a store can be told by whom it was made.
package struct VersionHash {
    private let draft: SchemaDraft

    private let composites: CompositeHashes

    package init(draft: SchemaDraft) {
        self.draft = draft
        composites = CompositeHashes(draft)
    }

    /// Costs one SHA-256 an entity and two a property, and a sort of the properties of each entity.
    package func entityHashes() -> [String: Data] {
        var positions: [String: Int] = [:]
        for (position, entity) in draft.entities.enumerated() { positions[entity.name] = position }
        var done: [Int: Hashed] = [:]
        for position in draft.entities.indices {
            hashLine(to: position, positions: positions, into: &done)
        }
        var hashes: [String: Data] = [:]
        for (position, hashed) in done { hashes[draft.entities[position].name] = Data(hashed.hash) }
        return hashes
    }

    /// A property that is stored, as it enters the hash of its entity and of the entities below.
    private struct HashedProperty {
        let name: String
        let hash: [UInt8]
    }

    /// What a sub-entity needs of its parent.
    private struct Hashed {
        var hash: [UInt8]
        /// Whether an own or inherited attribute is derived or composite.
        var isMarked: Bool
        /// Own and inherited properties that are stored.
        var properties: [HashedProperty]
    }

    /// Hashes an entity after its ancestors, from the root down; a cycle, which a checked draft has not, ends
    /// the line.
    private func hashLine(to position: Int, positions: [String: Int], into done: inout [Int: Hashed]) {
        var line: [Int] = []
        var current: Int? = position
        while let next = current, done[next] == nil, !line.contains(next) {
            line.append(next)
            current = draft.entities[next].parentName.flatMap { positions[$0] }
        }
        for next in line.reversed() {
            let parent = draft.entities[next].parentName.flatMap { positions[$0] }.flatMap { done[$0] }
            done[next] = hash(draft.entities[next], parent: parent)
        }
    }

    private func hash(_ entity: EntityDraft, parent: Hashed?) -> Hashed {
        let properties = ((parent?.properties ?? []) + ownProperties(of: entity)).sorted {
            Self.precedes($0.name, $1.name)
        }
        var bytes = Array(entity.name.utf8) + [entity.isAbstract ? 1 : 0] + (parent?.hash ?? [])
        for property in properties { bytes += property.hash }
        bytes += Array((entity.versionHashModifier ?? "").utf8)
        for constraint in entity.uniquenessConstraints.map({ $0.joined(separator: ".") }).sorted(by: Self.precedes) {
            bytes += Array(constraint.utf8)
        }
        let hash = SHA256.hash(bytes)
        let isMarked =
            parent?.isMarked == true
            || entity.attributes.contains { $0.isDerived || $0.type == .composite && !$0.isTransient }
        return Hashed(
            hash: isMarked ? Self.mark + hash.dropFirst(Self.mark.count) : hash, isMarked: isMarked,
            properties: properties)
    }

    /// The entity's own properties that are stored, in declared order.
    private func ownProperties(of entity: EntityDraft) -> [HashedProperty] {
        entity.attributes.filter { !$0.isTransient }.map {
            HashedProperty(name: $0.name, hash: Self.hash($0, elements: elements(of: $0, depth: 0)))
        }
            + entity.relationships.filter { !$0.isTransient }.map {
                HashedProperty(name: $0.name, hash: Self.hash($0, owner: entity.name))
            }
    }

    /// What the elements of a composite add, in the order of their names; nothing for other attributes and, in a draft that was
    /// not checked, for what holds itself.
    private func elements(of attribute: Attribute, depth: Int) -> [UInt8] {
        guard attribute.type == .composite, let name = attribute.compositeName, depth <= SchemaLimits.depth else {
            return []
        }
        if let known = composites.hashes[name] { return known }
        guard let composite = composites.declared[name] else { return [] }
        composites.hashes[name] = []
        let bytes = composite.attributes.sorted { Self.precedes($0.name, $1.name) }.flatMap {
            Self.hash($0, elements: elements(of: $0, depth: depth + 1))
        }
        composites.hashes[name] = bytes
        return bytes
    }

    /// The composites of a draft, each hashed once.
    private final class CompositeHashes {
        let declared: [String: Composite]
        var hashes: [String: [UInt8]] = [:]
        init(_ draft: SchemaDraft) {
            declared = Dictionary(draft.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    static func hash(_ attribute: Attribute, elements: [UInt8] = []) -> [UInt8] {
        var bytes = common(
            attribute.name, isOptional: attribute.isOptional, isTransient: attribute.isTransient,
            modifier: attribute.versionHashModifier)
        bytes += littleEndian(attribute.type.rawValue)
        if attribute.allowsExternalBinaryDataStorage { bytes.append(1) }
        if attribute.preservesValueInHistoryOnDeletion { bytes.append(1) }
        if let derivation = attribute.derivationExpression { bytes += derivation.utf8 }
        bytes += elements
        return SHA256.hash(bytes)
    }

    /// The inverse as it enters the hash: a relationship that is its own is hashed as if it had none.
    static func inverse(of relationship: Relationship, owner: String) -> String {
        let isOwnInverse =
            relationship.destinationName == owner && relationship.inverseName == relationship.name
        return isOwnInverse ? "" : relationship.inverseName ?? ""
    }

    static func hash(_ relationship: Relationship, owner: String) -> [UInt8] {
        var bytes = common(
            relationship.name, isOptional: relationship.isOptional, isTransient: relationship.isTransient,
            modifier: relationship.versionHashModifier)
        bytes += relationship.destinationName.utf8
        bytes += inverse(of: relationship, owner: owner).utf8
        bytes += littleEndian(UInt32(truncatingIfNeeded: relationship.maxCount))
        bytes += littleEndian(UInt32(truncatingIfNeeded: relationship.minCount))
        if relationship.isOrdered { bytes += [1, 0] }
        return SHA256.hash(bytes)
    }

    /// What attributes and relationships have in common: name, two flag bytes, modifier.
    private static func common(_ name: String, isOptional: Bool, isTransient: Bool, modifier: String?)
        -> [UInt8]
    {
        var bytes = Array(name.utf8)
        bytes.append((isOptional ? 1 : 0) | (isTransient ? 2 : 0))
        bytes.append(0)
        if let modifier { bytes += modifier.utf8 }
        return SHA256.hash(bytes)
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    static func precedes(_ a: String, _ b: String) -> Bool {
        a.utf8.lexicographicallyPrecedes(b.utf8)
    }
}

// MARK: - Derived and composite attributes

extension VersionHash {
    /// What our hashes of entities with derived or composite attributes begin with: `OCDD`. How Core Data hashes a derivation, or an
    /// attribute with elements, is not known.
    static let mark: [UInt8] = [0x4f, 0x43, 0x44, 0x44]

    /// Whether a recorded hash cannot be compared with the entity's: the entity has or inherits a derived or composite attribute, and
    /// somebody else computed the recorded one.
    package static func isForeign(_ recorded: Data, for entity: Entity) -> Bool {
        isOurs(entity.versionHash) && !isOurs(recorded)
    }

    /// Whether only we compute a hash so.
    package static func isOurs(_ hash: Data) -> Bool { hash.starts(with: mark) }
}

// MARK: - Values of a whole model

extension VersionHash {
    /// `NSStoreModelVersionHashesDigest` of the entity hashes that a store records.
    package static func digest(of hashes: [String: Data]) -> String {
        var bytes: [UInt8] = []
        for (name, hash) in hashes.sorted(by: { precedes($0.key, $1.key) }) {
            bytes += Array(name.utf8) + Array(hash)
        }
        return Data(SHA512.hash(bytes)).base64EncodedString()
    }

    /// `NSStoreModelVersionChecksumKey`, which is also `NSManagedObjectModel.versionChecksum`.
    package static func checksum(of hashes: [String: Data]) -> String {
        let ordered = hashes.sorted { precedes($0.key, $1.key) }
        return Data(SHA256.hash(ordered.flatMap { Array($0.value) })).base64EncodedString()
    }
}

extension Schema {
    /// The hash of every entity by its name.
    package var versionHashes: [String: Data] {
        var hashes: [String: Data] = [:]
        for entity in entities { hashes[entity.name] = entity.versionHash }
        return hashes
    }

    /// The digest of all entities. A store of one configuration takes `VersionHash.digest(of:)` of its own.
    package var versionHashesDigest: String { VersionHash.digest(of: versionHashes) }

    package var versionChecksum: String { VersionHash.checksum(of: versionHashes) }
}
