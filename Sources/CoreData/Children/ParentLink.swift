// A context's parent.

import CoreDataValues
import Foundation
import Synchronization

/// What a child context knows of its parent.
final class ParentLink: ContextLink {
    let above: NSManagedObjectContext
    private let family: ContextFamily
    /// How many of the coordinator's new permanent keys the child has accepted.
    private(set) var keysSeen: Int
    /// Counterparts of unsaved objects whose deletion was pushed.
    private var deletedCounterparts: [ObjectKey: WeakObject] = [:]

    private struct WeakObject { weak var object: NSManagedObject? }

    init(to parent: NSManagedObjectContext) {
        above = parent
        family = parent.requiredCoordinator.contextFamily
        keysSeen = family.addChild()
        parent.childCount.wrappingAdd(1, ordering: .relaxed)
    }

    deinit {
        above.childCount.wrappingSubtract(1, ordering: .relaxed)
        family.removeChild()
    }

    var parent: NSManagedObjectContext? { above }
    var givesUnsavedRows: Bool { true }

    // MARK: Holding

    /// Runs a block that holds a child's parent and all ancestors, after accepting the permanent keys that saves have assigned.
    ///
    /// A caller waits here before its operation begins, so that another holder of the parent may use the child meanwhile (see `TurnWaits`).
    func withParent<T>(
        of child: NSManagedObjectContext, _ body: (NSManagedObjectContext) throws -> T
    ) rethrows -> T {
        try above.hold {
            try above.link.holdingAncestors(of: above) {
                acceptPermanentKeys(child)
                return try body(above)
            }
        }
    }

    func holdingAncestors<T>(of context: NSManagedObjectContext, _ body: () throws -> T) rethrows -> T {
        try withParent(of: context) { _ in try body() }
    }

    // MARK: Counterparts

    /// Keeps a weak reference to the parent's object for one whose deletion is pushed. If the deletion is undone here,
    /// that object is undeleted, as long as the parent's undo stack or the program retains it.
    func remember(_ counterpart: NSManagedObject) {
        guard counterpart._state.pointee.number < 0 || counterpart._state.has(.inserted) else { return }
        if deletedCounterparts.count == deletedCounterparts.capacity {
            deletedCounterparts = deletedCounterparts.filter { $0.value.object != nil }
        }
        deletedCounterparts[counterpart._state.key] = WeakObject(object: counterpart)
    }

    var hasDeletedCounterparts: Bool { !deletedCounterparts.isEmpty }

    /// The object that was remembered for a key.
    func deletedCounterpart(_ key: ObjectKey) -> NSManagedObject? { deletedCounterparts[key]?.object }

    // MARK: Keys

    /// Never inlined, as most look-ups have none to accept.
    @inline(never)
    func acceptPermanentKeys(_ context: NSManagedObjectContext) {
        guard keysSeen != family.keyCount.load(ordering: .acquiring) else { return }
        let news = family.keys(since: keysSeen)
        keysSeen = news.count
        for (former, key) in news.keys {
            let found = context.requiredIdentityMap.object(number: former, entity: key.entity.rawValue, store: 0)
            if let found { context.setKey(key, for: found) }
        }
    }

    func registeredAnew(_ key: ObjectKey, _ context: NSManagedObjectContext) -> NSManagedObject? {
        acceptPermanentKeys(context)
        return context.requiredIdentityMap.object(number: key.number, entity: key.entity.rawValue, store: key.store)
    }

