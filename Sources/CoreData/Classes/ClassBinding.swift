// A managed object class bound to an entity: how its objects are made, and which slots its accessors use.

import CCoreDataRuntime
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

/// Calls `init(entity:insertInto: nil)` of a subclass.
///
/// A `required` initialiser would break subclasses that declare others, so the designated one is called through its
/// vtable entry (Decisions/0001).
struct ClassInitializer {
    private let function: UnsafeMutableRawPointer
    private let metadata: UnsafeMutableRawPointer

    init(_ type: NSManagedObject.Type) {
        let words = unsafeBitCast(type as AnyClass, to: UnsafeMutablePointer<UnsafeMutableRawPointer?>.self)
        guard let slot = ManagedObjectClasses.initializerSlot, let function = words[slot] else {
            misuse(
                "This Swift runtime lays classes out in a way CoreData does not know; "
                    + "\(type) cannot be made from a fetch.")
        }
        self.function = function
        metadata = UnsafeMutableRawPointer(words)
    }

    @inline(__always)
    func make(_ description: NSEntityDescription) -> NSManagedObject { make(.passRetained(description)) }

    /// Makes an object inserted into a context and returns it retained.
    @inline(__always)
    func make(_ description: NSEntityDescription, in context: NSManagedObjectContext) -> UnsafeMutableRawPointer {
        let description = Unmanaged.passRetained(description).toOpaque()
        let context = Unmanaged.passRetained(context).toOpaque()
        guard let object = coredata_call_initializer(function, description, context, metadata) else {
            misuse("init(entity:insertInto:) answered nothing.")
        }
        return object
    }

    /// - Parameter description: retained for the initialiser, which consumes it.
    @inline(__always)
    func make(_ description: Unmanaged<NSEntityDescription>) -> NSManagedObject {
        let object = coredata_call_initializer(function, description.toOpaque(), nil, metadata)
        guard let object else { misuse("init(entity:insertInto:) answered nothing.") }
        return Unmanaged<NSManagedObject>.fromOpaque(object).takeRetainedValue()
    }
}

private func misplaced(_ type: NSManagedObject.Type, _ entity: String) {
    warn(
        "\(type) was made for other properties than the model's entity \(entity) has; "
            + "its accessors go by name, which is slower. Generate it again.")
}
