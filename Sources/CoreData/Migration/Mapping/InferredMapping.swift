// The mapping model of a difference.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Says in entity mappings what `MigrationPlan` says in steps.
struct InferredMapping {
    private let pairs: SchemaPairs
    private let source: NSManagedObjectModel
    private let destination: NSManagedObjectModel

    init(_ pairs: SchemaPairs, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) {
        self.pairs = pairs
        self.source = source
        self.destination = destination
    }

    func model() -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings =
            pairs.destination.entities.map { mapping(to: $0) }
            + pairs.source.entities.filter { pairs.destination(of: $0) == nil }.map { removal(of: $0) }
        return model
    }

    private func removal(of entity: Entity) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = "IEM_Remove_\(entity.name)"
        mapping.mappingType = .removeEntityMappingType
        mapping.sourceEntityName = entity.name
        mapping.sourceEntityVersionHash = entity.versionHash
        return mapping
    }

    private func mapping(to later: Entity) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.destinationEntityName = later.name
        mapping.destinationEntityVersionHash = later.versionHash
        guard let earlier = pairs.source(of: later) else {
            mapping.name = "IEM_Add_\(later.name)"
            mapping.mappingType = .addEntityMappingType
            return mapping
        }
        let isSame = earlier.name == later.name && earlier.versionHash == later.versionHash
        mapping.name = "IEM_\(isSame ? "Copy" : "Transform")_\(later.name)"
        mapping.mappingType = isSame ? .copyEntityMappingType : .transformEntityMappingType
        mapping.sourceEntityName = earlier.name
        mapping.sourceEntityVersionHash = earlier.versionHash
        mapping.sourceExpression = SourceExpression.all(of: earlier.name)
        guard let from = source.entitiesByName[earlier.name], let to = destination.entitiesByName[later.name] else {
            return mapping
        }
        let origins = pairs.sourceProperties(of: later)
        mapping.attributeMappings = to.attributesByName.sorted { $0.key < $1.key }.filter { $0.value.isFilled }.map {
            name, attribute in
            let former = origins[name].flatMap { from.attributesByName[$0.name] }
            return NSPropertyMapping(name, former.flatMap { $0.isTransient ? nil : value(of: $0, attribute) })
        }
        mapping.relationshipMappings = to.relationshipsByName.sorted { $0.key < $1.key }.filter {
            !$0.value.isTransient
        }.map { name, _ in
            let former = origins[name].flatMap { from.relationshipsByName[$0.name] }
            return NSPropertyMapping(name, former.map { SourceExpression.members(of: $0.name) })
        }
        return mapping
    }

    private func value(of former: NSAttributeDescription, _ attribute: NSAttributeDescription) -> NSExpression {
        let value = SourceExpression.value(former.name)
        guard former.isOptional, !attribute.isOptional, let other = attribute.defaultValue else { return value }
        return NSExpression(
            forConditional: NSComparisonPredicate(
                leftExpression: value, rightExpression: NSExpression(forConstantValue: nil), modifier: .direct,
                type: .equalTo),
            trueExpression: NSExpression(forConstantValue: other), falseExpression: value)
    }
}

extension NSAttributeDescription {
    /// Whether a migration can give it a value: transient ones have none, derived ones make their own.
    var isFilled: Bool { !isTransient && !(self is NSDerivedAttributeDescription) }
}
