// Prefetches relationships of many objects, one statement for each.

import CoreDataValues
import Foundation

/// Prefetches relationships of fetched objects, level by level.
///
/// The objects of a level are retained until the next one is read. Below the first they may then be deallocated, as no
/// unchanged object retains its members (I-4); what was read for them stays with their rows until they are made again.
struct Prefetch {
    let context: NSManagedObjectContext
    /// Whether the fetched objects are probably all of their entity.
    let isEverything: Bool
    private typealias Objects = ContiguousArray<NSManagedObject>

    /// - Throws: the stores' errors.
    func run(_ steps: [PrefetchStep], _ objects: [NSManagedObject]) throws {
        do {
            _ = try fill(steps, Objects(objects), isNested: false)
        } catch { throw CocoaError.reading(error) }
    }

    /// - Parameter isNested: whether the sources may be materialized again and then need the returned level.
    private func fill(_ steps: [PrefetchStep], _ sources: Objects, isNested: Bool) throws -> PrefetchedLevel? {
        guard !steps.isEmpty, !sources.isEmpty else { return nil }
        let level = PrefetchedLevel(readAt: context.faulting.rowTime)
        for step in steps {
            switch step.relationship.place {
            case .toMany(let index):
                let owners = try fill(step, index, sources, isNested: isNested)
                if isNested { level.members.append((index, owners)) }
            case .slot(let slot):
                level.targets.append((slot, try fill(step, slot, sources)))
            case .fetched: break
            }
        }
        return level
    }

    // MARK: To-many

    private func fill(
        _ step: PrefetchStep, _ index: Int, _ sources: Objects, isNested: Bool
    ) throws -> [ObjectKey: MemberSlices] {
        var unread: [UInt16: [Int64: ToMany]] = [:]
        for source in sources where source._state.has(.persistent) && !source._state.has(.detached) {
            let members = source.makeToManyState(index)
            let store = source._state.pointee.store
            members.dropOldRows(context.faulting.rowTime, store: store)
            guard members.isFault else { continue }
            members.setMayPrecedeRow(source._state.pointee.row == nil)
            unread[store, default: [:]][source._state.pointee.number] = members
        }
        let time = context.faulting.rowTime
        for (store, owners) in unread {
            let numbers = owners.keys.sorted()
            let slices = try read(step.relationship, of: numbers, in: store, isEverything && !isNested)
            for (number, slices) in zip(numbers, slices) {
                guard let members = owners[number], members.isFault else { continue }
                members.setRead(store == 0 ? .keys(context.faulting.unsavedKeys(slices)) : .slices(slices), at: time)
            }
        }
        var known: [ObjectKey: MemberSlices] = [:]
        if isNested {
            for source in sources { known[source._state.key] = source.toManyState(index)?.asSlices() }
        }
        guard !step.beyond.isEmpty else { return known }
        if let level = try fill(step.beyond, members(of: sources, index), isNested: true) {
            for source in sources { source.toManyState(index)?.asSlices()?.add(level) }
        }
        return known
    }

    /// Reads the members of owners in one store, in the owners' order.
    private func read(
        _ relationship: ResolvedRelationship, of owners: [Int64], in store: UInt16, _ areAll: Bool
    ) throws -> ContiguousArray<MemberSlices> {
        guard let rows = try context.requiredReader(of: store) else { return [] }
        var sorting = MemberSorting(owners)
        let identityMap = context.requiredIdentityMap
        let cache = context.rowCache
        let ticket = cache?.ticket ?? 0
        func receive(_ batch: MemberBatch) -> FetchStep {
            cache?.add(batch.rows, store: store, since: ticket)
            if store != 0 { identityMap.note(batch.rows, store: store) }
            sorting.add(batch)
            return .more
        }
        if areAll {
            try rows.targets(of: relationship.index, fromAll: owners, .latest, receive)
        } else {
            try rows.targets(of: relationship.index, from: owners, .latest, receive)
        }
        return sorting.slices()
    }

    /// The present members of all sources, each once.
    private func members(of sources: Objects, _ index: Int) -> Objects {
        var reached = Objects()
        var seen = Set<ObjectIdentifier>()
        for source in sources where !source._state.has(.detached) {
            for member in source.members(at: index) where seen.insert(ObjectIdentifier(member)).inserted {
                reached.append(member)
            }
        }
        return reached
    }

    // MARK: To-one

    private func fill(_ step: PrefetchStep, _ slot: Int, _ sources: Objects) throws -> TargetRows {
        let keysOnly = sources.filter { $0.lacksRow && $0._state.has(.persistent) && !$0._state.has(.detached) }
        let awakened = try context.readRows(of: keysOnly.map(\._state.key))
        defer { withExtendedLifetime(awakened) {} }
        var search = TargetSearch(context: context, slot: slot)
        for source in sources where !source._state.has(.detached) { search.look(at: source) }
        try search.read(root: context.runtime.schema[step.relationship.destination].root)
        let targets = PrefetchedTargets([(slot, search.rows)])
        for source in sources where !source._state.has(.detached) { search.give(targets, to: source) }
        if let level = try fill(step.beyond, search.reached, isNested: true) { search.rows.add(level) }
        return search.rows
    }
}

