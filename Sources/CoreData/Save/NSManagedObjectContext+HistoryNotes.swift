// The note that a save gives to a store with history.

import CoreDataValues
import Foundation
import Synchronization

extension SaveOperation {
    /// The batch with the note for the store's history.
    func noted(_ batch: StoreBatch) -> ChangeBatch {
        var relationships: [RowKey: [RelationshipIndex]] = [:]
        for object in updated where object._state.pointee.store == batch.store.number {
            object.forEachToMany { index, members in
                let relationship = object.relationship(toMany: index)
                guard members.isChanged, !relationship.description.isTransient else { return }
                relationships[object.savedKey, default: []].append(relationship.index)
                guard relationship.isOrdered, let inverse = relationship.inverse, let order = members.order else {
                    return
                }
                // A member that only changed its place has changed as well (12.6).
                for member in moved(order, from: members.storedKeys(in: batch.store.number)) {
                    relationships[member.savedKey, default: []].append(inverse)
                }
            }
        }
        var noted = batch.batch
        noted.note = HistoryNote(
            author: context.transactionAuthor, contextName: context.name, relationships: relationships)
        return noted
    }

    /// The fewest kept members that could have moved to turn one order into the other.
    private func moved(
        _ order: ContiguousArray<NSManagedObject>, from former: ContiguousArray<ObjectKey>
    ) -> [NSManagedObject] {
        let places = Dictionary(zip(former, Int64(0)...), uniquingKeysWith: { first, _ in first })
        let kept = order.filter { !$0._state.has(.inserted) && places[$0._state.key] != nil }
        let staying = Set(kept.map { places[$0._state.key] ?? 0 }.longestAscent())
        return kept.indices.filter { !staying.contains($0) }.map { kept[$0] }
    }
}

extension NSManagedObjectContext {
    /// Keeps the transaction number of a store for the token in the save's notifications.
    final func remember(_ note: HistoryNote, of store: NSPersistentStore) {
        let number = note.number.load(ordering: .relaxed)
        guard number > 0 else { return }
        store.noteTransaction(number)
        savedTransactions = (savedTransactions ?? [:]).merging([store.identifier: number]) { $1 }
    }

    /// The last transactions of the histories that the last save wrote to, and the current ones of the other stores;
    /// nil if the save wrote to no history.
    final var savedToken: NSPersistentHistoryToken? {
        guard let saved = savedTransactions else { return nil }
        let others = requiredCoordinator.persistentStores.filter { $0.recordsHistory && saved[$0.identifier] == nil }
        let known = others.isEmpty ? [:] : NSPersistentHistoryToken(of: others)?.transactions ?? [:]
        return NSPersistentHistoryToken(transactions: known.merging(saved) { $1 })
    }
}

extension Notification {
    /// The token that a save's notification carries.
    var historyToken: NSPersistentHistoryToken? { userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken }
}
