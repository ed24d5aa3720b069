// The changed values of one object: sixteen bytes for each slot, typed by the entity, without boxes and tags.

import CoreDataValues
import Foundation

/// A view of an overlay's memory. For each 64 slots, a word of presence bits and a word of non-null bits lie before the
/// slots.
///
/// For the slots from `64 k` on, the word of presence bits is at `-1 - 2k`, that of non-null bits at `-2 - 2k`. A slot
/// that is not present has the row's value. The type of a slot follows from its kind: `Int64` (int, bool), `Double`
/// (double, float, date), `String` (text, uri), `Data` (data, externalData), `UUID`, or an object reference (decimal, a
/// `LiveValue` for transformable, toOne).
struct Overlay {
    let base: UnsafeMutableRawPointer

    static func allocate(_ layout: RowLayout) -> Overlay {
        let header = 16 * layout.maskWords
        guard let memory = malloc(header + 16 * max(1, layout.slotCount)) else { misuse("There is no memory left.") }
        let words = memory.assumingMemoryBound(to: UInt64.self)
        for word in 0..<2 * layout.maskWords { words[word] = 0 }
        return Overlay(base: memory + header)
    }

    /// Deinitializes the values and frees the memory.
    func deallocate(_ layout: RowLayout, _ kinds: UnsafePointer<SlotKind>) {
        for word in 0..<layout.maskWords {
            var present = nonNullMask(word)
            while present != 0 {
                let slot = word * 64 + present.trailingZeroBitCount
                present &= present - 1
                end(slot, kinds[slot])
            }
        }
        free(base - 16 * layout.maskWords)
    }

    private func word(_ index: Int) -> UnsafeMutablePointer<UInt64> {
        base.assumingMemoryBound(to: UInt64.self) + index
    }

    func presentMask(_ k: Int) -> UInt64 { word(-1 - 2 * k).pointee }
    func nonNullMask(_ k: Int) -> UInt64 { word(-2 - 2 * k).pointee }

    func isPresent(_ slot: Int) -> Bool { presentMask(slot >> 6) >> UInt64(slot & 63) & 1 == 1 }
    func isNull(_ slot: Int) -> Bool { nonNullMask(slot >> 6) >> UInt64(slot & 63) & 1 == 0 }

    func pointer<T>(_ slot: Int, _: T.Type) -> UnsafeMutablePointer<T> {
        (base + 16 * slot).assumingMemoryBound(to: T.self)
    }

    private func mark(_ slot: Int, nonNull: Bool) {
        let bit: UInt64 = 1 << UInt64(slot & 63)
        word(-1 - 2 * (slot >> 6)).pointee |= bit
        if nonNull {
            word(-2 - 2 * (slot >> 6)).pointee |= bit
        } else {
            word(-2 - 2 * (slot >> 6)).pointee &= ~bit
        }
    }

    /// Writes eight plain bytes: a number or the bits of one.
    func setBits(_ slot: Int, _ bits: UInt64) {
        pointer(slot, UInt64.self).initialize(to: bits)
        mark(slot, nonNull: true)
    }

    /// Writes a value that must be deinitialized later: `String`, `Data`, `UUID` or a reference.
    func set<T>(_ slot: Int, _ value: T) {
        if isNull(slot) {
            pointer(slot, T.self).initialize(to: value)
            mark(slot, nonNull: true)
        } else {
            pointer(slot, T.self).pointee = value
        }
    }

    func setNull(_ slot: Int, _ kind: SlotKind) {
        if !isNull(slot) { end(slot, kind) }
        mark(slot, nonNull: false)
    }

    /// Removes the changed value of a slot, which has the row's value again.
    func remove(_ slot: Int, _ kind: SlotKind) {
        if !isNull(slot) { end(slot, kind) }
        let bit: UInt64 = 1 << UInt64(slot & 63)
        word(-1 - 2 * (slot >> 6)).pointee &= ~bit
        word(-2 - 2 * (slot >> 6)).pointee &= ~bit
    }

    func reference(_ slot: Int) -> AnyObject? {
        isNull(slot) ? nil : pointer(slot, AnyObject.self).pointee
    }

    /// The target of a to-one.
    func object(_ slot: Int) -> NSManagedObject? {
        isNull(slot) ? nil : pointer(slot, NSManagedObject.self).pointee
    }

    /// The state of a to-one's target; the slot must have one.
    func target(_ slot: Int) -> UnsafeMutablePointer<ObjectState> {
        let object = pointer(slot, Unmanaged<NSManagedObject>.self).pointee
        return object._withUnsafeGuaranteedRef { $0._state }
    }

    private func end(_ slot: Int, _ kind: SlotKind) {
        switch kind {
        case .int, .bool, .double, .float, .date, .uuid, .entityTag: break
        case .text, .uri: pointer(slot, String.self).deinitialize(count: 1)
        case .data, .externalData: pointer(slot, Data.self).deinitialize(count: 1)
        case .decimal, .transformable, .toOne: pointer(slot, AnyObject.self).deinitialize(count: 1)
        }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    var overlay: Overlay? { pointee.overlay.map { Overlay(base: $0) } }

    /// The overlay, allocated if missing.
    func makeOverlay() -> Overlay {
        if let overlay { return overlay }
        let made = Overlay.allocate(info.layout)
        pointee.overlay = made.base
        pointee.slow |= SlowReason.overlay
        return made
    }

    func dropOverlay() {
        overlay?.deallocate(info.layout, info.kinds)
        pointee.overlay = nil
        pointee.slow &= ~SlowReason.overlay
    }
}
