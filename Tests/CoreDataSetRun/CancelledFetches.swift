// How long an asynchronous fetch goes on after it was cancelled: `swift run -c release CoreDataSetRun 1000000 cancel`.

import CoreData
import CoreDataValues
import Foundation

/// Cancels fetches of many kinds in their middle, some by their progress, and prints the times until their completion blocks.
struct CancelledFetches {
    let context: NSManagedObjectContext

    /// What takes the time: reading rows, a function a row, sorting, and pairs of rows that no index finds.
    private static let kinds: [(name: String, format: String?, sort: String?)] = [
        ("all rows", nil, nil), ("a pattern", "name MATCHES '.*item (1|2)+x?7$'", nil), ("an order", nil, "name"),
        ("a pattern and an order", "name MATCHES '.*[0-9]+.*'", "price"),
    ]
    private static let rounds = 20

    func run() {
        for kind in Self.kinds {
            let whole = seconds(kind, cancelledAfter: nil, byProgress: false)
            var times: [Double] = []
            for round in 0..<Self.rounds {
                // From the beginning of the fetch to its end.
                let moment = whole * Double(round) / Double(Self.rounds + 1)
                times.append(seconds(kind, cancelledAfter: moment, byProgress: round % 2 == 1) * 1000)
            }
            times.sort()
            let words = [times[0], times[times.count / 2], times[times.count - 1]].map { String(format: "%.2f", $0) }
            print(
                "\(kind.name), \(String(format: "%.2f", whole)) s uncancelled: ended after \(words[0]) ms at least, \(words[1]) in the middle, "
                    + "\(words[2]) at most")
        }
    }

    /// From the start to the end, or from the cancelling to the end.
    private func seconds(
        _ kind: (name: String, format: String?, sort: String?), cancelledAfter moment: Double?, byProgress: Bool
    ) -> Double {
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
            return Date().timeIntervalSince(start)
        }
        Thread.sleep(forTimeInterval: moment)
        let cancelled = Date()
        if byProgress { result?.progress?.cancel() } else { result?.cancel() }
        done.wait()
        return Date().timeIntervalSince(cancelled)
    }
}
