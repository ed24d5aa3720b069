// What attributes with values of their own kind add to the facts of an entity.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension EntityInfo {
    /// Whether an object cannot be saved with nil in a slot.
    func needsValue(_ slot: Int) -> Bool { entity.slots[slot].isRequired || requiredTransients.contains(slot) }

    /// The property that a slot belongs to: of an element, the composite attribute.
    func description(ofSlot slot: Int) -> NSPropertyDescription? {
        description.propertiesByName[entity.slots[slot].composite ?? entity.slots[slot].name]
    }

    /// What is kept for an object's relationships: one place for each to-many, then one for each fetched property, and one
    /// for targets that were read beforehand.
    var relationshipStateCount: Int { entity.toMany.count + entity.fetchedProperties.count + 1 }

    /// The default as a new object takes it. Of values that are kept as objects it is the archive.
    static func initialValue(_ attribute: Attribute, of entity: String) -> Value? {
        let value = attribute.defaultValue
        if attribute.type == .transformable, case .text(let text) = value {
            return (try? Transformation(attribute, of: entity).data(of: text)).map { .data($0) }
        }
        guard SlotKind(attribute) == .transformable, attribute.type != .transformable else { return value }
        return value.object.flatMap { try? KeyedArchive.data(of: $0) }.map { .data($0) }
    }

    static func transientDefaults(_ entity: Entity, _ defaults: [(slot: Int, value: Value)]) -> Overlay? {
        guard entity.hasTransientDefaults else { return nil }
        let overlay = Overlay.allocate(entity.layout)
        for (slot, value) in defaults where entity.slots[slot].isTransient {
            overlay.put(value, slot, entity.slots[slot].kind)
        }
        return overlay
    }

    /// Whether an object that was not given a value for a slot shows a transient attribute's default.
    func hasTransientDefault(_ slot: Int) -> Bool { transientDefaults?.isPresent(slot) == true }

    /// Where a transient attribute that was not set has its value.
    func transientDefault(_ slot: Int) -> NSManagedObject.Source {
        guard let defaults = transientDefaults, defaults.isPresent(slot), !defaults.isNull(slot) else { return .null }
        return .overlay(defaults)
    }
}

extension Entity {
    /// Whether transient attributes have defaults.
    var hasTransientDefaults: Bool {
        slots.contains { $0.isTransient && $0.attribute?.defaultValue.isNull == false }
    }
}

extension ModelRuntime {
    /// Whether any entity has stored values that are objects in memory.
    static func hasTransformables(_ infos: [EntityInfo]) -> Bool { infos.contains { !$0.transformables.isEmpty } }
}
