// Facts of an entity about transient, composite and transformable attributes.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension EntityInfo {
    /// Whether an object cannot be saved with nil in a slot.
    func needsValue(_ slot: Int) -> Bool { entity.slots[slot].isRequired || requiredTransients.contains(slot) }

    /// The property that a slot belongs to; for an element, the composite attribute.
    func description(ofSlot slot: Int) -> NSPropertyDescription? {
        description.propertiesByName[entity.slots[slot].composite ?? entity.slots[slot].name]
    }

    /// How many places an object has for relationships: one for each to-many and fetched property, and one for
    /// prefetched targets.
    var relationshipStateCount: Int { entity.toMany.count + entity.fetchedProperties.count + 1 }

    /// The default value as it is stored; an archive for values that are kept as objects.
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

    /// Whether a transient attribute has a default, which objects without a value show.
    func hasTransientDefault(_ slot: Int) -> Bool { transientDefaults?.isPresent(slot) == true }

    /// The source of a transient attribute that was not set.
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
    /// Whether any entity has stored attributes whose values are kept as objects.
    static func hasTransformables(_ infos: [EntityInfo]) -> Bool { infos.contains { !$0.transformables.isEmpty } }
}
