// An object whose row is gone and is written again.

import CoreDataValues
import Foundation

/// Makes the relationships of an object fit to be written again: *forget what went with its row · take back its one-to-ones*.
///
/// The object keeps its attributes, its to-ones and its many-to-many pairs as far as their other ends are there. Members whose own row
/// named it were released by the deletion and stay so.
struct Reinsertion {
    private let object: NSManagedObject
    private let context: NSManagedObjectContext
    private let info: EntityInfo
    private let store: UInt16

    init(_ object: NSManagedObject, _ context: NSManagedObjectContext) {
        self.object = object
        self.context = context
        info = object._state.info
        store = object._state.pointee.store
    }

    /// - Throws: what the store says when the other ends are read.
    func run() throws {
        guard object.lastRead != nil, let rows = context.rows(of: store) else { return }
        let targets = targets()
        var keys = targets.map { $0.target._state.key.row }
        object.forEachStoredToMany { _, members in keys += members.storedKeys(in: store).map(\.row) }
        let there = try StoredRows(keys, in: rows)
        for (slot, target) in targets {
            let isLost = target._state.has([.deleted, .gone]) || there[target._state.key.row].row == nil
            if isLost { object.writeTarget(slot, nil) } else { pair(slot) }
        }
        object.forEachStoredToMany { index, members in keep(members, index, there) }
    }

    /// The present targets that should have a row.
    private func targets() -> [(slot: Int, target: NSManagedObject)] {
        info.slotRelationships.indices.compactMap { slot in
            guard info.slotRelationships[slot] != nil, let target = object.target(at: slot) else { return nil }
            return target._state.has(.persistent) ? (slot, target) : nil
        }
    }

    /// The other end of a one-to-one names the object again, unless it has another by now.
    private func pair(_ slot: Int) {
        guard let opposite = info.slotInverses[slot]?.slot, let target = object.target(at: slot) else { return }
        target.forgetRowIfClean()
        switch target.target(at: opposite) {
        case nil: target.writeTarget(opposite, object)
        case let owner? where owner !== object: object.writeTarget(slot, nil)
        case .some: break
        }
    }

    private func keep(_ members: ToMany, _ index: Int, _ there: StoredRows) {
        let inverse = info.toManyRelationships[index].inverse.map { info.schema[$0] }
        for key in members.storedKeys(in: store) {
            let isGoing = context.registered(key)?._state.has([.deleted, .gone]) ?? false
            if !isGoing, let row = there[key.row].row, inverse?.slot.map({ names(row, $0) }) ?? true { continue }
            members.setStored(key, false)
            members.order?.removeAll { $0._state.key == key }
            context.registered(key)?.forgetRowIfClean()
        }
    }

    /// Whether a member's row still names the object.
    private func names(_ row: RowSnapshot, _ slot: Int) -> Bool {
        row.row.isPresent(slot) && Int64(bitPattern: row.row[slot]) == object._state.pointee.number
    }
}
