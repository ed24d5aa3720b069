// Delete rules: what the deletion of an object does to those at the other ends of its relationships.

import CoreDataValues

/// The deletions whose delete rules are still to be applied, and how they are.
struct DeletePropagation {
    /// Objects deleted in the open event.
    private(set) var waiting: ContiguousArray<NSManagedObject> = []
    /// Objects deleted in former events whose rules wait for the save.
    private(set) var postponed: ContiguousArray<NSManagedObject> = []
    /// Deleted objects whose rules are applied again, since objects that they had changed were refreshed.
    private var reopened: ContiguousArray<NSManagedObject> = []
    /// What the running redo deleted.
    private var redone: ContiguousArray<NSManagedObject> = []

    var isDone: Bool { waiting.isEmpty && postponed.isEmpty }

    mutating func add(_ object: NSManagedObject) { waiting.append(object) }

    /// Forgets an object whose deletion is taken back.
    mutating func remove(_ object: NSManagedObject) {
        waiting.removeAll { $0 === object }
        postponed.removeAll { $0 === object }
    }

    mutating func removeAll() {
        waiting = []
        postponed = []
        reopened = []
        redone = []
    }

    /// Leaves the rules of the open event to the save.
    mutating func postpone() {
        postponed += waiting
        waiting = []
    }

    mutating func reopen(_ object: NSManagedObject) { reopened.append(object) }

    mutating func noteRedone(_ object: NSManagedObject) { redone.append(object) }

    // MARK: Applying

    /// Applies the delete rules of deleted objects until no new deletion follows.
    static func run(in context: NSManagedObjectContext) {
        if !context.tracker.deletePropagation.reopened.isEmpty { runAnew(in: context) }
        while !context.tracker.deletePropagation.waiting.isEmpty {
            let batch = context.tracker.deletePropagation.waiting
            context.tracker.deletePropagation.waiting = []
            var unread: ContiguousArray<NSManagedObject> = []
            var lost: Set<NSManagedObject> = []
            batch.borrowEach { object in
                guard object._state.has(.deleted), !object._state.has(.rulesApplied) else { return }
                object._state.set(.rulesApplied)
                // The row of an inaccessible object is gone and the program did not delete it, so there is nothing to
                // undo.
                if object._state.has(.inaccessible) {
                    context.writing(as: .deleteRule) { object.fixup.leavePendingPairs() }
                } else {
                    context.faulting.unseen { object.applyDeleteRules() }
                }
                if context.faulting.readError != nil {
                    // What could not be read may be incomplete: the rules are applied again once the error was thrown.
                    object._state.clear(.rulesApplied)
                    return unread.append(object)
                }
                if object._state.has(.inserted) { context.withdraw(object) }
                if object._state.has(.inaccessible), context.runtime.hasOneWayRelationships { lost.insert(object) }
            }
            if !lost.isEmpty { context.forget(lost) }
            guard unread.isEmpty else { return context.tracker.deletePropagation.waiting.append(contentsOf: unread) }
        }
    }

    /// Applies the delete rules of some objects. Those of others wait on, and so do those of objects that could not be read.
    static func run(for objects: ContiguousArray<NSManagedObject>, in context: NSManagedObjectContext) {
        let chosen = Set(objects.map { ObjectIdentifier($0) })
        let others = context.tracker.deletePropagation.waiting.filter { !chosen.contains(ObjectIdentifier($0)) }
        context.tracker.deletePropagation.waiting = objects
        run(in: context)
        context.tracker.deletePropagation.waiting.append(contentsOf: others)
    }

    /// Applies the delete rules again of deleted objects to which a refresh has restored relationships.
    ///
    /// Not logged: the undo of the deletion has what the rules did first.
    private static func runAnew(in context: NSManagedObjectContext) {
        context.writing(as: .deleteRule) {
            let reopened = context.tracker.deletePropagation.reopened
            context.tracker.deletePropagation.reopened = []
            run(for: reopened.filter { $0._state.has(.deleted) }, in: context)
        }
    }

