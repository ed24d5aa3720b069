// The log of an event that deleted objects. Delete rules may write more after the event has ended: at the save, if they
// wait for it, or after a merge, when the deletions apply on top of the new rows, as other pending changes do.

import CoreDataValues

/// A log with deletions, which is amended until a save has carried them out. Delete rules that waited add their writes,
/// so that these are undone together with the deletions. Merges adapt it, so that its undo keeps what they brought.
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

    /// Adds what delete rules wrote when they were applied again. The change by which an object gave up the target in
    /// its former row is replaced by the one that gave up the target in its new row.
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

    /// Keeps an undo from bringing back a member that a delete rule removed here and another writer removed as well.
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
    /// Adds the last logged change to the pending deletions of the objects whose relationship it ended or made.
    ///
    /// - *Ended:* a deny or no-action rule had left the two objects related. After a save, an undo of this change would
    ///   find one of them gone, but the undo of the deletion restores both and can take the change back.
    /// - *Made:* the delete rule will be applied again and end the relationship; the undo of the deletion takes that
    ///   back as well.
    ///
    /// A deletion of the open event needs no addition, since the open log has the change. If an object was deleted,
    /// restored and deleted again, only its last deletion is concerned.
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
