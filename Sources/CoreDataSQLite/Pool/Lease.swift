// A connection that somebody keeps between its uses.

import CoreDataSQL
import CoreDataValues
import Foundation
import Synchronization

/// Who has a statement running on a leased connection.
protocol LeaseUser: AnyObject {
    /// Under the lease's lock.
    func dropStatement()
}

/// Kept by a cursor, for which it counts as a reader, or by a pinned view, which has a limit of its own.
///
/// Used by one thread at a time, by whichever one; a second one waits its turn. It ends when it is told to, when its store is closed and
/// when it is let go: at once if nobody uses it, else after that use. Between its uses it holds no thread.
final class Lease: @unchecked Sendable {
    let isView: Bool
    let pool: Pool
    private let state: Mutex<State>
    private let since: UInt64
    private let running: RunningStatement
    /// Recursive, since who reads may read inside that.
    private let turn = NSRecursiveLock()
    // During a turn.
    private var connection: Connection?
    /// What is kept for a view beside its rows.
    private var hold: KeptFiles.Hold?
    private var users: [ObjectIdentifier: WeakUser] = [:]

    private struct State {
        var isEnded = false
        /// Who uses the connection or waits for his turn.
        var active = 0
        var thread: pthread_t = 0
    }

    private struct WeakUser {
        weak var user: (any LeaseUser)?
    }

    init(_ connection: Connection, of pool: Pool, isView: Bool, _ hold: KeptFiles.Hold? = nil) {
        self.pool = pool
        self.hold = hold
        self.isView = isView
        since = connection.usedSince
        running = connection.running
        self.connection = connection
        state = Mutex(State())
    }

    deinit { end() }

    var isOpen: Bool { state.withLock { !$0.isEnded } }

    /// When it was taken, in ticks, and what was run last; nil for one that has ended.
    var use: (since: UInt64, sql: String?)? {
        guard isOpen else { return nil }
        return (since, running.sql)
    }

    func isUsed(by thread: pthread_t) -> Bool { state.withLock { $0.active > 0 && $0.thread == thread } }

    /// - Throws: 134070 when it has ended, 134090 when another thread does not leave it in time: two that read, each inside its use of
    ///   one, the other's would wait for ever.
    func use<R>(_ body: (Connection) throws -> R) throws -> R {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.active += 1 }
            return state.isEnded
        }
        if isEnded { throw ReadView.closed }
        defer {
            let isLast = state.withLock { state in
                state.active -= 1
                return state.isEnded && state.active == 0
            }
            if isLast { release() }
        }
        guard turn.try() || turn.lock(before: Date(timeIntervalSinceNow: min(pool.options.connectionTimeout, 1e9)))
        else {
            throw SQLiteError.viewInUse(pool.path, pool.options.connectionTimeout)
        }
        defer { turn.unlock() }
        // An error of the disk ends a transaction; what is read after it would be another state.
        guard let connection, !isView || connection.isInTransaction else { throw ReadView.closed }
        let me = pthread_self()
        state.withLock { $0.thread = me }
        if !isView { pool.note(connection, isUsedBy: me) }
        // A use inside a use is broken off with it.
        return try connection.watch == nil ? Pool.run(body, on: connection) : body(connection)
    }

    func enter(_ user: any LeaseUser) { turn.withLock { users[ObjectIdentifier(user)] = WeakUser(user: user) } }

    func leave(_ user: any LeaseUser) {
        turn.withLock {
            users[ObjectIdentifier(user)] = nil
            user.dropStatement()
        }
    }

    /// Gives the connection back, after the uses that have begun.
    func end() {
        let isFree = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded && state.active == 0
        }
        if isFree { release() }
    }

    private func release() {
        let former = turn.withLock { () -> Connection? in
            for user in users.values { user.user?.dropStatement() }
            users = [:]
            defer { connection = nil }
            return connection
        }
        if let former { pool.checkIn(former, of: self) }
        turn.withLock { hold = nil }
    }
}
