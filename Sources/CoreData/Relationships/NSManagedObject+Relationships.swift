// Reading relationships: targets and members.

import CoreDataValues
import Foundation

extension NSManagedObject {
    final func place(of key: String) -> PropertyPlace? { _state.info.entity.places[key] }

    /// The to-one relationship that a slot belongs to.
    final func relationship(at slot: Int) -> ResolvedRelationship {
        guard let relationship = _state.info.slotRelationships[slot] else {
            misuse("\(_state.info.entity.slots[slot].name) of \(entity.name ?? "") is no to-one relationship.")
        }
        return relationship
    }

    final func relationship(toMany index: Int) -> ResolvedRelationship {
        _state.info.toManyRelationships[index]
    }

    // MARK: To-one

    /// The present target of a to-one; a fault if it is not in memory.
    final func target(at slot: Int) -> NSManagedObject? {
        guard let target = presentTarget(at: slot) else { return nil }
        if _state.has([.watched, .traced]) || target.lacksRow {
            _state.identityMap?.context?.faulting.noteReach(target, from: self, by: relationship(at: slot))
        }
        return target
    }

    @inline(__always)
    private func presentTarget(at slot: Int) -> NSManagedObject? {
        let state = _state
        if let overlay = state.overlay, overlay.isPresent(slot) { return overlay.object(slot) }
        if let target = state.pointee.target, Int(state.pointee.targetSlot) == slot {
            return Unmanaged<NSManagedObject>.fromOpaque(target).takeUnretainedValue()
        }
        if let targets = state.pointee.targets, let target = targets[slot] {
            return Unmanaged<NSManagedObject>.fromOpaque(target).takeUnretainedValue()
        }
        return readTarget(at: slot, isPresent: true)
    }

    /// Whether a to-one's target, or this object itself, still is a fault. Reads nothing.
    final func hasFault(at slot: Int) -> Bool {
        let state = _state
        guard kind(slot) == .toOne else { return state.isFault }
        if let overlay = state.overlay, overlay.isPresent(slot) { return overlay.object(slot)?.lacksRow ?? false }
        guard let row = state.pointee.row, let identityMap = state.identityMap else { return state.isFault }
        guard row.isPresent(slot) else { return false }
        let entity = EntityIndex(rawValue: targetEntity(at: slot, row))
        let key = ObjectKey(number: Int64(bitPattern: row[slot]), entity: entity, store: state.pointee.store)
        guard key.number <= 0 || key.store == 0 else {
            return identityMap.object(number: key.number, entity: entity.rawValue, store: key.store)?.lacksRow ?? true
        }
        guard let context = identityMap.context else { return true }
        return context.registered(context.currentKey(key, of: self, slot))?.lacksRow ?? true
    }

    /// The target as last read or saved.
    final func committedTarget(at slot: Int) -> NSManagedObject? { readTarget(at: slot, isPresent: false) }

    /// - Parameter isPresent: whether to answer the present target: firing a fault may let `awakeFromFetch` set another
    ///   one.
    @inline(__always)
    private func readTarget(at slot: Int, isPresent: Bool) -> NSManagedObject? {
        let state = _state
        guard state.has(.persistent) || state.pointee.row != nil, let identityMap = state.identityMap else {
            return state.pointee.slow & SlowReason.standsIn == 0 ? nil : standInTarget(at: slot)
        }
        if state.isFault {
            fire(reading: slot)
            if isPresent, let overlay = state.overlay, overlay.isPresent(slot) { return overlay.object(slot) }
        }
        guard let row = state.pointee.row, row.isPresent(slot) else { return nil }
        let entity = targetEntity(at: slot, row)
        let number = Int64(bitPattern: row[slot])
        let found = identityMap.object(number: number, entity: entity, store: state.pointee.store)
        guard let target = found ?? newFault(number, entity, slot) else { return nil }
        if state.info.isAcyclic[slot] { cache(target, at: slot) }
        return target
    }

    private func newFault(_ number: Int64, _ entity: UInt16, _ slot: Int) -> NSManagedObject? {
        guard let context = _state.identityMap?.context else { return nil }
        if let target = prefetchedTarget(number, slot, in: context) { return target }
        let key = ObjectKey(number: number, entity: EntityIndex(rawValue: entity), store: _state.pointee.store)
        if number > 0, key.store != 0 { return context.faulting.newTarget(key, of: self, slot) }
        return context.object(for: context.currentKey(key, of: self, slot))
    }

