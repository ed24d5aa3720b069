// The rows of an atomic store: in memory whole, written down whole by each save.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// Lets an `NSAtomicStore` answer as a `RowStore`.
///
/// Reads go to a store in memory and need no lock. A commit is made on a copy; the copy takes the place of the former rows
/// only when the store has written it down, so that nobody sees what a failed write would take back.
final class AtomicRows: RowStore, @unchecked Sendable {
    let schema: Schema
    var capabilities: StoreCapabilities { .membership }
    private let writing = NSLock()
    private let current = Mutex<MemoryStore?>(nil)
    /// Set while the store is made, before anything is read.
    @Unretained var store: NSAtomicStore?

    init(schema: Schema) { self.schema = schema }

    func replace(with rows: MemoryStore) { current.withLock { $0 = rows } }

    private func rows() throws -> MemoryStore {
        guard let rows = current.withLock({ $0 }) else {
            throw StoreError(134070, "The store was used before it was loaded or after it was closed.")
        }
        return rows
    }

    private func keeper() throws -> NSAtomicStore {
        guard let store else { throw StoreError(134070, "The store was used after it was let go.") }
        return store
    }

    var identifier: String { current.withLock { $0 }?.identifier ?? "" }

    func metadata() throws -> StoreMetadata {
        let rows = try rows()
        guard let own = try keeper().ownMetadata else { return try rows.metadata() }
        return try StoreMetadata(own, over: try rows.metadata(), isForeign: true)
    }

    func setMetadata(_ metadata: StoreMetadata) throws {
        let store = try keeper()
        if store.ownMetadata != nil {
            store.metadata = StoreMetadata.dictionary(metadata)
            return
        }
        try write { next in
            try next.setMetadata(metadata)
            return nil
        }
    }

    /// Has the store written down as it is, with the metadata that it keeps itself.
    func saveMetadata() throws { try writing.withLock { try keeper().saveFile() } }

    func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> { try rows().open(plan, view) }

    func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows> {
        try rows().openValues(plan, view)
    }

    func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int { try rows().count(plan, view) }

    func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try rows().rows(for: numbers, in: root, view, receive)
    }

    func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try rows().members(of: relationship, owner: owner, view, receive)
    }

    func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView) throws -> Bool
    {
        try rows().isMember(member, of: relationship, owner: owner, view)
    }

    func allocateKeys(_ count: Int, in root: EntityIndex) throws -> Range<Int64> {
        let store = try keeper()
        if store.numbersObjects { return try store.takeKeys(count, in: schema[schema[root].root]) }
        return try writing.withLock { try rows().allocateKeys(count, in: root) }
    }

    func commit(_ batch: ChangeBatch) throws -> CommitOutcome {
        if batch.isEmpty { return .committed }
        var outcome: CommitOutcome = .committed(touched: [])
        try write { next in
            outcome = try next.commit(batch)
            if case .conflicts = outcome { throw Refused() }
            return batch
        }
        return outcome
    }

    private struct Refused: Error {}

    /// *copy · change the copy · have it written · make it the present rows*
    private func write(_ change: (MemoryStore) throws -> ChangeBatch?) throws {
        try writing.withLock {
            let store = try keeper()
            guard !store.isReadOnly else {
                throw StoreError(
                    134030, "The store at \(store.url?.path ?? "") was opened read-only; nothing can be saved to it.",
                    path: store.url?.path)
            }
            let next = try rows().fork()
            do {
                let batch = try change(next)
                try store.persist(next, after: batch)
            } catch is Refused { return }
            replace(with: next)
        }
    }

    func close() throws { current.withLock { $0 = nil } }
}
