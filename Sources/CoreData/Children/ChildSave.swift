// A child context's save: its pending changes become pending changes of the parent.

import CoreDataValues
import Foundation

/// Copies the changes of a child's objects to their counterparts, the parent's objects of the same keys.
///
/// Every write uses the parent's setters, so the parent logs it for undo, maintains inverses and notifies. The child's
/// values win; merge policies are not asked (6.4). Counterparts are looked up before anything is written: a save that
/// fails changes nothing. Used once, while the child holds its parent.
struct ChildSave {
    private let context: NSManagedObjectContext
    private let link: ParentLink
    private let parent: NSManagedObjectContext
    private let inserted: ContiguousArray<NSManagedObject>
    private let updated: ContiguousArray<NSManagedObject>
    /// Objects that were set to the values they had before.
    private let unchanged: ContiguousArray<NSManagedObject>
    private let deleted: ContiguousArray<NSManagedObject>
    private var counterparts: [ObjectIdentifier: NSManagedObject] = [:]
    /// Members new to the parent, by ordered to-manys that the child added members to without reading them.
    private var newMembers: [ObjectIdentifier: ContiguousArray<NSManagedObject>] = [:]

    init(
        _ context: NSManagedObjectContext, _ link: ParentLink, inserted: ContiguousArray<NSManagedObject>,
        updated: ContiguousArray<NSManagedObject>, deleted: ContiguousArray<NSManagedObject>
    ) {
        self.context = context
        self.link = link
        parent = link.above
        self.inserted = inserted
        let transients = context.tracker.transients
        var (changed, unchanged) = (ContiguousArray<NSManagedObject>(), ContiguousArray<NSManagedObject>())
        for object in updated {
            if ChildSave.isChanged(object, transients) { changed.append(object) } else { unchanged.append(object) }
        }
        self.updated = changed
        self.unchanged = unchanged
        self.deleted = deleted
    }

    mutating func run() throws {
        if context.undoManager != nil { deleted.borrowEach { $0.keepExternalValues() } }
        deleted.borrowEach { $0.keepParentValues() }
        try findCounterparts()
        try findNewMembers()
        parent.processPendingChanges()
        let bases = bases()
        for object in inserted {
            if let counterpart = counterparts[ObjectIdentifier(object)] {
                parent.undeleteLogged(counterpart)
            } else {
                makeCounterpart(of: object)
            }
        }
        for object in inserted { pushNewValues(of: object) }
        for object in updated { pushValues(of: object) }
        forEachPair { pushTargets(of: $0, to: $1) }
        forEachPair { pushMembers(of: $0, to: $1) }
        forEachPair { pushOrders(of: $0, to: $1) }
        for object in deleted {
            guard let counterpart = counterparts[ObjectIdentifier(object)] else { continue }
            link.remember(counterpart)
            parent.delete(counterpart)
        }
        for (counterpart, base) in bases { parent.tracker.setBase(base, for: counterpart) }
        handOnChecks()
        for expectation in context.expectations {
            if let counterpart = counterpart(of: expectation.object) {
                parent.expect(expectation.version, of: counterpart)
            }
        }
        parent.processPendingChanges()
        acceptChanges()
    }

    /// Whether there is anything to push, including transient values (1.13).
    private static func isChanged(_ object: NSManagedObject, _ transients: FormerTransients) -> Bool {
        object.hasChangedToMany() || object._state.has(.childBase)
            || object.slots.contains { isChanged(object, $0, transients) }
    }

    /// Whether a slot of a saved object changed. Former transient values are kept beside, as no row has them. In an
    /// object with `childBase` any overlay value counts: it may equal a row that was read after the child below changed
    /// it.
    static func isChanged(_ object: NSManagedObject, _ slot: Int, _ transients: FormerTransients) -> Bool {
        if object._state.info.entity.slots[slot].isTransient { return transients.differ(object, slot) }
        guard let overlay = object._state.overlay, overlay.isPresent(slot) else { return false }
        return object._state.has(.childBase) || object.differs(slot, overlay)
    }

    private func isChanged(_ object: NSManagedObject, _ slot: Int) -> Bool {
        ChildSave.isChanged(object, slot, context.tracker.transients)
    }

    // MARK: Bases

    /// The rows to compare when the counterparts are saved, found before anything is written. An owner of which only
    /// members changed has none.
    private func bases() -> [(counterpart: NSManagedObject, base: PushBase)] {
        (updated.filter { $0.isRowChanged } + deleted).compactMap { object in
            guard let counterpart = counterparts[ObjectIdentifier(object)] else { return nil }
            return counterpart.base(with: object).map { (counterpart, $0) }
        }
    }

