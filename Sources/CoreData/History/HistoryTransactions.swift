// Transactions as they come.

import CoreDataValues
import Foundation
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Transactions after a token, oldest first, and then those that are saved from now on, by whatever process.
    ///
    /// They are read as they are pulled, 64 at most ahead of whoever pulls. `token` of each names how far the sequence is in all stores:
    /// a later sequence after that one goes on there. A store that is added while it waits is followed as well, from its beginning unless
    /// the token names it; one that was removed and is there again, from where it was. It ends when its task is cancelled, with
    /// `CancellationError`, or with an error: 134301 where something was removed before it was read, or a store was returned to a backup
    /// from before the token; 134091 where no store keeps a history; 134070 when a store was removed or closed. An iterator that has ended
    /// so may be asked again, and goes on where it was. Ours; Core Data has no such method.
    /// - Parameters:
    ///   - token: nil for all that is left.
    ///   - waits: false to end where the histories end now.
    public final func transactions(after token: NSPersistentHistoryToken?, waiting waits: Bool = true)
        -> HistoryTransactions
    {
        HistoryTransactions(coordinator: self, token: token, waits: waits)
    }
}

/// An asynchronous sequence of transactions; see `transactions(after:waiting:)` of a coordinator. Each iterator begins anew.
public struct HistoryTransactions: AsyncSequence, Sendable {
    public typealias Element = NSPersistentHistoryTransaction
    public typealias Failure = any Error
    let coordinator: NSPersistentStoreCoordinator
    let token: NSPersistentHistoryToken?
    let waits: Bool

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: HistoryTransactions
        private let bell = HistoryBell()
        /// The stores that are followed.
        private var followed: [(store: NSPersistentStore, id: String, watch: StoreWatch?)] = []
        /// How far each store was read.
        private var places: [String: Int64]
        /// How far each was handed out.
        private var handed: [String: Int64]
        private var waiting: ArraySlice<NSPersistentHistoryTransaction> = []

        fileprivate init(_ sequence: HistoryTransactions) {
            self.sequence = sequence
            places = sequence.token?.transactions ?? [:]
            handed = places
        }

        public mutating func next() async throws -> NSPersistentHistoryTransaction? {
            while true {
                try Task.checkCancellation()
                if let next = waiting.popFirst() {
                    handed[next.storeID] = next.transactionNumber
                    next.origin.places = handed
                    return next
                }
                bell.silence()
                try follow()
                let (found, read) = try await sequence.read(followed.map(\.id), after: places)
                (waiting, places) = (found[...], read)
                if !waiting.isEmpty { continue }
                if !sequence.waits { return nil }
                await bell.wait()
            }
        }

        /// Follows the stores that there are now. One that comes later rings the bell.
        private mutating func follow() throws {
            try sequence.require(followed.map(\.id))
            followed = try sequence.coordinator.storesWithHistory(nil).map { store in
                if let known = followed.first(where: { $0.store === store }) { return known }
                let watch = sequence.waits ? RemoteChanges.watch(store) { [bell] in bell.ring() } : nil
                return (store, store.identifier ?? "", watch)
            }
        }
    }

    private static let ahead = 64
    private static let queue = DispatchQueue(label: "CoreData.history", attributes: .concurrent)

    private func read(
        _ stores: [String], after places: [String: Int64]
    ) async throws -> (found: [NSPersistentHistoryTransaction], places: [String: Int64]) {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async { continuation.resume(with: Result { try readNow(stores, after: places) }) }
        }
    }

    private func require(_ known: [String]) throws {
        let present = coordinator.persistentStores.map { $0.identifier ?? "" }
        if let gone = known.first(where: { !present.contains($0) }) {
            throw CocoaError.coreData(134070, "The store \(gone) was removed while its history was followed.")
        }
    }

    /// The oldest of what each store has next.
    ///
    /// - Parameter known: the stores that must be there still.
    private func readNow(_ known: [String], after places: [String: Int64]) throws -> (
        [NSPersistentHistoryTransaction], [String: Int64]
    ) {
        try require(known)
        let stores = try coordinator.storesWithHistory(nil)
        try token?.requireAny(of: stores)
        var next: [ArraySlice<NSPersistentHistoryTransaction>] = []
        for store in stores {
            var query = HistoryQuery(after: places[store.identifier] ?? 0)
            query.isWhole = places[store.identifier] != nil
            do {
                let cursor = try store.rows.openHistory(query)
                defer { cursor.close() }
                var reader = HistoryObjects(store, coordinator, cursor)
                var found: [NSPersistentHistoryTransaction] = []
                while found.count < Self.ahead, let next = try reader.next() { found.append(next) }
                next.append(found[...])
            } catch { throw CocoaError.reading(error) }
        }
        var (found, read) = ([NSPersistentHistoryTransaction](), places)
        while found.count < Self.ahead, let transaction = next.popEarliest() {
            found.append(transaction)
            read[transaction.storeID] = transaction.transactionNumber
        }
        return (found, read)
    }
}

extension [ArraySlice<NSPersistentHistoryTransaction>] {
    /// Of the next transactions of several stores the one that was made first. A store's own order holds, whatever its clock did.
    mutating func popEarliest() -> NSPersistentHistoryTransaction? {
        var place: Int?
        var time = Date.distantFuture
        for (index, store) in enumerated() {
            guard let next = store.first, place == nil || next.timestamp < time else { continue }
            (place, time) = (index, next.timestamp)
        }
        return place.flatMap { self[$0].popFirst() }
    }
}

/// Rung when there may be something new; one waits for it at a time.
private final class HistoryBell: Sendable {
    private struct State {
        var isRung = false
        var isCancelled = false
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    func silence() { state.withLock { $0.isRung = false } }

    func ring() { wake { $0.isRung = true } }

    /// Returns once it was rung since it was silenced, or the task is cancelled.
    func wait() async {
        // Whoever waits now may not be the one that was cancelled.
        state.withLock { $0.isCancelled = false }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isRung || state.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            wake { $0.isCancelled = true }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
