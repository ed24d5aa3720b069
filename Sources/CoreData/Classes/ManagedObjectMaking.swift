// `T(context:)`, also for a class known only at run time.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// Gives `init(context:)` to every managed object class.
///
/// Generic code and metatype variables can call a class's own initialiser only if it is `required`, which would break
/// subclasses that declare others (Decisions/0001). An initialiser of a protocol extension has no such limit.
public protocol ManagedObjectMaking {}

extension NSManagedObject: ManagedObjectMaking {}

extension ManagedObjectMaking where Self: NSManagedObject {
    /// Makes an object of the class's entity and inserts it.
    ///
    /// Calls `init(entity:insertInto:)`, also a subclass's override. A class without an entity in the context's model
    /// is a misuse.
    public init(context: NSManagedObjectContext) {
        self.init(in: Unmanaged.passUnretained(context).toOpaque(), by: insertedObject)
    }

    /// Calls `make` with the context and the dynamic class of the object.
    ///
    /// `Self` is the static type: `NSManagedObject` for `type.init(context:)` on an `NSManagedObject.Type`. Swift
    /// passes the dynamic class as a hidden argument of the initialiser, which only C can read.
    @_silgen_name("coredata_make_object")
    private init(
        in context: UnsafeMutableRawPointer,
        by make: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> UnsafeMutableRawPointer)
}

/// - Returns: the object, retained.
private func insertedObject(_ context: UnsafeMutableRawPointer, _ type: UnsafeMutableRawPointer)
    -> UnsafeMutableRawPointer
{
    let type = unsafeBitCast(type, to: NSManagedObject.Type.self)
    let context = Unmanaged<NSManagedObjectContext>.fromOpaque(context).takeUnretainedValue()
    let info = context.info(for: type)
    guard let initializer = info.binding(of: type).initializer else {
        return Unmanaged.passRetained(NSManagedObject(entity: info.description, insertInto: context)).toOpaque()
    }
    return initializer.make(info.description, in: context)
}