    /// Has the parent's save compare objects given to `detectConflicts(for:)` here with the rows read here.
    private func handOnChecks() {
        for object in context.checkedObjects {
            guard let counterpart = counterparts[ObjectIdentifier(object)], !counterpart._state.has(.deleted) else {
                continue
            }
            parent.detectConflicts(for: counterpart)
            guard let base = counterpart.base(with: object), let read = counterpart.standing,
                base.version < read.version
            else {
                continue
            }
            parent.tracker.setBase(base, for: counterpart)
        }
    }

    // MARK: Counterparts

    /// Finds the parent's object for each changed or deleted one. Missing rows are read with one statement for each
    /// table.
    private mutating func findCounterparts() throws {
        let checked = context.checkedObjects.filter { !$0._state.has(.dirty) }
        var known = updated
        known += deleted.filter { !$0._state.has(.inaccessible) }
        known += checked
        // Insertions with permanent keys: their deletion may have been pushed and then undone.
        let returned = context.hasEarlyKeys ? inserted.filter { $0._state.pointee.number > 0 } : []
        let found = try readCounterparts(of: known + returned)
        for (object, counterpart) in zip(returned, found[known.count...]) {
            guard let counterpart else { continue }
            if ChildSave.isThere(counterpart)
                || counterpart._state.has(.deleted) && !counterpart._state.has([.detached, .inaccessible])
            {
                counterparts[ObjectIdentifier(object)] = counterpart
            }
        }
        if link.hasDeletedCounterparts {
            for object in inserted where counterparts[ObjectIdentifier(object)] == nil {
                if let counterpart = link.deletedCounterpart(object._state.key) {
                    counterparts[ObjectIdentifier(object)] = counterpart
                }
            }
        }
        for (object, counterpart) in zip(known, found) {
            if let counterpart, ChildSave.isThere(counterpart) {
                counterparts[ObjectIdentifier(object)] = counterpart
            } else {
                try MissingParentObject(of: object, in: parent)
                    .check(isAlone: isDeletionAlone, isGiven: checked.contains { $0 === object })
            }
        }
    }

    /// Whether nothing is saved but deletions and the nullified relationships of their rules.
    private var isDeletionAlone: Bool {
        inserted.isEmpty && !updated.contains { MissingParentObject(of: $0, in: parent).hasChangedRow }
    }

    private static func isThere(_ counterpart: NSManagedObject) -> Bool {
        !counterpart._state.has([.deleted, .detached])
            && !(counterpart._state.isFault && counterpart._state.pointee.row == nil)
    }

    /// Returns the parent's objects with their rows, as far as these exist. They are retained from the look-up on, as
    /// another thread's merge may release one last.
    private func readCounterparts(of objects: ContiguousArray<NSManagedObject>) throws -> ContiguousArray<
        NSManagedObject?
    > {
        var counterparts = ContiguousArray(objects.map { parent.registered($0._state.key) })
        let missing = objects.indices.filter { place in
            guard let counterpart = counterparts[place], ChildSave.isThere(counterpart) else { return true }
            guard counterpart.isBehind(objects[place]) else { return false }
            // The child has changed newer values than the counterpart has.
            parent.refresh(counterpart, mergeChanges: false)
            return true
        }
        let read = try parent.readRows(of: missing.map { objects[$0]._state.key })
        defer { withExtendedLifetime(read) {} }
        for place in missing where counterparts[place] == nil {
            counterparts[place] = parent.registered(objects[place]._state.key)
        }
        return counterparts
    }

    /// Finds the members new to ordered to-manys that the child has not read; once pushed, all would be members.
    private mutating func findNewMembers() throws {
        for object in updated {
            guard let counterpart = counterparts[ObjectIdentifier(object)] else { continue }
            object.forEachToMany { index, members in
                guard members.isFault, !members.hasOrder, !members.added.isEmpty,
                    object.relationship(toMany: index).isOrdered
                else { return }
                newMembers[ObjectIdentifier(members)] = members.added.objects.filter {
                    !isCounterpart(of: $0, memberOf: counterpart, index)
                }
            }
        }
        if !newMembers.isEmpty { try parent.faulting.throwReadError() }
    }

