// One entity of a schema, resolved: inheritance applied, slots given, inverses known.

import Foundation

/// Where a property's value lives.
package enum PropertyPlace: Sendable, Equatable {
    /// An attribute or a to-one: index into `Entity.slots`.
    case slot(Int)
    /// A to-many: index into `Entity.toMany`.
    case toMany(Int)
    /// A fetched property: index into `Entity.fetchedProperties`.
    case fetched(Int)
}

/// A relationship with everything about it known. Shared by the declaring entity and all its descendants.
///
/// A class, so that passing one around copies nothing.
package final class ResolvedRelationship: Sendable {
    package let index: RelationshipIndex
    package let description: Relationship
    /// The entity that declares it.
    package let owner: EntityIndex
    package let destination: EntityIndex
    /// nil when the relationship has no inverse that names it back. Its own index when it is its own inverse.
    package let inverse: RelationshipIndex?
    /// The to-one whose column names the owners of the members, where a to-many has that as its inverse and is not named back.
    package let lender: RelationshipIndex?
    /// To-one: its slot. To-many: its place in `Entity.toMany`.
    package let place: PropertyPlace
    /// Whether the destination has sub-entities, so that the slot after a to-one's holds the target's entity.
    package let hasEntityTag: Bool
    /// The destination and its descendants, by number.
    package let destinations: ClosedRange<UInt16>
    package let isToMany: Bool
    package let isOrdered: Bool

    init(
        index: RelationshipIndex, description: Relationship, owner: EntityIndex, destination: EntityIndex,
        inverse: RelationshipIndex?, lender: RelationshipIndex?, place: PropertyPlace, lastDestination: EntityIndex
    ) {
        self.index = index
        self.description = description
        self.owner = owner
        self.destination = destination
        self.inverse = inverse
        self.lender = lender
        self.place = place
        hasEntityTag = !description.isToMany && lastDestination != destination
        destinations = destination.rawValue...lastDestination.rawValue
        isToMany = description.isToMany
        isOrdered = description.isOrdered && description.isToMany
    }

    package var name: String { description.name }
    /// Whether an entity may stand at the other end.
    package func accepts(_ entity: UInt16) -> Bool { destinations.contains(entity) }
    package var slot: Int? { if case .slot(let i) = place { i } else { nil } }
    package var toManyIndex: Int? { if case .toMany(let i) = place { i } else { nil } }
}

/// One entity: immutable, shared by every context and store that uses the schema.
package final class Entity: Sendable {
    package let index: EntityIndex
    package let name: String
    package let className: String?
    package let isAbstract: Bool
    package let parent: EntityIndex?
    package let root: EntityIndex
    /// The last entity of the subtree; `index...last` are this entity and its descendants.
    package let last: EntityIndex
    package let children: [EntityIndex]
    /// The entity as declared, with its own properties.
    package let draft: EntityDraft
    /// Own and inherited cells. The parent's are a prefix.
    package let slots: [Slot]
    /// Own and inherited to-many relationships. The parent's are a prefix.
    package let toMany: [RelationshipIndex]
    /// Own and inherited relationships, to-one and to-many.
    package let relationships: [RelationshipIndex]
    package let fetchedProperties: [FetchedProperty]
    /// Elements of composites stand here by their paths, `location.latitude`.
    package let places: [String: PropertyPlace]
    /// Own and inherited composite attributes, nested ones by their paths.
    package let composites: [String: CompositePlace]
    /// Its own uniqueness constraints, then those of its ancestors.
    package let constraints: [UniquenessConstraint]
    package let layout: RowLayout
    /// The hash that stores record. Meaningless for entities with derived or composite attributes.
    package let versionHash: Data

    init(
        index: EntityIndex, name: String, className: String?, isAbstract: Bool, parent: EntityIndex?,
        root: EntityIndex, last: EntityIndex, children: [EntityIndex], draft: EntityDraft, slots: [Slot],
        toMany: [RelationshipIndex], relationships: [RelationshipIndex], fetchedProperties: [FetchedProperty],
        places: [String: PropertyPlace], composites: [String: CompositePlace] = [:],
        constraints: [UniquenessConstraint], versionHash: Data
    ) {
        self.index = index
        self.name = name
        self.className = className
        self.isAbstract = isAbstract
        self.parent = parent
        self.root = root
        self.last = last
        self.children = children
        self.draft = draft
        self.slots = slots
        self.toMany = toMany
        self.relationships = relationships
        self.fetchedProperties = fetchedProperties
        self.places = places
        self.composites = composites
        self.constraints = constraints
        self.layout = RowLayout(entity: index, kinds: slots.map(\.kind))
        self.versionHash = versionHash
    }

    package var hasSubentities: Bool { index != last }

    package func isKind(of other: Entity) -> Bool { other.index <= index && index <= other.last }
}
