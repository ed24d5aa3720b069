// What a save leaves behind in its objects: permanent keys, written rows and members without changes.

import CoreDataValues
import Foundation

/// A written row and its object. Retains neither: the save's lists hold the object, the batch holds the chunk.
struct WrittenRow {
    let object: Unmanaged<NSManagedObject>
    let chunk: Unmanaged<RowChunk>
    let row: Int

    init(object: NSManagedObject, lastOf chunk: RowChunk) {
        self.object = .passUnretained(object)
        self.chunk = .passUnretained(chunk)
        row = chunk.count - 1
    }

    var key: RowKey {
        chunk._withUnsafeGuaranteedRef { RowKey(entity: $0.layout.entity, number: $0.row(row).key($0.layout)) }
    }

    func accept() {
        object._withUnsafeGuaranteedRef { object in
            chunk._withUnsafeGuaranteedRef { object.acceptRow($0, row) }
        }
    }
}

extension NSManagedObject {
    /// Makes a written row the snapshot and drops the overlay values that it contains now.
    final func acceptRow(_ chunk: RowChunk, _ row: Int) {
        let state = _state
        state.attach(chunk, row: chunk.row(row))
        state.dropTargets()
        guard let overlay = state.overlay else { return }
        guard state.info.keepsValuesBesideRow else { return state.dropOverlay() }
        let live = removeWrittenLiveValues(overlay)
        defer { for (slot, value) in live { cacheBesideRow(value, at: slot) } }
        guard state.info.hasTransientSlots else { return state.dropOverlay() }
        let slots = state.info.entity.slots
        for slot in slots.indices where overlay.isPresent(slot) && !slots[slot].isTransient {
            overlay.remove(slot, slots[slot].kind)
        }
    }
}

extension NSManagedObject {
    /// Makes the present members of changed to-manys the stored ones.
    final func acceptToManyChanges() {
        forEachToMany { index, members in
            guard members.isChanged else { return }
            let isOrdered = relationship(toMany: index).isOrdered
            if isOrdered, !members.hasOrder { members.keepKeys(store: _state.pointee.store) }
            guard members.hasOrder, !isOwner(ofChanged: members, index) else {
                return members.acceptChanges(isOrdered: isOrdered)
            }
            // The member was refreshed and lost its side; reread the members.
            members.revert()
            members.becomeFault()
        }
    }

    /// Whether the to-ones of added members point at this object and those of removed members do not.
    private final func isOwner(ofChanged members: ToMany, _ index: Int) -> Bool {
        guard case .slot(let slot)? = relationship(toMany: index).inverse.map({ _state.info.schema[$0].place }) else {
            return true
        }
        return members.added.objects.allSatisfy { !$0._state.isFault && $0.target(at: slot) === self }
            && members.removed.objects.allSatisfy {
                $0._state.has([.deleted, .detached]) || !$0._state.isFault && $0.target(at: slot) !== self
            }
    }
}

extension NSManagedObjectContext {
    /// Detaches rows that the store changed in addition to what a save wrote (derived attributes) from faults, so that they are read
    /// again. An object that was read keeps its values until it is refreshed (4.11); members of to-manys that were read before are
    /// read again when their owner asks.
    final func rowsWereTouched(_ keys: [RowKey], store: UInt16) {
        guard !keys.isEmpty, let identityMap else { return }
        faulting.rowTime += 1
        for key in keys {
            guard let object = identityMap.object(number: key.number, entity: key.entity.rawValue, store: store),
                object._state.isFault, object._state.pointee.row != nil
            else { continue }
            object._state.detachRow()
            faulting.joinOthers(object)
        }
    }
}