    func targetKey(of owner: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> ObjectKey? {
        let key = owner._state.key
        return withParent(of: context) { $0.object(for: key).target(at: slot)?._state.key }
    }

    func replaceTemporaryKeys(of members: ToMany, store: UInt16, _ context: NSManagedObjectContext) {
        guard members.keysSeen != keysSeen else { return }
        acceptPermanentKeys(context)
        if members.mayHaveFormerKeys(store: store) {
            let known = members.storedKeys(in: store)
            let current = ContiguousArray(
                known.map {
                    $0.number > 0 && $0.store != 0
                        ? $0 : context.registered($0)?._state.key ?? context.currentKey($0)
                })
            if current != known { members.setStored(.keys(current)) }
        }
        members.setKeysSeen(keysSeen)
    }

    func obtainPermanentIDs(for objects: [NSManagedObject], _ context: NSManagedObjectContext) throws {
        try withParent(of: context) { parent in
            let counterparts = objects.map(\._state.key).filter { $0.number <= 0 }.compactMap { parent.registered($0) }
            try parent.obtainPermanentIDs(for: counterparts)
        }
        withParent(of: context) { _ in }
    }

    func keepsKey(_ former: ObjectKey, _ context: NSManagedObjectContext) -> Bool {
        deletedCounterpart(former) != nil || knows(former, context)
    }

    /// Whether contexts above still have a row: it may be deleted there too, with the deletion pending, or they took it back.
    func knows(_ key: ObjectKey, _ context: NSManagedObjectContext) -> Bool {
        withParent(of: context) { parent in
            if let counterpart = parent.registered(key), counterpart._state.has(.dirty),
                !counterpart._state.has([.detached, .inaccessible])
            {
                return true
            }
            return parent.link.knows(key, parent)
        }
    }

    // MARK: Saving

    func save(_ context: NSManagedObjectContext) throws {
        guard context.hasWork || context.faulting.readError != nil else { return try context.saveNow() }
        try withParent(of: context) { _ in try context.saveNow() }
    }

    func write(_ operation: inout SaveOperation) throws {
        var push = ChildSave(
            operation.context, self, inserted: operation.inserted, updated: operation.updated,
            deleted: operation.deleted)
        try push.run()
    }

    /// Left to the topmost context.
    func saveMetadata(of context: NSManagedObjectContext) throws {}

    /// The push compares no versions, and the parent applies the delete rules to what it knows.
    func prepareDeletion(of object: NSManagedObject, _ context: NSManagedObjectContext) {}

    func comparedVersion(of object: NSManagedObject, _ context: NSManagedObjectContext) -> Int32 {
        withParent(of: context) { _ in
            object.standing.map { context.raised($0, of: object).version } ?? object.comparedVersion
        }
    }

    /// Left to the save into the store.
    func refuse(_ conflicts: [Conflict], in store: NumberedStore, _ operation: SaveOperation) throws {}

    func error(ofMissing objects: [NSManagedObject], _ context: NSManagedObjectContext) -> any Error {
        CocoaError.deletedAbove(objects[0], "roll back, and look again at what is to be changed")
    }

    func checkMayRevert() throws {
        throw CocoaError.unsupported("revert(_:) of a child context; revert in its parent")
    }
}

extension NSManagedObjectContext {
    /// The context that this one reads from and saves into; nil for one that works directly with the coordinator.
    ///
    /// Set it once, before the first object. A fetch finds the parent's objects with their unsaved changes;
    /// `save()` makes the changes pending changes of the parent and writes to no store.
    public final var parent: NSManagedObjectContext? {
        get { link.parent }
        set {
            guard newValue !== parent else { return }
            guard let newValue, parent == nil, persistentStoreCoordinator == nil else {
                misuse("A context has one parent or one coordinator for life; make a new context for another.")
            }
            guard sequence(first: newValue, next: { $0.parent }).allSatisfy({ $0 !== self }) else {
                misuse("A context cannot be its own ancestor.")
            }
            persistentStoreCoordinator = newValue.persistentStoreCoordinator
            comparesOwners = newValue.comparesOwners
            link = ParentLink(to: newValue)
        }
    }

    /// The topmost ancestor, which saves into the stores; this context if it has no parent.
    final var topmost: NSManagedObjectContext {
        var top = self
        while let above = top.parent { top = above }
        return top
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
        requiredCoordinator.contextFamily.note(keys)
    }
}
