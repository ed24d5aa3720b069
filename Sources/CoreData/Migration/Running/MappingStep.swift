// One entity mapping, ready to be carried out.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// An entity mapping with its entities found, its policy made and its expressions taken apart.
final class MappingStep {
    /// A class, as one is looked at for every object and attribute.
    final class Property {
        let mapping: NSPropertyMapping
        let name: String
        let value: MappingValue
        /// The slot of the destination that takes what an expression computes as it is.
        let computed: Computed?
        /// A slot of the source that has the same form as the one of the destination: what most attributes are.
        let copied: Copied?
        /// A to-one of the source whose target became the one of the destination: what most to-ones are.
        let linked: Linked?

        init(
            _ mapping: NSPropertyMapping, _ name: String, _ value: MappingValue, _ compiler: MappingCompiler,
            isAttribute: Bool
        ) {
            (self.mapping, self.name, self.value) = (mapping, name, value)
            computed = isAttribute ? MappingStep.computed(value, name, compiler) : nil
            copied = isAttribute ? MappingStep.copied(value, name, compiler) : nil
            linked = isAttribute ? nil : MappingStep.linked(value, name, compiler)
        }
    }
    struct Copied {
        let from: Int
        let to: Int
        /// Whether the default value stands for null.
        let keepsDefault: Bool
    }
    struct Computed {
        let expression: MappingExpression
        let to: Int
        let type: CoreDataValues.AttributeType
    }
    struct Linked {
        let from: Int
        let to: Int
        /// What the target went through.
        let mapping: String
        let end: NSEntityDescription
    }
    let mapping: NSEntityMapping
    let name: String
    let sourceEntity: NSEntityDescription?
    let destinationEntity: NSEntityDescription?
    let policy: NSEntityMigrationPolicy
    let attributes: [Property]
    let relationships: [Property]
    /// nil for a mapping without source objects.
    let source: MappingValue?

    /// - Throws: 134110 for what the models have not or is not theirs, 134170 for a policy that is not found.
    init(_ mapping: NSEntityMapping, of model: NSMappingModel, _ manager: NSMigrationManager) throws {
        self.mapping = mapping
        name = mapping.name
        let words = "The mapping \(mapping.name ?? "") cannot be carried out:"
        func find(_ name: String?, _ hash: Data?, _ side: String, _ model: NSManagedObjectModel) throws
            -> NSEntityDescription?
        {
            guard let name else { return nil }
            guard let entity = model.entitiesByName[name] else {
                throw CocoaError.coreData(
                    134110, "\(words) the \(side) model has no entity \(name). Nothing was written.")
            }
            if let hash, hash != entity.versionHash,
                try model.schema().entity(named: name).map({ VersionHash.isForeign(hash, for: $0) }) != true
            {
                throw CocoaError.coreData(
                    134110,
                    "\(words) it was made for another version of the \(side) entity \(name). Nothing was written.")
            }
            return entity
        }
        let from = try find(mapping.sourceEntityName, mapping.sourceEntityVersionHash, "source", manager.sourceModel)
        let to = try find(
            mapping.destinationEntityName, mapping.destinationEntityVersionHash, "destination", manager.destinationModel
        )
        (sourceEntity, destinationEntity) = (from, to)
        let type = try PolicySearch.type(named: mapping.entityMigrationPolicyClassName, for: name)
        policy = type.init()
        var compiler = MappingCompiler(
            mapping: name, source: from, destination: to, policy: type, mappings: Set(model.entityMappings.map(\.name)))
        let hasSource = from != nil && mapping.mappingType != .addEntityMappingType
        source =
            hasSource ? try compiler.value(mapping.sourceExpression ?? SourceExpression.all(of: from?.name ?? "")) : nil
        let copies = mapping.mappingType == .copyEntityMappingType
        let isCarried = to != nil && mapping.mappingType != .removeEntityMappingType
        let attributes =
            mapping.attributeMappings ?? (copies ? Self.copies(from?.attributesByName, to?.attributesByName) : [])
        let relationships =
            mapping.relationshipMappings
            ?? (copies ? Self.copies(from?.relationshipsByName, to?.relationshipsByName) : [])
        self.attributes =
            try isCarried ? attributes.compactMap { try Self.property($0, &compiler, isAttribute: true) } : []
        self.relationships =
            try isCarried ? relationships.compactMap { try Self.property($0, &compiler, isAttribute: false) } : []
    }

