// Reading and writing values that are kept as objects.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject {
    /// The object of a Transformable attribute, or of a transient one without a type.
    public final func _transformable(_ slot: Int) -> Any? { live(at: ownSlot(slot)) }

    /// Sets the object of such an attribute. After mutating it in place, set it again to have it saved.
    public final func _setTransformable(_ slot: Int, _ value: Any?) { setLive(value, at: ownSlot(slot)) }

    /// The value of a property as a given type; nil if it is of another type.
    public final func value<T>(forKey key: String, as type: T.Type) -> T? { value(forKey: key) as? T }

    /// The present value. It is made from its bytes once and then kept beside the row, so that later reads answer the
    /// same object.
    final func live(at slot: Int) -> Any? {
        let state = _state
        if let overlay = state.overlay, overlay.isPresent(slot) { return made(overlay.live(slot), slot) }
        if state.isFault {
            fire(reading: slot)
            // awakeFromFetch may have set it.
            if let overlay = state.overlay, overlay.isPresent(slot) { return made(overlay.live(slot), slot) }
        }
        if let known = cachedBesideRow(slot) as? LiveValue { return made(known, slot) }
        guard let read = parentLive(at: slot) ?? committedBytes(at: slot) else { return nil }
        cacheBesideRow(read, at: slot)
        return made(read, slot)
    }

    /// The value last read or saved. It is made again, since the present one may have been mutated.
    final func committedLive(at slot: Int) -> Any? {
        _state.has(.persistent) ? committedBytes(at: slot).flatMap { made($0, slot) } : nil
    }

    private func committedBytes(at slot: Int) -> LiveValue? { bytes(committedSource(slot), slot) }

    /// The value of a source for key-value coding; one that is kept as an object is made again.
    final func object(_ source: Source, _ slot: Int) -> Any? {
        kind(slot) == .transformable ? bytes(source, slot).flatMap { made($0, slot) } : value(source, slot).object
    }

    private func bytes(_ source: Source, _ slot: Int) -> LiveValue? {
        switch source {
        case .row(let row, let chunk): LiveValue(data: chunk.withBytes(of: row[slot]) { Data($0) })
        case .overlay(let defaults): defaults.live(slot)?.fresh
        case .null: nil
        }
    }

    /// Makes a value from its bytes. A getter cannot throw, so the context keeps the error (`pendingReadError`).
    final func made(_ live: LiveValue?, _ slot: Int) -> Any? {
        guard let live, let transformation = Transformation(_state.info, slot) else { return nil }
        do {
            return try live.value(transformation)
        } catch {
            _state.identityMap?.context?.faulting.recordReadError(
                CocoaError.unread(objectID, key: _state.info.entity.slots[slot].name, cause: error))
            return nil
        }
    }

    final func setLive(_ value: Any?, at slot: Int) {
        let new = checkedLive(value, slot)
        let overlay = willWrite(slot)
        if let new { overlay.set(slot, new as AnyObject) } else { overlay.setNull(slot, .transformable) }
    }

    /// A value in a box; nil for nil. An attribute of type ObjectID takes only object IDs.
    final func checkedLive(_ value: Any?, _ slot: Int) -> LiveValue? {
        guard let value = KeyValue.unwrapped(value) else { return nil }
        let property = _state.info.entity.slots[slot]
        if property.attribute?.type == .objectID, !(value is NSManagedObjectID) {
            misuse(
                Sentences.wrongType(
                    entity: entity.name ?? "", property: property.name, expected: "ObjectID",
                    given: String(describing: type(of: value))))
        }
        return LiveValue(value)
    }

    /// The value for predicates: the bytes that a store has, or the value itself if it is transient.
    final func comparableLive(_ source: Source, _ slot: Int) -> Value {
        switch source {
        case .null: return .null
        case .row(let row, let chunk): return .data(chunk.withBytes(of: row[slot]) { Data($0) })
        case .overlay(let overlay):
            guard let live = overlay.live(slot), let transformation = Transformation(_state.info, slot) else {
                return .null
            }
            guard !_state.info.entity.slots[slot].isTransient else {
                return made(live.fresh, slot).flatMap { Value(any: $0) } ?? .null
            }
            return (try? live.bytes(transformation)).flatMap { $0 }.map { .data($0) } ?? .null
        }
    }

    // MARK: Saving

    /// The bytes of a changed value. The save has packed them before, where a failure stops it.
    final func packedBytes(_ slot: Int, _ overlay: Overlay) -> Data? {
        guard let live = overlay.live(slot) else { return nil }
        if let packed = live.packed { return packed }
        return Transformation(_state.info, slot).flatMap { try? live.bytes($0) }.flatMap { $0 }
    }

    /// Whether a changed value differs from the row's. Equal values may have different bytes, so then both values are
    /// made and compared.
    final func liveDiffers(_ slot: Int, _ overlay: Overlay, _ cell: UInt64, _ chunk: RowChunk) -> Bool {
        guard let live = overlay.live(slot), let transformation = Transformation(_state.info, slot),
            let bytes = try? live.bytes(transformation)
        else { return true }
        if bytes.withUnsafeBytes({ chunk.holds($0, cell) }) { return false }
        let former = chunk.withBytes(of: cell) { Data($0) }
        guard let a = try? transformation.value(of: former), let b = try? transformation.value(of: bytes) else {
            return true
        }
        return !Transformation.areEqual(a, b)
    }

    /// Makes the bytes that the save writes.
    fileprivate func packLiveValues(_ errors: inout [any Error]) {
        guard let overlay = _state.overlay else { return }
        for slot in _state.info.transformables where overlay.isPresent(slot) {
            guard let live = overlay.live(slot), let transformation = Transformation(_state.info, slot) else {
                continue
            }
            do {
                live.packed = nil
                live.packed = try live.bytes(transformation)
            } catch { errors.append(refusal(error, slot)) }
        }
    }

    private func refusal(_ error: any Error, _ slot: Int) -> CocoaError {
        let name = _state.info.entity.slots[slot].name
        var info: [String: Any] = [
            NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: name, NSUnderlyingErrorKey: error,
        ]
        info[NSValidationValueErrorKey] = live(at: slot)
        let sentence = (error as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)"
        return .coreData(1550, sentence, info)
    }

    fileprivate func unpackLiveValues() {
        guard let overlay = _state.overlay else { return }
        for slot in _state.info.transformables where overlay.isPresent(slot) { overlay.live(slot)?.packed = nil }
    }

    /// The values that a save has written, to be moved from the overlay to beside the row, where they stay the same
    /// objects.
    final func removeWrittenLiveValues(_ overlay: Overlay) -> [(slot: Int, live: LiveValue)] {
        _state.info.transformables.compactMap { slot in
            guard overlay.isPresent(slot), let live = overlay.live(slot) else { return nil }
            live.packed = nil
            return (slot, live)
        }
    }
}

