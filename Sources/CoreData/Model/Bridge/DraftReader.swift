// From a declared model to descriptions.

import CoreDataValues
import Foundation

extension NSManagedObjectModel {
    /// Descriptions of a checked draft. Names that lead nowhere are dropped: `Schema(checking:)` refuses
    /// them.
    package convenience init(draft: SchemaDraft) {
        self.init()
        let reader = DraftReader(draft)
        entities = reader.entities()
        versionIdentifiers = Set(draft.versionIdentifiers)
        configurationNames = draft.configurations
        templates = draft.fetchTemplates
        declared = draft
        declared.entities = []
    }
}

/// Makes the descriptions of one draft. A value used once.
struct DraftReader {
    private let draft: SchemaDraft
    private let composites: [String: Composite]

    init(_ draft: SchemaDraft) {
        self.draft = draft
        composites = Dictionary(
            draft.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// *make the entities · give them their parents · link relationships · make indexes*
    func entities() -> [NSEntityDescription] {
        let made = draft.entities.map(entity)
        let byName = Dictionary(made.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        linkParents(byName)
        for (declared, description) in zip(draft.entities, made) {
            linkRelationships(of: declared, in: description, byName)
            description.indexes = declared.indexes.map { NSFetchIndexDescription($0, in: description) }
        }
        return made
    }

    private func entity(_ declared: EntityDraft) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = declared.name
        entity.declaredClassName = declared.className
        entity.isAbstract = declared.isAbstract
        entity.uniquenessConstraints = declared.uniquenessConstraints
        entity.versionHashModifier = declared.versionHashModifier
        entity.declaredRenamingIdentifier = declared.renamingIdentifier
        entity.codeGeneration = declared.codeGeneration
        entity.userInfo = declared.userInfo
        entity.location = declared.location
        entity.constraintLocations = declared.constraintLocations
        entity.properties =
            declared.attributes.map { attribute($0, depth: 0) }
            + declared.relationships.map(relationship) + declared.fetchedProperties.map(fetchedProperty)
        return entity
    }

    /// - Parameter depth: how many composites are around the attribute; one that holds itself ends empty.
    private func attribute(_ declared: Attribute, depth: Int) -> NSAttributeDescription {
        let description: NSAttributeDescription
        if declared.derivationExpression != nil {
            description = NSDerivedAttributeDescription()
        } else if declared.type == .composite {
            let composite = NSCompositeAttributeDescription()
            if let name = declared.compositeName, depth <= composites.count {
                let elements = composites[name]?.attributes ?? []
                composite.elements = elements.map { attribute($0, depth: depth + 1) }
            }
            description = composite
        } else {
            description = NSAttributeDescription()
        }
        description.read(declared)
        return description
    }

    private func relationship(_ declared: Relationship) -> NSPropertyDescription {
        let description = NSRelationshipDescription()
        description.read(declared)
        return description
    }

    private func fetchedProperty(_ declared: FetchedProperty) -> NSPropertyDescription {
        let description = NSFetchedPropertyDescription()
        description.read(declared)
        return description
    }

    private func linkParents(_ byName: [String: NSEntityDescription]) {
        let heirs = draft.entities.filter { $0.parentName != nil }
        let children = Dictionary(grouping: heirs) { $0.parentName ?? "" }
        for (parent, members) in children {
            byName[parent]?.subentities = members.compactMap { byName[$0.name] }
        }
    }

    private func linkRelationships(
        of declared: EntityDraft, in entity: NSEntityDescription, _ byName: [String: NSEntityDescription]
    ) {
        let own = entity.properties.compactMap { $0 as? NSRelationshipDescription }
        for (relationship, description) in zip(declared.relationships, own) {
            description.destinationEntity = byName[relationship.destinationName]
            guard let inverse = relationship.inverseName else { continue }
            let places = [relationship.inverseEntityName, relationship.destinationName].compactMap { $0 }
            description.inverseRelationship =
                places.lazy.compactMap { byName[$0]?.relationshipsByName[inverse] }.first
        }
    }
}