    private static func copies(_ from: [String: NSAttributeDescription]?, _ to: [String: NSAttributeDescription]?)
        -> [NSPropertyMapping]
    {
        (to ?? [:]).sorted { $0.key < $1.key }.filter { $0.value.isFilled && from?[$0.key]?.isTransient == false }
            .map { NSPropertyMapping($0.key, SourceExpression.value($0.key)) }
    }

    private static func copies(
        _ from: [String: NSRelationshipDescription]?, _ to: [String: NSRelationshipDescription]?
    ) -> [NSPropertyMapping] {
        (to ?? [:]).sorted { $0.key < $1.key }.filter { !$0.value.isTransient && from?[$0.key]?.isTransient == false }
            .map { NSPropertyMapping($0.key, SourceExpression.members(of: $0.key)) }
    }

    private static func property(
        _ mapping: NSPropertyMapping, _ compiler: inout MappingCompiler, isAttribute: Bool
    ) throws -> Property? {
        let name = mapping.name ?? ""
        let entity = compiler.destination
        let isKnown = isAttribute ? entity?.attributesByName[name] != nil : entity?.relationshipsByName[name] != nil
        guard isKnown else {
            throw CocoaError.coreData(
                134110,
                "The mapping \(compiler.mapping) cannot be carried out: the destination entity \(entity?.name ?? "") has no "
                    + "\(isAttribute ? "attribute" : "relationship") \(name). Nothing was written.")
        }
        guard let expression = mapping.valueExpression else { return nil }
        compiler.what = "value expression for \(name)"
        let value = try compiler.value(expression)
        return Property(mapping, name, value, compiler, isAttribute: isAttribute)
    }

    /// `FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'Name', $source.owner)` between two to-ones.
    fileprivate static func linked(_ value: MappingValue, _ name: String, _ compiler: MappingCompiler) -> Linked? {
        guard case .manager(.destinations, let arguments) = value, arguments.count == 2,
            case .constant(let mapping) = arguments[0], let mapping = mapping as? String,
            case .path(.variable(.source), let path) = arguments[1],
            let from = compiler.source?.resolved, let to = compiler.destination?.resolved,
            case .slot(let former)? = from.places[path], case .slot(let slot)? = to.places[name],
            from.slots[former].kind == .toOne, to.slots[slot].kind == .toOne,
            let end = compiler.destination?.relationshipsByName[name]?.destinationEntity
        else { return nil }
        return Linked(from: former, to: slot, mapping: mapping, end: end)
    }

    /// `$source.age + 1` for an attribute of numbers, texts or dates.
    fileprivate static func computed(_ value: MappingValue, _ name: String, _ compiler: MappingCompiler) -> Computed? {
        guard case .expression(let expression) = value, let to = compiler.destination?.resolved,
            case .slot(let slot)? = to.places[name], to.slots[slot].composite == nil,
            let type = to.slots[slot].attribute?.type
        else { return nil }
        return Computed(expression: expression, to: slot, type: type)
    }

    /// `$source.name` where both slots keep the same kind of value.
    fileprivate static func copied(_ value: MappingValue, _ name: String, _ compiler: MappingCompiler) -> Copied? {
        guard case .path(.variable(.source), let path) = value, let from = compiler.source?.resolved,
            let to = compiler.destination?.resolved,
            case .slot(let former)? = from.places[path], case .slot(let slot)? = to.places[name],
            from.slots[former].kind == to.slots[slot].kind, let old = from.slots[former].attribute,
            let new = to.slots[slot].attribute,
            old.type == new.type
        else { return nil }
        switch to.slots[slot].kind {
        case .int, .bool, .double, .float, .date, .text, .data, .uuid, .uri, .decimal:
            return Copied(from: former, to: slot, keepsDefault: to.slots[slot].isRequired && !new.defaultValue.isNull)
        case .externalData, .transformable, .toOne, .entityTag: return nil
        }
    }
}
