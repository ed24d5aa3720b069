// An entity's properties by name, inherited ones included.

import CoreDataValues
import Foundation

/// The properties of an entity by name. Made once for a frozen entity, on every question for an editable one.
struct PropertyTables {
    var properties: [String: NSPropertyDescription] = [:]
    var attributes: [String: NSAttributeDescription] = [:]
    var relationships: [String: NSRelationshipDescription] = [:]

    init(_ entity: NSEntityDescription) {
        for ancestor in entity.lineage.reversed() {
            for property in ancestor.properties { add(property) }
        }
    }

    private mutating func add(_ property: NSPropertyDescription) {
        properties[property.name] = property
        attributes[property.name] = property as? NSAttributeDescription
        relationships[property.name] = property as? NSRelationshipDescription
    }
}

extension NSEntityDescription {
    private var tables: PropertyTables { frozenTables ?? PropertyTables(self) }

    /// Own and inherited properties. An inherited one's `entity` is the entity that declares it.
    public var propertiesByName: [String: NSPropertyDescription] { tables.properties }

    /// Own and inherited attributes.
    public var attributesByName: [String: NSAttributeDescription] { tables.attributes }

    /// Own and inherited relationships.
    public var relationshipsByName: [String: NSRelationshipDescription] { tables.relationships }

    public var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The relationships, own and inherited, that lead to an entity, in the order of their names.
    public func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        relationshipsByName.values.filter { $0.destinationEntity === entity }.sorted { $0.name < $1.name }
    }

    /// The uniqueness constraints as names.
    package var constraintNames: [[String]] {
        NSEntityDescription.names(uniquenessConstraints)
    }

    /// The compound indexes as names.
    var compoundNames: [[String]] { NSEntityDescription.names(compoundIndexes) }

    /// The compound indexes as indexes, named as Core Data names those of model files and not after one that is there.
    var compoundDeclarations: [FetchIndex] {
        let taken = Set(indexes.map(\.name))
        let free = (0...).lazy.map { $0 == 0 ? "compoundIndex" : "compoundIndex\($0)" }.filter { !taken.contains($0) }
        return zip(free, compoundNames).map { name, elements in
            FetchIndex(name: name, elements: elements.map { FetchIndex.Element(property: $0) })
        }
    }

    private static func names(_ lists: [[Any]]) -> [[String]] {
        lists.map { list in list.map { ($0 as? NSPropertyDescription)?.name ?? String(describing: $0) } }
    }
}

extension NSEntityDescription: Sequence {
    /// Goes through the entity's own properties.
    public func makeIterator() -> IndexingIterator<[NSPropertyDescription]> { properties.makeIterator() }
}
