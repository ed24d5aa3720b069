// The mapping models of a chain as what they read, and what they need that the program has not.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension ChainMigration {
    /// What a step's mapping model says; nil for one that is inferred.
    ///
    /// A step that is inferred needs nothing of the program: rows move as they are.
    func readings(_ number: Int) -> (mappings: [ReadMapping], missing: [StoreMigrationPlan.Finding])? {
        guard let mapping = mappings[number] else { return nil }
        let (from, to) = chain.steps[number]
        let manager = NSMigrationManager(sourceModel: from.model, destinationModel: to.model)
        var missing: [StoreMigrationPlan.Finding] = []
        func note(_ text: String, _ entity: String?, _ property: String? = nil) {
            let finding = StoreMigrationPlan.Finding(
                "The step from \(from.name) to \(to.name) cannot run here. \(text)", entity: entity, property: property,
                file: url.path)
            if !missing.contains(finding) { missing.append(finding) }
        }
        let read = (mapping.entityMappings ?? []).map { entity -> ReadMapping in
            let name = entity.destinationEntityName ?? entity.sourceEntityName
            do {
                let reading = ReadMapping(entity, try MappingStep(entity, of: mapping, manager), from.schema)
                if let condition = reading.condition { _ = try NSPredicate(parsing: condition) }
                return reading
            } catch {
                note((CocoaError.presenting(error) as NSError).localizedDescription, name)
                return ReadMapping(entity, nil, from.schema)
            }
        }
        for reading in read where reading.isCarried {
            let ends =
                reading.sources.map { ($0, from.model) } + [(reading.mapping.destinationEntityName ?? "", to.model)]
            for (entity, model) in ends {
                for (property, transformer) in model.missingTransformers(of: entity) {
                    note(
                        "\(entity).\(property) is kept by the value transformer \(transformer), which is not registered. Call "
                            + "ValueTransformer.setValueTransformer(_:forName:) first.", entity, property)
                }
            }
        }
        return (read, missing)
    }
}

extension NSManagedObjectModel {
    /// Names of transformers that an entity's attributes ask for and nobody has registered, by the attributes' names.
    fileprivate final func missingTransformers(of entity: String) -> [(property: String, transformer: String)] {
        (entitiesByName[entity]?.attributesByName ?? [:]).sorted { $0.key < $1.key }.compactMap { name, attribute in
            guard attribute.attributeType == .transformableAttributeType, !attribute.isTransient,
                let transformer = attribute.valueTransformerName,
                !transformer.isEmpty, ValueTransformer.registered(transformer) == nil
            else { return nil }
            return (name, transformer)
        }
    }
}
