// A key that tells the main queue from every other (`Thread.isMainThread` is false after the first `await` of an async main).

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A key that tells the main queue from every other (`Thread.isMainThread` is false after the first `await` of an async main).
enum MainQueue {
    private static let key = DispatchSpecificKey<Bool>()
    private static let marked: Void = DispatchQueue.main.setSpecific(key: key, value: true)

    static func mark() { _ = marked }

    /// Whether the caller runs on the main queue, in a block called from there, or on the main thread of a plain script.
    static var isCurrent: Bool { isMainActor || TurnWaits.isMainHeld }

    /// Whether the caller runs on the main actor.
    static var isMainActor: Bool {
        mark()
        return DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread
    }
}
