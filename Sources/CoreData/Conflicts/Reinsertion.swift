// Inserts an object again whose row is gone.

import CoreDataValues
import Foundation

/// Prepares an object's relationships for being inserted again under its key: *drop pairs whose other row is gone ·
/// make every pair that stays a pending one, on both sides*.
///
/// The object keeps its attributes, and its to-ones and many-to-many pairs whose other ends exist or are inserted again
/// with it. Members whose own to-one pointed at it were released by the deletion and are not restored.
struct Reinsertion {
    private let object: NSManagedObject
    private let context: NSManagedObjectContext
    /// The objects that the same save inserts again, this one included.
    private let companions: Set<NSManagedObject>
    private let info: EntityInfo
    private let store: UInt16

    init(_ object: NSManagedObject, with companions: Set<NSManagedObject>, _ context: NSManagedObjectContext) {
        self.object = object
        self.companions = companions
        self.context = context
        info = object._state.info
        store = object._state.pointee.store
    }

    /// - Throws: the store's error when the other ends are read.
    func run() throws {
        guard object.lastRead != nil, let rows = context.reader(of: store) else { return }
        let targets = targets()
        var keys = targets.map { $0.target._state.key.row }
        object.forEachStoredToMany { _, members in
            keys += members.storedKeys(in: store).map(\.row)
            keys += members.added.objects.map { $0._state.key.row }
        }
        let there = try StoredRows(keys.filter { $0.number > 0 }, in: rows)
        for (slot, target) in targets {
            if isThere(target, there) { addToInverse(of: target, slot) } else { object.fixup.writeTarget(slot, nil) }
        }
        object.forEachStoredToMany { index, members in
            if let opposite = info.toManyRelationships[index].inverse.flatMap({ info.schema[$0].toManyIndex }) {
                pair(members, index, opposite, there)
            } else {
                dropLostMembers(of: members, index, there)
            }
        }
    }

    private func targets() -> [(slot: Int, target: NSManagedObject)] {
        info.slotRelationships.indices.compactMap { slot in
            guard info.slotRelationships[slot] != nil, let target = object.target(at: slot) else { return nil }
            return (slot, target)
        }
    }

    /// Whether the other object will have a row after the save.
    private func isThere(_ other: NSManagedObject, _ stored: StoredRows) -> Bool {
        let state = other._state
        if state.has([.deleted, .detached]) { return false }
        return !state.has(.persistent) || companions.contains(other) || stored[state.key.row].row != nil
    }

    // MARK: To-ones

    /// Adds the object to the inverse of a to-one.
    private func addToInverse(of target: NSManagedObject, _ slot: Int) {
        switch info.slotInverses[slot]?.place {
        case .slot(let opposite): pair(target, slot, opposite)
        case .toMany(let index):
            target.keepOrder(ofMembers: index)
            target.merge(object, toMany: index, isStored: false, isPresent: true)
        case .fetched, nil: break
        }
    }

    /// Sets the inverse of a one-to-one, unless that points at another object by now; then this side is cleared.
    private func pair(_ target: NSManagedObject, _ slot: Int, _ opposite: Int) {
        target.refaultOrCompare()
        switch target.target(at: opposite) {
        case nil: target.fixup.writeTarget(opposite, object)
        case let owner? where owner !== object: object.fixup.writeTarget(slot, nil)
        case .some: break
        }
    }

    // MARK: To-manys

    /// Makes the pairs of a many-to-many that stay pending ones, since the store has none any more.
    private func pair(_ members: ToMany, _ index: Int, _ opposite: Int, _ there: StoredRows) {
        object.keepOrder(ofMembers: index)
        let removed = Set(members.removed.objects)
        let stored = members.storedKeys(in: store).map { context.object(for: $0) }
        let all = stored + members.added.objects + members.removed.objects
        StoredState(object).forgetAll(of: members)
        var seen: Set<NSManagedObject> = []
        for member in all where seen.insert(member).inserted {
            let isPresent = !removed.contains(member) && isThere(member, there)
            if !member._state.has(.detached) {
                if isPresent { member.keepOrder(ofMembers: opposite) }
                member.merge(object, toMany: opposite, isStored: false, isPresent: isPresent)
            }
            object.merge(member, toMany: index, isStored: false, isPresent: isPresent)
        }
    }

    /// Drops stored members of a to-many without a join table whose rows are gone or, with a to-one inverse, no longer
    /// point at this object.
    private func dropLostMembers(of members: ToMany, _ index: Int, _ there: StoredRows) {
        let slot = info.toManyRelationships[index].inverse.flatMap { info.schema[$0].slot }
        for key in members.storedKeys(in: store) {
            let isGoing = context.registered(key)?._state.has([.deleted, .detached]) ?? false
            if !isGoing, let row = there[key.row].row, slot.map({ names(row, $0) }) ?? true { continue }
            StoredState(object).setStored(key, false, in: members)
            members.removeFromOrder { $0._state.key == key }
            context.registered(key)?.forgetRowIfClean()
        }
    }

    /// Whether a member's row points at the object.
    private func names(_ row: RowSnapshot, _ slot: Int) -> Bool {
        row.row.isPresent(slot) && Int64(bitPattern: row.row[slot]) == object._state.pointee.number
    }
}
