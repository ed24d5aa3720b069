// What an undo has to know of each write.

import CoreDataValues
import Foundation

/// One write, with what was there before. It holds its objects until the undo stack drops it.
enum GraphChange {
    /// The object was inserted (true) or deleted (false).
    case existence(NSManagedObject, appeared: Bool)
    /// A deletion was taken back.
    case revival(NSManagedObject)
    case attribute(NSManagedObject, slot: Int32, old: FormerValue)
    case target(NSManagedObject, slot: Int32, old: NSManagedObject?)
    /// A pair was made (true) or ended in a to-many whose inverse is not a to-one.
    case link(NSManagedObject, toMany: Int32, member: NSManagedObject, added: Bool)
    /// A member left its place in an ordered to-many, or is about to.
    case position(NSManagedObject, toMany: Int32, member: NSManagedObject, index: Int)
    /// The order of all members before they were rearranged.
    case order(NSManagedObject, toMany: Int32, old: ContiguousArray<NSManagedObject>)

    /// The object that was written.
    var subject: NSManagedObject {
        switch self {
        case .existence(let object, _), .revival(let object), .attribute(let object, _, _), .target(let object, _, _),
            .link(let object, _, _, _), .position(let object, _, _, _), .order(let object, _, _):
            object
        }
    }

    func isDeletion(of object: NSManagedObject) -> Bool {
        if case .existence(let gone, appeared: false) = self { gone === object } else { false }
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

    /// Writes a former value back.
    final func restore(_ value: FormerValue, at slot: Int) {
        let overlay = willWrite(slot)
        switch value {
        case .null: overlay.setNull(slot, kind(slot))
        case .unset: unset(slot, overlay)
        case .bits(let bits): overlay.setBits(slot, bits)
        case .text(let text): overlay.set(slot, text)
        case .data(let data): overlay.set(slot, data)
        case .uuid(let uuid): overlay.set(slot, uuid)
        case .reference(let object): overlay.set(slot, object)
        case .row(let chunk, let row): copy(chunk, row, slot, to: overlay)
        }
    }

    /// Gives a transient attribute its default back, also if the row of a child context has another value by now.
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
    final func copy(_ chunk: RowChunk, _ row: UnsafeMutablePointer<UInt64>, _ slot: Int, to overlay: Overlay) {
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
