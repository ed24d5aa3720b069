// Which statement a connection has run last, for whoever asks from outside.

import Synchronization

/// Any thread may ask for the text; the statement is not kept for it.
final class RunningStatement: @unchecked Sendable {
    let current = Atomic<UnsafeMutableRawPointer?>(nil)
    /// Held while a statement goes, or is asked for its text.
    private let lock = Mutex<Void>(())

    /// The statement is about to be gone.
    func forget(_ statement: Statement) {
        let place = Unmanaged.passUnretained(statement).toOpaque()
        lock.withLock { _ in
            if current.load(ordering: .relaxed) == place { current.store(nil, ordering: .relaxed) }
        }
    }

    /// nil when the last one is gone.
    var sql: String? {
        lock.withLock { _ in
            current.load(ordering: .acquiring).map { place in
                Unmanaged<Statement>.fromOpaque(place)._withUnsafeGuaranteedRef { $0.sql }
            }
        }
    }
}
