// Prefetched rows of to-one targets, which an object keeps until a target is asked for.

import CoreDataValues

/// The prefetched rows for each to-one slot. Shared by the objects of a fetch.
final class PrefetchedTargets {
    private(set) var lists: [(slot: Int, rows: TargetRows)]

    init(_ lists: [(slot: Int, rows: TargetRows)]) { self.lists = lists }

    func rows(_ slot: Int, at time: Int) -> TargetRows? {
        lists.first { $0.slot == slot && $0.rows.readAt == time }?.rows
    }

    /// These lists with those of another one for further slots.
    func adding(_ other: PrefetchedTargets?, at time: Int) -> PrefetchedTargets {
        let further = other?.lists.filter { list in
            list.rows.readAt == time && !lists.contains { $0.slot == list.slot }
        }
        guard let further, !further.isEmpty else { return self }
        return PrefetchedTargets(lists + further)
    }
}

extension NSManagedObject {
    /// The last place in the memory for the state of relationships.
    private var targetsPlace: Int { _state.info.relationshipStateCount - 1 }

    private var prefetchedTargets: PrefetchedTargets? {
        guard let held = _state.pointee.toMany?[targetsPlace] else { return nil }
        return Unmanaged<PrefetchedTargets>.fromOpaque(held).takeUnretainedValue()
    }

    final func addPrefetchedTargets(_ targets: PrefetchedTargets, at time: Int) {
        let former = prefetchedTargets
        if former === targets { return }
        let kept = targets.adding(former, at: time)
        makeRelationshipState()[targetsPlace] = UnsafeRawPointer(Unmanaged.passRetained(kept).toOpaque())
        if let former { Unmanaged.passUnretained(former).release() }
    }

    /// The target of a to-one from prefetched rows; nil if there are none or they may be old.
    final func prefetchedTarget(
        _ number: Int64, _ slot: Int, in context: NSManagedObjectContext
    ) -> NSManagedObject? {
        let store = _state.pointee.store
        guard let rows = prefetchedTargets?.rows(slot, at: context.faulting.rowTime),
            let place = rows.rows[TargetRows.Name(store: store, number: number)]
        else { return nil }
        var objects: ContiguousArray<NSManagedObject> = []
        context.faulting.materialize(
            place.chunk, place.row..<place.row + 1, store: store, asFaults: true, into: &objects)
        context.faulting.hand(rows.beyond, to: objects) { _ in place.chunk.row(place.row) }
        return objects.first
    }

    /// Whether reading a to-one needs no statement.
    final func knowsTarget(at slot: Int) -> Bool {
        let state = _state
        guard state.info.slotRelationships[slot] != nil else { return false }
        if let overlay = state.overlay, overlay.isPresent(slot) { return !(overlay.object(slot)?.lacksRow ?? false) }
        guard let row = state.pointee.row else { return false }
        guard row.isPresent(slot) else { return true }
        if let held = cachedBesideRow(slot) as? NSManagedObject { return !held.lacksRow }
        guard let time = state.identityMap?.context?.faulting.rowTime else { return false }
        let name = TargetRows.Name(store: state.pointee.store, number: Int64(bitPattern: row[slot]))
        return prefetchedTargets?.rows(slot, at: time)?.rows[name] != nil
    }

    /// Whether this is a fault without a row in memory.
    final var lacksRow: Bool { _state.isFault && _state.pointee.row == nil }
}
