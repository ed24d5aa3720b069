// The model as immutable values: what every layer below the objects knows of it.

import Foundation

/// A checked model. Entities stand in the order of their numbers in a store: depth-first, names compared without case.
package final class Schema: Sendable {
    package let entities: [Entity]
    package let relationships: [ResolvedRelationship]
    package let composites: [Composite]
    package let fetchTemplates: [FetchTemplate]
    /// Entity names by configuration; the default configuration, which holds all, is not listed.
    package let configurations: [String: [String]]
    package let versionIdentifiers: [String]
    /// What was tolerated, in the file and by the checks.
    package let warnings: [SchemaWarning]
    /// Where other versions of the model are, read when somebody asks; nil for a model made in code.
    package let versions: (any SchemaVersions)?
    /// Whether an entity has stored attributes whose values are objects in memory.
    package let hasTransformables: Bool
    private let names: NameTable

    /// Checks a draft and resolves it.
    ///
    /// - Throws: `SchemaError` for the first contradiction, with the place of its declaration.
    package init(checking draft: SchemaDraft) throws(SchemaError) {
        let resolved = try SchemaResolver(draft).resolve()
        entities = resolved.entities
        relationships = resolved.relationships
        composites = draft.composites
        fetchTemplates = draft.fetchTemplates
        configurations = draft.configurations
        versionIdentifiers = draft.versionIdentifiers
        warnings = draft.warnings + resolved.warnings
        versions = draft.versions
        hasTransformables = resolved.entities.contains { entity in
            entity.slots.contains { $0.attribute?.type == .transformable && !$0.isTransient }
        }
        names = NameTable(resolved.entities.map(\.name))
        try checkKeyPaths()
    }

    package subscript(index: EntityIndex) -> Entity { entities[Int(index.rawValue)] }
    package subscript(index: RelationshipIndex) -> ResolvedRelationship { relationships[index.rawValue] }

    package func index(ofEntity name: String) -> EntityIndex? { names.place(of: name).map { EntityIndex($0) } }
    package func entity(named name: String) -> Entity? { names.place(of: name).map { entities[$0] } }

    /// The entities of a configuration, nil for the default one; nil when there is no such configuration.
    package func entities(inConfiguration name: String?) -> [Entity]? {
        guard let name else { return entities }
        return configurations[name]?.compactMap(entity(named:))
    }
}
