// Connections that show one state.

import CoreDataSQL
import CoreDataValues

/// A pool all reads of which see the state that it was made in, whatever is written meanwhile.
///
/// A file without write-ahead log takes no writes as long.
final class OneState: SQLSource {
    private let pool: Pool
    private let lease: Lease

    init(of pool: Pool) throws {
        self.pool = pool
        guard let lease = try pool.leaseView(keepsWritersOut: true) else { throw ReadView.closed }
        self.lease = lease
    }

    func read(_ view: ReadView, isBrief: Bool, _ body: (any SQLReading) throws -> Void) throws {
        guard case .latest = view else { return try pool.read(view, isBrief: isBrief, body) }
        try lease.use { try body($0) }
    }

    func hold(_ view: ReadView, _ ready: (any SQLReading) throws -> any SQLResult) throws -> (any HeldResult)? {
        guard case .latest = view else { return try pool.hold(view, ready) }
        return try HeldStatement(lease, ownsLease: false, ready)
    }

    func writing(_ body: (any SQLSession) throws -> Void) throws { try pool.writing(body) }
}
