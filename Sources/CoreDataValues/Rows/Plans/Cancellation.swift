// How a cancelled task ends the work that a store does for it.

import Foundation
import Synchronization

/// Says whether the work of one block is still wanted.
///
/// A block runs on its context's queue, outside its task, so the task's own flag is out of sight there. Stores ask the
/// `current` one while they wait and while they run a statement.
package final class Cancellation: Sendable {
    private let flag = Atomic<Bool>(false)
    /// Whether the block will write, in its turn: what it reads may come over the connection that writes.
    package let isOfWriter: Bool

    package init(isOfWriter: Bool = false) { self.isOfWriter = isOfWriter }

    package var isCancelled: Bool { flag.load(ordering: .relaxed) }
    package func cancel() { flag.store(true, ordering: .relaxed) }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    package func throwIfCancelled() throws { if isCancelled { throw CancellationError() } }

    /// The one of the block that this thread runs, nil if no task waits for it.
    package static var current: Cancellation? {
        guard let pointer = pthread_getspecific(key) else { return nil }
        return Unmanaged<Cancellation>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Runs a block with this as the current one.
    package func covering<R>(_ body: () throws -> R) rethrows -> R {
        let former = pthread_getspecific(Self.key)
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, former) }
        return try body()
    }
}

/// What a walk over rows in memory asks at each of them, so that a cancelled task ends it.
package struct Interruption {
    private let cancellation = Cancellation.current

    package init() {}

    /// - Throws: `CancellationError` when the task that waits for the walk was cancelled.
    package func look() throws {
        if let cancellation, cancellation.isCancelled { throw CancellationError() }
    }
}
