// When a block runs again after a conflict.

import CoreDataValues
import Foundation

/// When a block runs again after a conflict.
enum Retry {
    static let limit = 10

    static func isConflict(_ error: any Error) -> Bool {
        guard let error = error as? CocoaError else { return false }
        return error.code == .managedObjectMerge && error.unmetExpectations.isEmpty
            || error.code == .managedObjectConstraintMerge
    }

    /// Doubles with each retry and is partly random, so that two writers that met do not meet again.
    static func pause(before retry: Int) -> Duration { .milliseconds(1 << (retry - 1)) * Double.random(in: 0.5...1) }
}
