// Pending deletions whose delete rules write more after their event: at the save, if the rules wait for it, or after
// another writer changed the objects. Then the deletions apply on top of the new rows, as other pending changes do.

import CoreDataValues

/// A log with deletions. Until they are saved it is amended: by delete rules that waited, whose writes are undone with
/// the deletions, and by merges, so that its undo shows what they brought.
final class DeletionLog {
    private(set) var changes: ContiguousArray<GraphChange>
    /// The places of each object's changes, found when the first merge asks.
    private var places: [ObjectIdentifier: [Int]] = [:]

    init(_ changes: ContiguousArray<GraphChange>) { self.changes = changes }

    func deletes(_ object: NSManagedObject) -> Bool {
        places(of: object).contains { changes[$0].isDeletion(of: object) }
    }

    private func places(of object: NSManagedObject) -> [Int] {
        if places.isEmpty { for place in changes.indices { note(place) } }
        return places[ObjectIdentifier(object)] ?? []
    }

    private func note(_ place: Int) { places[ObjectIdentifier(changes[place].subject), default: []].append(place) }

    /// Adds what delete rules wrote when they were applied again. A change that gave up the target of the former row is
    /// replaced by that of the new row.
    func amend(by further: ContiguousArray<GraphChange>, formerly read: [NSManagedObject: RowSnapshot]) {
        for change in further {
            if case .target(let subject, let slot, _) = change, let read = read[subject],
                let place = places(of: subject).first(where: { isTaking(changes[$0], slot, read) })
            {
                changes[place] = change
            } else {
                add(change)
            }
        }
    }

    /// Adds what the delete rules of its objects wrote.
    func append(_ further: ContiguousArray<GraphChange>) {
        changes += further
        places = [:]
    }

    /// The objects that the log deletes.
    var deleted: [NSManagedObject] {
        changes.compactMap { if case .existence(let object, appeared: false) = $0 { object } else { nil } }
    }

    private func isTaking(_ change: GraphChange, _ slot: Int32, _ read: RowSnapshot) -> Bool {
        guard case .target(let object, let written, let old?) = change, written == slot else { return false }
        return object.targetKey(at: Int(slot), of: read)?.row == old._state.key.row
    }

    /// Adds what was written to its objects later, while their deletions were pending.
    func add(_ change: GraphChange) {
        changes.append(change)
        note(changes.count - 1)
    }

    /// Makes an undo leave out a member that a delete rule removed and another writer removed too.
    func dropRemoval(_ object: NSManagedObject, _ index: Int, from member: NSManagedObject) {
        for place in places(of: object) {
            guard case .link(_, let written, let other, added: false) = changes[place], written == index,
                other === member
            else { continue }
            changes[place] = .link(object, toMany: written, member: member, added: true)
        }
    }
}

extension ChangeTracker {
    /// Adds the last change to the pending deletions of the objects whose relationship it ends or makes.
    ///
    /// Ends: a deny or no-action rule has left two objects related. After a save an undo of this change finds one of
    /// them gone; the undo of the deletion restores both. Makes: the rule is applied again and ends the relationship,
    /// and the undo of the deletion takes that back as well. A deletion of the open event has the change in its own
    /// log, and an earlier deletion of the same object that was taken back is not concerned.
    ///
    /// - Parameter new: the new target of a to-one.
    func noteChange(to new: NSManagedObject? = nil) {
        guard !isReplaying, undoManager != nil, let change = log.last else { return }
        let ends = change.partedEnds.filter { $0._state.has(.rulesApplied) } + change.relatedEnds(new)
        for end in ends where end._state.has(.deleted) && !end._state.has([.detached, .eventDeleted]) {
            deletionLogs.last { $0.deletes(end) }?.add(change)
        }
    }
}

extension GraphChange {
    /// The objects whose relationship a change ended.
    fileprivate var partedEnds: [NSManagedObject] {
        switch self {
        case .target(let object, _, let old): old.map { [object, $0] } ?? []
        case .link(let object, _, let member, added: false), .position(let object, _, let member, _): [object, member]
        default: []
        }
    }

    /// The objects that a change related.
    fileprivate func relatedEnds(_ new: NSManagedObject?) -> [NSManagedObject] {
        switch self {
        case .target(let object, _, _): new.map { [object, $0] } ?? []
        case .link(let object, _, let member, added: true): [object, member]
        default: []
        }
    }
}
