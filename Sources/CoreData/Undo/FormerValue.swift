// The value that a write replaced, kept without decoding it.

import CoreDataValues
import Foundation

/// The value that a write replaced, kept without decoding it.
enum FormerValue {
    case null
    /// A transient attribute that has its default: it was not set since its object was read.
    case unset
    case bits(UInt64)
    case text(String)
    case data(Data)
    case uuid(UUID)
    case reference(AnyObject)
    /// The value in a row, whose chunk is kept.
    case row(RowChunk, UnsafeMutablePointer<UInt64>)

    /// Whether two values are known to be the same: objects by identity, values in rows never.
    func isSame(as other: FormerValue) -> Bool {
        switch (self, other) {
        case (.null, .null), (.unset, .unset): true
        case (.bits(let a), .bits(let b)): a == b
        case (.text(let a), .text(let b)): a == b
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.reference(let a), .reference(let b)): a === b
        default: false
        }
    }
}

extension NSManagedObject {
    /// The present value of an attribute slot, in the form an undo keeps.
    final func formerValue(_ slot: Int) -> FormerValue {
        let state = _state
        guard let overlay = state.overlay, overlay.isPresent(slot) else {
            if state.isFault { fire() }
            guard let row = state.pointee.row, let chunk = state.chunk, row.isPresent(slot) else {
                return state.info.hasTransientDefault(slot) ? .unset : .null
            }
            if kind(slot) == .externalData { return data(.row(row, chunk), slot).map { .data($0) } ?? .null }
            return .row(chunk, row)
        }
        if overlay.isNull(slot) { return .null }
        switch kind(slot) {
        case .int, .bool, .double, .float, .date, .entityTag: return .bits(overlay.pointer(slot, UInt64.self).pointee)
        case .text, .uri: return .text(overlay.pointer(slot, String.self).pointee)
        case .data, .externalData: return .data(overlay.pointer(slot, Data.self).pointee)
        case .uuid: return .uuid(overlay.pointer(slot, UUID.self).pointee)
        case .decimal, .transformable, .toOne: return overlay.reference(slot).map { .reference($0) } ?? .null
        }
    }

    /// Writes a value that was kept: an undo writes the former one, a child writes its own to the parent.
    final func write(_ value: FormerValue, at slot: Int) {
        let overlay = willWrite(slot)
        switch value {
        case .null: overlay.setNull(slot, kind(slot))
        case .unset: unset(slot, overlay)
        case .bits(let bits): overlay.setBits(slot, bits)
        case .text(let text): overlay.set(slot, text)
        case .data(let data): overlay.set(slot, data)
        case .uuid(let uuid): overlay.set(slot, uuid)
        case .reference(let object): overlay.set(slot, object)
        case .row(let chunk, let row): copyValue(slot, of: row, chunk, to: overlay)
        }
    }

    /// Gives a transient attribute its default back, even if a child context's row has another value by now.
    private final func unset(_ slot: Int, _ overlay: Overlay) {
        overlay.remove(slot, kind(slot))
        guard _state.pointee.row?.isPresent(slot) == true,
            case .overlay(let defaults) = _state.info.transientDefault(slot)
        else { return }
        if let live = kind(slot) == .transformable ? defaults.live(slot) : nil {
            overlay.set(slot, live.fresh as AnyObject)
        } else {
            store(value(.overlay(defaults), slot), in: overlay, slot)
        }
    }

    /// Copies the value of one attribute from a row into an overlay.
    final func copyValue(_ slot: Int, of row: UnsafeMutablePointer<UInt64>, _ chunk: RowChunk, to overlay: Overlay) {
        let source = Source.row(row, chunk)
        switch kind(slot) {
        case .int, .bool, .double, .float, .date: overlay.setBits(slot, row[slot])
        case .text, .uri: if let text = NSManagedObject.text(source, slot) { overlay.set(slot, text) }
        case .data, .externalData:
            if let data = data(source, slot) { overlay.set(slot, data) }
        case .transformable:
            let data = chunk.withBytes(of: row[slot]) { Data($0) }
            overlay.set(slot, LiveValue(data: data) as AnyObject)
        case .uuid: if let uuid = NSManagedObject.uuid(source, slot) { overlay.set(slot, uuid) }
        case .decimal:
            if let number = NSManagedObject.decimal(source, slot) {
                overlay.set(slot, NSDecimalNumber(decimal: number) as AnyObject)
            }
        case .toOne, .entityTag: break
        }
    }
}
