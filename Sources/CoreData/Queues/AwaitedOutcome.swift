// What became of a block that a task awaits.

import CoreDataValues
import Foundation

/// What became of a block that a task awaits.
enum AwaitedOutcome<R>: @unchecked Sendable {
    case done(R)
    /// It did not begin, since other blocks had the context's turn or all places.
    case isTaken
    case isCancelled, isLate

    init(_ admission: Admission, _ work: () -> AwaitedOutcome<R>) {
        switch admission {
        case .admitted: self = work()
        case .isCancelled: self = .isCancelled
        case .isLate: self = .isLate
        }
    }

    /// - Throws: `CancellationError`, or 134090 for a block that has waited for too long.
    func value(patience: UInt64?) throws -> R {
        switch self {
        case .done(let result): return result
        case .isLate:
            throw CocoaError.coreData(
                134090,
                "A block of read(_:) or write(_:) did not begin within \(Double(patience ?? 0) / 1e9) seconds, since as many ran as may "
                    + "run at once. Let blocks be shorter or callers fewer, raise NSManagedObjectContext.maximumActiveContexts if blocks wait "
                    + "for something else than the store, or raise SQLiteConnectionTimeoutOption.")
        case .isTaken, .isCancelled: throw CancellationError()
        }
    }
}
