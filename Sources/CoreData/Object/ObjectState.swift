// The state of a managed object: one block of memory behind one `let` pointer.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// The state of one managed object. Frozen, since accessors inlined into other modules read it; nothing else reads it
/// there.
@frozen
@usableFromInline
struct ObjectState {
    /// Bits of `SlowReason`.
    @usableFromInline var slow: UInt32
    var flags: UInt32
    /// The first cell of the row; nil for a fault and for an object that was never saved.
    @usableFromInline var row: UnsafeMutablePointer<UInt64>?
    /// The arena of the row's chunk.
    @usableFromInline var arena: UnsafeMutablePointer<UInt8>?
    /// Slot 0 of the overlay.
    var overlay: UnsafeMutableRawPointer?
    /// Retained. For a fault without a row it is the chunk of its siblings, which are read with it.
    var chunk: UnsafeRawPointer?
    /// `EntityInfo`, kept alive by the identity map or the entity description.
    var info: UnsafeRawPointer
    /// `IdentityMap`, retained; nil for an object without a context.
    var identityMap: UnsafeRawPointer?
    /// `NSManagedObjectID`, retained; made at the first request.
    var objectID: UnsafeRawPointer?
    /// One `ToMany?` for each to-many relationship, retained; made when needed.
    var toMany: UnsafeMutablePointer<UnsafeRawPointer?>?
    /// The target of the to-one that was read first, retained; only along an acyclic relationship (I-4).
    var target: UnsafeRawPointer?
    /// Targets of further to-ones, one for each slot, retained; made when needed.
    var targets: UnsafeMutablePointer<UnsafeRawPointer?>?
    /// The row's number; below zero for a temporary key.
    var number: Int64
    /// The number that the running save has assigned; 0 for none.
    var assigned: Int64
    var store: UInt16
    var assignedStore: UInt16
    /// The slot of `target`.
    var targetSlot: UInt16
    var entity: UInt16

    /// Memory for one state; `coredata_give_state` frees it.
    static func allocate() -> UnsafeMutablePointer<ObjectState> {
        guard let memory = coredata_take_state(MemoryLayout<ObjectState>.size) else {
            misuse("There is no memory left.")
        }
        return memory.bindMemory(to: ObjectState.self, capacity: 1)
    }

    /// The state of an object without a context, whose class is not known yet (`resolveAccessors`).
    @inline(__always)
    init(info: UnsafeRawPointer) {
        slow = SlowReason.overlay | SlowReason.foreignSlots | coredata_checked_bit()
        flags = 0
        self.info = info
        number = 0
        assigned = 0
        store = 0
        assignedStore = 0
        targetSlot = 0
        entity = Unmanaged<EntityInfo>.fromOpaque(info)._withUnsafeGuaranteedRef { $0.number }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    var life: ObjectFlags {
        get { ObjectFlags(rawValue: pointee.flags) }
        nonmutating set { pointee.flags = newValue.rawValue }
    }

    func has(_ flags: ObjectFlags) -> Bool { pointee.flags & flags.rawValue != 0 }
    func set(_ flags: ObjectFlags) { pointee.flags |= flags.rawValue }
    func clear(_ flags: ObjectFlags) { pointee.flags &= ~flags.rawValue }

    var isFault: Bool { pointee.slow & SlowReason.anyFault != 0 }

    var info: EntityInfo {
        Unmanaged<EntityInfo>.fromOpaque(pointee.info)._withUnsafeGuaranteedRef { $0 }
    }

    var identityMap: IdentityMap? {
        pointee.identityMap.map { Unmanaged<IdentityMap>.fromOpaque($0)._withUnsafeGuaranteedRef { $0 } }
    }

    var chunk: RowChunk? {
        pointee.chunk.map { Unmanaged<RowChunk>.fromOpaque($0)._withUnsafeGuaranteedRef { $0 } }
    }

    /// The version (`Z_OPT`) of the object's row.
    var version: Int32 { pointee.row?.version(info.layout) ?? 0 }

    var key: ObjectKey {
        ObjectKey(
            number: pointee.number, entity: EntityIndex(rawValue: pointee.entity), store: pointee.store)
    }

    /// Gives the object a row and releases the chunk of its former row.
    func attach(_ chunk: RowChunk, row: UnsafeMutablePointer<UInt64>) {
        let former = pointee.chunk
        pointee.chunk = UnsafeRawPointer(Unmanaged.passRetained(chunk).toOpaque())
        pointee.row = row
        pointee.arena = chunk.arena
        pointee.slow &= ~SlowReason.anyFault
        clear([.readIncidentally, .unseen])
        if let former { Unmanaged<RowChunk>.fromOpaque(former).release() }
    }

    /// Makes the object a fault by detaching its row. Members read so far may be older than the next row.
    ///
    /// - Parameter keepsVersion: whether a save must still find the version that was read last, as if the program had
    ///   released the object.
    func detachRow(keepsVersion: Bool = false) {
        if !keepsVersion { identityMap?.forgetVersion(key) }
        clear([.readIncidentally, .unseen])
        dropTargets()
        forEachToMany { $1.setMayPrecedeRow(true) }
        if let chunk = pointee.chunk { Unmanaged<RowChunk>.fromOpaque(chunk).release() }
        pointee.chunk = nil
        pointee.row = nil
        pointee.arena = nil
        pointee.slow = pointee.slow & ~SlowReason.dormant | SlowReason.fault
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Drops an overlay that equals the row, but keeps transient values.
    func revertUnchanged() {
        forEachToMany { index, members in
            if !info.hasTransientToMany || !info.toManyRelationships[index].description.isTransient { members.revert() }
        }
        guard let overlay else { return }
        let slots = info.entity.slots
        var kept = false
        for slot in slots.indices where overlay.isPresent(slot) {
            if slots[slot].isTransient { kept = true } else { overlay.remove(slot, slots[slot].kind) }
        }
        if !kept { dropOverlay() }
    }

    /// Releases members and cached targets.
    func dropRelationships() {
        if let toMany = pointee.toMany {
            for index in 0..<info.relationshipStateCount {
                if let members = toMany[index] { Unmanaged<AnyObject>.fromOpaque(members).release() }
            }
            toMany.deallocate()
            pointee.toMany = nil
        }
        dropTargets()
    }

    /// Releases cached to-one targets.
    func dropTargets() {
        if let target = pointee.target {
            pointee.target = nil
            Unmanaged<AnyObject>.fromOpaque(target).release()
        }
        guard let targets = pointee.targets else { return }
        for slot in 0..<info.layout.slotCount {
            if let target = targets[slot] { Unmanaged<AnyObject>.fromOpaque(target).release() }
        }
        targets.deallocate()
        pointee.targets = nil
    }

    /// Calls `body` with the state of each to-many that has one.
    func forEachToMany(_ body: (Int, ToMany) -> Void) {
        guard let toMany = pointee.toMany else { return }
        for index in 0..<info.entity.toMany.count {
            if let members = toMany[index] { body(index, Unmanaged<ToMany>.fromOpaque(members).takeUnretainedValue()) }
        }
    }

    /// Calls `body` with the slot of each to-one that the overlay has, nil or not, and with the overlay as it is then:
    /// `body` may write.
    @inline(__always)
    func forEachPresentToOne(_ body: (Int, Overlay) -> Void) {
        guard pointee.overlay != nil else { return }
        let (count, kinds) = (info.layout.slotCount, info.kinds)
        for slot in 0..<count where kinds[slot] == .toOne {
            if let overlay, overlay.isPresent(slot) { body(slot, overlay) }
        }
    }
}
