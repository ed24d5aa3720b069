// How long an asynchronous fetch goes on after it was cancelled: `swift run -c release CoreDataSetRun 1000000 cancel`.

import CoreData
import CoreDataValues
import Foundation
import Synchronization

/// When the last statement of a store ended.
final class LastStatement: Sendable {
    private let moment = Mutex(Date.distantPast)
    var trace: SQLTrace { SQLTrace { [self] _ in moment.withLock { $0 = Date() } } }
    var end: Date { moment.withLock { $0 } }
}

/// Cancels fetches of many kinds in their middle, some by their progress, and prints the times until their statements ended, and until their
/// completion blocks, before which the objects go that were made already.
struct CancelledFetches {
    let context: NSManagedObjectContext
    let statements: LastStatement

    /// What takes the time: reading rows, a function a row, sorting, and pairs of rows that no index finds.
    private static let kinds: [(name: String, format: String?, sort: String?)] = [
        ("all rows", nil, nil), ("a pattern", "name MATCHES '.*item (1|2)+x?7$'", nil), ("an order", nil, "name"),
        ("a pattern and an order", "name MATCHES '.*[0-9]+.*'", "price"),
    ]
    private static let rounds = 20

    func run() {
        for kind in Self.kinds {
            let whole = seconds(kind, cancelledAfter: nil, byProgress: false).fetch
            var times: [(statement: Double, fetch: Double)] = []
            for round in 0..<Self.rounds {
                // From the beginning of the fetch to its end.
                let moment = whole * Double(round) / Double(Self.rounds + 1)
                times.append(seconds(kind, cancelledAfter: moment, byProgress: round % 2 == 1))
            }
            print(
                "\(kind.name), \(String(format: "%.2f", whole)) s uncancelled: the statement ended after \(Self.words(times.map(\.statement))), "
                    + "the fetch after \(Self.words(times.map(\.fetch)))")
        }
    }

    private static func words(_ seconds: [Double]) -> String {
        let times = seconds.sorted().map { String(format: "%.2f", $0 * 1000) }
        return "\(times[times.count / 2]) ms (\(times[0]) to \(times[times.count - 1]))"
    }

    /// From the start to the end, or from the cancelling to the end.
    private func seconds(
        _ kind: (name: String, format: String?, sort: String?), cancelledAfter moment: Double?, byProgress: Bool
    ) -> (statement: Double, fetch: Double) {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: NSPersistentStoreAsynchronousResult?
        let start = Date()
        context.performAndWait {
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = kind.format.map { NSPredicate(format: $0) }
            request.sortDescriptors = kind.sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { _ in done.signal() }
            result = try? context.execute(asynchronous) as? NSPersistentStoreAsynchronousResult
        }
        guard let moment else {
            done.wait()
            return (0, Date().timeIntervalSince(start))
        }
        Thread.sleep(forTimeInterval: moment)
        let cancelled = Date()
        if byProgress { result?.progress?.cancel() } else { result?.cancel() }
        done.wait()
        // One that had ended before was not broken off.
        return (max(0, statements.end.timeIntervalSince(cancelled)), Date().timeIntervalSince(cancelled))
    }
}
