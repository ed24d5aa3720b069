// Permanent IDs: those that are obtained before the save, and those that a save gives.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Gives unsaved objects the IDs that they will have in the store.
    ///
    /// The objects stay inserted; those with a permanent ID keep it. A short transaction of the store allocates the
    /// numbers.
    /// - Throws: 134070 when no writable store has an object's entity, and what the store throws; then no ID has
    ///   changed.
    public final func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        checkQueue()
        for object in objects where object._state.identityMap !== requiredIdentityMap {
            misuse("obtainPermanentIDs(for:) was given an object of another context.")
        }
        let unsaved = objects.filter { $0._state.pointee.number <= 0 && !$0._state.has(.detached) }
        guard !unsaved.isEmpty else { return }
        let own = unsaved.filter { $0._state.has(.inserted) }
        try link.obtainPermanentIDs(for: unsaved.filter { !$0._state.has(.inserted) }, self)
        try requiredCoordinator.writes.write { try giveKeys(own) }
    }

    private func giveKeys(_ objects: [NSManagedObject]) throws {
        struct Table: Hashable {
            var store: UInt16
            var root: EntityIndex
        }
        var groups: [Table: (store: NumberedStore, objects: [NSManagedObject])] = [:]
        for object in objects {
            let info = object._state.info
            let store = try home(of: object)
            groups[Table(store: store.number, root: info.entity.root), default: (store, [])].objects.append(object)
        }
        var given: [(NSManagedObject, ObjectKey)] = []
        for (table, group) in groups {
            do {
                let numbers = try group.store.writer.allocateKeys(group.objects.count, in: table.root)
                for (object, number) in zip(group.objects, numbers) {
                    let entity = object._state.key.entity
                    given.append((object, ObjectKey(number: number, entity: entity, store: table.store)))
                }
            } catch { throw CocoaError.saving(error) }
        }
        requiredCoordinator.contextFamily.note(given.map { ($0._state.pointee.number, $1) })
        for (object, key) in given { setKey(key, for: object) }
        if !given.isEmpty { hasEarlyKeys = true }
    }

    /// Assigns inserted objects the permanent keys that they have already, and answers the others.
    final func keepEarlyKeys(_ inserted: ContiguousArray<NSManagedObject>) -> ContiguousArray<NSManagedObject> {
        inserted.filter { object in
            let state = object._state
            guard state.pointee.number > 0 else { return true }
            state.pointee.assigned = state.pointee.number
            state.pointee.assignedStore = state.pointee.store
            return false
        }
    }
}

extension NSManagedObject {
    /// Makes the key that the save assigned the object's own.
    final func acceptAssignedKey() {
        let state = _state
        guard state.pointee.assigned != 0 else { return }
        state.pointee.number = state.pointee.assigned
        state.pointee.store = state.pointee.assignedStore
        state.pointee.assigned = 0
        state.set(.persistent)
        state.forgetObjectID()
    }
}
