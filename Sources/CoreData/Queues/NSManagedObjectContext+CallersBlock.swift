// The context whose block the caller runs.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The context that is asked: the one that is given, or the one whose block runs.
    static func asked(_ context: NSManagedObjectContext?, for type: NSManagedObject.Type) -> NSManagedObjectContext {
        guard let context = context ?? executing else {
            misuse(
                "Objects of \(type) were asked for outside the block of any context. Name one by in:, or ask inside its perform."
            )
        }
        return context
    }

    /// The context whose block the caller's thread runs, the innermost one; nil outside all.
    static var executing: NSManagedObjectContext? {
        var holder = coredata_current_holder()
        while let current = holder {
            if current.pointee.context != TurnWaits.mainMark {
                return Unmanaged<NSManagedObjectContext>.fromOpaque(current.pointee.context).takeUnretainedValue()
            }
            holder = current.pointee.outer
        }
        return nil
    }
}
