// How many objects an asynchronous fetch has found so far.

import CoreDataValues
import Foundation

/// How many objects an asynchronous fetch has found so far.
final class FetchProgress {
    private let progress: Progress

    init(_ progress: Progress) { self.progress = progress }

    /// More than were expected leave the number unknown, until all are there.
    func add(_ count: Int) {
        let found = progress.completedUnitCount + Int64(count)
        if progress.totalUnitCount < found { progress.totalUnitCount = -1 }
        progress.completedUnitCount = found
    }
}
