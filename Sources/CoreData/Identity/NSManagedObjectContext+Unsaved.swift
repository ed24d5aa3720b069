// Finding objects by temporary keys: insertions of this context and of its parent.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The registered object for a temporary key: an insertion, a parent's unsaved object, or one that was saved since.
    final func registeredUnsaved(_ key: ObjectKey) -> NSManagedObject? {
        if let found = requiredIdentityMap.object(number: key.number, entity: key.entity.rawValue, store: 0) {
            return found
        }
        if let found = temporaryIndex.object(key.number, in: tracker.dirty) { return found }
        let now = currentKey(key)
        guard now.number > 0 else { return nil }
        return requiredIdentityMap.object(number: now.number, entity: now.entity.rawValue, store: now.store)
    }

    /// The registered object for a temporary key, or a new fault.
    final func unsavedObject(for key: ObjectKey) -> NSManagedObject {
        registeredUnsaved(key) ?? newFault(for: currentKey(key))
    }

    /// The permanent key that has replaced a temporary one; for a key without a store, the key with the store that has
    /// its entity.
    ///
    /// If a key was replaced, the objects of this context accept their permanent keys first, so that the new key finds
    /// the object that had the old one.
    final func currentKey(_ key: ObjectKey) -> ObjectKey {
        if key.number <= 0 {
            guard let now = requiredCoordinator.contextFamily.key(key.number) else {
                return ObjectKey(number: key.number, entity: key.entity, store: 0)
            }
            link.acceptPermanentKeys(self)
            return now
        }
        guard key.store == 0 else { return key }
        let info = runtime.infos[key.entity.value]
        let home = requiredCoordinator.persistentStores.first { $0.holds(info) }
        return ObjectKey(number: key.number, entity: key.entity, store: home?.number ?? 0)
    }

    /// The current key of the target in an unsaved object's row, which does not say in which store the target is.
    final func currentKey(_ key: ObjectKey, of owner: NSManagedObject, _ slot: Int) -> ObjectKey {
        guard key.number > 0, requiredCoordinator.persistentStores.count > 1 else { return currentKey(key) }
        return link.targetKey(of: owner, at: slot, self) ?? currentKey(key)
    }

    /// The objects of rows that are a parent's unsaved objects, or whose store is not known.
    final func materializeUnsaved(
        _ chunk: RowChunk, _ rows: Range<Int>, store: UInt16, asFaults: Bool,
        into objects: inout ContiguousArray<NSManagedObject>
    ) {
        for index in rows {
            let row = chunk.row(index)
            let number = row.key(chunk.layout)
            let key = currentKey(ObjectKey(number: number, entity: chunk.layout.entity, store: number < 0 ? 0 : store))
            let object = object(for: key)
            let state = object._state
            objects.append(object)
            guard state.isFault else { continue }
            if state.pointee.row == nil { state.attach(chunk, row: row) }
            state.pointee.slow |= SlowReason.fault
            if !asFaults { faulting.fire(object) }
        }
    }
}
