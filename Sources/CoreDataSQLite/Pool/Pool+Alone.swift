// The one use of a store that nobody shares.

import CoreDataValues

extension Pool {
    /// Ends and waits for everything as `close()` does, then gives the only connection there is. Where `body` throws, the pool is open
    /// again unless somebody closed it meanwhile, who waited for this; else it stays closed.
    ///
    /// - Throws: 134090 when work did not end in time, 134070 for a pool that is closed.
    func alone(_ body: (Connection) throws -> Void) throws {
        let (wasOpen, first) = state.withLock { state in
            defer { (state.isClosed, state.reopens) = (true, !state.isClosed || state.reopens) }
            // The first connection serves, where nobody has written yet.
            return (!state.isClosed, state.isClosed ? nil : state.removeWritable())
        }
        guard wasOpen else { throw SQLiteError.closed(path) }
        defer { first?.close() }
        do {
            try end()
            try useAlone(first, body)
        } catch {
            state.withLock { state in
                if state.reopens { state.isClosed = false }
                state.reopens = false
            }
            throw error
        }
        state.withLock { $0.reopens = false }
    }

    private func useAlone(_ first: Connection?, _ body: (Connection) throws -> Void) throws {
        // Who reads and asks for this meanwhile would wait for himself.
        let isAlone = state.withLock { state in
            if state.isIdle { state.isDismissing = true }
            return state.isIdle
        }
        guard isAlone else { throw SQLiteError.stillUsed(path, 0) }
        defer {
            let closers = state.withLock { state in
                state.isDismissing = false
                return state.admitClosers()
            }
            for closer in closers { closer.wake() }
        }
        let connection = try first ?? further.writer()
        defer { connection.close() }
        try body(connection)
    }
}
