// Reading values: from the overlay, else from the row, for which a fault may have to fire.

import CoreDataValues
import Foundation

extension NSManagedObject {
    /// Where the present value of a slot is.
    enum Source {
        case overlay(Overlay)
        case row(UnsafeMutablePointer<UInt64>, RowChunk)
        case null
    }

    final func source(_ slot: Int) -> Source {
        if let changed = changedSource(slot) { return changed }
        if _state.isFault {
            fire(reading: slot)
            // awakeFromFetch may have set it.
            if let changed = changedSource(slot) { return changed }
        }
        return rowSource(slot)
    }

    @inline(__always)
    private func changedSource(_ slot: Int) -> Source? {
        guard let overlay = _state.overlay, overlay.isPresent(slot) else { return nil }
        return overlay.isNull(slot) ? .null : .overlay(overlay)
    }

    /// Where the value last read or saved is; reads the row of a fault.
    final func committedSource(_ slot: Int) -> Source {
        if _state.isFault { fire(reading: slot) }
        return rowSource(slot)
    }

    @inline(__always)
    private func rowSource(_ slot: Int) -> Source {
        let state = _state
        guard let row = state.pointee.row, let chunk = state.chunk, row.isPresent(slot) else {
            return state.info.transientDefault(slot)
        }
        return .row(row, chunk)
    }

    /// The cell of a slot that holds eight plain bytes.
    final func bits(at slot: Int) -> UInt64? { NSManagedObject.bits(source(slot), slot) }
    final func text(at slot: Int) -> String? { NSManagedObject.text(source(slot), slot) }
    final func data(at slot: Int) -> Data? { data(source(slot), slot) }
    final func uuid(at slot: Int) -> UUID? { NSManagedObject.uuid(source(slot), slot) }
    final func decimal(at slot: Int) -> Decimal? { NSManagedObject.decimal(source(slot), slot) }

    static func bits(_ source: Source, _ slot: Int) -> UInt64? {
        switch source {
        case .overlay(let overlay): overlay.pointer(slot, UInt64.self).pointee
        case .row(let row, _): row[slot]
        case .null: nil
        }
    }

    static func text(_ source: Source, _ slot: Int) -> String? {
        switch source {
        case .overlay(let overlay): overlay.pointer(slot, String.self).pointee
        case .row(let row, let chunk): chunk.withBytes(of: row[slot]) { String(decoding: $0, as: UTF8.self) }
        case .null: nil
        }
    }

    static func data(_ source: Source, _ slot: Int, _ kind: SlotKind) -> Data? {
        switch source {
        case .overlay(let overlay): return overlay.pointer(slot, Data.self).pointee
        case .row(let row, let chunk):
            let cell = row[slot]
            if kind == .data, cell >> 63 == 0 {
                // The usual case: the bytes are in the arena.
                return Data(bytes: chunk.arena + Int(cell >> 32), count: Int(cell & 0x7fff_ffff))
            }
            return chunk.withBytes(of: cell) { bytes in
                // The tag byte of the store format (0x01: inline) is not part of the value.
                Data(kind == .externalData ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) : bytes)
            }
        case .null: return nil
        }
    }

    static func uuid(_ source: Source, _ slot: Int) -> UUID? {
        switch source {
        case .overlay(let overlay): return overlay.pointer(slot, UUID.self).pointee
        case .row(let row, let chunk):
            return chunk.withBytes(of: row[slot]) { bytes in
                guard bytes.count == 16 else { return nil }
                return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
            }
        case .null: return nil
        }
    }

    static func decimal(_ source: Source, _ slot: Int) -> Decimal? {
        switch source {
        case .overlay(let overlay): (overlay.reference(slot) as? NSDecimalNumber)?.decimalValue
        case .row: text(source, slot).flatMap { Decimal(cell: $0) }
        case .null: nil
        }
    }

    /// The value of an attribute slot, for slow paths.
    final func value(at slot: Int) -> Value { value(source(slot), slot) }

    /// The value of an attribute slot as last read or saved.
    final func committedValue(at slot: Int) -> Value {
        _state.has(.persistent) ? value(committedSource(slot), slot) : .null
    }

    final func value(_ source: Source, _ slot: Int) -> Value {
        if case .null = source { return .null }
        switch kind(slot) {
        case .int: return NSManagedObject.bits(source, slot).map { .int(Int64(bitPattern: $0)) } ?? .null
        case .bool: return NSManagedObject.bits(source, slot).map { .bool($0 != 0) } ?? .null
        case .double, .float: return NSManagedObject.bits(source, slot).map { .double(Double(bitPattern: $0)) } ?? .null
        case .date: return NSManagedObject.bits(source, slot).map { .date(Double(bitPattern: $0)) } ?? .null
        case .text: return NSManagedObject.text(source, slot).map { .text($0) } ?? .null
        case .uri: return NSManagedObject.text(source, slot).map { .uri($0) } ?? .null
        case .data, .externalData: return data(source, slot).map { .data($0) } ?? .null
        case .transformable: return comparableLive(source, slot)
        case .uuid: return NSManagedObject.uuid(source, slot).map { .uuid($0) } ?? .null
        case .decimal: return NSManagedObject.decimal(source, slot).map { .decimal($0) } ?? .null
        case .toOne: return target(at: slot).map { .key($0._state.key) } ?? .null
        case .entityTag: return .null
        }
    }

    /// Writes a value into an attribute slot. The caller has checked its type.
    final func setValue(_ value: Value, at slot: Int) {
        store(value, in: willWrite(slot), slot)
    }

    final func store(_ value: Value, in overlay: Overlay, _ slot: Int) {
        switch value {
        case .null: overlay.setNull(slot, kind(slot))
        case .bool(let value): overlay.setBits(slot, value ? 1 : 0)
        case .int(let value): overlay.setBits(slot, UInt64(bitPattern: value))
        case .double(let value), .date(let value): overlay.setBits(slot, value.bitPattern)
        case .decimal(let value): overlay.set(slot, NSDecimalNumber(decimal: value) as AnyObject)
        case .text(let value), .uri(let value): overlay.set(slot, value)
        case .data: overlay.put(value, slot, kind(slot))
        case .uuid(let value): overlay.set(slot, value)
        case .key: break
        }
    }
}
