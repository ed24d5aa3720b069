// How a pool is closed: whoever leaves last closes the connections, the writer as the last one.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension Pool {
    /// Refuses new work, ends cursors that are paused and views that nobody reads, waits until the work that has begun is done, and
    /// closes the file.
    ///
    /// - Throws: 134090 when work did not end in time. The store stays closed to new work; its file is closed when that
    ///   work ends.
    func close() throws {
        state.withLock { $0.reopens = false }
        try end()
    }

    func end() throws {
        let (refused, leases) = state.withLock { state in
            state.isClosed = true
            let refused = state.readersInLine + state.writersInLine + state.viewsInLine
            (state.readersInLine, state.writersInLine, state.viewsInLine) = ([], [], [])
            return (refused, state.leases.values.compactMap(\.lease))
        }
        for waiter in refused { waiter.wake() }
        for lease in leases { lease.end() }
        let waiter = Waiter()
        let isUsedHere = leases.contains { $0.isUsed(by: pthread_self()) }
        let (dismissed, isDone) = state.withLock { state in
            let dismissed = state.removeConnectionsIfDone()
            let isDone =
                state.isIdle && (!dismissed.isEmpty || !state.isDismissing) || isUsedHere
                || state.isUsed(by: pthread_self())
            if !isDone { state.closing.append(waiter) }
            return (dismissed, isDone)
        }
        dismiss(dismissed)
        if isDone || waiter.wait(seconds: options.connectionTimeout) { return }
        state.withLock { $0.closing.removeAll { $0 === waiter } }
        throw SQLiteError.stillUsed(path, options.connectionTimeout)
    }

    /// Closes connections in their order, the writer last, so that it moves the log into the file.
    func dismiss(_ connections: [Connection]) {
        guard !connections.isEmpty else { return }
        for connection in connections { connection.close() }
        let woken = state.withLock { state in
            state.isDismissing = false
            return state.admitClosers()
        }
        for waiter in woken { waiter.wake() }
    }
}

extension Pool.State {
    /// All connections of a closed store once nobody uses one.
    mutating func removeConnectionsIfDone() -> [Connection] {
        guard isClosed, isIdle else { return [] }
        let all = removeConnections()
        if !all.isEmpty { isDismissing = true }
        return all
    }

    /// Those that only read first.
    mutating func removeConnections() -> [Connection] {
        let all = idle.filter { !$0.isWritable } + idle.filter { $0.isWritable } + (writer.map { [$0] } ?? [])
        (idle, writer) = ([], nil)
        return all
    }

    mutating func admitClosers() -> [Waiter] {
        guard isClosed, isIdle, !isDismissing else { return [] }
        defer { closing = [] }
        return closing.map { $0.admit() }
    }
}