/// Packs and unpacks the values kept as objects, for the objects of a save.
enum LiveValues {
    /// - Throws: 1550 for a value that its transformer refuses, 1560 for several.
    static func pack(_ objects: ContiguousArray<NSManagedObject>...) throws {
        var errors: [any Error] = []
        for some in objects { some.borrowEach { $0.packLiveValues(&errors) } }
        guard !errors.isEmpty else { return }
        for some in objects { unpack(some) }
        try Validation.throwing(errors)
    }

    static func unpack(_ objects: ContiguousArray<NSManagedObject>) {
        objects.borrowEach { $0.unpackLiveValues() }
    }
}

extension Overlay {
    func live(_ slot: Int) -> LiveValue? { reference(slot) as? LiveValue }

    /// Puts a plain value into a slot of any kind.
    func put(_ value: Value, _ slot: Int, _ kind: SlotKind) {
        switch value {
        case .null, .key: setNull(slot, kind)
        case .bool(let flag): setBits(slot, flag ? 1 : 0)
        case .int(let number): setBits(slot, UInt64(bitPattern: number))
        case .double(let number), .date(let number): setBits(slot, number.bitPattern)
        case .decimal(let number): set(slot, NSDecimalNumber(decimal: number) as AnyObject)
        case .text(let text), .uri(let text): set(slot, text)
        case .data(let data):
            if kind == .transformable { set(slot, LiveValue(data: data) as AnyObject) } else { set(slot, data) }
        case .uuid(let uuid): set(slot, uuid)
        }
    }
}
