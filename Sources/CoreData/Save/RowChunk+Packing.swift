// Packs overlays into rows for the store, and makes these the objects' rows after the commit.

import CoreDataValues
import Foundation

extension NSManagedObject {
    /// Whether a slot of the overlay differs from the row.
    final func differs(_ slot: Int, _ overlay: Overlay) -> Bool {
        let state = _state
        guard let row = state.pointee.row, let chunk = state.chunk, row.isPresent(slot) else {
            return !overlay.isNull(slot)
        }
        if overlay.isNull(slot) { return true }
        let cell = row[slot]
        switch kind(slot) {
        case .int, .bool, .double, .float, .date: return overlay.pointer(slot, UInt64.self).pointee != cell
        case .text, .uri:
            var text = overlay.pointer(slot, String.self).pointee
            return text.withUTF8 { !chunk.holds(UnsafeRawBufferPointer($0), cell) }
        case .data: return overlay.pointer(slot, Data.self).pointee.withUnsafeBytes { !chunk.holds($0, cell) }
        case .transformable: return liveDiffers(slot, overlay, cell, chunk)
        case .externalData:
            return differsExternally(overlay.pointer(slot, Data.self).pointee, row, chunk, slot)
        case .uuid: return NSManagedObject.uuid(.row(row, chunk), slot) != overlay.pointer(slot, UUID.self).pointee
        case .decimal:
            return NSManagedObject.decimal(.row(row, chunk), slot) != NSManagedObject.decimal(.overlay(overlay), slot)
        case .toOne:
            guard let target = overlay.reference(slot) as? NSManagedObject else { return true }
            return committedTargetKey(at: slot)?.row != target._state.key.row
        case .entityTag: return false
        }
    }

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

    /// Adds transient values of the overlay alone. A child's own row contains those that its save pushed, so that they
    /// remain when later changes are dropped.
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
            if _state.overlay?.isPresent(slot) != true { copy(chunk, row, slot, to: _state.makeOverlay()) }
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
                slot, overlay.pointer(slot, String.self).pointee.withUTF8 { chunk.keep(UnsafeRawBufferPointer($0)) })
        case .data: row.setCell(slot, overlay.pointer(slot, Data.self).pointee.withUnsafeBytes { chunk.keep($0) })
        case .transformable:
            if let bytes = packedBytes(slot, overlay) { row.setCell(slot, bytes.withUnsafeBytes { chunk.store($0) }) }
        case .externalData:
            let tagged = Data([1]) + overlay.pointer(slot, Data.self).pointee
            row.setCell(slot, tagged.withUnsafeBytes { chunk.store($0) })
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
        guard cell >> 63 == 0 else { return row.setCell(slot, source.withBytes(of: cell) { chunk.store($0) }) }
        let bytes = UnsafeRawBufferPointer(
            start: source.fill.pointee.arena + Int(cell >> 32), count: Int(cell & 0x7fff_ffff))
        row.setCell(slot, chunk.keep(bytes))
    }

}

extension RowChunk {
    /// Does what `store(_:)` does, inlined here for the usual case: bytes that fit into the arena.
    @inline(__always)
    func keep(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let fill = self.fill
        let used = fill.pointee.arenaUsed
        guard bytes.count <= 1024, used + bytes.count <= fill.pointee.arenaCapacity, let base = bytes.baseAddress else {
            return store(bytes)
        }
        memcpy(fill.pointee.arena + used, base, bytes.count)
        fill.pointee.arenaUsed = used + bytes.count
        return UInt64(used) << 32 | UInt64(bytes.count)
    }

    /// Whether an arena cell holds these bytes.
    func holds(_ bytes: UnsafeRawBufferPointer, _ cell: UInt64) -> Bool {
        withBytes(of: cell) { own in
            own.count == bytes.count && (own.count == 0 || memcmp(own.baseAddress!, bytes.baseAddress!, own.count) == 0)
        }
    }
}
