// Which values of an object differ from its row.

import CoreDataValues
import Foundation

extension NSManagedObject {
    /// Whether a saved object differs from its row in a stored value, or has changes of a child.
    ///
    /// A child's changes count even if they equal the row. Another writer may have made the same change to the same
    /// older row, and equal changes by two writers would get equal versions.
    final var countsAsChanged: Bool { differsFromRow || _state.has(.childBase) }

    /// Whether a saved object differs from its row in a stored value.
    final var differsFromRow: Bool {
        let state = _state
        if hasChangedToMany() { return true }
        guard let overlay = state.overlay else { return false }
        for slot in 0..<state.info.layout.slotCount where overlay.isPresent(slot) {
            if !state.info.entity.slots[slot].isTransient, differs(slot, overlay) { return true }
        }
        return false
    }

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
}

extension RowChunk {
    /// Whether an arena cell holds these bytes.
    func holds(_ bytes: UnsafeRawBufferPointer, _ cell: UInt64) -> Bool {
        withBytes(of: cell) { own in
            own.count == bytes.count && (own.count == 0 || memcmp(own.baseAddress!, bytes.baseAddress!, own.count) == 0)
        }
    }
}
