// Calls `init(entity:insertInto: nil)` of a subclass.

import CCoreDataRuntime
import CoreDataValues
import Foundation

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
