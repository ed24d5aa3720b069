// The connections of a store as those see them who read and write any database.

import CoreDataSQL
import CoreDataValues

extension Pool: SQLSource {
    func read(_ view: ReadView, _ body: (any SQLReading) throws -> Void) throws {
        switch view {
        case .latest: try read { try body($0) }
        case .pinned(let view): try read(pinned: view, body)
        }
    }

    @inline(never)
    private func read(pinned view: any PinnedView, _ body: (any SQLReading) throws -> Void) throws {
        try lease(of: view).use { try body($0) }
    }

    /// The only connection of a store in memory is lent to nobody who might keep it, and without a log readers that stay would keep
    /// writers out.
    func hold(_ view: ReadView, _ ready: (any SQLReading) throws -> any SQLResult) throws -> (any HeldResult)? {
        switch view {
        case .pinned(let view): return try HeldStatement(lease(of: view), ownsLease: false, ready)
        case .latest where !pinsViews: return nil
        case .latest: return try HeldStatement(leaseReader(), ownsLease: true, ready)
        }
    }

    func writing(_ body: (any SQLSession) throws -> Void) throws { try write { try body($0) } }

    private func lease(of view: any PinnedView) throws -> Lease {
        guard let own = view as? SQLiteView, own.lease.pool === self else { throw ReadView.foreign }
        return own.lease
    }
}
