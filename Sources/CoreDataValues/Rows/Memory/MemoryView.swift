// One state of a store in memory.

import Synchronization

/// A copy of the tables, which costs nothing until the first commit after it: that copies the tables that it changes.
final class MemoryView: PinnedView {
    let store: MemoryStore
    private let kept: Mutex<MemoryTables?>

    init(of store: MemoryStore, _ tables: MemoryTables) {
        self.store = store
        kept = Mutex(tables)
    }

    func tables() throws(StoreError) -> MemoryTables {
        guard let tables = kept.withLock({ $0 }) else { throw ReadView.closed }
        return tables
    }

    func close() { kept.withLock { $0 = nil } }
}
