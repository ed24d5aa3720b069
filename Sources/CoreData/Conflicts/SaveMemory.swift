// What a failed save restores once a policy has changed objects.

import CoreDataValues
import Foundation

/// The state of objects before a policy changed them. Only a save that met conflicts has one.
final class SaveMemory {
    private let context: NSManagedObjectContext
    private let tracker: ChangeTracker
    private let checked: ContiguousArray<NSManagedObject>
    private let rowTime: Int
    private var mementos: [ObjectIdentifier: Memento] = [:]
    private var reinserted: Set<ObjectIdentifier> = []
    /// Objects whose rows were replaced by other ones than were read.
    private(set) var merged: Set<NSManagedObject> = []

    init(_ context: NSManagedObjectContext) {
        self.context = context
        tracker = context.tracker
        checked = context.checkedObjects
        rowTime = context.faulting.rowTime
        for object in tracker.dirty { remember(object) }
        for object in tracker.event { remember(object) }
        for object in checked { remember(object) }
    }

    /// Keeps an object's state unless it was kept before.
    func remember(_ object: NSManagedObject) {
        if mementos[ObjectIdentifier(object)] == nil { mementos[ObjectIdentifier(object)] = Memento(object) }
    }

    /// Keeps the state of an object whose row is about to be replaced.
    func rememberMerged(_ object: NSManagedObject) {
        remember(object)
        merged.insert(object)
    }

    /// Notes that the object's row is gone and the save inserts it again, whole and under its key.
    func reinsert(_ object: NSManagedObject) { reinserted.insert(ObjectIdentifier(object)) }

    /// Forgets a reinsertion because another writer has inserted the row again.
    func forgetReinsertion(of object: NSManagedObject) { reinserted.remove(ObjectIdentifier(object)) }

    func isReinserted(_ object: NSManagedObject) -> Bool { reinserted.contains(ObjectIdentifier(object)) }

    /// Restores the state of all objects and of the tracker.
    func restore() {
        let touched = context.tracker.dirty + context.tracker.event
        for object in touched where mementos[ObjectIdentifier(object)] == nil {
            let state = object._state
            if state.has(.inserted) {
                context.withdraw(object)
            } else {
                state.revertUnchanged()
            }
            state.clear([
                .inserted, .updated, .deleted, .rulesApplied, .inDirtyList, .event, .skipsLog, .replayed, .inaccessible,
            ])
            state.pointee.assigned = 0
        }
        context.tracker = tracker
        context.checkedObjects = checked
        for memento in mementos.values { memento.restore() }
        context.faulting.rowTime = rowTime
        context.failedMerges += 1
    }
}

/// Everything about one object that a save can change.
private final class Memento {
    private let object: NSManagedObject
    private let flags: UInt32
    private let slow: UInt32
    private let number: Int64
    private let store: UInt16
    private let row: RowSnapshot?
    private var overlay: Overlay?
    private let toMany: [(members: ToMany, contents: ToMany.Contents)?]

    init(_ object: NSManagedObject) {
        self.object = object
        let state = object._state
        flags = state.pointee.flags
        slow = state.pointee.slow
        number = state.pointee.number
        store = state.pointee.store
        if let row = state.pointee.row, let chunk = state.chunk {
            self.row = RowSnapshot(chunk: chunk, row: row)
        } else {
            row = nil
        }
        overlay = state.overlay?.copy(state.info.layout, state.info.kinds)
        toMany = state.info.toManyRelationships.indices.map { index in
            object.toManyState(index).map { ($0, $0.everything) }
        }
    }

    deinit { overlay?.deallocate(object._state.info.layout, object._state.info.kinds) }

    func restore() {
        let state = object._state
        state.dropOverlay()
        state.dropTargets()
        state.pointee.overlay = overlay?.base
        overlay = nil
        if let row { state.attach(row.chunk, row: row.row) } else { state.detachRow(keepsVersion: true) }
        for (index, former) in toMany.enumerated() {
            if let former { former.members.restore(former.contents) }
            object.setToManyState(index, former?.members)
        }
        state.pointee.number = number
        state.pointee.store = store
        state.pointee.assigned = 0
        state.pointee.flags = flags
        state.pointee.slow = slow
    }
}

extension NSManagedObject {
    /// Replaces the state of a to-many.
    fileprivate final func setToManyState(_ index: Int, _ members: ToMany?) {
        guard let place = _state.pointee.toMany else { return }
        let former = place[index]
        place[index] = members.map { UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque()) }
        if let former { Unmanaged<ToMany>.fromOpaque(former).release() }
    }
}

extension Overlay {
    func copy(_ layout: RowLayout, _ kinds: UnsafePointer<SlotKind>) -> Overlay {
        let copy = Overlay.allocate(layout)
        for slot in 0..<layout.slotCount where isPresent(slot) {
            guard !isNull(slot) else {
                copy.setNull(slot, kinds[slot])
                continue
            }
            switch kinds[slot] {
            case .int, .bool, .double, .float, .date, .entityTag: copy.setBits(slot, pointer(slot, UInt64.self).pointee)
            case .text, .uri: copy.set(slot, pointer(slot, String.self).pointee)
            case .data, .externalData: copy.set(slot, pointer(slot, Data.self).pointee)
            case .uuid: copy.set(slot, pointer(slot, UUID.self).pointee)
            case .decimal, .transformable, .toOne: copy.set(slot, pointer(slot, AnyObject.self).pointee)
            }
        }
        return copy
    }
}
