// A result whose rows are read from a statement as they are pulled.

import CoreDataValues
import Foundation
import Synchronization

/// How the rows of a statement become batches, one after the other.
protocol StatementSteps {
    associatedtype Batch
    /// How many rows were read.
    var total: Int { get }
    /// The next batch; nil at the end.
    mutating func next(_ statement: Statement) throws -> Batch?
}

/// A statement half-way through its rows, on a leased connection: one of its own, or that of a pinned view.
final class StatementCursor<Steps: StatementSteps>: ReadCursor, LeaseUser, @unchecked Sendable {
    private let lease: Lease
    private let ownsLease: Bool
    private let isDone = Atomic<Bool>(false)
    // Under the lease's lock.
    private var steps: Steps
    private var statement: Statement?
    /// Statements do not retain theirs.
    private var connection: Connection?

    /// - Parameter bound: makes the statement ready to be run.
    init(_ lease: Lease, ownsLease: Bool, _ steps: Steps, _ bound: (Connection) throws -> Statement) throws {
        self.lease = lease
        self.ownsLease = ownsLease
        self.steps = steps
        try lease.use { connection in
            let statement = try bound(connection)
            statement.begin()
            (self.statement, self.connection) = (statement, connection)
            lease.enter(self)
        }
    }

    deinit { finish() }

    func next() throws -> Steps.Batch? {
        guard !isDone.load(ordering: .acquiring) else { return nil }
        do {
            let batch = try lease.use { _ in try statement.flatMap { try steps.next($0) } }
            if batch == nil { close() }
            return batch
        } catch {
            // What ended with its view or its store goes on saying so.
            if lease.isOpen { close() }
            throw error
        }
    }

    func close() {
        isDone.store(true, ordering: .releasing)
        finish()
    }

    private func finish() {
        lease.leave(self)
        if ownsLease { lease.end() }
    }

    /// Under the lease's lock.
    func dropStatement() {
        statement?.finish(rows: steps.total)
        (statement, connection) = (nil, nil)
    }
}
