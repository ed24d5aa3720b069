// One place that stores of the process have open, and what was told of it.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// Tells each save once: by its number where a history has it, else by counting commits that are not the process's own.
final class WatchedStore: @unchecked Sendable {
    private struct Listener: @unchecked Sendable { @Unretained var store: NSPersistentStore? }

    private struct State {
        var listeners: [Listener] = [] { didSet { listening += 1 } }
        /// Grows whenever somebody comes or leaves: commits are others' or not by who listens.
        var listening = 0
        var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]
        /// The last transaction that was told.
        var transaction: Int64?
        /// The last count of others' commits.
        var foreign: Int64?
        var numbering: Int64 = 0
        /// Commits of the process by stores that have left.
        var formerCommits: Int64 = 0
    }
    private let state = Mutex(State())
    /// Where looks at the store run and tell: an observer that takes its time, or a file that another process locks, delays no other store.
    let queue = DispatchQueue(label: "CoreData.remoteChanges.store", qos: .utility)
    /// Saves of the process that write this store and others and are on their way. What is looked for meanwhile waits for them.
    private let spanningSaves = Atomic<Int>(0)
    private let hasLookWaiting = Atomic<Bool>(false)
    /// Who is about to add somebody.
    let visitors = Atomic<Int>(0)
    /// The file to be watched; nil where only the process itself can write.
    let file: URL?
    /// Of the store that it was made for, for reading while nobody listens.
    private let opened: Listener

    init(_ store: NSPersistentStore) {
        file = store.rows.changingFile
        opened = Listener(store: store)
    }

    func begin(with store: NSPersistentStore) {
        if store.recordsHistory {
            noteTransaction(of: store)
        } else if file != nil, let count = try? store.rows.writeCount() {
            state.withLock { ($0.foreign, $0.numbering) = (count.all - count.own, count.numbering) }
        }
        if file != nil { LogWatcher.shared.add(self) }
    }

    /// From here on transactions are told.
    private func noteTransaction(of store: NSPersistentStore) {
        let last = try? store.rows.lastTransaction()
        state.withLock { $0.transaction = $0.transaction ?? last }
    }

    func end() { if file != nil { LogWatcher.shared.remove(self) } }

    // MARK: Who listens

    func add(_ store: NSPersistentStore) {
        if store.recordsHistory { noteTransaction(of: store) }
        let own = ownCommits(store)
        state.withLock { state in
            let isFirst = state.listeners.allSatisfy { $0.store == nil }
            state.listeners = state.listeners.filter { $0.store != nil } + [Listener(store: store)]
            if !isFirst || opened.store !== store { state.formerCommits -= own }
        }
    }

    func remove(_ store: NSPersistentStore) {
        guard has(store) else { return }
        let own = ownCommits(store)
        state.withLock { state in
            state.listeners.removeAll { $0.store.map { $0 === store } ?? true }
            state.formerCommits += own
            // While there was a history commits were not counted.
            if store.recordsHistory { state.foreign = nil }
        }
        if store.recordsHistory { countAnew() }
    }

    /// From here on commits are told again: one that comes before the next look is news.
    private func countAnew() {
        let stores = stores
        guard file != nil, !stores.isEmpty, recorder == nil, let count = foreign(stores) else { return }
        state.withLock { state in
            if state.foreign == nil { (state.foreign, state.numbering) = (count.foreign, count.numbering) }
        }
    }

    func has(_ store: NSPersistentStore) -> Bool { stores.contains { $0 === store } }

    func add(_ watch: StoreWatch, _ changed: @escaping @Sendable () -> Void) {
        let key = ObjectIdentifier(watch)
        state.withLock { $0.watchers[key] = changed }
    }

    func remove(_ watch: StoreWatch) {
        let key = ObjectIdentifier(watch)
        state.withLock { $0.watchers[key] = nil }
    }

    var isUsed: Bool {
        visitors.load(ordering: .acquiring) > 0 || !stores.isEmpty || state.withLock { !$0.watchers.isEmpty }
    }

    /// One that has the history; nil where none of them keeps one.
    private var recorder: NSPersistentStore? { stores.first(where: \.recordsHistory) }

    private var stores: [NSPersistentStore] { state.withLock { $0.listeners }.compactMap(\.store) }

    private func ownCommits(_ store: NSPersistentStore) -> Int64 {
        guard recorder == nil, !store.recordsHistory, file != nil else { return 0 }
        return (try? store.rows.writeCount())?.own ?? 0
    }

    // MARK: Telling

    /// One of the listening stores has written.
    func tellOwn(_ store: NSPersistentStore) {
        if let recorder { tellTransactions(of: recorder) } else { post(nil) }
        wake()
    }

    /// Somebody may have written.
    func look() {
        wake()
        let (stores, listening) = state.withLock { ($0.listeners.compactMap(\.store), $0.listening) }
        if stores.isEmpty { return }
        if let recorder { tellTransactions(of: recorder, betweenSaves: true) } else { tellCommits(stores, listening) }
    }

    /// A save over several stores begins to write: the first one's part is not told before the others have theirs.
    func beginSpanningSave() { spanningSaves.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    func endSpanningSave() {
        spanningSaves.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        if hasLookWaiting.load(ordering: .sequentiallyConsistent) { queue.async { self.look() } }
    }

    /// If so, the last of them has a look when it ends.
    private func isSpanningSaveUnderWay() -> Bool {
        hasLookWaiting.store(true, ordering: .sequentiallyConsistent)
        if spanningSaves.load(ordering: .sequentiallyConsistent) > 0 { return true }
        hasLookWaiting.store(false, ordering: .sequentiallyConsistent)
        return false
    }

    func wake() {
        for changed in state.withLock({ Array($0.watchers.values) }) { changed() }
    }

    /// Each transaction is claimed by whoever sees it first.
    ///
    /// - Parameter betweenSaves: whether to leave all to a save over several stores that is on its way.
    private func tellTransactions(of store: NSPersistentStore, betweenSaves: Bool = false) {
        guard let last = try? store.rows.lastTransaction() else { return }
        // A save that begins after this question has committed nothing of what was read.
        if betweenSaves, isSpanningSaveUnderWay() { return }
        store.noteTransaction(last)
        let news = state.withLock { state -> ClosedRange<Int64>? in
            let told = state.transaction ?? last
            state.transaction = max(told, last)
            return last > told ? told + 1...last : nil
        }
        guard let news else { return }
        for number in news { post(NSPersistentHistoryToken(transactions: [store.identifier: number])) }
    }

    /// - Parameter listening: when these stores, and no others, listened. Where that has changed meanwhile they are counted anew.
    private func tellCommits(_ stores: [NSPersistentStore], _ listening: Int) {
        guard let count = foreign(stores) else { return }
        let known = state.withLock { ($0.foreign, $0.numbering) }
        if count.foreign == known.0 { return }
        // A commit is in the log a moment before its connection counts it as its own.
        Thread.sleep(forTimeInterval: 0.01)
        guard let later = foreign(stores) else { return }
        // The numbering that belongs to the count: one that came between the two is for the next look.
        let (settled, numbering, isExact) = count.foreign < later.foreign ? count : later
        let news = state.withLock { state -> Int64? in
            guard state.listening == listening else { return nil }
            guard let told = state.foreign else {
                (state.foreign, state.numbering) = (settled, numbering)
                return 0
            }
            if settled == told { return 0 }
            let hasNumbered = numbering != state.numbering
            (state.foreign, state.numbering) = (settled, numbering)
            // Less than before: the log's index was made anew, and counts from its beginning.
            // Where commits are not counted one by one, that of the numbering is in one with that of the rows.
            return settled < told ? 1 : settled - told - (hasNumbered && isExact ? 1 : 0)
        }
        guard let news else { return queue.async { self.look() } }
        for _ in 0..<max(0, news) { post(nil, to: stores) }
    }

    /// Commits of others than the listening stores.
    private func foreign(_ stores: [NSPersistentStore]) -> (foreign: Int64, numbering: Int64, isExact: Bool)? {
        var all: Int64 = 0
        var own = state.withLock { $0.formerCommits }
        var (numbering, isExact): (Int64, Bool) = (0, true)
        // All commits last: one that comes meanwhile is foreign at the next look.
        for store in stores.reversed() {
            guard let count = try? store.rows.writeCount() else { return nil }
            own += count.own
            (all, numbering, isExact) = (count.all, count.numbering, count.isExact)
        }
        return (all - own, numbering, isExact)
    }

    private func post(_ token: NSPersistentHistoryToken?) { post(token, to: stores) }

    private func post(_ token: NSPersistentHistoryToken?, to stores: [NSPersistentStore]) {
        for store in stores {
            guard let coordinator = store.coordinator else { continue }
            coordinator.postRemoteChange(of: store, store.recordsHistory ? token : nil)
        }
    }
}
