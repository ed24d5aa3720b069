// Inserting, deleting and finding objects.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Inserts an object. Does nothing for one that is in the context already, or that the running save has deleted.
    /// One whose deletion was saved becomes a new object with its former values.
    public final func insert(_ object: NSManagedObject) {
        checkQueue()
        let state = object._state
        if state.identityMap === requiredIdentityMap, !state.has(.detached) {
            if state.has(.deleted) { cancelDeletion(object) }
            return
        }
        // A `didSave` cannot bring back what its save has deleted (1.8).
        if isSaving, state.identityMap === requiredIdentityMap, state.has(.detached) { return }
        guard state.identityMap == nil || state.identityMap === requiredIdentityMap else {
            misuse("The object \(object.entity.name ?? "") belongs to another context and cannot be inserted here.")
        }
        guard state.info.schema === runtime.schema else {
            misuse("The entity \(object.entity.name ?? "") is not of this context's model.")
        }
        guard !state.info.entity.isAbstract else {
            misuse("The entity \(object.entity.name ?? "") is abstract; insert one of its sub-entities.")
        }
        if state.has(.detached), state.pointee.row != nil { return reinsert(object) }
        let hasRelationships = state.pointee.overlay != nil || state.pointee.toMany != nil
        registerInsertion(of: object)
        if hasRelationships { insertCompanions(of: object) }
        object.setDefaults()
        object.awakeFromInsert()
    }

    /// Inserts the objects that were related to an object before they had a context.
    private func insertCompanions(of object: NSManagedObject) {
        for relationship in object._state.info.relationships {
            for other in object.targets(of: relationship) where other._state.identityMap == nil { insert(other) }
        }
    }

    /// Gives an object a temporary key and makes it a pending insertion, which is logged.
    final func registerInsertion(of object: NSManagedObject) {
        let state = object._state
        if state.identityMap == nil {
            state.pointee.identityMap = UnsafeRawPointer(Unmanaged.passRetained(requiredIdentityMap).toOpaque())
            object.resolveAccessors()
        }
        state.clear([.detached, .persistent, .rulesApplied, .inaccessible])
        state.pointee.number = nextTemporaryNumber()
        state.pointee.store = 0
        state.pointee.slow |= SlowReason.overlay
        if state.pointee.objectID != nil { state.forgetObjectID() }
        tracker.insert(object)
    }

    /// Deletes an object at the next save. Delete rules are applied when pending changes are processed.
    public final func delete(_ object: NSManagedObject) {
        checkQueue()
        let state = object._state
        guard state.identityMap === requiredIdentityMap else {
            misuse("delete(_:) was given an object of another context; use object(with: objectID) here.")
        }
        guard !state.has([.deleted, .detached]) else { return }
        faulting.seen { object.prepareForDeletion() }
        remove(object)
    }

    /// Marks an object deleted and leaves its relationships to the delete rules.
    final func remove(_ object: NSManagedObject) {
        if object._state.isFault {
            object.fireUnseen()
            object.recordMissingRow()
        }
        guard !object._state.has([.deleted, .detached]) else { return }
        link.prepareDeletion(of: object, self)
        tracker.delete(object)
    }

    /// Cancels a pending deletion.
    final func cancelDeletion(_ object: NSManagedObject) {
        let state = object._state
        tracker.logRevival(of: object)
        tracker.unmark(object, .deleted)
        state.clear([.rulesApplied, .eventDeleted])
        tracker.deletePropagation.remove(object)
        if !state.has(.inserted) {
            if tracker.isReplaying {
                tracker.touch(object)
            } else if object.countsAsChanged {
                tracker.mark(object, .updated)
            }
        }
        tracker.addToEvent(object, state.has(.inserted) ? .eventInserted : .eventUpdated)
    }

    /// Detaches an object from the context. It keeps its values, for a redo.
    ///
    /// Its stored members are forgotten here, since an undo links members to it before it restores the object.
    final func withdraw(_ object: NSManagedObject) {
        let state = object._state
        requiredIdentityMap.withdraw(object, isRegistered: state.has(.registered))
        if state.has(.inserted), runtime.hasOneWayRelationships { hasStrays = true }
        tracker.unmark(object, .dirty)
        if state.has(.persistent) { state.dropRelationships() }
        state.clear([.registered, .rulesApplied, .skipsLog, .persistent])
        state.set(.detached)
    }

    // MARK: Finding

    /// The object for an ID: the registered one, or a fault that is not checked against the store.
    public final func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue()
        let object = object(for: key(of: objectID))
        faulting.joinOthers(object)
        return object
    }

    /// The object for an ID. One that is not registered or is a fault is read from the store, with the faults beside
    /// it, at most 256 (`readsFaultsTogether`). An object with its row in memory is not looked up again.
    ///
    /// - Throws: 133000 when there is no such row, or the ID comes from another coordinator.
    public final func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkQueue()
        try faulting.throwReadError()
        guard isOwn(objectID) else { throw CocoaError.foreignID(objectID) }
        let key = objectID.key
        if let found = registered(key) {
            guard !found._state.has(.deleted) else { throw CocoaError.missingObject(objectID) }
            if found._state.isFault,
                found._state.pointee.row != nil
                    || faulting.cachedObject(for: found._state.key) == nil && faulting.readTogether(found)
            {
                found.fire()
            }
            if !found._state.isFault { return found }
        }
        guard let found = try faulting.read(key) else { throw CocoaError.missingObject(objectID) }
        return found
    }

    /// The registered object for an ID, or nil; never asks the store.
    public final func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue()
        return isOwn(objectID) ? registered(objectID.key) : nil
    }

    private func isOwn(_ objectID: NSManagedObjectID) -> Bool { objectID.identity === requiredCoordinator.identities }

    private func key(of objectID: NSManagedObjectID) -> ObjectKey {
        guard isOwn(objectID) else {
            misuse("\(objectID) comes from another coordinator; use managedObjectID(forURIRepresentation:).")
        }
        return objectID.key
    }

    /// A fault for a key that has no object here yet.
    final func newFault(for key: ObjectKey) -> NSManagedObject {
        let object = runtime.infos[key.entity.value].makeObject()
        prepareFault(object, key: key)
        object._state.pointee.slow |= SlowReason.fault
        requiredIdentityMap.register(object)
        return object
    }

    /// Turns an object that was just made into the fault of a row.
    final func prepareFault(_ object: NSManagedObject, key: ObjectKey) {
        let state = object._state
        state.dropOverlay()
        state.pointee.slow =
            state.pointee.slow & SlowReason.checked
            | (state.info.classBinding.slots == nil ? 0 : SlowReason.foreignSlots)
        state.pointee.identityMap = UnsafeRawPointer(Unmanaged.passRetained(requiredIdentityMap).toOpaque())
        state.pointee.number = key.number
        state.pointee.store = key.store
        state.pointee.flags = ObjectFlags([.persistent]).rawValue
    }
}

extension NSManagedObject {
    /// Sets the entity's default values where the overlay has none.
    final func setDefaults() {
        let overlay = _state.makeOverlay()
        for (slot, value) in _state.info.defaults where !overlay.isPresent(slot) { store(value, in: overlay, slot) }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Drops the ID after the key has changed; the next `objectID` is another one.
    func forgetObjectID() {
        if let id = pointee.objectID { Unmanaged<NSManagedObjectID>.fromOpaque(id).release() }
        pointee.objectID = nil
    }

    /// Breaks cycles of an abandoned object: clears to-ones and to-manys, keeps attributes.
    func breakCycles() {
        dropRelationships()
        forEachPresentToOne { $1.setNull($0, .toOne) }
    }
}
