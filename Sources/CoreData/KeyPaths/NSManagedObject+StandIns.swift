// An object without a context that answers with stand-ins.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject {
    /// Where such an object holds its reading: a place of no slot.
    private static let readingPlace = Int(UInt16.max)

    /// The reading of a key path that this object takes part in.
    final var keyPathReading: KeyPathReading? {
        guard _state.pointee.slow & SlowReason.standsIn != 0 else { return nil }
        return cachedBesideRow(NSManagedObject.readingPlace) as? KeyPathReading
    }

    /// Makes an object that nobody else knows answer for a reading. It is a fault without a context: whatever is read passes `fire`.
    final func takePart(in reading: KeyPathReading) {
        _state.dropOverlay()
        _state.dropRelationships()
        cacheBesideRow(reading, at: NSManagedObject.readingPlace)
        _state.pointee.slow |= SlowReason.standsIn | SlowReason.fault
    }

    /// Puts into a slot what the reading answers, where the next look finds it.
    @inline(never)
    final func standIn(at slot: Int) {
        guard let reading = keyPathReading, _state.overlay?.isPresent(slot) != true else { return }
        let property = _state.info.entity.slots[slot]
        let answer = reading.answer(self, property.name) {
            guard property.kind == .toOne else { return reading.value(of: property.kind) }
            return companion(for: relationship(at: slot), reading).map { .object($0) } ?? .nothing
        }
        let overlay = _state.makeOverlay()
        switch answer {
        case .value(let value): overlay.put(value, slot, property.kind)
        case .object(let object): overlay.set(slot, object)
        case .live(let value): overlay.set(slot, LiveValue(value) as AnyObject)
        case .members, .nothing: overlay.setNull(slot, property.kind)
        }
    }

    @inline(never)
    final func standInTarget(at slot: Int) -> NSManagedObject? {
        standIn(at: slot)
        return _state.overlay.flatMap { $0.isPresent(slot) ? $0.object(slot) : nil }
    }

    @inline(never)
    final func standInMembers(of members: ToMany, at index: Int) {
        guard let reading = keyPathReading else { return }
        let relationship = relationship(toMany: index)
        let answer = reading.answer(self, relationship.name) {
            .members((0..<reading.memberCount).compactMap { _ in companion(for: relationship, reading) })
        }
        if case .members(let objects) = answer { objects.forEach(members.link) }
    }

    /// Whether the model lets a stored property be nil; an element of a composite as its composite may be.
    final func isOptional(_ key: String) -> Bool {
        guard case .slot(let slot)? = place(of: key) else { return true }
        return !_state.info.entity.slots[slot].isRequired
    }

    /// An object of a relationship's destination that takes part in the same reading.
    private func companion(for relationship: ResolvedRelationship, _ reading: KeyPathReading) -> NSManagedObject? {
        guard let infos = try? entity.managedObjectModel.runtime().infos else { return nil }
        let object = infos[relationship.destination.value].makeObject()
        object.takePart(in: reading)
        return object
    }
}
