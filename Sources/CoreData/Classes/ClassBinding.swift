// A managed object class and an entity: how objects of the class are made, and where its accessors find their values.

import CoreDataValues
import Foundation

/// A managed object class bound to an entity.
final class ClassBinding: @unchecked Sendable {
    let type: NSManagedObject.Type
    /// The class's slot numbers translated to the entity's, -1 where it has nothing that fits; nil when reads may go straight to a slot.
    let slots: [Int]?
    /// The same for the numbers of its to-manys; nil for a class that does not name them.
    let toManys: [Int]?
    /// Whether the class leaves `awakeFromFetch` as it is, so that calling it can be spared.
    let sleepsThroughFetch: Bool
    /// Whether the class checks single values by itself.
    let validatesByKey: Bool
    /// Whether the class checks changed objects by itself.
    let validatesUpdates: Bool
    /// How objects of a subclass are made; nil for `NSManagedObject` itself.
    let initializer: ClassInitializer?

    init(_ type: NSManagedObject.Type, for entity: Entity) {
        self.type = type
        initializer = type == NSManagedObject.self ? nil : ClassInitializer(type)
        sleepsThroughFetch = ManagedObjectClasses.inheritsAwakeFromFetch(type)
        validatesByKey = !ManagedObjectClasses.inheritsValidation(type)
        validatesUpdates = !ManagedObjectClasses.inheritsUpdateValidation(type)
        guard let keys = AccessorKeys(of: type) else {
            slots = nil
            toManys = nil
            return
        }
        let isStale = !keys.fit(entity)
        if isStale { misplaced(type, entity.name) }
        // Defaults of transient attributes stand in no row, so reads may not go straight there.
        let goesAround = isStale || entity.hasTransientDefaults
        slots = goesAround ? keys.slots(of: entity) : nil
        toManys = goesAround && !keys.toManys.isEmpty ? keys.toManyPlaces(of: entity) : nil
    }

    /// The class, if its accessors may go straight to their slots.
    var straightClass: UnsafeRawPointer? { slots == nil ? unsafeBitCast(type, to: UnsafeRawPointer.self) : nil }

    @inline(__always)
    func make(_ description: NSEntityDescription) -> NSManagedObject {
        guard let initializer else { return NSManagedObject(entity: description, insertInto: nil) }
        return initializer.make(description)
    }
}

private func misplaced(_ type: NSManagedObject.Type, _ entity: String) {
    warn(
        "\(type) was made for other properties than the model's entity \(entity) has; "
            + "its accessors go by name, which is slower. Generate it again.")
}
