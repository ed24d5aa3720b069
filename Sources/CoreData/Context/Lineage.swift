// How contexts are related: parents, children, and the new keys and merges they tell each other.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// What a child context knows of its parent.
final class Lineage {
    let parent: NSManagedObjectContext
    /// How many of the coordinator's new keys this context has taken over.
    var keysSeen: Int

    init(parent: NSManagedObjectContext, keysSeen: Int) {
        self.parent = parent
        self.keysSeen = keysSeen
    }
}

extension NSManagedObjectContext {
    /// The context that this one reads from and saves into; nil for one that works on the coordinator itself.
    ///
    /// Set it once, before the first object. A fetch sees the parent's objects with their unsaved changes; `save()` makes the
    /// changes the parent's pending changes and writes to no store.
    public final var parent: NSManagedObjectContext? {
        get { lineage?.parent }
        set {
            guard newValue !== lineage?.parent else { return }
            guard let newValue, lineage == nil, persistentStoreCoordinator == nil else {
                misuse("A context has one parent or one coordinator for life; make a new context for another.")
            }
            guard sequence(first: newValue, next: { $0.parent }).allSatisfy({ $0 !== self }) else {
                misuse("A context cannot be its own ancestor.")
            }
            persistentStoreCoordinator = newValue.persistentStoreCoordinator
            newValue.isParent.store(true, ordering: .relaxed)
            lineage = Lineage(parent: newValue, keysSeen: requiredCoordinator.relatives.join())
        }
    }

    final var isChild: Bool { lineage != nil }

    /// Holds this context's parent and all contexts above it, and takes over the keys that saves have given since.
    ///
    /// Whoever waits here waits before its operation has begun, so that another holder of the parent may use this context
    /// meanwhile (see `Turns`).
    final func withParent<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
        guard let parent = lineage?.parent else { misuse("This context has no parent.") }
        return try parent.holdWithAncestors {
            takeOverKeys()
            return try body(parent)
        }
    }

    private func holdWithAncestors<T>(_ body: () throws -> T) rethrows -> T {
        try hold {
            guard isChild else { return try body() }
            return try withParent { _ in try body() }
        }
    }

    /// Objects that an ancestor saved get the keys that their rows have now.
    private func takeOverKeys() {
        guard let lineage else { return }
        let relatives = requiredCoordinator.relatives
        guard lineage.keysSeen != relatives.keyCount.load(ordering: .acquiring) else { return }
        let news = relatives.keys(since: lineage.keysSeen)
        lineage.keysSeen = news.count
        for (former, key) in news.keys {
            guard let object = requiredRegistry.object(number: former, entity: key.entity.rawValue, store: 0) else { continue }
            takeKey(key, for: object)
        }
    }

    /// Names a registered object anew.
    final func takeKey(_ key: ObjectKey, for object: NSManagedObject) {
        let state = object._state
        if state.has(.registered) {
            requiredRegistry.remove(
                Unmanaged.passUnretained(object).toOpaque(), number: state.pointee.number, entity: state.pointee.entity,
                store: state.pointee.store)
        }
        state.pointee.number = key.number
        state.pointee.store = key.store
        state.forgetObjectID()
        requiredRegistry.register(object)
    }

    /// Before a parent's new objects take their keys: writes down which temporary number becomes which key.
    final func noteNewKeys(_ inserted: ContiguousArray<NSManagedObject>) {
        var keys: [(Int64, ObjectKey)] = []
        inserted.borrowEach { object in
            let state = object._state.pointee
            guard state.number < 0, state.assigned > 0 else { return }
            keys.append(
                (
                    state.number,
                    ObjectKey(
                        number: state.assigned, entity: EntityIndex(rawValue: state.entity), store: state.assignedStore)
                ))
        }
        requiredCoordinator.relatives.note(keys)
    }
}

/// What the contexts of one coordinator tell each other. May be used from any thread.
final class Relatives: Sendable {
    private struct State {
        var children = 0
        /// The keys that temporary numbers have become; kept while there are child contexts.
        var keys: [Int64: ObjectKey] = [:]
        var order: ContiguousArray<Int64> = []
        /// How many of them were forgotten.
        var forgotten = 0
        var mergers: [Merger] = []
    }

    private struct Merger: @unchecked Sendable { @Unretained var context: NSManagedObjectContext? }

    private let state = Mutex(State())
    /// How many keys were ever noted.
    let keyCount = Atomic<Int>(0)
    /// How many contexts merge by themselves.
    let mergerCount = Atomic<Int>(0)

    /// A child context came; answers how many keys there are.
    func join() -> Int {
        state.withLock { state in
            state.children += 1
            return state.forgotten + state.order.count
        }
    }

    /// A child context is gone. With the last one the keys go too.
    func leave() {
        state.withLock { state in
            state.children -= 1
            guard state.children == 0 else { return }
            state.forgotten += state.order.count
            state.order = []
            state.keys = [:]
        }
    }

    func note(_ keys: [(Int64, ObjectKey)]) {
        guard !keys.isEmpty else { return }
        state.withLock { state in
            guard state.children > 0 else { return }
            for (former, key) in keys {
                state.keys[former] = key
                state.order.append(former)
            }
            keyCount.store(state.forgotten + state.order.count, ordering: .releasing)
        }
    }

    /// What a temporary number has become.
    func key(_ number: Int64) -> ObjectKey? { state.withLock { $0.keys[number] } }

    /// The keys noted after the first `seen`, and how many there are altogether.
    func keys(since seen: Int) -> (keys: [(Int64, ObjectKey)], count: Int) {
        state.withLock { state in
            let news = state.order.dropFirst(max(0, seen - state.forgotten))
            return (news.compactMap { number in state.keys[number].map { (number, $0) } }, state.forgotten + state.order.count)
        }
    }

    // MARK: Contexts that merge by themselves

    func addMerger(_ context: NSManagedObjectContext) {
        state.withLock { state in
            state.mergers.append(Merger(context: context))
            mergerCount.store(state.mergers.count, ordering: .relaxed)
        }
    }

    func removeMerger(_ context: NSManagedObjectContext) {
        state.withLock { state in
            state.mergers.removeAll { $0.context == nil || $0.context === context }
            mergerCount.store(state.mergers.count, ordering: .relaxed)
        }
    }

    func mergers() -> [NSManagedObjectContext] {
        state.withLock { state in
            state.mergers.removeAll { $0.context == nil }
            mergerCount.store(state.mergers.count, ordering: .relaxed)
            return state.mergers.compactMap(\.context)
        }
    }
}
