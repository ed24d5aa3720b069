// What hangs behind a managed object: one block of memory, reached through one `let` pointer.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// Why a read must leave the inlined path. Zero means: loaded, unchanged, slots as the class expects.
@usableFromInline
enum SlowReason {
    /// The row has not been read.
    static let fault: UInt32 = 1
    /// Values were changed or never saved: look into the overlay first.
    static let overlay: UInt32 = 2
    /// The class was made for other slots than the entity has: go by name.
    static let foreignSlots: UInt32 = 4
    /// A fault whose row is here and whose class does nothing when it wakes: the first read only clears this.
    @usableFromInline static let dormant: UInt32 = 8
    /// Touches are checked for the right queue (`Confinement`).
    static let checked: UInt32 = 16
    /// It has no context and answers with stand-ins, so that a key path shows its keys (`KeyPathReading`).
    static let standsIn: UInt32 = 32
    static let anyFault: UInt32 = fault | dormant
}

/// Facts about an object's life, as bits. The sets of a context are computed from these (I-2).
struct ObjectFlags: OptionSet {
    let rawValue: UInt32
    static let inserted = ObjectFlags(rawValue: 1 << 0)
    static let updated = ObjectFlags(rawValue: 1 << 1)
    static let deleted = ObjectFlags(rawValue: 1 << 2)
    /// The delete rules were applied.
    static let propagated = ObjectFlags(rawValue: 1 << 3)
    /// Part of the event that the next `processPendingChanges` reports.
    static let eventInserted = ObjectFlags(rawValue: 1 << 4)
    static let eventUpdated = ObjectFlags(rawValue: 1 << 5)
    static let eventDeleted = ObjectFlags(rawValue: 1 << 6)
    static let eventRefreshed = ObjectFlags(rawValue: 1 << 7)
    /// Stands in the context's list of dirty objects.
    static let listed = ObjectFlags(rawValue: 1 << 8)
    /// Inserted in the open event: undoing the insertion undoes all of it, so nothing is logged.
    static let fresh = ObjectFlags(rawValue: 1 << 9)
    /// Stands in the identity map.
    static let registered = ObjectFlags(rawValue: 1 << 10)
    /// Has a row in a store (or had one, if `gone`).
    static let persistent = ObjectFlags(rawValue: 1 << 11)
    /// No longer belongs to its context: deleted and saved, rolled back, or the context was reset.
    static let gone = ObjectFlags(rawValue: 1 << 12)
    /// An undo or redo wrote to it; it is looked at again when the undo ends.
    static let recheck = ObjectFlags(rawValue: 1 << 13)
    /// The row of this fault was looked for and is gone.
    static let inaccessible = ObjectFlags(rawValue: 1 << 14)
    /// Inside its `awakeFromFetch`: what it writes to its relationships stays on this side (1.4).
    static let waking = ObjectFlags(rawValue: 1 << 15)
    /// While lists of members are compared: stands in the one, or in the other.
    static let present = ObjectFlags(rawValue: 1 << 16)
    static let wanted = ObjectFlags(rawValue: 1 << 17)
    /// Its faults are unexpected (`NSFetchRequest.refusesFaults`).
    static let watched = ObjectFlags(rawValue: 1 << 18)
    /// Was here, found or reached while faults were told of: what is reached from it is noted, also what came with its row.
    static let traced = ObjectFlags(rawValue: 1 << 19)
    /// The program has it from a request, by a relationship that was noted, or from before anything led to it.
    static let placed = ObjectFlags(rawValue: 1 << 20)
    /// A predicate or a sort order asks it: a key that nobody answers for is nil.
    static let predicated = ObjectFlags(rawValue: 1 << 21)
    /// Has changes of a child whose base the context keeps (`Base`).
    static let based = ObjectFlags(rawValue: 1 << 22)
    /// Its row came without the program's asking for it: beside another's, or for a delete rule, a write or a save.
    static let unasked = ObjectFlags(rawValue: 1 << 24)
    /// Its row was used so: a save compares the version that the program has last read.
    static let unseen = ObjectFlags(rawValue: 1 << 25)
    /// Holds changes that the running save must write.
    static let dirty: ObjectFlags = [.inserted, .updated, .deleted]
    /// What must be looked at before a write may go unnoticed: `fresh` alone of these allows it.
    static let quietMask = ObjectFlags([.fresh, .gone, .deleted]).rawValue
    /// A write to an object with exactly `updated` and `eventUpdated` of these changes no list.
    static let knownMask = ObjectFlags([.updated, .eventUpdated, .gone, .deleted]).rawValue
    static let event: ObjectFlags = [.eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed]
}

