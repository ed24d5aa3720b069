// Typed access by slot, used by the getters and setters of generated classes.
//
// A getter is inlined into its caller: one test, one mask bit, one cell (5–14 ns). All else goes through a call: a
// fault, a changed value, a text over 1 KB. Setters are calls.

import CoreDataValues
import Foundation

extension NSManagedObject {
    /// The row, if slots can be read from it directly.
    @inlinable @inline(__always)
    final var _row: UnsafeMutablePointer<UInt64>? { _state.pointee.slow == 0 ? _state.pointee.row : nil }

    /// A String attribute.
    @inlinable
    public final func _text(_ slot: Int) -> String? {
        if let row = _row {
            guard _isPresent(row, slot) else { return nil }
            let cell = row[slot]
            if cell &>> 63 == 0, let arena = _state.pointee.arena {
                return _string(
                    UnsafeBufferPointer(
                        start: arena + Int(truncatingIfNeeded: cell &>> 32),
                        count: Int(truncatingIfNeeded: cell & 0xffff_ffff)))
            }
        }
        return _slowText(slot)
    }

    /// The text of UTF-8 bytes. A short one is copied into the string's own words at once, since decoding reads its
    /// bytes one by one.
    @inlinable @inline(__always)
    final func _string(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        guard bytes.count <= 15 else { return String(decoding: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: bytes.count) { buffer in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: UnsafeRawBufferPointer(bytes))
            return bytes.count
        }
    }

    /// An integer attribute; 0 for nil.
    @inlinable
    public final func _int(_ slot: Int) -> Int64 { _optionalInt(slot) ?? 0 }

    /// An integer attribute that may be nil.
    @inlinable
    public final func _optionalInt(_ slot: Int) -> Int64? {
        if let row = _row { return _isPresent(row, slot) ? Int64(bitPattern: row[slot]) : nil }
        return _slowInt(slot)
    }

    /// A Boolean attribute; false for nil.
    @inlinable
    public final func _bool(_ slot: Int) -> Bool { _int(slot) != 0 }

    /// A Double or Float attribute; 0 for nil.
    @inlinable
    public final func _double(_ slot: Int) -> Double { _optionalDouble(slot) ?? 0 }

    /// A Double or Float attribute that may be nil.
    @inlinable
    public final func _optionalDouble(_ slot: Int) -> Double? {
        if let row = _row { return _isPresent(row, slot) ? Double(bitPattern: row[slot]) : nil }
        return _slowDouble(slot)
    }

