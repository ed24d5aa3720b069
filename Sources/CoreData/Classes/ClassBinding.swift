// A managed object class bound to an entity: how its objects are made, and which slots its accessors use.

import CoreDataValues
import Foundation

/// A managed object class bound to an entity.
final class ClassBinding: @unchecked Sendable {
    let type: NSManagedObject.Type
    /// The entity's slot for each slot of the class, -1 if none fits; nil if accessors can use their own numbers.
    let slots: [Int]?
    /// The same for to-manys; nil also for a class that names none.
    let toManys: [Int]?
    /// Whether the class does not override `awakeFromFetch`, so that it need not be called.
    let sleepsThroughFetch: Bool
    /// Whether the class overrides the validation of single values.
    let validatesByKey: Bool
    /// Whether the class overrides `validateForUpdate()`.
    let validatesUpdates: Bool
    /// Whether the class does not override `value(forKey:)`.
    let readsAsUsual: Bool
    /// Whether the class does not override `setValue(_:forKey:)`.
    let writesAsUsual: Bool
    /// The initialiser of a subclass; nil for `NSManagedObject` itself.
    let initializer: ClassInitializer?

    init(_ type: NSManagedObject.Type, for entity: Entity) {
        self.type = type
        initializer = type == NSManagedObject.self ? nil : ClassInitializer(type)
        sleepsThroughFetch = ManagedObjectClasses.inheritsAwakeFromFetch(type)
        validatesByKey = !ManagedObjectClasses.inheritsValidation(type)
        validatesUpdates = !ManagedObjectClasses.inheritsUpdateValidation(type)
        readsAsUsual = ManagedObjectClasses.inheritsReading(type)
        writesAsUsual = ManagedObjectClasses.inheritsWriting(type)
        guard let keys = AccessorKeys(of: type) else {
            slots = nil
            toManys = nil
            return
        }
        let isStale = !keys.fit(entity)
        if isStale { misplaced(type, entity.name) }
        // Defaults of transient attributes are in no row, so accessors may not read it directly.
        let goesAround = isStale || entity.hasTransientDefaults
        slots = goesAround ? keys.slots(of: entity) : nil
        toManys = goesAround && !keys.toManys.isEmpty ? keys.toManyPlaces(of: entity) : nil
    }

    /// The class, if its accessors can use their own slot numbers.
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
