// Makes the conflicts that policies and errors show from those that a store reports.

import CoreDataValues
import Foundation

/// Finds the objects and rows behind the conflicts of one commit.
struct ConflictReport {
    private let context: NSManagedObjectContext
    private let store: NumberedStore
    private let conflicts: [Conflict]
    private let objects: [RowKey: NSManagedObject]

    init(_ conflicts: [Conflict], in context: NSManagedObjectContext, store: NumberedStore) {
        self.context = context
        self.store = store
        self.conflicts = conflicts
        let schema = context.runtime.schema
        var objects: [RowKey: NSManagedObject] = [:]
        for object in Array(context.tracker.dirty) + Array(context.checkedObjects) + context.oneWayMembers {
            guard !object._state.has(.detached), object.savedStore == store.number else { continue }
            let key = object.savedKey
            objects[RowKey(entity: schema[key.entity].root, number: key.number)] = object
        }
        self.objects = objects
    }

    private func object(_ key: RowKey) -> NSManagedObject? {
        objects[RowKey(entity: context.runtime.schema[key.entity].root, number: key.number)]
    }

    /// A refused row with its version or claimed values. Equal reasons in two attempts show that nothing was resolved.
    struct Reason: Hashable {
        let key: RowKey
        let expected: Int32
        let found: Int32?
        let names: [String]
        let values: [Value]?
    }

    var reasons: Set<Reason> {
        Set(
            conflicts.map { conflict in
                let (key, expected) = (conflict.key, conflict.expected)
                return switch conflict.kind {
                case .changed(let version): Reason(key: key, expected: expected, found: version, names: [], values: nil)
                case .deleted: Reason(key: key, expected: expected, found: nil, names: [], values: nil)
                case .constraint(let names):
                    Reason(
                        key: key, expected: expected, found: nil, names: names,
                        values: object(key).flatMap { claim(names, of: $0) }?.values)
                }
            })
    }

    // MARK: Other writers

    /// Returns one conflict for each row that another writer changed or deleted since it was read.
    ///
    /// - Throws: the store's error when the rows are read.
    func merges() throws -> [NSMergeConflict] {
        var keys: [RowKey] = []
        var seen: Set<RowKey> = []
        for conflict in conflicts where !conflict.isConstraint {
            if seen.insert(conflict.key).inserted { keys.append(conflict.key) }
        }
        guard !keys.isEmpty else { return [] }
        let rows = try StoredRows(keys, in: store.rows)
        return keys.compactMap { key in
            guard let object = object(key) else { return nil }
            var cached = context.requiredCoordinator.cachedRow(for: object._state.key)
            // A cached row that is older than the one the context read says nothing new.
            if let known = cached, let read = object.standing, known.version < read.version { cached = nil }
            return NSMergeConflict(object, cached: cached, stored: rows[key])
        }
    }

    // MARK: Constraints

    /// The values that objects of a save claim under a uniqueness constraint.
    private struct Claim: Hashable {
        let owner: EntityIndex
        let names: [String]
        let slots: [Int]
        let values: [Value]
    }

    /// - Throws: the store's error when the rows with the claimed values are fetched.
    func constraints() throws -> [NSConstraintConflict] {
        var claims: [Claim] = []
        var unknown: [NSConstraintConflict] = []
        for conflict in conflicts {
            guard case .constraint(let names) = conflict.kind, let object = object(conflict.key) else { continue }
            if let claim = claim(names, of: object) {
                if !claims.contains(claim) { claims.append(claim) }
            } else {
                // A derived value: only the store knows what is claimed.
                unknown.append(
                    NSConstraintConflict(
                        constraint: names, database: nil, databaseSnapshot: nil, conflicting: [object],
                        conflictingSnapshots: [
                            object.lastRead.map { object.dictionary(of: $0) } ?? object.initialValues
                        ]))
            }
        }
        return try claims.map(conflict) + unknown
    }

    private func claim(_ names: [String], of object: NSManagedObject) -> Claim? {
        guard let constraint = object._state.info.entity.constraints.first(where: { $0.names == names }) else {
            return nil
        }
        return values(constraint.slots, of: object).map {
            Claim(owner: constraint.owner, names: constraint.names, slots: constraint.slots, values: $0)
        }
    }

    /// The values that an object claims, texts as bytes: `String` compares é equal in both normal forms, stores do not.
    private func values(_ slots: [Int], of object: NSManagedObject) -> [Value]? {
        var values: [Value] = []
        for slot in slots {
            let value = object.value(at: slot)
            if value.isNull { return nil }
            if case .text(let text) = value { values.append(.data(Data(text.utf8))) } else { values.append(value) }
        }
        return values
    }

