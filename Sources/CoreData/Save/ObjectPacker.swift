// Objects as rows, for stores and for child contexts.

import CoreDataValues
import Foundation

/// Packs objects as rows, those of one shape into the same chunks.
///
/// The first chunk of a shape is small, so that packing one object allocates little; those after it are large.
struct ObjectPacker<Shape: Equatable, Note> {
    struct Packed {
        let shape: Shape
        let chunk: RowChunk
        /// The caller's note on this chunk.
        var note: Note
    }

    /// The chunks in the order in which they were opened.
    private(set) var packed: ContiguousArray<Packed> = []
    /// The place of the chunk that took the last object.
    private(set) var place = 0
    /// That chunk: most objects of a shape come one after the other.
    private var last: (shape: Shape, chunk: RowChunk)?
    private var count = 0
    private let room: Int
    private let first: Int
    private let reach: Int

    /// - Parameters:
    ///   - room: how many objects are expected: no chunk is larger than what is left of them.
    ///   - first: how many rows the first chunk of a shape takes.
    ///   - reach: how many chunks are looked through for one that takes further rows of a shape.
    init(room: Int, first: Int = 32, reach: Int = .max) {
        (self.room, self.first, self.reach) = (room, first, reach)
    }

    /// Packs an object's present values as the next row of a shape.
    ///
    /// - Parameter note: the caller's note on a new chunk.
    /// - Returns: the chunk, whose last row it is.
    @inline(__always)
    mutating func pack(
        _ object: NSManagedObject, as shape: Shape, key: Int64, version: Int32, note: @autoclosure () -> Note
    ) -> RowChunk {
        let chunk: RowChunk
        if let last, last.shape == shape, !last.chunk.isFull {
            chunk = last.chunk
        } else {
            chunk = open(shape, object._state.info.layout, note())
        }
        count += 1
        object.pack(into: chunk, key: key, version: version)
        return chunk
    }

    /// The caller's note on the chunk that took the last object.
    var note: Note {
        get { packed[place].note }
        _modify { yield &packed[place].note }
    }

    @inline(never)
    private mutating func open(_ shape: Shape, _ layout: RowLayout, _ note: Note) -> RowChunk {
        let former = packed.suffix(reach).lastIndex { $0.shape == shape }
        let chunk: RowChunk
        if let former, !packed[former].chunk.isFull {
            (place, chunk) = (former, packed[former].chunk)
            last = (shape, chunk)
            return chunk
        }
        let left = room > count ? room - count : RowChunk.maximumCount
        if let former = former.map({ packed[$0].chunk }) {
            former.trimArena()
            let capacity = min(RowChunk.maximumCount, left)
            // Rows of about the same length follow; with some room over, most chunks never grow.
            let length = former.arenaUsed / max(1, former.count) + 1
            chunk = RowChunk(
                layout: layout, capacity: capacity,
                arenaCapacity: min(length * capacity * 17 / 16, RowChunk.arenaLimit))
        } else {
            chunk = RowChunk(layout: layout, capacity: min(first, left), arenaCapacity: min(1024, 256 * left))
        }
        packed.append(Packed(shape: shape, chunk: chunk, note: note))
        place = packed.count - 1
        last = (shape, chunk)
        return chunk
    }
}

extension ObjectPacker where Note == Void {
    @inline(__always)
    mutating func pack(_ object: NSManagedObject, as shape: Shape, key: Int64, version: Int32) -> RowChunk {
        pack(object, as: shape, key: key, version: version, note: ())
    }
}

extension NSManagedObject {
    /// Packs the object's present values as a row.
    final func pack(into chunk: RowChunk, key: Int64, version: Int32) {
        let state = _state
        let info = state.info
        let row = chunk.appendRow(key: key, version: version, entity: EntityIndex(rawValue: state.pointee.entity))
        for word in 0..<info.layout.maskWords {
            let changed = state.overlay?.presentMask(word) ?? 0
            var present = changed & (state.overlay?.nonNullMask(word) ?? 0)
            if info.hasTransientSlots { present &= ~info.transientMask[word] }
            while present != 0 {
                let slot = word * 64 + present.trailingZeroBitCount
                present &= present - 1
                if let overlay = state.overlay { pack(slot, info, overlay, into: chunk, row) }
            }
            guard let former = state.pointee.row else { continue }
            var kept = former[-1 - word] & ~changed
            while kept != 0 {
                let slot = word * 64 + kept.trailingZeroBitCount
                kept &= kept - 1
                copy(slot, info.kinds[slot], from: former, into: chunk, row)
            }
        }
    }

