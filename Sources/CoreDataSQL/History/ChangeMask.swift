// Which bit of a change stands for which property.

import CoreDataValues
import Foundation

/// The places of one entity's properties in `ZCOLUMNS`.
///
/// Bits run from the highest of the first byte. First come the to-ones, each followed by its entity tag, then the attributes, then
/// the to-manys; within each of these what an ancestor declares comes before what the entity does, then names decide, byte by byte.
/// Apple-written stores tell so by what their programs change together (`AppleHistoryTests`).
package struct ChangeMask: Sendable {
    /// The properties in their order; an entity tag has its relationship's name and `#`.
    package let properties: [String]
    /// The slots of the attributes that a deleted row leaves to its tombstone, in the same order.
    package let tombstones: [Int]
    /// By slot; nil for a transient one.
    private let slots: [Int?]
    private let relationships: [RelationshipIndex: Int]
    /// By place: the slot of a value, the to-many; nil for an entity tag.
    private let meanings: [Meaning?]

    private enum Meaning {
        case slot(Int)
        case toMany(RelationshipIndex)
    }

    private struct Property {
        enum Group: Int { case toOne, attribute, toMany }
        var group: Group
        var owner: EntityIndex
        var name: String
        var slot: Int?
        var relationship: RelationshipIndex?
        var isTag = false

        static func precedes(_ a: Property, _ b: Property) -> Bool {
            if a.group != b.group { return a.group.rawValue < b.group.rawValue }
            if a.owner != b.owner { return a.owner < b.owner }
            if a.name != b.name { return a.name.utf8.lexicographicallyPrecedes(b.name.utf8) }
            return !a.isTag && b.isTag
        }
    }

    package init(_ entity: Entity, _ schema: Schema) {
        let cells = entity.slots.enumerated().compactMap { index, slot -> Property? in
            slot.isTransient
                ? nil
                : Property(
                    group: slot.relationship == nil ? .attribute : .toOne, owner: slot.owner, name: slot.name,
                    slot: index,
                    relationship: slot.relationship, isTag: slot.kind == .entityTag)
        }
        let toMany = entity.toMany.map { schema[$0] }.filter { !$0.description.isTransient }.map {
            Property(group: .toMany, owner: $0.owner, name: $0.name, relationship: $0.index)
        }
        let ordered = (cells + toMany).sorted(by: Property.precedes)
        var slots: [Int?] = Array(repeating: nil, count: entity.slots.count)
        var relationships: [RelationshipIndex: Int] = [:]
        for (place, property) in ordered.enumerated() {
            if let slot = property.slot { slots[slot] = place }
            if let relationship = property.relationship, !property.isTag { relationships[relationship] = place }
        }
        properties = ordered.map { $0.isTag ? $0.name + "#" : $0.name }
        tombstones = Tombstone.slots(of: entity, among: ordered.compactMap(\.slot))
        self.slots = slots
        self.relationships = relationships
        meanings = ordered.map { $0.isTag ? nil : $0.slot.map { .slot($0) } ?? $0.relationship.map { .toMany($0) } }
    }

    /// What a mask says; bits that stand for nothing are left out.
    package func changed(in mask: Data) -> (slots: [Int], relationships: [RelationshipIndex]) {
        var found: (slots: [Int], relationships: [RelationshipIndex]) = ([], [])
        for (place, meaning) in meanings.enumerated() where place / 8 < mask.count {
            guard mask[mask.startIndex + place / 8] & (0x80 >> UInt8(place % 8)) != 0 else { continue }
            switch meaning {
            case .slot(let slot)?: found.slots.append(slot)
            case .toMany(let relationship)?: found.relationships.append(relationship)
            case nil: break
            }
        }
        return found
    }

    /// The mask of changed slots and of relationships that changed beside them.
    package func bytes(slots changed: [Int], relationships also: [RelationshipIndex] = []) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (properties.count + 7) / 8)
        for place in changed.compactMap({ slots[$0] }) + also.compactMap({ relationships[$0] }) {
            bytes[place / 8] |= 0x80 >> UInt8(place % 8)
        }
        return bytes
    }
}