/// The targets of one to-one of many sources.
private struct TargetSearch {
    let context: NSManagedObjectContext
    let slot: Int
    /// Rows from which targets can be materialized again.
    let rows: TargetRows
    /// All targets, retained until the next level is read.
    private(set) var reached: ContiguousArray<NSManagedObject> = []
    private var byName: [TargetRows.Name: NSManagedObject] = [:]
    private var unread: [TargetRows.Name: ObjectKey] = [:]

    init(context: NSManagedObjectContext, slot: Int) {
        self.context = context
        self.slot = slot
        rows = TargetRows(readAt: context.faulting.rowTime)
    }

    private func name(_ key: ObjectKey) -> TargetRows.Name { .init(store: key.store, number: key.number) }

    mutating func look(at source: NSManagedObject) {
        if let overlay = source._state.overlay, overlay.isPresent(slot) {
            if let target = overlay.object(slot) { reach(target, target._state.key) }
            return
        }
        guard let key = source.rowTargetKey(at: slot), byName[name(key)] == nil, unread[name(key)] == nil else {
            return
        }
        if let target = context.registered(key) ?? source.prefetchedTarget(key.number, slot, in: context) {
            reach(target, key)
        } else {
            unread[name(key)] = key
        }
    }

    private mutating func reach(_ target: NSManagedObject, _ key: ObjectKey) {
        guard byName.updateValue(target, forKey: name(key)) == nil else { return }
        reached.append(target)
        if target.lacksRow, target._state.has(.persistent) { unread[name(key)] = key } else { note(target, key) }
    }

    /// Notes a target's row if it has one.
    private func note(_ target: NSManagedObject, _ key: ObjectKey) {
        guard let row = target._state.pointee.row, let chunk = target._state.chunk else { return }
        let place = (row - chunk.row(0)) / chunk.layout.stride
        rows.rows[name(key)] = TargetRows.Place(chunk: chunk, row: place)
    }

    /// Reads the missing rows with one statement for each store.
    mutating func read(root: EntityIndex) throws {
        for (store, names) in Dictionary(grouping: unread.keys, by: \.store) {
            guard let stored = try context.requiredReader(of: store) else { continue }
            var objects: ContiguousArray<NSManagedObject> = []
            let cache = context.rowCache
            let ticket = cache?.ticket ?? 0
            try stored.rows(for: names.map(\.number).sorted(), in: root, .latest) { batch in
                cache?.add(batch, store: store, since: ticket)
                context.faulting.materialize(batch, store: store, asFaults: true, into: &objects)
                return .more
            }
            for object in objects {
                let key = object._state.key
                note(object, key)
                if byName.updateValue(object, forKey: name(key)) == nil { reached.append(object) }
            }
        }
    }

    /// Caches a source's target if no cycle can result, else gives it the rows to materialize the target from.
    func give(_ targets: PrefetchedTargets, to source: NSManagedObject) {
        let state = source._state
        if let overlay = state.overlay, overlay.isPresent(slot) { return }
        guard let key = source.rowTargetKey(at: slot), let target = byName[name(key)] else { return }
        if !state.info.isAcyclic[slot] {
            source.addPrefetchedTargets(targets, at: rows.readAt)
        } else if source.cachedBesideRow(slot) == nil {
            source.cacheBesideRow(target, at: slot)
        }
    }
}

extension NSManagedObject {
    /// The key of a to-one's target in the attached row; fires no fault.
    fileprivate final func rowTargetKey(at slot: Int) -> ObjectKey? {
        guard let row = _state.pointee.row, row.isPresent(slot) else { return nil }
        let key = ObjectKey(
            number: Int64(bitPattern: row[slot]), entity: EntityIndex(rawValue: targetEntity(at: slot, row)),
            store: _state.pointee.store)
        return key.number > 0 && key.store != 0
            ? key : _state.identityMap?.context?.currentKey(key, of: self, slot) ?? key
    }
}

extension Faulting {
    /// The keys of members whose owner only the parent has: it is in no store, but they may be.
    fileprivate func unsavedKeys(_ slices: MemberSlices) -> ContiguousArray<ObjectKey> {
        ContiguousArray(materialize(slices, store: 0).map(\._state.key))
    }

    /// Gives prefetched levels to objects that were materialized again. Members that they have read themselves stay.
    ///
    /// - Parameter row: the row that was prefetched for an object at an index; the object may have a newer one.
    func hand(
        _ levels: [PrefetchedLevel], to objects: ContiguousArray<NSManagedObject>,
        read row: (Int) -> UnsafeMutablePointer<UInt64>
    ) {
        for level in levels where level.readAt == rowTime {
            let targets = level.targets.isEmpty ? nil : PrefetchedTargets(level.targets)
            for (place, object) in objects.enumerated()
            where object._state.has(.persistent) && !object._state.has(.detached) {
                if let targets { object.addPrefetchedTargets(targets, at: rowTime) }
                for (index, owners) in level.members {
                    guard let slices = owners[object._state.key] else { continue }
                    let members = object.makeToManyState(index)
                    members.dropOldRows(rowTime, store: object._state.pointee.store)
                    guard members.isFault else { continue }
                    members.setRead(.slices(slices), at: level.readAt)
                    members.setMayPrecedeRow(object._state.pointee.row != row(place))
                }
            }
        }
    }
}
