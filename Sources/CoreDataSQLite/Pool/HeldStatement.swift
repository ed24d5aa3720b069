// A statement half-way through its rows.

import CoreDataSQL
import CoreDataValues
import Foundation

/// A statement that runs on a leased connection: one of its own, or that of a pinned view.
final class HeldStatement: HeldResult, LeaseUser, @unchecked Sendable {
    private let lease: Lease
    private let ownsLease: Bool
    // Under the lease's lock.
    private var statement: (any SQLResult)?
    /// Statements do not retain theirs.
    private var connection: Connection?

    /// - Parameter ready: makes the statement ready.
    init(_ lease: Lease, ownsLease: Bool, _ ready: (any SQLReading) throws -> any SQLResult) throws {
        self.lease = lease
        self.ownsLease = ownsLease
        try lease.use { connection in
            (statement, self.connection) = (try ready(connection), connection)
            lease.enter(self)
        }
    }

    deinit { close() }

    var isOpen: Bool { lease.isOpen }

    func use(_ body: (any SQLResult) throws -> Void) throws {
        try lease.use { _ in if let statement { try body(statement) } }
    }

    func close() {
        lease.leave(self)
        if ownsLease { lease.end() }
    }

    /// Under the lease's lock.
    func dropStatement() {
        statement?.end()
        (statement, connection) = (nil, nil)
    }
}
