// `T(context:)`, also for a class that is known only when the program runs.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// Carries `init(context:)` to every managed object class.
///
/// A class's own initialiser could be called in generic code and of a class in a variable only if it were `required`, which would
/// break subclasses that declare others (Decisions/0001); one that a protocol brings can.
public protocol ManagedObjectMaking {}

extension NSManagedObject: ManagedObjectMaking {}

extension ManagedObjectMaking where Self: NSManagedObject {
    /// Makes an object of the entity whose class this is, and inserts it.
    ///
    /// Calls `init(entity:insertInto:)`, also one that a subclass has overridden. A class of which the context's model has no entity
    /// is a misuse.
    public init(context: NSManagedObjectContext) {
        self.init(in: Unmanaged.passUnretained(context).toOpaque(), by: insertedObject)
    }

    /// Has `make` called with the context and the class that the object is to be of.
    ///
    /// `Self` is what the compiler knows: `NSManagedObject`, where `type.init(context:)` is called of an `NSManagedObject.Type`. The
    /// class itself comes as the hidden argument that Swift gives to an initialiser, which only a function in C can look at.
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
