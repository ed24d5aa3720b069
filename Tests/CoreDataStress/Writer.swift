// One context of the stress run, with its thread: it fetches, links, saves, merges, deletes and faults.

import CoreData
import CoreDataSeeds

/// A context and what it has committed.
///
/// A *retrying* writer keeps the error policy and does a round that met a conflict again; it also adds to what others have made, and
/// deletes it. A *merging* writer leaves conflicts to its merge policy and writes only what nobody else writes.
///
/// Unchecked: all is touched on the context's queue, and after the run.
final class Writer: @unchecked Sendable {
    let number: Int
    let context: NSManagedObjectContext
    let isRetrying: Bool
    private(set) var committed = Ledger()
    private(set) var saves = 0
    private(set) var conflicts = 0
    private(set) var counts: [String: Int] = [:]
    private(set) var complaints: [String] = []
    private var observers: [any NSObjectProtocol] = []

    /// What the round under way will have committed.
    var pending = Ledger()
    var random: SplitMix
    /// The serials of the own items that are in the store, as far as the writer knows.
    var alive: [Int] = []
    private var nextSerial = 0
    private(set) var attempts = 0
    /// The first of these writers are the retrying ones.
    static let retrying = 4

    init(_ number: Int, _ coordinator: NSPersistentStoreCoordinator, seed: UInt64) {
        self.number = number
        random = SplitMix(seed &+ UInt64(number) &* 0x1234_5678_9ABC)
        isRetrying = number < Writer.retrying
        context = StressModel.context(coordinator)
        context.name = "writer \(number)"
        if !isRetrying { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
    }

    /// Hears of the others: every second writer by itself, the rest by their notifications.
    func listen(to others: [Writer]) {
        guard !number.isMultiple(of: 2) else {
            context.automaticallyMergesChangesFromParent = true
            return
        }
        for other in others where other !== self {
            observers.append(
                NotificationCenter.default.addObserver(
                    forName: .NSManagedObjectContextDidSave, object: other.context, queue: nil
                ) { [weak self] notification in
                    nonisolated(unsafe) let notification = notification
                    guard let self else { return }
                    context.perform {
                        self.context.mergeChanges(fromContextDidSave: notification)
                        self.count("merge")
                    }
                })
        }
    }

    func stopListening() {
        observers.forEach { NotificationCenter.default.removeObserver($0) }
        observers = []
    }

    /// One round; called on the writer's thread. What conflicts is done again from the start, after merges that wait.
    func round() {
        let start = context.performAndWait { random }
        for attempt in 0..<100 {
            let isDone = context.performAndWait {
                random = start
                attempts = attempt
                return self.attempt()
            }
            if isDone { return }
        }
        context.performAndWait { complain("met 100 conflicts in a row") }
    }

    private func attempt() -> Bool {
        pending = Ledger()
        do {
            try work()
            guard context.hasChanges else { return true }
            try context.save()
            note()
            return true
        } catch let error as CocoaError where error.code.rawValue == 133020 && isRetrying {
            conflicts += 1
            context.rollback()
            context.refreshAllObjects()
            return false
        } catch {
            complain("\(error)")
            context.rollback()
            return true
        }
    }

    /// The save returned: the round counts.
    private func note() {
        saves += 1
        committed.add(pending)
        for name in pending.items.keys where name.owner == number && name.serial >= nextSerial {
            alive.append(name.serial)
        }
        nextSerial = max(nextSerial, (alive.max() ?? -1) + 1)
        let gone = Set(pending.deleted.filter { $0.owner == number }.map(\.serial))
        if !gone.isEmpty { alive.removeAll { gone.contains($0) } }
    }

    func newNames(_ count: Int) -> [ItemName] {
        (0..<count).map { ItemName(owner: number, serial: nextSerial + $0) }
    }

    func count(_ name: String) { counts[name, default: 0] += 1 }

    func complain(_ sentence: String) {
        if complaints.count < 20 { complaints.append("\(context.name ?? "") \(sentence)") }
    }
}
