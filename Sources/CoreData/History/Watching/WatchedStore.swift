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
        /// What was last seen of others' commits.
        var foreign: ForeignCommits?
        /// Commits of the process by stores that have left.
        var formerCommits: Int64 = 0
    }

    /// Commits of others than the listening stores.
    private struct ForeignCommits {
        let count: Int64
        let numbering: Int64
        let log: WriteCount.Log?

        /// How many saves were made since then, one at least unless new rows were only numbered.
        func saves(since former: ForeignCommits) -> Int64 {
            // The log's index was made anew, and counts from its beginning.
            if count < former.count { return 1 }
            let commits = count - former.count
            // Where commits are not counted one by one, that of the numbering is in one with that of the rows.
            guard let log, let formerLog = former.log, commits > 0, numbering != former.numbering else {
                return commits
            }
            // The commit of a numbering writes a single page: this one has written rows as well.
            return commits == 1 && log.frames(since: formerLog) > 1 ? 1 : commits - 1
        }
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
        } else if file != nil, let seen = foreign([store]) {
            state.withLock { $0.foreign = seen }
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
        guard file != nil, !stores.isEmpty, recorder == nil, let seen = foreign(stores) else { return }
        state.withLock { $0.foreign = $0.foreign ?? seen }
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
        guard let seen = foreign(stores) else { return }
        if isKnown(seen, listening) { return }
        // A commit is in the log a moment before its connection counts it as its own.
        Thread.sleep(forTimeInterval: 0.01)
        guard let later = foreign(stores) else { return }
        // The numbering that belongs to the count: one that came between the two is for the next look.
        let settled = seen.count < later.count ? seen : later
        let saves = state.withLock { state -> Int64? in
            guard state.listening == listening else { return nil }
            let former = state.foreign
            state.foreign = settled
            return former.map { settled.saves(since: $0) } ?? 0
        }
        guard let saves else { return queue.async { self.look() } }
        for _ in 0..<saves { post(nil, to: stores) }
    }

    /// Whether nothing was committed but by the listening stores, whose numbering of rows is none of others' then.
    private func isKnown(_ seen: ForeignCommits, _ listening: Int) -> Bool {
        state.withLock { state in
            guard state.foreign?.count == seen.count else { return false }
            if state.listening == listening { state.foreign = seen }
            return true
        }
    }

    private func foreign(_ stores: [NSPersistentStore]) -> ForeignCommits? {
        var own = state.withLock { $0.formerCommits }
        var last: WriteCount?
        // All commits last: one that comes meanwhile is foreign at the next look.
        for store in stores.reversed() {
            guard let count = try? store.rows.writeCount() else { return nil }
            own += count.own
            last = count
        }
        return last.map { ForeignCommits(count: $0.all - own, numbering: $0.numbering, log: $0.log) }
    }

    private func post(_ token: NSPersistentHistoryToken?) { post(token, to: stores) }

    private func post(_ token: NSPersistentHistoryToken?, to stores: [NSPersistentStore]) {
        for store in stores {
            guard let coordinator = store.coordinator else { continue }
            coordinator.postRemoteChange(of: store, store.recordsHistory ? token : nil)
        }
    }
}
