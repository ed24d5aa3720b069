// The one use of a store that nobody shares.

import CoreDataValues

extension Pool {
    /// Ends and waits for everything as `close()` does, then gives the only connection there is. Where `body` throws, the pool is open
    /// again, else it stays closed.
    ///
    /// - Throws: 134090 when work did not end in time, 134070 for a pool that is closed.
    func alone(_ body: (Connection) throws -> Void) throws {
        let wasOpen = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard wasOpen else { throw SQLiteError.closed(path) }
        do {
            try close()
            // Who reads and asks for this meanwhile would wait for himself.
            guard state.withLock({ $0.isIdle }) else { throw SQLiteError.stillUsed(path, 0) }
            let connection = try further.writer()
            defer { connection.close() }
            try body(connection)
        } catch {
            state.withLock { $0.isClosed = false }
            throw error
        }
    }
}
