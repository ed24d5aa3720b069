// Slow waits, of which a line a second is written.

#if Log
import CoreData
import Synchronization

/// Counts slow waits between two lines of the log: a service under too much load would else write a line a request and be slower still.
final class SlowWaits: Sendable {
    private struct Tally {
        var count = 0
        var longest = Duration.zero
        var nextLine: ContinuousClock.Instant?
    }
    private let tallies = Mutex<[CoreDataEvent.Wait.Purpose: Tally]>([:])

    /// Counts a wait. Answers those since the last line of their purpose when the next one is due; the first one is due at once.
    func add(_ wait: CoreDataEvent.Wait) -> (count: Int, longest: Duration)? {
        let now = ContinuousClock.now
        return tallies.withLock { tallies in
            var tally = tallies[wait.purpose] ?? Tally()
            defer { tallies[wait.purpose] = tally }
            tally.count += 1
            tally.longest = max(tally.longest, wait.duration)
            if let next = tally.nextLine, now < next { return nil }
            defer { tally = Tally(nextLine: now + .seconds(1)) }
            return (tally.count, tally.longest)
        }
    }
}
#endif
