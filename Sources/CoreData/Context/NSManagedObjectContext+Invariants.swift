// What must hold of a context between two calls of a program (Documentation/Invariants.md), checked by tests.

import CoreDataValues

extension NSManagedObjectContext {
    /// Checks everything that the context knows, without reading or changing anything, and answers a sentence for each
    /// breach.
    ///
    /// Walks all registered objects and their changed relationships: tests call it after each step, programs never.
    package final func checkInvariants() -> [String] {
        var check = InvariantCheck(self)
        check.lists()
        for object in check.objects {
            check.flags(object)
            check.identity(object)
            check.row(object)
            check.members(object)
            check.pairs(object)
        }
        return check.breaches
    }
}

/// One check of a context.
private struct InvariantCheck {
    let context: NSManagedObjectContext
    let objects: [NSManagedObject]
    private let listed: [ObjectIdentifier: Int]
    private let told: [ObjectIdentifier: Int]
    private(set) var breaches: [String] = []

    init(_ context: NSManagedObjectContext) {
        self.context = context
        listed = Self.counts(context.tracker.dirty)
        told = Self.counts(context.tracker.event)
        var seen: Set<ObjectIdentifier> = []
        let known = (context.identityMap?.all() ?? []) + context.tracker.dirty + context.tracker.event
        objects = known.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    private static func counts(_ objects: ContiguousArray<NSManagedObject>) -> [ObjectIdentifier: Int] {
        objects.reduce(into: [:]) { $0[ObjectIdentifier($1), default: 0] += 1 }
    }

    private mutating func expect(_ holds: Bool, _ object: NSManagedObject? = nil, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        let name = object.map { "\($0._state.info.entity.name) \($0._state.pointee.number): " } ?? ""
        breaches.append(name + what())
    }

    /// Each dirty object is listed once, as is each of the open event; `dirtyCount` matches (I-2).
    mutating func lists() {
        let tracker = context.tracker
        expect(listed.values.allSatisfy { $0 == 1 }, nil, "an object stands twice in the list of changed ones")
        expect(told.values.allSatisfy { $0 == 1 }, nil, "an object stands twice in the open event")
        let dirty = tracker.dirty.count { $0._state.has(.dirty) }
        expect(dirty == tracker.dirtyCount, nil, "\(tracker.dirtyCount) objects are counted as changed, \(dirty) are")
        expect(tracker.origin.writer == .program, nil, "writes are still those of \(tracker.origin.writer)")
        expect(!tracker.isReplaying, nil, "an undo has not ended")
    }

    /// The flags of an object agree with the lists that it is in (I-2).
    mutating func flags(_ object: NSManagedObject) {
        let (state, id) = (object._state, ObjectIdentifier(object))
        expect(!state.has(.dirty) || listed[id] != nil, object, "it is changed and not in the list of changed objects")
        expect(state.has(.inDirtyList) == (listed[id] != nil), object, "its mark of being listed is wrong")
        expect(!state.has(.event) || told[id] != nil, object, "it is part of the open event and not in its list")
        expect(!state.has(.detached) || !state.has(.dirty), object, "it has left the context and is changed")
        expect(!state.has(.replayed) && !state.has([.present, .wanted]), object, "a mark of a walk is left on it")
    }

    /// A registered object is found under its key.
    mutating func identity(_ object: NSManagedObject) {
        let state = object._state
        guard state.has(.registered), let map = context.identityMap else { return }
        let found = map.object(number: state.pointee.number, entity: state.pointee.entity, store: state.pointee.store)
        expect(found === object, object, "it is registered and not found under its key")
        expect(!state.has(.detached), object, "it has left the context and is registered")
    }

    /// A row lies in the object's own chunk; an object without one is new or a fault. `slow` shows the overlay.
    mutating func row(_ object: NSManagedObject) {
        let state = object._state
        if state.pointee.overlay != nil {
            expect(
                state.pointee.slow & SlowReason.overlay != 0, object, "its changed values are hidden from its getters")
        }
        guard let row = state.pointee.row else {
            let isNew = !state.has(.persistent) || state.has([.inserted, .detached])
            return expect(isNew || state.isFault, object, "it has no row and is no fault")
        }
        guard let chunk = state.chunk else { return expect(false, object, "it has a row and no chunk") }
        let cells = (row - chunk.row(0)) / chunk.layout.stride
        expect(0..<chunk.count ~= cells, object, "its row is in another chunk than the one that it keeps")
        expect(
            !state.has(.registered) || row.key(chunk.layout) == state.pointee.number, object,
            "its row has another number")
    }

    /// Additions and removals of a to-many are disjoint, its order fits them, and a clean object has no changed members
    /// (I-4).
    mutating func members(_ object: NSManagedObject) {
        object.forEachToMany { index, members in
            let name = object.relationship(toMany: index).name
            let isTransient = object.relationship(toMany: index).description.isTransient
            let added = Set(members.added.objects)
            expect(added.count == members.added.objects.count, object, "\(name) gained a member twice")
            expect(added.isDisjoint(with: members.removed.objects), object, "\(name) gained a member that it lost")
            if !isTransient, object._state.has(.persistent), !object._state.has([.dirty, .detached]) {
                expect(!members.isChanged, object, "it is unchanged and \(name) holds changes")
            }
            guard let order = members.order else { return }
            let ordered = Set(order)
            expect(ordered.count == order.count, object, "a member stands twice in the order of \(name)")
            expect(added.isSubset(of: ordered), object, "a new member is missing in the order of \(name)")
            expect(
                ordered.isDisjoint(with: members.removed.objects), object, "a former member is in the order of \(name)")
        }
    }

    /// Both sides of a changed relationship agree (I-3).
    mutating func pairs(_ object: NSManagedObject) {
        guard !object._state.has([.detached, .deleted]) else { return }
        object._state.forEachPresentToOne { slot, overlay in
            guard let inverse = object._state.info.slotInverses[slot], let target = overlay.object(slot),
                !target._state.has([.detached, .deleted])
            else { return }
            let name = object.relationship(at: slot).name
            switch inverse.place {
            case .slot(let opposite):
                guard let other = target._state.overlay, other.isPresent(opposite) else { return }
                expect(other.object(opposite) === object, object, "\(name) leads to an object that leads elsewhere")
            case .toMany(let index):
                let isRemoved = target.toManyState(index)?.hasRemoved(object) ?? false
                expect(!isRemoved, object, "\(name) leads to an object that has lost it as a member")
            case .fetched: break
            }
        }
    }
}