    /// A Date attribute.
    @inlinable
    public final func _date(_ slot: Int) -> Date? {
        _optionalDouble(slot).map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// A Binary attribute.
    @inlinable
    public final func _data(_ slot: Int) -> Data? {
        if let row = _row, !_isPresent(row, slot) { return nil }
        return _slowData(slot)
    }

    /// A UUID attribute.
    public final func _uuid(_ slot: Int) -> UUID? { uuid(at: ownSlot(slot)) }
    /// A URI attribute.
    public final func _url(_ slot: Int) -> URL? { text(at: ownSlot(slot)).flatMap { URL(string: $0) } }
    /// A Decimal attribute.
    public final func _decimal(_ slot: Int) -> Decimal? { decimal(at: ownSlot(slot)) }
    /// A to-one relationship. The target may be a fault.
    public final func _toOne(_ slot: Int) -> NSManagedObject? { target(at: ownSlot(slot)) }
    /// An unordered to-many relationship.
    public final func _toMany(_ index: Int) -> Set<NSManagedObject> { objectSet(shownMembers(at: ownToMany(index))) }
    /// An ordered to-many relationship.
    public final func _orderedToMany(_ index: Int) -> [NSManagedObject] { shownMembers(at: ownToMany(index)) }

    public final func _setText(_ slot: Int, _ value: String?) {
        let slot = ownSlot(slot)
        let overlay = willWrite(slot)
        if let value { overlay.set(slot, value) } else { overlay.setNull(slot, kind(slot)) }
    }

    public final func _setInt(_ slot: Int, _ value: Int64?) {
        let slot = ownSlot(slot)
        let overlay = willWrite(slot)
        if let value { overlay.setBits(slot, UInt64(bitPattern: value)) } else { overlay.setNull(slot, kind(slot)) }
    }

    public final func _setBool(_ slot: Int, _ value: Bool?) { _setInt(slot, value.map { $0 ? 1 : 0 }) }

    public final func _setDouble(_ slot: Int, _ value: Double?) {
        let slot = ownSlot(slot)
        let overlay = willWrite(slot)
        if let value {
            overlay.setBits(slot, (kind(slot) == .float ? Double(Float(value)) : value).bitPattern)
        } else {
            overlay.setNull(slot, kind(slot))
        }
    }

    public final func _setDate(_ slot: Int, _ value: Date?) {
        _setDouble(slot, value?.timeIntervalSinceReferenceDate)
    }

    public final func _setData(_ slot: Int, _ value: Data?) {
        let slot = ownSlot(slot)
        let overlay = willWrite(slot)
        if let value { overlay.set(slot, value) } else { overlay.setNull(slot, kind(slot)) }
    }

    public final func _setUUID(_ slot: Int, _ value: UUID?) {
        let slot = ownSlot(slot)
        let overlay = willWrite(slot)
        if let value { overlay.set(slot, value) } else { overlay.setNull(slot, kind(slot)) }
    }

    public final func _setURL(_ slot: Int, _ value: URL?) { _setText(slot, value?.absoluteString) }

    public final func _setDecimal(_ slot: Int, _ value: Decimal?) {
        let slot = ownSlot(slot)
        let overlay = willWrite(slot)
        if let value {
            overlay.set(slot, NSDecimalNumber(decimal: value) as AnyObject)
        } else {
            overlay.setNull(slot, kind(slot))
        }
    }

    /// Sets a to-one; the inverse follows at once.
    public final func _setToOne(_ slot: Int, _ value: NSManagedObject?) { fixup.setTarget(ownSlot(slot), value) }

    /// Replaces the members of a to-many; the inverses follow at once.
    public final func _setToMany(_ index: Int, _ members: some Sequence<some NSManagedObject>) {
        fixup.setMembers(ownToMany(index), collected(members))
    }

    /// Adds members to a to-many. In an ordered one they come last.
    public final func _add(_ members: some Sequence<some NSManagedObject>, toMany index: Int) {
        let index = ownToMany(index)
        for member in members { fixup.addMember(index, member) }
    }

    public final func _remove(_ members: some Sequence<some NSManagedObject>, toMany index: Int) {
        let index = ownToMany(index)
        for member in members { fixup.removeMember(index, member) }
    }

    // MARK: Slow paths

    /// Wakes a dormant fault, whose row is in memory; answers whether the inlined path can be used now.
    @inline(__always)
    private final func wakesSilently() -> Bool {
        let state = _state
        guard state.pointee.slow == SlowReason.dormant else { return false }
        state.pointee.slow = 0
        return true
    }

    @usableFromInline final func _slowText(_ slot: Int) -> String? {
        wakesSilently() ? _text(slot) : text(at: ownSlot(slot))
    }

    @usableFromInline final func _slowInt(_ slot: Int) -> Int64? {
        wakesSilently() ? _optionalInt(slot) : bits(at: ownSlot(slot)).map { Int64(bitPattern: $0) }
    }

    @usableFromInline final func _slowDouble(_ slot: Int) -> Double? {
        wakesSilently() ? _optionalDouble(slot) : bits(at: ownSlot(slot)).map { Double(bitPattern: $0) }
    }

    @usableFromInline final func _slowData(_ slot: Int) -> Data? {
        _ = wakesSilently()
        if let row = _row {
            guard _isPresent(row, slot) else { return nil }
            let cell = row[slot]
            // The usual case: the bytes are in the arena. By way of `source` this costs 180 instructions more.
            if cell &>> 63 == 0, kind(slot) == .data, let arena = _state.pointee.arena {
                return Data(
                    bytes: arena + Int(truncatingIfNeeded: cell &>> 32),
                    count: Int(truncatingIfNeeded: cell & 0xffff_ffff))
            }
        }
        return data(at: ownSlot(slot))
    }

    /// Finds out whether the class's accessors may use their slots directly, for an object that enters its context.
    @inline(__always)
    final func resolveAccessors() {
        if _state.info.goesAround(type(of: self)) {
            _state.pointee.slow |= SlowReason.foreignSlots
        } else {
            _state.pointee.slow &= ~SlowReason.foreignSlots
        }
    }

    /// The entity's slot for a slot of the class.
    final func ownSlot(_ slot: Int) -> Int {
        // One test for two rare reasons.
        guard _state.pointee.slow & (SlowReason.foreignSlots | SlowReason.checked) != 0 else { return slot }
        checkQueue()
        guard _state.pointee.slow & SlowReason.foreignSlots != 0 else { return slot }
        guard let slots = _state.info.binding(of: type(of: self)).slots else { return slot }
        guard slots.indices.contains(slot), slots[slot] >= 0 else { isStale() }
        return slots[slot]
    }

    /// The entity's to-many for a to-many of the class.
    final func ownToMany(_ index: Int) -> Int {
        checkQueue()
        let info = _state.info
        var place = index
        if _state.pointee.slow & SlowReason.foreignSlots != 0, let places = info.binding(of: type(of: self)).toManys {
            place = places.indices.contains(index) ? places[index] : -1
        }
        guard info.toManyRelationships.indices.contains(place) else { isStale() }
        return place
    }

    private final func isStale() -> Never {
        misuse(
            "\(type(of: self)) has a property that the entity \(entity.name ?? "") lacks or has with another type. "
                + "Generate the class again.")
    }

    final func kind(_ slot: Int) -> SlotKind { _state.info.kinds[slot] }
}

/// Whether a slot's bit is set in the mask before a row.
@inlinable @inline(__always)
func _isPresent(_ row: UnsafeMutablePointer<UInt64>, _ slot: Int) -> Bool {
    row[-1 &- (slot &>> 6)] &>> UInt64(truncatingIfNeeded: slot & 63) & 1 == 1
}
