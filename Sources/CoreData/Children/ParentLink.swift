// A context's parent.

import CoreDataValues
import Foundation
import Synchronization

/// What a child context knows of its parent.
final class ParentLink {
    let parent: NSManagedObjectContext
    /// How many of the coordinator's new permanent keys this context has accepted.
    var keysSeen: Int
    /// Twins of unsaved objects whose deletion was pushed.
    private var deletedTwins: [ObjectKey: WeakObject] = [:]

    private struct WeakObject { weak var object: NSManagedObject? }

    init(parent: NSManagedObjectContext, keysSeen: Int) {
        self.parent = parent
        self.keysSeen = keysSeen
        parent.childCount.wrappingAdd(1, ordering: .relaxed)
    }

    deinit { parent.childCount.wrappingSubtract(1, ordering: .relaxed) }

    /// Keeps a weak reference to the parent's object for one whose deletion is pushed. If the deletion is undone here,
    /// that object is undeleted, as long as the parent's undo stack or the program retains it.
    func remember(_ twin: NSManagedObject) {
        guard twin._state.pointee.number < 0 || twin._state.has(.inserted) else { return }
        if deletedTwins.count == deletedTwins.capacity { deletedTwins = deletedTwins.filter { $0.value.object != nil } }
        deletedTwins[twin._state.key] = WeakObject(object: twin)
    }

    var hasDeletedTwins: Bool { !deletedTwins.isEmpty }

    /// The object that was remembered for a key.
    func deletedTwin(_ key: ObjectKey) -> NSManagedObject? { deletedTwins[key]?.object }
}

extension NSManagedObjectContext {
    /// The context that this one reads from and saves into; nil for one that works directly with the coordinator.
    ///
    /// Set it once, before the first object. A fetch finds the parent's objects with their unsaved changes;
    /// `save()` makes the changes pending changes of the parent and writes to no store.
    public final var parent: NSManagedObjectContext? {
        get { parentLink?.parent }
        set {
            guard newValue !== parentLink?.parent else { return }
            guard let newValue, parentLink == nil, persistentStoreCoordinator == nil else {
                misuse("A context has one parent or one coordinator for life; make a new context for another.")
            }
            guard sequence(first: newValue, next: { $0.parent }).allSatisfy({ $0 !== self }) else {
                misuse("A context cannot be its own ancestor.")
            }
            persistentStoreCoordinator = newValue.persistentStoreCoordinator
            comparesOwners = newValue.comparesOwners
            parentLink = ParentLink(parent: newValue, keysSeen: requiredCoordinator.relatives.join())
        }
    }

    final var isChild: Bool { parentLink != nil }

    /// The topmost ancestor, which saves into the stores; this context if it has no parent.
    final var topmost: NSManagedObjectContext {
        var top = self
        while let above = top.parent { top = above }
        return top
    }

    /// Runs a block that holds this context's parent and all ancestors, after accepting the permanent keys that saves
    /// have assigned.
    ///
    /// A caller waits here before its operation begins, so that another holder of the parent may use this context
    /// meanwhile (see `Turns`).
    final func withParent<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
        guard let parent = parentLink?.parent else { misuse("This context has no parent.") }
        return try parent.holdWithAncestors {
            acceptPermanentKeys()
            return try body(parent)
        }
    }

    private func holdWithAncestors<T>(_ body: () throws -> T) rethrows -> T {
        try hold {
            guard isChild else { return try body() }
            return try withParent { _ in try body() }
        }
    }

    /// Gives permanent keys to objects that an ancestor has saved: before this context reads from its parent, and when
    /// it meets such a key otherwise. Never inlined, as most look-ups have none to accept.
    @inline(never)
    final func acceptPermanentKeys() {
        guard let parentLink else { return }
        let relatives = requiredCoordinator.relatives
        guard parentLink.keysSeen != relatives.keyCount.load(ordering: .acquiring) else { return }
        let news = relatives.keys(since: parentLink.keysSeen)
        parentLink.keysSeen = news.count
        for (former, key) in news.keys {
            let found = requiredIdentityMap.object(number: former, entity: key.entity.rawValue, store: 0)
            if let found { setKey(key, for: found) }
        }
    }

    /// Registers an object under another key.
    final func setKey(_ key: ObjectKey, for object: NSManagedObject) {
        let state = object._state
        if state.has(.registered) {
            requiredIdentityMap.remove(
                Unmanaged.passUnretained(object).toOpaque(), number: state.pointee.number,
                entity: state.pointee.entity, store: state.pointee.store, version: IdentityTable.noVersion)
        }
        state.pointee.number = key.number
        state.pointee.store = key.store
        state.forgetObjectID()
        requiredIdentityMap.register(object)
    }

    /// Notes which permanent key each temporary number becomes, before the new objects accept these.
    final func noteNewKeys(_ inserted: ContiguousArray<NSManagedObject>) {
        var keys: [(Int64, ObjectKey)] = []
        inserted.borrowEach { object in
            let state = object._state.pointee
            guard state.number < 0, state.assigned > 0 else { return }
            let entity = EntityIndex(rawValue: state.entity)
            keys.append((state.number, ObjectKey(number: state.assigned, entity: entity, store: state.assignedStore)))
        }
        requiredCoordinator.relatives.note(keys)
    }
}