/// The state of one managed object. Layout is known to inlined accessors in other modules; only those read it there.
@frozen
@usableFromInline
struct ObjectState {
    /// Bits of `SlowReason`.
    @usableFromInline var slow: UInt32
    var flags: UInt32
    /// The first cell of the row, nil for a fault and for an object that was never saved.
    @usableFromInline var row: UnsafeMutablePointer<UInt64>?
    /// The arena of the row's chunk.
    @usableFromInline var arena: UnsafeMutablePointer<UInt8>?
    /// Slot 0 of the overlay.
    var overlay: UnsafeMutableRawPointer?
    /// Retained. Of a fault without a row it names the siblings, which are read with it.
    var chunk: UnsafeRawPointer?
    /// `EntityInfo`, kept alive by the identityMap or the entity description.
    var info: UnsafeRawPointer
    /// `IdentityMap`, retained; nil for an object without a context.
    var identityMap: UnsafeRawPointer?
    /// `NSManagedObjectID`, retained; made when asked for.
    var objectID: UnsafeRawPointer?
    /// One `ToMany?` a to-many relationship, retained; made when needed.
    var toMany: UnsafeMutablePointer<UnsafeRawPointer?>?
    /// The target of the to-one that was read first, retained; only along an acyclic relationship.
    var target: UnsafeRawPointer?
    /// Targets of further to-ones, one a slot, retained; made when needed.
    var targets: UnsafeMutablePointer<UnsafeRawPointer?>?
    /// The row's number; below zero while it is temporary.
    var number: Int64
    /// The number that the running save gave, 0 when none.
    var assigned: Int64
    var store: UInt16
    var assignedStore: UInt16
    /// The slot of `target`.
    var targetSlot: UInt16
    var entity: UInt16

    /// Memory for one state; it is given back by `coredata_give_state`.
    static func allocate() -> UnsafeMutablePointer<ObjectState> {
        guard let memory = coredata_take_state(MemoryLayout<ObjectState>.size) else {
            misuse("There is no memory left.")
        }
        return memory.bindMemory(to: ObjectState.self, capacity: 1)
    }

    /// Of an object without a context, of whose class nothing is known yet (`learnClass`).
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

    /// The entity's runtime facts.
    var info: EntityInfo {
        Unmanaged<EntityInfo>.fromOpaque(pointee.info)._withUnsafeGuaranteedRef { $0 }
    }

    var identityMap: IdentityMap? {
        pointee.identityMap.map { Unmanaged<IdentityMap>.fromOpaque($0)._withUnsafeGuaranteedRef { $0 } }
    }

    var chunk: RowChunk? {
        pointee.chunk.map { Unmanaged<RowChunk>.fromOpaque($0)._withUnsafeGuaranteedRef { $0 } }
    }

    /// The version (`Z_OPT`) of the row that the object was read from.
    var version: Int32 { pointee.row?.version(info.layout) ?? 0 }

    var key: ObjectKey {
        ObjectKey(
            number: pointee.number, entity: EntityIndex(rawValue: pointee.entity), store: pointee.store)
    }

    /// Points the object at a row. The former row's chunk is let go.
    func attach(_ chunk: RowChunk, row: UnsafeMutablePointer<UInt64>) {
        let former = pointee.chunk
        pointee.chunk = UnsafeRawPointer(Unmanaged.passRetained(chunk).toOpaque())
        pointee.row = row
        pointee.arena = chunk.arena
        pointee.slow &= ~SlowReason.anyFault
        clear([.unasked, .unseen])
        if let former { Unmanaged<RowChunk>.fromOpaque(former).release() }
    }

    /// Makes the object a fault: its row is let go. What it knows of its members may be older than the next one.
    ///
    /// - Parameter keepsVersion: whether the next row must still have the version that was read last, as if the program had let the
    ///   object go.
    func detachRow(keepsVersion: Bool = false) {
        if !keepsVersion { identityMap?.forgetVersion(key) }
        clear([.unasked, .unseen])
        dropTargets()
        forEachMember { $1.mayPrecedeRow = true }
        if let chunk = pointee.chunk { Unmanaged<RowChunk>.fromOpaque(chunk).release() }
        pointee.chunk = nil
        pointee.row = nil
        pointee.arena = nil
        pointee.slow = pointee.slow & ~SlowReason.dormant | SlowReason.fault
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Drops an overlay that says what the row says, but keeps transient values.
    func revertUnchanged() {
        forEachMember { index, members in
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

    func forEachMember(_ body: (Int, ToMany) -> Void) {
        guard let toMany = pointee.toMany else { return }
        for index in 0..<info.entity.toMany.count {
            if let members = toMany[index] { body(index, Unmanaged<ToMany>.fromOpaque(members).takeUnretainedValue()) }
        }
    }
}
