// Connections that are kept between their uses.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension Pool {
    /// A lease as the pool knows it.
    struct KnownLease {
        weak var lease: Lease?
    }

    /// Whether readers that stay are in nobody's way: not in a store in memory, and not where the program asks for another journal
    /// than the write-ahead log.
    var pinsViews: Bool {
        !isSingle
            && options.pragmas.allSatisfy { $0.key.lowercased() != "journal_mode" || $0.value.lowercased() == "wal" }
    }

    /// How many views are pinned now.
    var pinnedViews: Int { state.withLock { $0.views } }

    /// A reader for a cursor.
    func leaseReader() throws -> Lease { known(Lease(try checkOutReader(), of: self, isView: false)) }

    /// A connection with a transaction that sees the state of this moment; nil where the file has no write-ahead log, so that a
    /// transaction would keep all writers out, unless that is wanted.
    func leaseView(keepsWritersOut: Bool = false) throws -> Lease? {
        let connection = try checkOutView()
        // Before the moment is fixed, so that what is given up after it waits.
        let hold = keptFiles?.hold()
        do {
            try connection.run("BEGIN")
            // What fixes the moment is the first read.
            try connection.run("SELECT COUNT(*) FROM sqlite_master")
            if try keepsWritersOut || connection.run("PRAGMA journal_mode") == "wal" {
                return known(Lease(connection, of: self, isView: true, hold))
            }
        } catch {
            checkInView(connection)
            throw error
        }
        checkInView(connection)
        return nil
    }

    private func known(_ lease: Lease) -> Lease {
        let isClosed = state.withLock { state in
            state.leases[ObjectIdentifier(lease)] = KnownLease(lease: lease)
            return state.isClosed
        }
        if isClosed { lease.end() }
        return lease
    }

    /// - Throws: 134090 when as many views are pinned as may be and none goes in time.
    private func checkOutView() throws -> Connection {
        switch state.withLock({ $0.reserveView(limit: options.pinnedViewLimit) }) {
        case .connection(let connection): return nested(connection)
        case .closed: throw SQLiteError.closed(path)
        case .free: break
        case .inLine(let waiter):
            try wait(for: waiter, in: \.viewsInLine) {
                SQLiteError.tooManyViews(path, options.pinnedViewLimit, options.connectionTimeout)
            }
        }
        do { return nested(try state.withLock { $0.removeIdleReader() } ?? further.reader()) } catch {
            checkInView(nil)
            throw error
        }
    }

    /// Statements of a view run inside each other.
    private func nested(_ connection: Connection) -> Connection {
        connection.isNested = true
        connection.usedSince = coredata_ticks()
        return connection
    }

    /// A cursor may be pulled by another thread than before.
    func note(_ reader: Connection, isUsedBy thread: pthread_t) {
        // Nobody else changes it.
        if reader.thread != thread { state.withLock { _ in reader.thread = thread } }
    }

    func checkIn(_ connection: Connection, of lease: Lease) {
        state.withLock { $0.leases[ObjectIdentifier(lease)] = nil }
        if lease.isView { checkInView(connection) } else { checkIn(connection) }
    }

    /// With the last view the log is emptied, as soon as nobody reads.
    private func checkInView(_ connection: Connection?) {
        if let connection {
            _ = try? connection.run("ROLLBACK")
            connection.isNested = false
        }
        let departure: Departure = state.withLock { state in
            var departure = Departure()
            if let connection { state.keep(connection, limit: options.idleReaders) }
            if !state.viewsInLine.isEmpty {
                departure.woken = [state.viewsInLine.removeFirst().admit()]
                return departure
            }
            state.views -= 1
            if state.views == 0, let writer = state.writer, writer.log.pages > 0 { state.isLogLong = true }
            if state.reading == 0 { state.end(of: &departure) }
            return departure
        }
        carryOut(departure)
    }
}
