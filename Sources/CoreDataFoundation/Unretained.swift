// A reference that keeps nothing alive and costs its object nothing.

import CCoreDataRuntime

/// Points at an object without retaining it, and answers nil once the object is going.
///
/// Swift's `weak` gives its object a side table, which makes every later retain and release of it three to four times as
/// expensive. Contexts, entity descriptions and stores are retained on every path, so they must never be referenced weakly.
@propertyWrapper
package struct Unretained<Object: AnyObject> {
    private var reference: Reference?

    /// Holds the object's memory, so that asking for it stays safe.
    private final class Reference {
        let pointer: UnsafeMutableRawPointer
        init(_ object: AnyObject) {
            pointer = Unmanaged.passUnretained(object).toOpaque()
            coredata_unowned_retain(pointer)
        }
        deinit { coredata_unowned_release(pointer) }
    }

    package init(wrappedValue: Object?) { reference = wrappedValue.map { Reference($0) } }

    package var wrappedValue: Object? {
        get {
            guard let reference, let object = coredata_try_retain(reference.pointer) else { return nil }
            return Unmanaged<Object>.fromOpaque(object).takeRetainedValue()
        }
        set { reference = newValue.map { Reference($0) } }
    }
}
