// What the contexts of one coordinator share: new keys, and who merges saves.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// What the contexts of one coordinator share. May be used on any thread.
final class ContextFamily: @unchecked Sendable {
    private struct State {
        var children = 0
        /// Permanent keys by the temporary number they replaced; kept while there are child contexts.
        var keys: [Int64: ObjectKey] = [:]
        var order: ContiguousArray<Int64> = []
        /// How many keys were dropped.
        var forgotten = 0
        var mergers: [Merger] = []
    }

    private struct Merger: @unchecked Sendable { @Unretained var context: NSManagedObjectContext? }

    private let lock = NSLock()
    /// Protected by the lock.
    private var state = State()
    /// How many keys were noted in all.
    let keyCount = Atomic<Int>(0)
    /// How many contexts merge automatically.
    private let mergerCount = Atomic<Int>(0)
    var hasMergers: Bool { mergerCount.load(ordering: .relaxed) > 0 }

    private func withState<R>(_ body: (inout State) -> R) -> R { lock.withLock { body(&state) } }

    /// Adds a child context and returns how many keys were noted so far.
    func addChild() -> Int {
        withState { state in
            state.children += 1
            return state.forgotten + state.order.count
        }
    }

    /// Removes a child context; with the last one the keys are dropped.
    func removeChild() {
        withState { state in
            state.children -= 1
            guard state.children == 0 else { return }
            state.forgotten += state.order.count
            state.order = []
            state.keys = [:]
        }
    }

    func note(_ keys: [(Int64, ObjectKey)]) {
        guard !keys.isEmpty else { return }
        withState { state in
            guard state.children > 0 else { return }
            for (former, key) in keys {
                state.keys[former] = key
                state.order.append(former)
            }
            keyCount.store(state.forgotten + state.order.count, ordering: .releasing)
        }
    }

    /// The permanent key that replaced a temporary number.
    func key(_ number: Int64) -> ObjectKey? { withState { $0.keys[number] } }

    /// The keys noted after the first `seen`, and how many were noted in all.
    func keys(since seen: Int) -> (keys: [(Int64, ObjectKey)], count: Int) {
        withState { state in
            let news = state.order.dropFirst(max(0, seen - state.forgotten))
            let keys = news.compactMap { number in state.keys[number].map { (number, $0) } }
            return (keys, state.forgotten + state.order.count)
        }
    }

    // MARK: Contexts that merge automatically

    func addMerger(_ context: NSManagedObjectContext) {
        withState { state in
            state.mergers.append(Merger(context: context))
            mergerCount.store(state.mergers.count, ordering: .relaxed)
        }
    }

    func removeMerger(_ context: NSManagedObjectContext) {
        withState { state in
            state.mergers.removeAll { $0.context == nil || $0.context === context }
            mergerCount.store(state.mergers.count, ordering: .relaxed)
        }
    }

    func mergers() -> [NSManagedObjectContext] {
        withState { state in
            state.mergers.removeAll { $0.context == nil }
            mergerCount.store(state.mergers.count, ordering: .relaxed)
            return state.mergers.compactMap(\.context)
        }
    }
}

extension NSManagedObjectContext {
    /// Tells contexts that merge by themselves what this one has saved.
    final func tellRelatives(of event: ContextEvent) { tellRelatives(of: ChangePayload(event), isSave: true) }

    /// Has other contexts merge: after a save the children and the siblings over the same coordinator or parent, after
    /// a merge the children.
    final func tellRelatives(of payload: ChangePayload, isSave: Bool) {
        for other in requiredCoordinator.contextFamily.mergers() where other !== self {
            guard other.parent === self || isSave && other.parent === parent else { continue }
            other.perform { other.merge(payload) }
        }
    }
}
