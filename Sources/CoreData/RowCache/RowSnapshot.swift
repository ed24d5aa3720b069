// Rows in conflicts: those that a context read, the coordinator caches, or the store has.

import CoreDataValues
import Foundation

/// One row, with the chunk that it retains.
struct RowSnapshot {
    let chunk: RowChunk
    let row: UnsafeMutablePointer<UInt64>

    /// `Z_OPT`; -1 if the store has NULL.
    var version: Int32 { row.version(chunk.layout) }

    /// Whether two rows have the same version and values.
    func agrees(with other: RowSnapshot) -> Bool {
        if row == other.row { return true }
        let count = chunk.layout.slotCount
        return version == other.version && count == other.chunk.layout.slotCount
            && (0..<count).allSatisfy { agrees(with: other, in: $0) }
    }

    /// Whether a slot has the same value in two rows, byte for byte.
    func agrees(with other: RowSnapshot, in slot: Int) -> Bool {
        guard row.isPresent(slot), other.row.isPresent(slot) else {
            return row.isPresent(slot) == other.row.isPresent(slot)
        }
        guard chunk.layout.kinds[slot].isArena else { return row[slot] == other.row[slot] }
        return chunk.withBytes(of: row[slot]) { other.chunk.holds($0, other.row[slot]) }
    }
}

/// A store's answer for a key.
enum StoredRow {
    case row(RowSnapshot)
    case gone

    var row: RowSnapshot? { if case .row(let row) = self { row } else { nil } }
}

extension NSManagedObject {
    /// The row that the context last read or saved; nil for a new object and for a fault.
    final var lastRead: RowSnapshot? {
        let state = _state
        guard state.has(.persistent), let row = state.pointee.row, let chunk = state.chunk else { return nil }
        return RowSnapshot(chunk: chunk, row: row)
    }

    /// A row of this object's entity as a dictionary: stored attributes and to-ones, nil as `NSNull`, targets as IDs.
    final func dictionary(of snapshot: RowSnapshot) -> [String: Any] {
        var values: [String: Any] = [:]
        for (slot, property) in _state.info.entity.slots.enumerated() where !property.isTransient {
            switch property.kind {
            case .entityTag: continue
            case .toOne:
                values[property.name] = targetKey(at: slot, of: snapshot).flatMap { objectID(for: $0) } ?? NSNull()
            case .int, .bool, .double, .float, .date, .text, .data, .externalData, .uuid, .uri, .decimal,
                .transformable:
                let source: Source = snapshot.row.isPresent(slot) ? .row(snapshot.row, snapshot.chunk) : .null
                values[property.name] = value(source, slot).object ?? NSNull()
            }
        }
        return values
    }

    /// The key of a to-one's target in a row.
    final func targetKey(at slot: Int, of snapshot: RowSnapshot) -> ObjectKey? {
        guard snapshot.row.isPresent(slot) else { return nil }
        return ObjectKey(
            number: Int64(bitPattern: snapshot.row[slot]),
            entity: EntityIndex(rawValue: targetEntity(at: slot, snapshot.row)), store: _state.pointee.store)
    }

    private func objectID(for key: ObjectKey) -> NSManagedObjectID? {
        guard let context = _state.identityMap?.context else { return nil }
        return NSManagedObjectID(key: key, identity: context.identities, info: context.runtime.infos[key.entity.value])
    }
}
