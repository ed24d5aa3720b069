// What the contexts of one coordinator tell each other: new keys, and saves to merge.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// What the contexts of one coordinator tell each other. May be used from any thread.
final class Relatives: @unchecked Sendable {
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

    private let lock = NSLock()
    /// Under the lock.
    private var state = State()
    /// How many keys were ever noted.
    let keyCount = Atomic<Int>(0)
    /// How many contexts merge by themselves.
    let mergerCount = Atomic<Int>(0)

    private func withState<R>(_ body: (inout State) -> R) -> R { lock.withLock { body(&state) } }

    /// A child context came; answers how many keys there are.
    func join() -> Int {
        withState { state in
            state.children += 1
            return state.forgotten + state.order.count
        }
    }

    /// A child context is gone. With the last one the keys go too.
    func leave() {
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

    /// What a temporary number has become.
    func key(_ number: Int64) -> ObjectKey? { withState { $0.keys[number] } }

    /// The keys noted after the first `seen`, and how many there are altogether.
    func keys(since seen: Int) -> (keys: [(Int64, ObjectKey)], count: Int) {
        withState { state in
            let news = state.order.dropFirst(max(0, seen - state.forgotten))
            let keys = news.compactMap { number in state.keys[number].map { (number, $0) } }
            return (keys, state.forgotten + state.order.count)
        }
    }

    // MARK: Contexts that merge by themselves

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
