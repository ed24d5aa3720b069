// One state of a SQLite store.

import CoreDataValues

/// A read transaction on a connection of its own. The write-ahead log keeps what it sees, and grows meanwhile.
///
/// Ends when it is closed, when the store is, and when nobody has it or a cursor over it any more. The files of values that are replaced
/// or removed in this process stay as long (`KeptFiles`); a writer in another process removes them.
final class SQLiteView: PinnedView {
    let store: SQLiteStore
    let lease: Lease

    init(of store: SQLiteStore, _ lease: Lease) {
        self.store = store
        self.lease = lease
    }

    func close() { lease.end() }
}
