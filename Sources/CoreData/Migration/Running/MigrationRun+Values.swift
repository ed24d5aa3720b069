// Filling one destination object.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension MigrationRun {
    /// The step of a mapping. One that is none of the run's is a misuse.
    private func step(of mapping: NSEntityMapping) -> MappingStep {
        if let current, current.mapping === mapping { return current }
        guard let step = steps.first(where: { $0.mapping === mapping }) else {
            misuse("The entity mapping \(mapping.name ?? "") is none of the mapping model that is carried out.")
        }
        return step
    }

    /// Makes what becomes of a source object, with the attributes that the mapping gives it.
    func create(from source: NSManagedObject, _ mapping: NSEntityMapping) throws {
        let step = step(of: mapping)
        guard let entity = step.destinationEntity, let name = entity.name else { return }
        guard !entity.isAbstract else {
            throw CocoaError.coreData(
                134110,
                "The mapping \(step.name) makes objects of the entity \(name), which is abstract, of \(id(source)).")
        }
        let destination = NSEntityDescription.insertNewObject(forEntityName: name, into: destinationContext)
        do { try fill(destination, from: source, step) } catch {
            destinationContext.delete(destination)
            throw error
        }
        manager.associate(sourceInstance: source, withDestinationInstance: destination, for: mapping)
    }

    /// Gives a new object its attributes, and the to-ones that need not wait.
    private func fill(_ destination: NSManagedObject, from source: NSManagedObject, _ step: MappingStep) throws {
        let isOfEntity = source._state.info.entity === step.sourceEntity?.resolved
        var scope = MappingScope(run: self, step: step, source: source, destination: destination)
        scope.readsSlots = isOfEntity && source.readsAsUsual
        for property in step.attributes {
            scope.property = property.mapping
            if let copied = property.copied, isOfEntity {
                let value = source.value(at: copied.from)
                if !value.isNull || !copied.keepsDefault { destination.setValue(value, at: copied.to) }
            } else if let computed = property.computed, let operand = try computed.expression.operand(in: scope) {
                if computed.takes(operand, for: destination) { continue }
                try set(operand.object, property.name, of: destination, scope)
            } else {
                try set(property.value.value(in: scope), property.name, of: destination, scope)
            }
        }
        // Members that its class gave it in `awakeFromInsert` give way to the mapped ones in the second pass.
        for index in early.mirrored(by: step) where destination.toManyState(index)?.isChanged == true {
            unlinked.insert(ObjectIdentifier(step))
        }
        for property in early.links(of: step) where try !link(destination, property, source, step, isNew: true) {
            unlinked.insert(ObjectIdentifier(step))
        }
    }

    /// Fills the relationships that the mapping says something of.
    func relate(_ destination: NSManagedObject, _ mapping: NSEntityMapping) throws {
        let step = step(of: mapping)
        guard !step.relationships.isEmpty else { return }
        let source = try table(named: step.name).sources(of: [destination]).first.map(sourceObject)
        for property in step.relationships {
            if try link(destination, property, source, step) { continue }
            guard let relationship = step.destinationEntity?.relationshipsByName[property.name]
            else { continue }
            let scope = MappingScope(
                run: self, step: step, property: property.mapping, source: source, destination: destination)
            try relate(property.value.value(in: scope), relationship, of: destination, scope)
        }
    }

    /// Sets a to-one to what the target of the source became; false where that is to be found, or refused, the long way.
    private func link(
        _ destination: NSManagedObject, _ property: MappingStep.Property, _ source: NSManagedObject?,
        _ step: MappingStep, isNew: Bool = false
    ) throws -> Bool {
        guard let linked = property.linked, let source, source._state.info.entity === step.sourceEntity?.resolved,
            destination._state.info.entity === step.destinationEntity?.resolved
        else { return false }
        let table = try table(named: linked.mapping)
        let origin = source.target(at: linked.from)
        var target = origin.flatMap(table.destination(of:)).map(destinationObject)
        if let origin, target?.isThere == false { target = destinationObjects(in: table, of: [origin]).first }
        if let target, !target.entity.isKindOf(entity: linked.end) { return false }
        if isNew, target == nil, destination.target(at: linked.to) == nil { return true }
        destination.fixup.setTarget(linked.to, target)
        return true
    }

    // MARK: Values

    private func set(_ value: Any?, _ name: String, of object: NSManagedObject, _ scope: MappingScope) throws {
        guard let attribute = object.entity.attributesByName[name] else { return }
        guard let value = KeyValue.unwrapped(value) else {
            if attribute.isOptional || attribute.defaultValue == nil { object.setValue(nil, forKey: name) }
            return
        }
        let type = CoreDataValues.AttributeType(rawValue: UInt32(attribute.attributeType.rawValue)) ?? .undefined
        switch type {
        case .transformable, .undefined: return object.setValue(value, forKey: name)
        case .composite:
            guard value is NSDictionary || value is [String: Any] else {
                throw misfit("a value of type \(Swift.type(of: value))", name, scope)
            }
            return object.setValue(value, forKey: name)
        case .boolean:
            guard let number = AnyNumber(value) else {
                throw misfit("a value of type \(Swift.type(of: value))", name, scope)
            }
            return object.setValue(number.double != 0, forKey: name)
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date, .binary, .uuid, .uri,
            .objectID:
            do { _ = try CoreData.value(value, as: type, entity: object.entity.name ?? "", property: name) } catch {
                throw misfit(error.sentence, name, scope, isSentence: true)
            }
            object.setValue(value, forKey: name)
        }
    }

    private func relate(
        _ value: Any?, _ relationship: NSRelationshipDescription, of object: NSManagedObject, _ scope: MappingScope
    ) throws {
        guard var members = MappingValue.objects(value) else {
            throw misfit("a value of type \(value.map { "\(type(of: $0))" } ?? "nil")", relationship.name, scope)
        }
        let isAny =
            if case .manager(.related, _)? = scope.step.relationships.first(where: { $0.mapping === scope.property })?
                .value
            { true } else { false }
        if let target = relationship.destinationEntity {
            // Of several mappings of one entity those count that lead where the relationship does.
            if isAny { members = members.filter { $0.entity.isKindOf(entity: target) } }
            if let other = members.first(where: {
                !$0.entity.isKindOf(entity: target) || $0.managedObjectContext !== destinationContext
            }) {
                throw misfit(
                    "\(id(other)), which is none of the new objects of \(target.name ?? "")", relationship.name, scope)
            }
        }
        guard relationship.isToMany else { return object.setValue(members.first, forKey: relationship.name) }
        var seen: Set<NSManagedObject> = []
        let distinct = members.filter { seen.insert($0).inserted }
        object.setValue(
            relationship.isOrdered ? NSOrderedSet(array: distinct) : NSSet(array: distinct), forKey: relationship.name)
    }

    private func misfit(_ what: String, _ name: String, _ scope: MappingScope, isSentence: Bool = false) -> CocoaError {
        let entity = scope.step.destinationEntity?.name ?? ""
        let object = scope.source.map { " of \(id($0))" } ?? ""
        let sentence =
            isSentence
            ? "The mapping \(scope.step.name) cannot fill \(entity).\(name)\(object): \(what)"
            : "The mapping \(scope.step.name) gives \(entity).\(name)\(object) \(what)."
        var info: [String: Any] = [NSEntityNameErrorKey: entity, NSValidationKeyErrorKey: name]
        if let source = scope.source { info[NSAffectedObjectsErrorKey] = [source.objectID] }
        return CocoaError.coreData(134110, sentence, info)
    }

    private func id(_ object: NSManagedObject) -> String { object.objectID.uri }
}

extension MappingStep.Computed {
    /// Writes a value that the attribute can hold as it is; false for another one, which is to be converted or refused.
    fileprivate func takes(_ operand: Operand, for object: NSManagedObject) -> Bool {
        guard case .value(let value) = operand, object.writesAsUsual else { return false }
        let fits =
            switch (type, value) {
            case (.integer16, .int(let number)): Int16(exactly: number) != nil
            case (.integer32, .int(let number)): Int32(exactly: number) != nil
            case (.integer64, .int), (.double, .double), (.string, .text), (.date, .date): true
            case (_, _): false
            }
        if fits { object.setValue(value, at: to) }
        return fits
    }
}

extension NSManagedObject {
    /// Whether the values by key are those of the model.
    fileprivate final var readsAsUsual: Bool { _state.info.binding(of: type(of: self)).readsAsUsual }
    fileprivate final var writesAsUsual: Bool { _state.info.binding(of: type(of: self)).writesAsUsual }
}
