// Those who read a controller's changes as a sequence.

import Foundation
import Synchronization

/// Those who read a controller's changes as a sequence.
final class FetchedReaders: Sendable {
    private struct Open {
        var next = 0
        var continuations: [Int: AsyncStream<FetchedResultsChanges>.Continuation] = [:]
    }
    private let open = Mutex(Open())

    var isEmpty: Bool { open.withLock { $0.continuations.isEmpty } }

    func stream() -> AsyncStream<FetchedResultsChanges> {
        let (stream, continuation) = AsyncStream.makeStream(of: FetchedResultsChanges.self)
        let number = open.withLock { open in
            open.next += 1
            open.continuations[open.next] = continuation
            return open.next
        }
        continuation.onTermination = { [weak self] _ in self?.leave(number) }
        return stream
    }

    private func leave(_ number: Int) {
        _ = open.withLock { $0.continuations.removeValue(forKey: number) }
    }

    func tell(_ changes: FetchedResultsChanges) {
        let all = open.withLock { Array($0.continuations.values) }
        for continuation in all { continuation.yield(changes) }
    }

    deinit {
        let all = open.withLock { Array($0.continuations.values) }
        for continuation in all { continuation.finish() }
    }
}