    /// Adds transient values to the row packed last, for a child context: rows of stores have none. Values kept as
    /// objects are left out; the child asks for them (`parentLive`).
    final func packTransients(into chunk: RowChunk) {
        let info = _state.info
        guard info.hasTransientSlots else { return }
        liftTransients(info)
        packChangedTransients(into: chunk)
    }

    /// Adds only transient values that were changed here. A child's own row contains those that its save pushed, so
    /// that they remain when later changes are dropped.
    final func packChangedTransients(into chunk: RowChunk) {
        let info = _state.info
        guard info.hasTransientSlots, let overlay = _state.overlay else { return }
        let row = chunk.row(chunk.count - 1)
        for slot in info.entity.slots.indices where info.entity.slots[slot].isTransient {
            guard overlay.isPresent(slot), !overlay.isNull(slot), info.kinds[slot] != .transformable else { continue }
            pack(slot, info, overlay, into: chunk, row)
        }
    }

    /// Copies transient values from a row that the parent gave into the overlay, as only the overlay is packed.
    private final func liftTransients(_ info: EntityInfo) {
        guard managedObjectContext?.link.givesUnsavedRows == true, let row = _state.pointee.row,
            let chunk = _state.chunk
        else { return }
        for slot in info.entity.slots.indices where info.entity.slots[slot].isTransient && row.isPresent(slot) {
            if _state.overlay?.isPresent(slot) != true { copyValue(slot, of: row, chunk, to: _state.makeOverlay()) }
        }
    }

    @inline(__always)
    private final func pack(
        _ slot: Int, _ info: EntityInfo, _ overlay: Overlay, into chunk: RowChunk, _ row: UnsafeMutablePointer<UInt64>
    ) {
        switch info.kinds[slot] {
        case .int, .bool, .double, .float, .date:
            row.setCell(slot, overlay.pointer(slot, UInt64.self).pointee)
        case .text, .uri:
            row.setCell(
                slot,
                overlay.pointer(slot, String.self).pointee.withUTF8 { chunk.storeInline(UnsafeRawBufferPointer($0)) })
        case .data:
            let small = overlay.pointer(slot, Data.self).pointee.withUnsafeBytes {
                $0.count <= RowChunk.largeThreshold ? chunk.storeInline($0) : nil
            }
            row.setCell(slot, small ?? chunk.store(overlay.pointer(slot, Data.self).pointee))
        case .transformable:
            if let bytes = packedBytes(slot, overlay) { row.setCell(slot, chunk.store(bytes)) }
        case .externalData:
            row.setCell(slot, chunk.store(Data([1]) + overlay.pointer(slot, Data.self).pointee))
        case .uuid:
            row.setCell(slot, withUnsafeBytes(of: overlay.pointer(slot, UUID.self).pointee.uuid) { chunk.store($0) })
        case .decimal:
            var text = NSManagedObject.decimal(.overlay(overlay), slot)?.description ?? "0"
            row.setCell(slot, text.withUTF8 { chunk.store(UnsafeRawBufferPointer($0)) })
        case .toOne:
            let there = overlay.target(slot).pointee
            row.setCell(slot, UInt64(bitPattern: there.assigned != 0 ? there.assigned : there.number))
            if let relationship = info.slotRelationships[slot], relationship.hasEntityTag {
                row.setCell(slot + 1, UInt64(there.entity) + 1)
            }
        case .entityTag: break
        }
    }

    private func copy(
        _ slot: Int, _ kind: SlotKind, from former: UnsafeMutablePointer<UInt64>, into chunk: RowChunk,
        _ row: UnsafeMutablePointer<UInt64>
    ) {
        if kind == .entityTag, let overlay = _state.overlay, overlay.isPresent(slot - 1) { return }
        let cell = former[slot]
        guard kind.isArena, let source = _state.chunk else { return row.setCell(slot, cell) }
        guard cell >> 63 == 0 else { return row.setCell(slot, chunk.store(source.largeData(cell))) }
        let bytes = UnsafeRawBufferPointer(
            start: source.fill.pointee.arena + Int(cell >> 32), count: Int(cell & 0x7fff_ffff))
        row.setCell(slot, chunk.storeInline(bytes))
    }
}

extension RowChunk {
    /// Does what `store(_:)` does, inlined here for the usual case: bytes that fit into the arena.
    @inline(__always)
    func storeInline(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let fill = self.fill
        let used = fill.pointee.arenaUsed
        guard bytes.count <= 1024, used + bytes.count <= fill.pointee.arenaCapacity, let base = bytes.baseAddress else {
            return store(bytes)
        }
        memcpy(fill.pointee.arena + used, base, bytes.count)
        fill.pointee.arenaUsed = used + bytes.count
        return UInt64(used) << 32 | UInt64(bytes.count)
    }
}