    /// The entity of the row that a to-one points at: that of the tag beside it, or the destination if this has no
    /// sub-entities.
    final func targetEntity(at slot: Int, _ row: UnsafeMutablePointer<UInt64>) -> UInt16 {
        let destinations = relationship(at: slot).destinations
        guard destinations.count > 1, row.isPresent(slot + 1) else { return destinations.lowerBound }
        let tag = UInt16(truncatingIfNeeded: row[slot + 1] &- 1)
        return destinations.contains(tag) ? tag : destinations.lowerBound
    }

    final func committedTargetKey(at slot: Int) -> ObjectKey? {
        guard case .row(let row, _) = committedSource(slot) else { return nil }
        let key = ObjectKey(
            number: Int64(bitPattern: row[slot]), entity: EntityIndex(rawValue: targetEntity(at: slot, row)),
            store: _state.pointee.store)
        return key.number > 0 && key.store != 0
            ? key : _state.identityMap?.context?.currentKey(key, of: self, slot) ?? key
    }

    /// Keeps a target alive as long as its source: only along relationships that cannot form a cycle (I-4).
    private func cache(_ target: NSManagedObject, at slot: Int) { cacheBesideRow(target, at: slot) }

    /// The object kept beside the row for a slot: a target, or the value of a transformable attribute.
    final func cachedBesideRow(_ slot: Int) -> AnyObject? {
        let state = _state
        if let first = state.pointee.target, Int(state.pointee.targetSlot) == slot {
            return Unmanaged<AnyObject>.fromOpaque(first).takeUnretainedValue()
        }
        guard let other = state.pointee.targets?[slot] else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(other).takeUnretainedValue()
    }

    /// Keeps an object for a slot until the row goes.
    final func cacheBesideRow(_ target: AnyObject, at slot: Int) {
        let state = _state
        if state.pointee.target == nil {
            state.pointee.target = UnsafeRawPointer(Unmanaged.passRetained(target).toOpaque())
            state.pointee.targetSlot = UInt16(truncatingIfNeeded: slot)
            return
        }
        let targets: UnsafeMutablePointer<UnsafeRawPointer?>
        if let existing = state.pointee.targets {
            targets = existing
        } else {
            let count = state.info.layout.slotCount
            targets = .allocate(capacity: count)
            targets.initialize(repeating: nil, count: count)
            state.pointee.targets = targets
        }
        let retained = UnsafeRawPointer(Unmanaged.passRetained(target).toOpaque())
        let former = targets[slot]
        targets[slot] = retained
        if let former { Unmanaged<NSManagedObject>.fromOpaque(former).release() }
    }

    // MARK: To-many

    /// The state of a to-many; nil if nothing is known of it.
    final func toManyState(_ index: Int) -> ToMany? {
        guard let members = _state.pointee.toMany?[index] else { return nil }
        return Unmanaged<ToMany>.fromOpaque(members).takeUnretainedValue()
    }

    final func makeToManyState(_ index: Int) -> ToMany {
        if let existing = toManyState(index) { return existing }
        let place = makeRelationshipState()
        // No store has the members of a transient relationship.
        let isStored = _state.has(.persistent) && !relationship(toMany: index).description.isTransient
        let made = ToMany(base: isStored ? .fault : .keys([]))
        place[index] = UnsafeRawPointer(Unmanaged.passRetained(made).toOpaque())
        if _state.pointee.slow & SlowReason.standsIn != 0 { standInMembers(of: made, at: index) }
        return made
    }