    private func conflict(_ claim: Claim) throws -> NSConstraintConflict {
        let schema = context.runtime.schema
        let owner = schema[claim.owner]
        let all: ContiguousArray<NSManagedObject> = context.tracker.dirty.filter { object in
            object.isWritten && object.savedStore == store.number && object._state.info.entity.isKind(of: owner)
                && values(claim.slots, of: object) == claim.values
        }
        let row = try storedRow(of: claim, owner, all)
        // An object whose own row has the values was changed in other properties.
        let claimants = all.filter { $0 !== row?.object }
        let snapshots: [Any] = claimants.map { object in
            object.lastRead.map { object.dictionary(of: $0) } ?? object.initialValues
        }
        return NSConstraintConflict(
            constraint: claim.names, database: row?.object,
            databaseSnapshot: row.map { $0.object.dictionary(of: $0.snapshot) },
            conflicting: Array(claimants), conflictingSnapshots: snapshots)
    }

    /// The row that has the claimed values and keeps them in this save.
    private func storedRow(
        of claim: Claim, _ owner: Entity, _ claimants: ContiguousArray<NSManagedObject>
    ) throws -> (object: NSManagedObject, snapshot: RowSnapshot)? {
        guard let claimant = claimants.first else { return nil }
        var plan = FetchPlan(entity: owner.index)
        plan.predicate = .and(
            zip(claim.names, claim.slots).map { name, slot in
                .comparison(Comparison(.keyPath([name]), .equal, .constant(claimant.value(at: slot))))
            })
        var found: [RowSnapshot] = []
        do {
            try store.rows.fetch(plan, .latest) { batch in
                for chunk in batch.chunks {
                    found += (0..<chunk.count).map { RowSnapshot(chunk: chunk, row: chunk.row($0)) }
                }
                return .more
            }
        } catch { throw CocoaError.reading(error) }
        for snapshot in found {
            let layout = snapshot.chunk.layout
            let key = ObjectKey(number: snapshot.row.key(layout), entity: layout.entity, store: store.number)
            let object = context.object(for: key)
            if gaveUp(object, claim) { continue }
            try object.acceptStoredRow(snapshot)
            return (object, snapshot)
        }
        return nil
    }

    /// Whether this save gives the row other values or deletes it.
    private func gaveUp(_ object: NSManagedObject, _ claim: Claim) -> Bool {
        if object._state.has(.deleted) { return true }
        return object.isWritten && values(claim.slots, of: object) != claim.values
    }
}

extension NSManagedObjectContext {
    /// Members added to or removed from to-manys without inverse: their rows are compared even if unchanged.
    fileprivate final var oneWayMembers: [NSManagedObject] {
        guard !comparesOwners, runtime.hasOneWayRelationships else { return [] }
        var found: [NSManagedObject] = []
        for object in tracker.dirty {
            object.forEachToMany { index, members in
                guard object.relationship(toMany: index).inverse == nil else { return }
                found += members.added.objects.filter { $0._state.has(.persistent) } + members.removed.objects
            }
        }
        return found
    }
}

extension Conflict {
    var isConstraint: Bool { if case .constraint = kind { true } else { false } }
}

extension NSManagedObject {
    /// The store that the running save writes this object to.
    final var savedStore: UInt16 {
        let state = _state.pointee
        return state.assigned != 0 ? state.assignedStore : state.store
    }

    /// The default values of the entity by name, nil as `NSNull`.
    fileprivate final var initialValues: [String: Any] {
        var values: [String: Any] = [:]
        for property in _state.info.entity.slots where !property.isTransient && property.kind != .entityTag {
            values[property.name] = property.attribute?.defaultValue.object ?? NSNull()
        }
        return values
    }

    /// Gives the object the store's row if nothing is changed here. If the policy only throws, there is no `SaveMemory`
    /// to restore from, and an object that has a row keeps it.
    ///
    /// - Throws: the store's error when the other ends of relationships are read.
    fileprivate final func acceptStoredRow(_ snapshot: RowSnapshot) throws {
        let state = _state
        if state.pointee.row != nil, managedObjectContext?.saveMemory == nil { return }
        let wasFault = state.isFault
        forgetRowIfClean()
        guard state.isFault else { return try rebaseTouched(snapshot) }
        StoredState(self).attach(snapshot)
        guard wasFault else { return }
        state.pointee.slow |= SlowReason.fault
        fire()
    }

    /// Rebases an object whose own values are unchanged onto the store's row, so that it gets the members of that row.
    /// The versions of others were compared: they have it already.
    private final func rebaseTouched(_ snapshot: RowSnapshot) throws {
        guard let context = managedObjectContext, _state.has(.updated), !_state.has([.deleted, .detached]),
            _state.version != snapshot.version
        else { return }
        context.saveMemory?.rememberMerged(self)
        try Rebase(self, onto: snapshot, .mergeByPropertyObjectTrumpMergePolicyType, context).run()
    }
}
