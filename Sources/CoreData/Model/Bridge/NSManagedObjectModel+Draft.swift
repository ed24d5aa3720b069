// From descriptions to a declared model.

import CoreDataValues
import Foundation

extension NSManagedObjectModel {
    /// What the descriptions declare, unchecked.
    ///
    /// - Throws: `SchemaError` for what a draft cannot say: a missing name, destination or request, a wrong
    ///   default.
    package func draft() throws(SchemaError) -> SchemaDraft {
        var draft = declared
        draft.versionIdentifiers = versionIdentifiers.map { String(describing: $0.base) }.sorted()
        draft.configurations = configurationNames
        draft.fetchTemplates = templates
        for entity in entities { draft.entities.append(try entity.declaration(&draft.composites)) }
        return draft
    }
}

extension NSEntityDescription {
    /// The entity's declaration. Composite types that it uses are added where they are missing.
    func declaration(_ composites: inout [Composite]) throws(SchemaError) -> EntityDraft {
        guard let name, !name.isEmpty else {
            throw SchemaError("An entity of the model has no name. Set `name`.", location: location)
        }
        var entity = EntityDraft(name: name)
        entity.className = declaredClassName
        entity.parentName = superentity?.name
        entity.isAbstract = isAbstract
        entity.indexes = indexes.map(\.declaration) + compoundDeclarations
        entity.uniquenessConstraints = constraintNames
        entity.constraintLocations =
            constraintLocations.count == uniquenessConstraints.count ? constraintLocations : []
        entity.renamingIdentifier = declaredRenamingIdentifier
        entity.versionHashModifier = versionHashModifier
        entity.codeGeneration = codeGeneration
        entity.userInfo = textEntries(userInfo)
        entity.location = location
        for property in properties { try add(property, to: &entity, &composites) }
        return entity
    }

    func add(
        _ property: NSPropertyDescription, to entity: inout EntityDraft, _ composites: inout [Composite]
    ) throws(SchemaError) {
        switch property {
        case let attribute as NSAttributeDescription:
            entity.attributes.append(try attribute.declaration(in: entity.name))
            try addComposite(of: attribute, in: entity.name, to: &composites)
        case let relationship as NSRelationshipDescription:
            entity.relationships.append(try relationship.declaration(in: entity.name))
        case let fetched as NSFetchedPropertyDescription:
            entity.fetchedProperties.append(try fetched.declaration(in: entity.name))
        default:
            throw SchemaError(
                "\(entity.name).\(property.name) is a plain property (\(type(of: property))). "
                    + "Use an attribute, a relationship or a fetched property.",
                entity: entity.name, property: property.name, location: property.location)
        }
    }

    /// The elements of a composite in code are its type's attributes; a type is declared once, under its
    /// name.
    private func addComposite(
        of attribute: NSAttributeDescription, in entity: String, to composites: inout [Composite]
    ) throws(SchemaError) {
        guard let attribute = attribute as? NSCompositeAttributeDescription else { return }
        let name = attribute.typeName(in: entity)
        guard !composites.contains(where: { $0.name == name }) else { return }
        let place = composites.count
        composites.append(Composite(name: name, attributes: [], location: attribute.location))
        for element in attribute.elements {
            composites[place].attributes.append(try element.declaration(in: name))
            try addComposite(of: element, in: name, to: &composites)
        }
    }
}