    /// Whether an object's counterpart is a member of a to-many in the parent.
    private func isCounterpart(of object: NSManagedObject, memberOf owner: NSManagedObject, _ index: Int) -> Bool {
        guard let other = counterparts[ObjectIdentifier(object)] ?? parent.registered(object._state.key),
            !other._state.has(.detached)
        else {
            // No change of the parent concerns it, so the counterpart's row decides.
            return !object._state.has(.inserted)
                && counterpart(of: object).map { owner.isMember($0, at: index) } ?? false
        }
        if case .slot(let slot)? = owner.relationship(toMany: index).inverse.map({ owner._state.info.schema[$0].place })
        {
            return other.target(at: slot) === owner
        }
        return owner.isMember(other, at: index)
    }

    private mutating func makeCounterpart(of object: NSManagedObject) {
        let counterpart = object._state.info.makeObject()
        parent.insert(counterpart, key: object._state.key)
        counterparts[ObjectIdentifier(object)] = counterpart
        counterpart.setDefaults()
        counterpart.awakeFromInsert()
        if let chosen = context.assignments?.store(of: object) { parent.choose(chosen, for: counterpart) }
    }

    private func forEachPair(_ body: (NSManagedObject, NSManagedObject) -> Void) {
        for object in inserted {
            if let counterpart = counterparts[ObjectIdentifier(object)] { body(object, counterpart) }
        }
        for object in updated {
            if let counterpart = counterparts[ObjectIdentifier(object)] { body(object, counterpart) }
        }
    }

    /// The parent's object for any object of the child, nil if it is gone.
    private func counterpart(of object: NSManagedObject) -> NSManagedObject? {
        if let known = counterparts[ObjectIdentifier(object)] { return known }
        guard object._state.has(.persistent) else { return nil }
        let found = parent.object(for: object._state.key)
        return found._state.has(.detached) ? nil : found
    }

    // MARK: Values

    /// Pushes all values of an insertion, and nil for values that only a new or former counterpart has.
    private func pushNewValues(of object: NSManagedObject) {
        guard let counterpart = counterparts[ObjectIdentifier(object)] else { return }
        let wasThere = counterpart._state.has(.persistent)
        for slot in object.slots where ChildSave.isAttribute(object, slot) {
            if object._state.overlay?.isPresent(slot) == true || object._state.info.hasTransientDefault(slot) {
                if !wasThere || counterpart.value(at: slot) != object.value(at: slot) {
                    counterpart.copyValue(slot, from: object)
                }
            } else if counterpart._state.overlay?.isPresent(slot) == true
                || counterpart._state.pointee.row?.isPresent(slot) == true
            {
                counterpart.write(.null, at: slot)
            }
        }
    }

    private func pushValues(of object: NSManagedObject) {
        guard let counterpart = counterparts[ObjectIdentifier(object)] else { return }
        for slot in object.slots where ChildSave.isAttribute(object, slot) && isChanged(object, slot) {
            counterpart.copyValue(slot, from: object)
        }
    }

    static func isAttribute(_ object: NSManagedObject, _ slot: Int) -> Bool {
        object.kind(slot) != .toOne && object.kind(slot) != .entityTag
    }

    // MARK: Relationships

    private func pushTargets(of object: NSManagedObject, to counterpart: NSManagedObject) {
        let isNew = object._state.has(.inserted)
        for slot in object.slots where object.kind(slot) == .toOne {
            if let overlay = object._state.overlay, overlay.isPresent(slot) {
                guard isNew || isChanged(object, slot) else { continue }
                counterpart.fixup.setTarget(slot, overlay.object(slot).flatMap { self.counterpart(of: $0) })
            } else if isNew, counterpart.target(at: slot) != nil {
                counterpart.fixup.setTarget(slot, nil)
            }
        }
    }

    /// Pushes pairs that are in no to-one.
    private func pushMembers(of object: NSManagedObject, to counterpart: NSManagedObject) {
        object.forEachToMany { index, members in
            guard members.isChanged else { return }
            let relationship = object.relationship(toMany: index)
            if case .slot(let slot)? = relationship.inverse.map({ object._state.info.schema[$0].place }) {
                return pushUnchanged(members, slot)
            }
            for member in members.removed.objects {
                if let other = self.counterpart(of: member) { counterpart.fixup.removeMember(index, other) }
            }
            for member in members.added.objects {
                if let other = self.counterpart(of: member) { counterpart.fixup.addMember(index, other) }
            }
        }
    }

    /// Pushes the targets of members with unchanged to-ones, as the parent's may differ: only the owner changed.
    private func pushUnchanged(_ members: ToMany, _ slot: Int) {
        for member in members.added.objects + members.removed.objects where !member._state.has([.deleted, .detached]) {
            if isChanged(member, slot) { continue }
            guard let other = counterpart(of: member), ChildSave.isThere(other) else { continue }
            let target = member.target(at: slot).flatMap { counterpart(of: $0) }
            if other.target(at: slot) !== target { other.fixup.setTarget(slot, target) }
        }
    }

