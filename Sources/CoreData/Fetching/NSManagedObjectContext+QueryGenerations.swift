// Pinning a context to one state of its stores.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The state that the context is pinned to; nil while it reads the latest one, as at first. A child's is its parent's.
    public final var queryGenerationToken: NSQueryGenerationToken? {
        checkQueue()
        if isChild { return withParent { $0.queryGenerationToken } }
        return ownToken
    }

    /// The same, for a context without a parent.
    final var ownToken: NSQueryGenerationToken? { generation.map { NSQueryGenerationToken(.state($0)) } }

    /// Pins the context to a state of its stores, or unpins it.
    ///
    /// All that it reads is of that state, whatever others commit: fetches, counts, faults, relationships, refreshes. The state is taken at
    /// the next read, and another one after a save, a merge and `reset()`. Objects that are here stay as they are. Saves are compared with
    /// the latest state, as ever. Pinned reads go past the coordinator's row cache. Stores that show no such states (all but SQLite with a
    /// write-ahead log) are read as they are; a context that has no other store stays unpinned.
    /// - Parameter generation: `.current`, the token of a context over the same coordinator, or nil.
    /// - Throws: 134060 for a token of another coordinator, of a state that nobody has any more, and in a context with a parent, which
    ///   sees what that sees. A read that finds as many states pinned as may be throws 134090 (`SQLitePinnedViewLimitOption`).
    public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        checkQueue()
        guard !isChild else {
            throw CocoaError.coreData(
                134060, "A context with a parent reads the state that its parent is pinned to; pin the topmost one.")
        }
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

    /// What was read beforehand is of the state before.
    @inline(never)
    private func pin(to state: QueryGeneration?) {
        guard generation !== state else { return }
        generation = state
        rowTime += 1
    }

    /// Has a pinned context take another state at its next read: it has saved, merged or forgotten its objects.
    final func advanceGeneration() {
        if generation != nil { pin(to: QueryGeneration(of: requiredCoordinator)) }
    }

    /// The state that a save has led to, or a later one: taken at the first read with it, as every other. nil where nothing was written to a
    /// store that shows its states.
    final var savedGeneration: NSQueryGenerationToken? {
        guard !isChild, requiredCoordinator.showsGenerations else { return nil }
        return NSQueryGenerationToken(.state(generation ?? QueryGeneration(of: requiredCoordinator)))
    }

    /// Reads the latest state meanwhile: a save settles conflicts with what the stores have now.
    final func readingLatest<R>(_ body: () throws -> R) rethrows -> R {
        guard let generation else { return try body() }
        self.generation = nil
        defer { self.generation = generation }
        return try body()
    }

    // MARK: Reading

    /// A store as this context sees it, which has no parent.
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

    /// The stores that a fetch asks past the objects of this context and of those above it: pinned where the topmost one is.
    final func storesBelow(for order: FetchOrder) -> [NumberedStore] {
        isChild ? withParent { $0.storesBelow(for: order) } : shown(requiredCoordinator.stores(for: order))
    }
}
