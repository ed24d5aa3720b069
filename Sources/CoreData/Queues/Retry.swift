// When a block that met a conflict runs again.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// When a block that met a conflict runs again.
enum Retry {
    static let limit = 10

    static func isConflict(_ error: any Error) -> Bool {
        guard let error = error as? CocoaError else { return false }
        return error.code == .managedObjectMerge && error.unmetExpectations.isEmpty
            || error.code == .managedObjectConstraintMerge
    }

    /// Twice as long each time, and never quite: two writers that met must not meet again.
    static func pause(before retry: Int) -> Duration { .milliseconds(1 << (retry - 1)) * Double.random(in: 0.5...1) }
}