    /// Applies the delete rules of what a redo deleted, even if those of other deletions wait for the save: they were
    /// applied before the undo.
    fileprivate static func runRedone(in context: NSManagedObjectContext) {
        guard !context.tracker.deletePropagation.redone.isEmpty else { return }
        let redone = Set(context.tracker.deletePropagation.redone)
        context.tracker.deletePropagation.redone = []
        run(for: context.tracker.deletePropagation.waiting.filter(redone.contains), in: context)
    }

    /// Applies the delete rules of deletions from former events. An undo takes their writes back together with the
    /// deletions.
    static func runPostponed(in context: NSManagedObjectContext) {
        let (recent, logs) = (context.tracker.deletePropagation.waiting, context.tracker.deletionLogs)
        var last: [NSManagedObject: Int] = [:]
        for (place, log) in logs.enumerated() { for object in log.deleted { last[object] = place } }
        let postponed = Dictionary(grouping: context.tracker.deletePropagation.postponed) { last[$0] ?? -1 }
        context.tracker.deletePropagation.postponed = []
        for (place, log) in logs.enumerated() {
            guard let objects = postponed[place] else { continue }
            context.tracker.deletePropagation.waiting = ContiguousArray(objects)
            log.append(belowLog(in: context) { run(in: context) })
            // Objects that could not be read keep waiting.
            context.tracker.deletePropagation.postpone()
        }
        context.tracker.deletePropagation.waiting = ContiguousArray(postponed[-1] ?? []) + recent
    }

    /// Applies delete rules without an undo step of their own: the undo and redo stacks stay as they are.
    ///
    /// - Returns: what the rules wrote.
    static func belowLog(
        in context: NSManagedObjectContext, _ apply: () -> Void
    ) -> ContiguousArray<GraphChange> {
        let (undoManager, hadDeletions) = (context.tracker.undoManager, context.tracker.logsDeletions)
        let former = context.tracker.endLog()
        context.tracker.undoManager = nil
        apply()
        let further = context.tracker.endLog()
        context.tracker.undoManager = undoManager
        context.tracker.log = former
        context.tracker.logsDeletions = hadDeletions
        return further
    }
}

extension NSManagedObjectContext {
    final func propagateRedone() { DeletePropagation.runRedone(in: self) }
}

extension NSManagedObject {
    /// Applies each relationship's delete rule to the other end.
    fileprivate func applyDeleteRules() {
        for relationship in _state.info.relationships {
            switch relationship.description.deleteRule {
            // Nothing may lead to an object that never had a row. One with a row keeps its relationships under these
            // rules.
            case .noAction, .deny: if _state.has(.inserted) { clear(relationship) }
            case .nullify: clear(relationship)
            case .cascade:
                // Before the inverse is cleared, so that `prepareForDeletion` of the target still sees this object
                // (1.6).
                for target in presentTargets(of: relationship) { managedObjectContext?.delete(target) }
                clear(relationship)
            }
        }
    }

    /// The targets of a relationship that still belong to this object. If a member's to-one says otherwise, the members
    /// were read earlier than it, and they are read again.
    private func presentTargets(of relationship: ResolvedRelationship) -> [NSManagedObject] {
        let found = targets(of: relationship)
        guard let index = relationship.toManyIndex, let members = toManyState(index), !members.isFault,
            let inverse = relationship.inverse, let slot = _state.info.schema[inverse].slot,
            found.contains(where: { $0.target(at: slot) !== self })
        else { return found }
        if members.isChanged { renewMembers(at: index, members) } else { members.becomeFault() }
        return targets(of: relationship)
    }

    /// The targets of a relationship, to-one or to-many.
    final func targets(of relationship: ResolvedRelationship) -> [NSManagedObject] {
        switch relationship.place {
        case .slot(let slot): target(at: slot).map { [$0] } ?? []
        case .toMany(let index): members(at: index)
        case .fetched: []
        }
    }

    final func clear(_ relationship: ResolvedRelationship) {
        switch relationship.place {
        case .slot(let slot): if let target = target(at: slot) { fixup.replaceTarget(slot, target, nil) }
        case .toMany(let index): fixup.setMembers(index, [])
        case .fetched: break
        }
    }
}
