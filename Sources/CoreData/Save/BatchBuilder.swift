// The rows that one save writes to one store, grouped as stores write them.

import CoreDataValues
import Foundation

/// Packs objects into the batch of one store.
final class BatchBuilder {
    let store: NumberedStore
    let runtime: ModelRuntime
    /// How many objects the save inserts and updates: no chunk is larger, so that saving one object allocates little.
    let room: (inserts: Int, updates: Int)
    // Used for every object; not checked for exclusivity, as only one save uses a builder, without reentrancy.
    @exclusivity(unchecked) var batch = ChangeBatch()
    @exclusivity(unchecked) private(set) var written: ContiguousArray<WrittenRow> = []
    /// The chunk that new rows of the last entity go into.
    @exclusivity(unchecked) private var last: (entity: Int, chunk: RowChunk)?
    /// The open chunks of other entities; empty while there is only one.
    @exclusivity(unchecked) private var open: ContiguousArray<RowChunk?> = []
    /// Update groups that take further rows.
    @exclusivity(unchecked) private var groups: ContiguousArray<OpenUpdate> = []
    /// Touched rows, which are not compared; nil if all rows are.
    @exclusivity(unchecked) var touches: TouchList?
    /// Members of to-manys without inverse, whose rows name their owner.
    @exclusivity(unchecked) var adopted: ContiguousArray<(member: NSManagedObject, gains: Bool)> = []
    /// Deleted rows by entity; empty until there is one.
    @exclusivity(unchecked) private var deletes: ContiguousArray<OpenDelete> = []
    /// How many update groups are open at once; more shapes are rare, and then the oldest group is closed.
    private static let groupLimit = 16

    private struct OpenDelete {
        var numbers: [Int64] = []
        var expected: [Int32] = []
    }

    private struct OpenUpdate {
        let entity: EntityIndex
        let mask: [UInt64]
        let chunk: RowChunk
        var expected: [Int32] = []
    }

    init(_ store: NumberedStore, _ runtime: ModelRuntime, inserts: Int, updates: Int, comparesOwners: Bool) {
        self.store = store
        if !comparesOwners, store.store.takesTouches { touches = TouchList() }
        self.runtime = runtime
        room = (inserts, updates)
        written.reserveCapacity(inserts + updates)
    }

    func insert(_ object: NSManagedObject) throws {
        try insert(object, key: object._state.pointee.assigned, version: 1)
    }

    /// Inserts a row again that another writer deleted, whole and under its key. Its version must be one that the row
    /// never had, and whoever read the row before the deletion may know a later one than this object.
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
        let chunk: RowChunk
        if let last, last.entity == Int(state.pointee.entity), !last.chunk.isFull {
            chunk = last.chunk
        } else {
            chunk = openChunk(Int(state.pointee.entity), state.info)
        }
        written.append(WrittenRow(object: object, chunk: chunk, row: chunk.count))
        object.pack(into: chunk, key: key, version: version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// The open chunk of an entity other than the last one's, or a new chunk in the place of a full one.
    private func openChunk(_ entity: Int, _ info: EntityInfo) -> RowChunk {
        var former: RowChunk?
        if let last {
            if open.isEmpty {
                open = ContiguousArray(repeating: nil, count: runtime.infos.count)
            }
            open[last.entity] = last.chunk
            former = open[entity]
        }
        if let former, !former.isFull {
            last = (entity, former)
            return former
        }
        former?.trimArena()
        let left = max(1, room.inserts - written.count)
        let made = RowChunk(
            layout: info.layout, capacity: min(former == nil ? 32 : RowChunk.maximumCount, left),
            arenaCapacity: former.map { $0.arenaUsed } ?? min(1024, 256 * left))
        last = (entity, made)
        batch.inserts.append(made)
        return made
    }

    /// Packs a saved object if a stored value differs from its row. Otherwise its version is only checked, if the
    /// overlay repeats a to-one that the inverse relies on, or if a child's change to an older row equals the row.
    func update(_ object: NSManagedObject) throws {
        let state = object._state
        if state.isFault { try object.fireOrThrow() }
        let mask = changedMask(of: object)
        if !mask.contains(where: { $0 != 0 }), try !needsVersion(object) { return }
        let place = openGroup(EntityIndex(rawValue: state.pointee.entity), mask, state.info)
        let chunk = groups[place].chunk
        let version = object.comparedVersion
        written.append(WrittenRow(object: object, chunk: chunk, row: chunk.count))
        object.pack(into: chunk, key: state.pointee.number, version: max(version, 0) &+ 1)
        groups[place].expected.append(version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// The index of the open group for a shape; most saves have one or two shapes.
    private func openGroup(_ entity: EntityIndex, _ mask: [UInt64], _ info: EntityInfo) -> Int {
        if let place = groups.lastIndex(where: { $0.entity == entity && $0.mask == mask }) {
            if !groups[place].chunk.isFull { return place }
            close(groups.remove(at: place))
        } else if groups.count == BatchBuilder.groupLimit {
            close(groups.removeFirst())
        }
        let rows = min(64, max(1, room.updates))
        groups.append(
            OpenUpdate(
                entity: entity, mask: mask,
                chunk: RowChunk(layout: info.layout, capacity: rows, arenaCapacity: min(8192, 256 * rows))))
        return groups.count - 1
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

    private func close(_ group: OpenUpdate) {
        // Derived values are never written; an object with only such changes gets a new version.
        let derived = runtime.infos[group.entity.value].derivedSlots
        let slots = BatchBuilder.slots(of: group.mask)
        batch.updates.append(
            UpdateGroup(
                entity: group.entity, slots: derived.isEmpty ? slots : slots.filter { !derived.contains($0) },
                chunk: group.chunk, expected: group.expected))
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
        for place in groups.indices { close(groups[place]) }
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