    /// The memory for the state of relationships, allocated if missing.
    final func makeRelationshipState() -> UnsafeMutablePointer<UnsafeRawPointer?> {
        if let existing = _state.pointee.toMany { return existing }
        let count = _state.info.relationshipStateCount
        let memory = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: count)
        memory.initialize(repeating: nil, count: count)
        _state.pointee.toMany = memory
        return memory
    }

    /// Calls `body` with the state of each to-many that has one.
    @inline(__always)
    final func forEachToMany(_ body: (Int, ToMany) -> Void) { _state.forEachToMany(body) }

    /// Calls `body` with the state of each to-many that is stored; transient ones are left out.
    final func forEachStoredToMany(_ body: (Int, ToMany) -> Void) {
        forEachToMany { index, members in
            if !relationship(toMany: index).description.isTransient { body(index, members) }
        }
    }

    final func hasChangedToMany() -> Bool {
        var changed = false
        forEachToMany { index, members in
            changed = changed || (members.isChanged && !relationship(toMany: index).description.isTransient)
        }
        return changed
    }

    /// The present members of a to-many, in order if the relationship is ordered.
    final func members(at index: Int) -> [NSManagedObject] {
        let members = makeToManyState(index)
        if let order = members.order { return Array(order) }
        let base = committedMembers(at: index)
        guard members.isChanged else { return base }
        compare(members, _state.identityMap?.context)
        var present = base
        if members.removed.count == 1 {
            if let place = base.firstIndex(where: { $0 === members.removed.objects[0] }) { present.remove(at: place) }
        } else if !members.removed.isEmpty {
            present.removeAll(where: members.hasRemoved)
        }
        present.append(contentsOf: members.added.objects)
        return present
    }

    /// The present members for a write: rows that are read for it do not count as read by the program.
    final func membersToWrite(at index: Int) -> [NSManagedObject] {
        guard let context = _state.identityMap?.context else { return members(at: index) }
        return context.faulting.unseen { members(at: index) }
    }

    /// The present members for the program: they are read together with the row of a fault.
    final func shownMembers(at index: Int) -> [NSManagedObject] {
        if _state.isFault { fire() }
        return members(at: index)
    }

    /// The members as last read or saved. A fault is read.
    final func committedMembers(at index: Int) -> [NSManagedObject] {
        let members = makeToManyState(index)
        guard let context = readMembers(members, index) else { return [] }
        let found: [NSManagedObject]
        let readsUnseen = context.faulting.readsUnseen
        // Rows count as read by the program once it has read them.
        if readsUnseen { context.faulting.readsUnseen = members.isUnseen } else { members.setUnseen(false) }
        defer { context.faulting.readsUnseen = readsUnseen }
        switch members.base {
        case .fault: return []
        case .rows(let batches): found = context.faulting.materialize(batches, store: _state.pointee.store)
        case .slices(let slices): found = context.faulting.materialize(slices, store: _state.pointee.store)
        case .keys(let keys): found = context.faulting.objects(for: keys)
        }
        if _state.has(.watched) || context.faulting.isTracing {
            for member in found { context.faulting.noteReach(member, from: self, by: relationship(toMany: index)) }
        }
        return found
    }

    /// Whether an object is a member now. Asks the store only for two saved objects if the other side does not tell;
    /// after many questions it reads the members.
    final func isMember(_ object: NSManagedObject, at index: Int) -> Bool {
        let members = makeToManyState(index)
        if members.hasOrder { return members.isOrdered(object) }
        if members.hasAdded(object) { return true }
        if members.hasRemoved(object) { return false }
        guard _state.has(.persistent), object._state.has(.persistent), let context = _state.identityMap?.context else {
            return false
        }
        members.dropOldRows(context.faulting.rowTime, store: _state.pointee.store)
        if members.isFault, let isOwner = object.hasOwner(self, byInverseOf: index, context) { return isOwner }
        if members.isFault, members.mayAskForPair(), let isStored = context.isStored(object, in: self, toMany: index) {
            return isStored
        }
        if members.isFault { context.faulting.fire(self, toMany: index, members) }
        context.replaceTemporaryKeys(of: members, store: _state.pointee.store)
        return members.held(object._state.key, store: _state.pointee.store)
    }

    /// Whether the other side of a many-to-many, as last read or saved, has a pair; nil if that side was not read
    /// either.
    private func hasOwner(_ owner: NSManagedObject, byInverseOf index: Int, _ context: NSManagedObjectContext) -> Bool?
    {
        guard let inverse = owner.relationship(toMany: index).inverse, !context.link.givesUnsavedRows,
            let theirs = _state.info.schema[inverse].toManyIndex.flatMap(toManyState)
        else { return nil }
        theirs.dropOldRows(context.faulting.rowTime, store: _state.pointee.store)
        return theirs.isFault ? nil : theirs.held(owner._state.key, store: owner._state.pointee.store)
    }

    /// Reads the members if they are a fault or their rows may be old. Answers the context, nil if there is none.
    final func readMembers(_ members: ToMany, _ index: Int) -> NSManagedObjectContext? {
        guard let context = _state.identityMap?.context else { return nil }
        members.dropOldRows(context.faulting.rowTime, store: _state.pointee.store)
        if members.isFault { context.faulting.fire(self, toMany: index, members) }
        return context
    }

    /// The place of a member of an ordered to-many, found without making objects of the others.
    final func position(of member: NSManagedObject, toMany index: Int) -> Int? {
        let (members, store) = (makeToManyState(index), _state.pointee.store)
        if members.hasOrder { return members.place(of: member) }
        guard let context = readMembers(members, index) else { return nil }
        if members.isChanged { compare(members, context) }
        if let place = members.added.objects.lastIndex(where: { $0 === member }) {
            return members.baseCount - members.removed.count + place
        }
        let gone = members.removed.objects.map { members.storedPlace(of: $0._state.key, store: store) }
        guard let place = members.storedPlace(of: member._state.key, store: store), !gone.contains(nil) else {
            // A context above has replaced a key since.
            return self.members(at: index).lastIndex { $0 === member }
        }
        return gone.contains(place) ? nil : place - gone.count { ($0 ?? place) < place }
    }
}