    /// Pushes the child's orders; members that only the parent has come last.
    private func pushOrders(of object: NSManagedObject, to counterpart: NSManagedObject) {
        object.forEachToMany { index, members in
            guard object.relationship(toMany: index).isOrdered, members.hasOrder || !members.added.isEmpty else {
                return
            }
            let order = PushedOrder(object, counterpart, index, members, counterpartOf: self.counterpart(of:))
            order.push(new: newMembers[ObjectIdentifier(members)])
        }
    }

    // MARK: Afterwards

    /// Makes the pushed values the child's snapshots.
    private func acceptChanges() {
        if !updated.isEmpty || !deleted.isEmpty { context.faulting.rowTime += 1 }
        context.hasEarlyKeys = false
        for object in inserted { object._state.set(.persistent) }
        context.requiredIdentityMap.register(inserted)
        for (object, chunk, row) in packed(inserted) + packed(updated) { object.acceptRow(chunk, row) }
        for object in inserted + updated { object.acceptToManyChanges() }
        // A to-one that was set to its former value would still retain its target.
        for object in unchanged where object._state.pointee.overlay != nil { object._state.revertUnchanged() }
        for object in deleted { context.withdraw(object) }
    }

    /// Packs the pushed values with the versions that the changes are based on; for an insertion with that of its
    /// counterpart.
    private func packed(_ objects: ContiguousArray<NSManagedObject>) -> [(NSManagedObject, RowChunk, Int)] {
        var packer = ObjectPacker<UInt16, Void>(room: objects.count)
        return objects.map { object in
            let state = object._state
            let standing = state.has(.inserted) ? counterparts[ObjectIdentifier(object)]?.standing : object.standing
            let chunk = packer.pack(
                object, as: state.pointee.entity, key: state.pointee.number, version: standing?.version ?? 0)
            object.packChangedTransients(into: chunk)
            return (object, chunk, chunk.count - 1)
        }
    }
}

extension NSManagedObjectContext {
    /// Inserts an object as a pending change under a key that it already has.
    final func insert(_ object: NSManagedObject, key: ObjectKey) {
        let state = object._state
        state.pointee.identityMap = UnsafeRawPointer(Unmanaged.passRetained(requiredIdentityMap).toOpaque())
        object.resolveAccessors()
        state.pointee.number = key.number
        state.pointee.store = key.store
        state.pointee.slow |= SlowReason.overlay
        tracker.insert(object)
        guard key.number > 0 else { return }
        requiredIdentityMap.register(object)
        hasEarlyKeys = true
    }

    /// Reads rows of this context's faults with one statement for each table, and returns the objects.
    final func readRows(of keys: [ObjectKey]) throws -> ContiguousArray<NSManagedObject> {
        struct Table: Hashable {
            var store: UInt16
            var root: EntityIndex
        }
        var read: ContiguousArray<NSManagedObject> = []
        guard !keys.isEmpty else { return read }
        let tables = Dictionary(grouping: keys) { Table(store: $0.store, root: runtime.schema[$0.entity].root) }
        for (table, keys) in tables {
            do {
                try requiredReader(of: table.store)?.rows(for: keys.map(\.number), in: table.root, .latest) { batch in
                    faulting.materialize(batch, store: table.store, asFaults: true, into: &read)
                    return .more
                }
            } catch { throw CocoaError.reading(error) }
        }
        return read
    }
}

extension NSManagedObject {
    /// Copies values of a deleted object that only the parent's object has, before that is deleted too: for an undo.
    final func keepParentValues() {
        let state = _state
        guard state.info.hasTransientSlots, !state.has(.inaccessible) else { return }
        for (slot, property) in state.info.entity.slots.enumerated()
        where property.isTransient && property.kind == .transformable && state.overlay?.isPresent(slot) != true {
            if let live = heldLive(at: slot) { state.makeOverlay().set(slot, live as AnyObject) }
        }
    }

    /// Sets the value that the object of the same key in another context has.
    final func copyValue(_ slot: Int, from other: NSManagedObject) {
        let value = other.formerValue(slot)
        guard case .reference(let object) = value, let live = object as? LiveValue else {
            return write(value, at: slot)
        }
        write(.reference(live.copied), at: slot)
    }

    final var slots: Range<Int> { 0..<_state.info.layout.slotCount }
}
