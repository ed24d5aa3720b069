// The rows of one save for one store, grouped as stores write them.

import CoreDataValues
import Foundation

/// Packs objects into the batch of one store.
final class BatchBuilder {
    private let store: NumberedStore
    let runtime: ModelRuntime
    var batch = ChangeBatch()
    private struct Lists {
        var written: ContiguousArray<WrittenRow> = []
        var open: ContiguousArray<RowChunk?> = []
        var deletes: ContiguousArray<OpenDelete> = []
    }
    /// Behind a pointer like a context's tracker: these are touched for every object.
    private let lists: UnsafeMutablePointer<Lists>
    private var written: ContiguousArray<WrittenRow> {
        _read { yield lists.pointee.written }
        _modify { yield &lists.pointee.written }
    }
    /// The chunk that new rows of each entity go into; empty until there is one.
    private var open: ContiguousArray<RowChunk?> {
        _read { yield lists.pointee.open }
        _modify { yield &lists.pointee.open }
    }
    /// Groups that take further rows.
    private var groups: ContiguousArray<OpenUpdate> = []
    /// More shapes than these are rare; the group that waited longest is closed then.
    private static let groupLimit = 16
    /// By entity; empty until there is one.
    private var deletes: ContiguousArray<OpenDelete> {
        _read { yield lists.pointee.deletes }
        _modify { yield &lists.pointee.deletes }
    }

    private struct OpenDelete {
        var numbers: [Int64] = []
        var expected: [Int32] = []
    }

    private struct UpdateShape: Hashable {
        var entity: EntityIndex
        var mask: [UInt64]
    }

    private final class OpenUpdate {
        let shape: UpdateShape
        let chunk: RowChunk
        var expected: [Int32] = []
        init(_ shape: UpdateShape, _ chunk: RowChunk) {
            self.shape = shape
            self.chunk = chunk
        }
    }

    init(_ store: NumberedStore, _ runtime: ModelRuntime) {
        self.store = store
        self.runtime = runtime
        lists = .allocate(capacity: 1)
        lists.initialize(to: Lists())
    }

    deinit {
        lists.deinitialize(count: 1)
        lists.deallocate()
    }

    func insert(_ object: NSManagedObject) throws {
        try insert(object, key: object._state.pointee.assigned, version: 1)
    }

    /// A row that another writer deleted comes again, whole and under its key, with its relationships as far as they are known.
    func reinsert(_ object: NSManagedObject) throws {
        let state = object._state
        try insert(object, key: state.pointee.number, version: max(state.version, 0) &+ 1)
        addKnownPairs(of: object)
    }

    /// A row that must have the version that was read.
    func check(_ object: NSManagedObject) {
        let state = object._state
        batch.checks.append(
            VersionCheck(
                entity: EntityIndex(rawValue: state.pointee.entity), numbers: [state.pointee.number],
                expected: [state.version]))
    }

    @inline(__always)
    private func insert(_ object: NSManagedObject, key: Int64, version: Int32) throws {
        let state = object._state
        let entity = Int(state.pointee.entity)
        if open.isEmpty { open = ContiguousArray(repeating: nil, count: runtime.infos.count) }
        let chunk: RowChunk
        if let last = open[entity], !last.isFull {
            chunk = last
        } else {
            let former = open[entity]
            former?.trimArena()
            chunk = RowChunk(
                layout: state.info.layout, capacity: former == nil ? 32 : RowChunk.maximumCount,
                arenaCapacity: former.map { $0.arenaUsed } ?? 1024)
            open[entity] = chunk
            batch.inserts.append(chunk)
        }
        written.append(WrittenRow(object: object, chunk: chunk, row: chunk.count))
        object.pack(into: chunk, key: key, version: version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// Packs a saved object if anything that is stored differs from its row.
    func update(_ object: NSManagedObject) throws {
        let state = object._state
        if state.isFault { try object.fireOrThrow() }
        let mask = changedMask(of: object)
        guard mask.contains(where: { $0 != 0 }) || object.hasChangedToMany() else { return }
        let group = openGroup(UpdateShape(entity: EntityIndex(rawValue: state.pointee.entity), mask: mask), state.info)
        let version = state.version
        written.append(WrittenRow(object: object, chunk: group.chunk, row: group.chunk.count))
        object.pack(into: group.chunk, key: state.pointee.number, version: max(version, 0) &+ 1)
        group.expected.append(version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// The open group of a shape; most saves have one or two shapes.
    private func openGroup(_ shape: UpdateShape, _ info: EntityInfo) -> OpenUpdate {
        if let place = groups.lastIndex(where: { $0.shape == shape }) {
            if !groups[place].chunk.isFull { return groups[place] }
            close(groups.remove(at: place))
        } else if groups.count == BatchBuilder.groupLimit {
            close(groups.removeFirst())
        }
        let made = OpenUpdate(shape, RowChunk(layout: info.layout, capacity: 64, arenaCapacity: 8192))
        groups.append(made)
        return made
    }

    /// The slots whose values differ from the row, as mask words; a tag goes with its to-one.
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
        deletes[entity].expected.append(state.version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    private func close(_ group: OpenUpdate) {
        let slots = group.shape.mask.enumerated().flatMap { word, bits in
            (0..<64).filter { bits >> UInt64($0) & 1 == 1 }.map { word * 64 + $0 }
        }
        // What the store computes is never written; an object with only such changes gets a new version.
        let derived = runtime.infos[group.shape.entity.value].derivedSlots
        batch.updates.append(
            UpdateGroup(
                entity: group.shape.entity, slots: derived.isEmpty ? slots : slots.filter { !derived.contains($0) },
                chunk: group.chunk, expected: group.expected))
    }

    func finish() -> StoreBatch {
        for group in groups { close(group) }
        for (entity, group) in deletes.enumerated() {
            guard !group.numbers.isEmpty else { continue }
            batch.deletes.append(
                DeleteGroup(entity: EntityIndex(entity), numbers: group.numbers, expected: group.expected))
        }
        return StoreBatch(store: store, batch: batch, written: written)
    }
}

extension NSManagedObject {
    /// Reads the row of a fault for the save: written without it, the values that were not read would be lost.
    final func fireOrThrow() throws {
        fire()
        if _state.isFault { try managedObjectContext?.throwReadError() }
    }

    /// The key that the running save writes for this object.
    final var savedKey: RowKey {
        let state = _state.pointee
        return RowKey(
            entity: EntityIndex(rawValue: state.entity), number: state.assigned != 0 ? state.assigned : state.number)
    }
}
