// Pins a context to one state of its stores.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The state that the context is pinned to; nil, by default, for the latest one. A child has that of its parent.
    public final var queryGenerationToken: NSQueryGenerationToken? {
        checkQueue()
        return link.queryGenerationToken(of: self)
    }

    /// The token of a context without a parent.
    final var ownToken: NSQueryGenerationToken? { generation.map { NSQueryGenerationToken(.state($0)) } }

    /// Pins the context to a state of its stores, or unpins it.
    ///
    /// Everything is read in that state, whatever others commit: fetches, counts, faults, relationships, refreshes. The
    /// next read takes the state, and a new one after a save, a merge and `reset()`. Registered objects keep their
    /// values. Saves are compared with the latest state. Pinned reads bypass the row cache. Stores without pinned
    /// states (all but SQLite with a write-ahead log) are read as they are; a context with no other store stays
    /// unpinned.
    /// - Parameter generation: `.current`, the token of a context over the same coordinator, or nil.
    /// - Throws: 134060 for a token of another coordinator or of a released state, and in a child context.
    ///   A read that would pin more states than allowed throws 134090 (`SQLitePinnedViewLimitOption`).
    public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        checkQueue()
        try link.checkMayPin()
        guard let generation else { return pin(to: nil) }
        switch generation.named {
        case .current: pin(to: mayBePinned ? QueryGeneration(of: requiredCoordinator) : nil)
        case .state(let state):
            guard state.identities === requiredCoordinator.identities else {
                throw CocoaError.coreData(
                    134060,
                    "The query generation is one of another coordinator; take one from a context of this context's coordinator."
                )
            }
            pin(to: state)
        case .ended:
            throw CocoaError.coreData(
                134060, "The query generation that the archived token names has ended; pin to the current one.")
        }
    }

    /// Whether a store can be pinned, or none has been added yet.
    private var mayBePinned: Bool {
        requiredCoordinator.showsGenerations || requiredCoordinator.persistentStores.isEmpty
    }

    /// Sets the state; a new `rowTime` makes prefetched rows of the former state old.
    @inline(never)
    private func pin(to state: QueryGeneration?) {
        guard generation !== state else { return }
        generation = state
        faulting.rowTime += 1
    }

    /// Makes a pinned context take a new state at its next read, after a save, a merge or a reset.
    final func advanceGeneration() {
        if generation != nil { pin(to: QueryGeneration(of: requiredCoordinator)) }
    }

    /// The state after a save or a later one, taken by the first read that uses the token. nil in a child and for
    /// stores without pinned states.
    final var savedGeneration: NSQueryGenerationToken? { link.savedGeneration(of: self) }

    /// Runs a block that reads the latest state: a save resolves conflicts against the stores' current rows.
    final func readingLatest<R>(_ body: () throws -> R) rethrows -> R {
        guard let generation else { return try body() }
        self.generation = nil
        defer { self.generation = generation }
        return try body()
    }

    // MARK: Reading

    /// A store as this context, which has no parent, reads it.
    final func shown(_ rows: any StoreReader) -> any StoreReader {
        guard let generation else { return rows }
        return PinnedRows(rows, generation, of: requiredCoordinator)
    }

    final func shown(_ stores: [NumberedStore]) -> [NumberedStore] {
        guard generation != nil else { return stores }
        return stores.map {
            NumberedStore(number: $0.number, rows: shown($0.rows), store: $0.store, isOnlyOne: $0.isOnlyOne)
        }
    }
}
