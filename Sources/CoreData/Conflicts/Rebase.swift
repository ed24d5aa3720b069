// Applies an object's changes to another row than the one they were made on.

import CoreDataValues
import Foundation

/// Moves one object from the row that the context read to the row that the store has: *decide slot by slot · attach the
/// row · write values and targets · merge to-manys*.
struct Rebase {
    private let object: NSManagedObject
    private let type: NSMergePolicyType
    private let context: NSManagedObjectContext
    private let fresh: RowSnapshot
    private let info: EntityInfo

    /// Which value a slot has afterwards.
    private enum Side {
        /// The one set here.
        case changed
        /// The one that the context last read, although the store has another.
        case read
        case stored
    }

    init(
        _ object: NSManagedObject, onto fresh: RowSnapshot, _ type: NSMergePolicyType, _ context: NSManagedObjectContext
    ) {
        self.object = object
        self.fresh = fresh
        self.type = type
        self.context = context
        info = object._state.info
    }

    /// - Throws: the store's error when the target of a to-one is looked up.
    func run() throws {
        let state = object._state
        if state.isFault { object.fire() }
        guard fresh.chunk.layout.slotCount == info.layout.slotCount else { return }
        let read = object.lastRead
        context.faulting.rowTime += 1
        var toOnes: [ToOneMerge] = []
        var attributes: [(slot: Int, side: Side)] = []
        for (slot, property) in info.entity.slots.enumerated()
        where !property.isTransient && property.kind != .entityTag {
            let side = side(slot, read)
            if property.kind == .toOne {
                toOnes.append(try toOneMerge(slot, side, read))
            } else {
                attributes.append((slot, side))
            }
        }
        let toManys = toManyMerges()
        for (slot, side) in attributes { write(slot, side, read) }
        StoredState(object).attach(fresh)
        context.tracker.forgetBase(of: object)
        state.dropTargets()
        for merge in toOnes { merge.apply(to: object, in: context) }
        for merge in toManys { merge.apply(to: object, in: context) }
        endChanges()
    }

    /// Decides which value a slot gets, comparing both sides with the row that the context read (6.3).
    private func side(_ slot: Int, _ read: RowSnapshot?) -> Side {
        let isChangedHere = object.isChanged(at: slot) || isSetByInverse(slot)
        let isChangedThere = read.map { !agrees($0, slot) } ?? true
        switch type {
        case .errorMergePolicyType: return .changed
        case .mergeByPropertyStoreTrumpMergePolicyType:
            // A child's change may be based on an older row than this context has read.
            return isChangedHere && (object.standing.map { agrees($0.snapshot, slot) } ?? false) ? .changed : .stored
        case .mergeByPropertyObjectTrumpMergePolicyType: return isChangedHere ? .changed : .stored
        case .overwriteMergePolicyType: return isChangedHere ? .changed : isChangedThere ? .read : .stored
        case .rollbackMergePolicyType: return .stored
        }
    }

    /// Whether a one-to-one was set here from the other end, whose row is newer than this object's.
    private func isSetByInverse(_ slot: Int) -> Bool {
        guard let opposite = info.slotInverses[slot]?.slot, let other = object.target(at: slot) else { return false }
        return other.isChanged(at: opposite) && other.target(at: opposite) === object
    }

    /// Whether a stored pair was removed here from the other end, whose row is newer than this object's.
    private func isRemovedByInverse(_ slot: Int, _ other: NSManagedObject) -> Bool {
        switch info.slotInverses[slot]?.place {
        case .slot(let opposite):
            other.isChanged(at: opposite) && other.committedTarget(at: opposite) === object
                && other.target(at: opposite) !== object
        case .toMany(let index): !object.isChanged(at: slot) && other.toManyState(index)?.hasRemoved(object) ?? false
        case .fetched, nil: false
        }
    }

    private func agrees(_ read: RowSnapshot, _ slot: Int) -> Bool {
        guard info.kinds[slot] == .toOne else { return read.agrees(with: fresh, in: slot) }
        return object.targetKey(at: slot, of: read)?.row == object.targetKey(at: slot, of: fresh)?.row
    }

    // MARK: Attributes

    private func write(_ slot: Int, _ side: Side, _ read: RowSnapshot?) {
        switch side {
        case .changed: break
        case .stored: object._state.overlay?.remove(slot, info.kinds[slot])
        case .read:
            let overlay = object._state.makeOverlay()
            if let read, read.row.isPresent(slot) {
                object.copyValue(slot, of: read.row, read.chunk, to: overlay)
            } else {
                overlay.setNull(slot, info.kinds[slot])
            }
        }
    }

    // MARK: Relationships

    private func toOneMerge(_ slot: Int, _ side: Side, _ read: RowSnapshot?) throws -> ToOneMerge {
        let former = object.target(at: slot)
        let stored = object.targetKey(at: slot, of: fresh)
        let target: NSManagedObject?
        switch side {
        case .changed: target = former
        case .read: target = try read.flatMap { object.targetKey(at: slot, of: $0) }.flatMap(present)
        case .stored: target = stored.map { context.object(for: $0) }
        }
        let isLost =
            target.map { $0._state.has([.deleted, .detached]) || side == .stored && isRemovedByInverse(slot, $0) }
            ?? false
        return ToOneMerge(
            slot: slot, read: read.flatMap { object.targetKey(at: slot, of: $0) }, stored: stored, former: former,
            target: isLost ? nil : target)
    }

    /// The object for a key if its row still exists: an overwritten object must not point at a missing row.
    private func present(_ key: ObjectKey) throws -> NSManagedObject? {
        if let known = context.registered(key), known._state.has(.updated), known.countsAsChanged {
            return known
        }
        guard let rows = context.reader(of: key.store), try StoredRows([key.row], in: rows)[key.row].row != nil else {
            return nil
        }
        return context.object(for: key)
    }

    private func toManyMerges() -> [ToManyMerge] {
        var merges: [ToManyMerge] = []
        object.forEachStoredToMany { index, members in
            merges.append(ToManyMerge(index: index, relationship: info.toManyRelationships[index], members, type))
        }
        return merges
    }

    // MARK: The end

    /// Takes an object with nothing left to write out of the save.
    private func endChanges() {
        context.tracker.addToEvent(object, .eventRefreshed)
        if !object._state.has(.dirty), object.countsAsChanged { context.tracker.touch(object) }
        object.leaveSaveIfClean()
        context.writing(as: .waking) { object.awake(fromSnapshotEvents: .mergePolicy) }
    }
}

extension NSManagedObject {
    /// Whether a slot holds another value than the row that was last read.
    fileprivate final func isChanged(at slot: Int) -> Bool {
        _state.overlay.map { $0.isPresent(slot) && differs(slot, $0) } ?? false
    }
}
