// What the last version's entities and properties come from, where they are what that was.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

/// What the last version's entities and properties come from, where they are what that was.
struct MigrationLineage {
    struct Line {
        /// In the first version.
        var entity: String
        /// Whether the objects have the numbers that they had.
        var isKeyed = true
        /// By the last version's names.
        var properties: [String: String]
    }
    private(set) var entities: [String: Line]

    init(_ migration: ChainMigration) {
        let first = migration.chain.versions[0].schema
        entities = Dictionary(
            first.entities.map { entity in
                let names = first.properties(of: entity).map { ($0.name, $0.name) }
                return (
                    entity.name,
                    Line(entity: entity.name, properties: Dictionary(names, uniquingKeysWith: { first, _ in first }))
                )
            }, uniquingKeysWith: { first, _ in first })
        for number in migration.chain.steps.indices {
            let (from, to) = migration.chain.steps[number]
            let read = migration.readings(number)?.mappings
            entities =
                read.map { mapped($0, to.schema) } ?? inferred(SchemaDiff(from: from.schema, to: to.schema).pairs)
        }
    }

    private func inferred(_ pairs: SchemaPairs) -> [String: Line] {
        var next: [String: Line] = [:]
        for entity in pairs.destination.entities {
            guard let source = pairs.source(of: entity), var line = entities[source.name] else { continue }
            let former = line.properties
            line.properties = pairs.sourceProperties(of: entity).compactMapValues { former[$0.name] }
            next[entity.name] = line
        }
        return next
    }

    /// Of entities that one mapping makes of all objects of another, without a policy.
    private func mapped(_ mappings: [ReadMapping], _ schema: Schema) -> [String: Line] {
        var next: [String: Line] = [:]
        for (name, makers) in Dictionary(grouping: mappings, by: { $0.mapping.destinationEntityName }) {
            guard let name, makers.count == 1, let mapping = makers.first, mapping.step != nil, !mapping.hasPolicy,
                mapping.condition == nil,
                mapping.sources.count == 1, var line = entities[mapping.sources[0]],
                let entity = schema.entity(named: name)
            else { continue }
            let former = line.properties
            line.isKeyed = false
            line.properties = Dictionary(
                schema.properties(of: entity).compactMap { property in
                    mapping.copied(property.name).flatMap { former[$0] }.map { (property.name, $0) }
                }, uniquingKeysWith: { first, _ in first })
            next[name] = line
        }
        return next
    }
}
