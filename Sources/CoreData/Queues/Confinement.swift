// The check that a context and its objects are used on the context's queue only.

import CoreDataValues
import CCoreDataRuntime
import Dispatch
import Foundation

/// Traps when an object or a context is used from the wrong queue (11.1).
///
/// On in debug builds. `-com.apple.CoreData.ConcurrencyDebug 1` among the arguments, or the environment variable
/// `com.apple.CoreData.ConcurrencyDebug=1`, switches it on in release builds; `0` switches it off. Objects made while
/// it is on carry a bit that takes their reads off the fast path, so that the check costs nothing while it is off.
package enum Confinement {
    /// Changing it concerns only objects made from then on.
    package static var isChecked: Bool {
        get { coredata_checked_bit() != 0 }
        set { coredata_check_queues(newValue ? 1 : 0) }
    }

    @inline(never)
    static func trap(_ context: NSManagedObjectContext, _ object: NSManagedObject?) -> Never {
        let what = object.map { "The object \($0.objectID) was touched" } ?? "A managed object context was used"
        let owner = context.name.map { "the context \"\($0)\"" } ?? "its context"
        let home =
            switch context.concurrencyType {
            case .mainQueueConcurrencyType: "the main queue"
            case .privateQueueConcurrencyType, .confinementConcurrencyType: "the private queue CoreData.context"
            }
        let cure =
            object == nil
            ? "Wrap the call in perform or performAndWait of that context."
            : "Wrap the access in perform or performAndWait of that context, or hand over the objectID and ask the context "
                + "of this queue for it."
        misuse(
            "\(what) from the wrong queue (\(here)): \(owner) belongs to \(home). \(cure) "
                + "-com.apple.CoreData.ConcurrencyDebug 0 switches this check off.")
    }

    /// The queue or thread of the caller.
    private static var here: String {
        if MainQueue.isCurrent { return "the main queue" }
        let label = String(cString: coredata_queue_label())
        let thread = Thread.current.name ?? ""
        return label.isEmpty ? "the thread \(thread.isEmpty ? "\(Thread.current)" : thread)" : "the queue \(label)"
    }
}

extension NSManagedObjectContext {
    /// Traps if the caller does not hold the context, while the check is on.
    @inline(__always)
    final func checkQueue() {
        if coredata_checked_bit() != 0 { checkHolder(nil) }
    }

    @inline(never)
    final func checkHolder(_ object: NSManagedObject?) {
        if !isHeldByCaller { Confinement.trap(self, object) }
    }
}

extension NSManagedObject {
    /// Traps if the caller does not hold the object's context, while the check is on. An object without a context may
    /// be used anywhere.
    @inline(__always)
    final func checkQueue() {
        if _state.pointee.slow & SlowReason.checked != 0 { checkHolder() }
    }

    @inline(never)
    final func checkHolder() {
        guard coredata_checked_bit() != 0, !_state.has(.detached) else { return }
        _state.identityMap?.context?.checkHolder(self)
    }
}
