// The rows that one save writes to one store, grouped as stores write them.

import CoreDataValues
import Foundation

/// Packs objects into the batch of one store.
final class BatchBuilder {
    let store: NumberedStore
    let runtime: ModelRuntime
    // Used for every object; not checked for exclusivity, as only one save uses a builder, without reentrancy.
    @exclusivity(unchecked) var batch = ChangeBatch()
    @exclusivity(unchecked) private(set) var written: ContiguousArray<WrittenRow> = []
    /// New rows by entity.
    @exclusivity(unchecked) private var inserts: ObjectPacker<UInt16, Void>
    /// Changed rows by entity and slots, with the versions that the changes are based on.
    @exclusivity(unchecked) private var updates: ObjectPacker<UpdateShape, [Int32]>
    /// Touched rows, which are not compared; nil if all rows are.
    @exclusivity(unchecked) var touches: TouchList?
    /// Members of to-manys without inverse, whose rows name their owner.
    @exclusivity(unchecked) var adopted: ContiguousArray<(member: NSManagedObject, gains: Bool)> = []
    /// Deleted rows by entity; empty until there is one.
    @exclusivity(unchecked) private var deletes: ContiguousArray<OpenDelete> = []

    private struct OpenDelete {
        var numbers: [Int64] = []
        var expected: [Int32] = []
    }

    private struct UpdateShape: Equatable {
        let entity: UInt16
        let mask: [UInt64]
    }

    /// - Parameters:
    ///   - inserts: how many objects the save inserts.
    ///   - updates: how many it updates.
    init(_ store: NumberedStore, _ runtime: ModelRuntime, inserts: Int, updates: Int, comparesOwners: Bool) {
        self.store = store
        if !comparesOwners, store.store.takesTouches { touches = TouchList(room: updates) }
        self.runtime = runtime
        self.inserts = ObjectPacker(room: inserts)
        // 16: more shapes are rare.
        self.updates = ObjectPacker(room: updates, reach: 16)
        written.reserveCapacity(inserts + updates)
    }

    func insert(_ object: NSManagedObject) throws {
        try insert(object, key: object._state.pointee.assigned, version: 1)
    }

    /// Inserts a row again that another writer deleted, whole and under its key. Uses a version above any that a reader
    /// may have seen before the deletion, which may be later than this object's.
    func reinsert(_ object: NSManagedObject) throws {
        let state = object._state
        let version = max(state.version, 0) &+ Int32.random(in: 1024..<65_536)
        try insert(object, key: state.pointee.number, version: version)
        batch.absences.append(object.savedKey)
    }

    /// Adds a check that the row still has the version that was read.
    func check(_ object: NSManagedObject) { check(object, version: object.comparedVersion) }

    func check(_ object: NSManagedObject, version: Int32) {
        let state = object._state.pointee
        batch.checks.append(
            VersionCheck(entity: EntityIndex(rawValue: state.entity), numbers: [state.number], expected: [version]))
    }

    @inline(__always)
    private func insert(_ object: NSManagedObject, key: Int64, version: Int32) throws {
        let state = object._state
        let chunk = inserts.pack(object, as: state.pointee.entity, key: key, version: version)
        written.append(WrittenRow(object: object, lastOf: chunk))
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// Packs a saved object if a stored value differs from its row. If none does, changed members bump its version;
    /// without these the version is only checked, and only where the inverse depends on a rewritten to-one, or a child
    /// based its change on an older row.
    func update(_ object: NSManagedObject) throws {
        let state = object._state
        if state.isFault { try object.fireOrThrow() }
        let mask = changedMask(of: object)
        if !mask.contains(where: { $0 != 0 }), try !needsVersion(object) { return }
        let version = object.comparedVersion
        let chunk = updates.pack(
            object, as: UpdateShape(entity: state.pointee.entity, mask: mask), key: state.pointee.number,
            version: max(version, 0) &+ 1, note: [])
        written.append(WrittenRow(object: object, lastOf: chunk))
        updates.note.append(version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// The slots whose values differ from the row, as mask words; a to-one's entity tag changes with it.
    private func changedMask(of object: NSManagedObject) -> [UInt64] {
        let state = object._state
        let info = state.info
        guard let overlay = state.overlay else { return info.noSlots }
        var mask = info.noSlots
        for word in 0..<info.layout.maskWords {
            var present = overlay.presentMask(word) & ~info.transientMask[word]
            while present != 0 {
                let bit = present.trailingZeroBitCount
                present &= present - 1
                let slot = word * 64 + bit
                guard object.differs(slot, overlay) else { continue }
                mask[word] |= 1 << UInt64(bit)
                if info.slotRelationships[slot]?.hasEntityTag == true {
                    mask[(slot + 1) >> 6] |= 1 << UInt64((slot + 1) & 63)
                }
            }
        }
        return mask
    }

    func delete(_ object: NSManagedObject) throws {
        let state = object._state
        if state.isFault { try object.fireOrThrow() }
        let entity = Int(state.pointee.entity)
        if deletes.isEmpty { deletes = ContiguousArray(repeating: OpenDelete(), count: runtime.infos.count) }
        deletes[entity].numbers.append(state.pointee.number)
        deletes[entity].expected.append(object.comparedVersion)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    private func group(_ packed: ObjectPacker<UpdateShape, [Int32]>.Packed) -> UpdateGroup {
        // Derived values are never written; an object with only such changes gets a new version.
        let entity = EntityIndex(rawValue: packed.shape.entity)
        let derived = runtime.infos[entity.value].derivedSlots
        let slots = BatchBuilder.slots(of: packed.shape.mask)
        return UpdateGroup(
            entity: entity, slots: derived.isEmpty ? slots : slots.filter { !derived.contains($0) },
            chunk: packed.chunk, expected: packed.note)
    }

    private static func slots(of mask: [UInt64]) -> [Int] {
        var slots: [Int] = []
        for word in mask.indices {
            var bits = mask[word]
            while bits != 0 {
                slots.append(word * 64 + bits.trailingZeroBitCount)
                bits &= bits - 1
            }
        }
        return slots
    }

    func finish() -> StoreBatch {
        if !inserts.packed.isEmpty { batch.inserts = inserts.packed.map(\.chunk) }
        if !updates.packed.isEmpty { batch.updates = updates.packed.map(group) }
        addTouches()
        for entity in deletes.indices where !deletes[entity].numbers.isEmpty {
            batch.deletes.append(
                DeleteGroup(
                    entity: EntityIndex(entity), numbers: deletes[entity].numbers, expected: deletes[entity].expected))
        }
        var (finished, rows) = (ChangeBatch(), ContiguousArray<WrittenRow>())
        swap(&finished, &batch)
        swap(&rows, &written)
        return StoreBatch(store: store, batch: finished, written: rows, touched: touches?.rows ?? [])
    }
}

extension NSManagedObject {
    /// Reads the row of a fault for the save: an update packed without it would lose the unread values.
    final func fireOrThrow() throws {
        fireUnseen()
        if _state.isFault { try managedObjectContext?.faulting.throwReadError() }
    }

    /// The key that the running save writes for this object.
    final var savedKey: RowKey {
        let state = _state.pointee
        return RowKey(
            entity: EntityIndex(rawValue: state.entity), number: state.assigned != 0 ? state.assigned : state.number)
    }
}
