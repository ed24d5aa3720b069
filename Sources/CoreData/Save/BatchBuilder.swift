// The rows of one save, grouped as stores write them.

import CoreDataValues
import Foundation

/// A store with its number in the coordinator.
struct NumberedStore: Sendable {
    let number: UInt16
    let rows: any RowStore
    let store: NSPersistentStore
}

/// What a save hands to one store, and which object each row belongs to.
struct StoreBatch {
    let store: NumberedStore
    var batch: ChangeBatch
    var written: ContiguousArray<WrittenRow>
}

/// The row of an object. The save's lists hold the object, the batch holds the chunk; this holds neither.
struct WrittenRow {
    let object: Unmanaged<NSManagedObject>
    let chunk: Unmanaged<RowChunk>
    let row: Int

    init(object: NSManagedObject, chunk: RowChunk, row: Int) {
        self.object = .passUnretained(object)
        self.chunk = .passUnretained(chunk)
        self.row = row
    }

    func adopt() {
        object._withUnsafeGuaranteedRef { object in
            chunk._withUnsafeGuaranteedRef { object.adopt($0, row) }
        }
    }
}

/// The builders of a save, one a store.
final class BatchBuilders {
    let context: NSManagedObjectContext
    private var builders: [UInt16: BatchBuilder] = [:]
    private var last: (number: UInt16, builder: BatchBuilder)?

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// Gives every new object its number: from its store's block for the tree of its entity, in order of insertion.
    func assignKeys(_ inserted: ContiguousArray<NSManagedObject>) throws {
        guard let first = inserted.first else { return }
        let infos = context.runtime.infos
        let entity = first._state.pointee.entity
        if context.requiredCoordinator.asksObjectsForKeys || context.assignments != nil {
            return try assignKeysOneByOne(inserted)
        }
        if inserted.count < 64, inserted.allSatisfy({ $0._state.pointee.entity == entity }) {
            return try assignKeys(inserted, of: infos[Int(entity)])
        }
        var homes: [NumberedStore?] = Array(repeating: nil, count: infos.count)
        var counts: [Family: Int] = [:]
        try inserted.borrowEach { object in
            let entity = Int(object._state.pointee.entity)
            if homes[entity] == nil { homes[entity] = try context.requiredCoordinator.store(for: infos[entity]) }
        }
        let families = homes.enumerated().map { entity, home in
            home.map { Family(store: $0.number, root: infos[entity].entity.root) }
        }
        let perEntity = inserted.reduce(into: Array(repeating: 0, count: infos.count)) { counts, object in
            counts[Int(object._state.pointee.entity)] += 1
        }
        for (entity, family) in families.enumerated() {
            if let family { counts[family, default: 0] += perEntity[entity] }
        }
        var next = try counts.reduce(into: [Family: Int64]()) { next, entry in
            next[entry.key] = try firstKey(entry.value, in: entry.key)
        }
        var open: (family: Family, next: Int64)?
        inserted.borrowEach { object in
            let state = object._state
            guard let family = families[Int(state.pointee.entity)] else { return }
            if open?.family != family {
                if let open { next[open.family] = open.next }
                open = (family, next[family] ?? 0)
            }
            state.pointee.assigned = open?.next ?? 0
            state.pointee.assignedStore = family.store
            open?.next += 1
        }
    }

    /// The usual small save: objects of one entity.
    private func assignKeys(_ inserted: ContiguousArray<NSManagedObject>, of info: EntityInfo) throws {
        let store = try context.requiredCoordinator.store(for: info).number
        var next = try firstKey(inserted.count, in: Family(store: store, root: info.entity.root))
        inserted.borrowEach { object in
            object._state.pointee.assigned = next
            object._state.pointee.assignedStore = store
            next += 1
        }
    }

    /// Entities that share a table, and so its keys.
    private struct Family: Hashable {
        var store: UInt16
        var root: EntityIndex
    }

    private func firstKey(_ count: Int, in family: Family) throws -> Int64 {
        guard let store = context.requiredCoordinator.rowStore(family.store) else { return 0 }
        do {
            return try store.allocateKeys(count, in: family.root).lowerBound
        } catch { throw CocoaError.saving(error) }
    }

    func builder(for object: NSManagedObject) throws -> BatchBuilder {
        let state = object._state
        let number = state.pointee.assigned != 0 ? state.pointee.assignedStore : state.pointee.store
        if let last, last.number == number { return last.builder }
        if let builder = builders[number] {
            last = (number, builder)
            return builder
        }
        guard let store = context.requiredCoordinator.numberedStore(number) else {
            throw CocoaError.coreData(
                134070, "The store of \(object.entity.name ?? "") was removed from the coordinator; its objects cannot be saved.")
        }
        let builder = BatchBuilder(store, context.runtime)
        builders[number] = builder
        return builder
    }

    func finish() -> [StoreBatch] {
        if let last, builders.count == 1 { return [last.builder.finish()] }
        return builders.sorted { $0.key < $1.key }.map { $0.value.finish() }
    }
}

/// Packs objects into the batch of one store.
final class BatchBuilder {
    private let store: NumberedStore
    private let runtime: ModelRuntime
    private var batch = ChangeBatch()
    private struct Lists {
        var written: ContiguousArray<WrittenRow> = []
        var open: ContiguousArray<RowChunk?> = []
        var deletes: ContiguousArray<OpenDelete> = []
    }
    /// Behind a pointer like a context's tracker: these are touched for every object.
    private let lists: UnsafeMutablePointer<Lists>
    private var written: ContiguousArray<WrittenRow> {
        _read { yield lists.pointee.written }
        _modify { yield &lists.pointee.written }
    }
    /// The chunk that new rows of each entity go into; empty until there is one.
    private var open: ContiguousArray<RowChunk?> {
        _read { yield lists.pointee.open }
        _modify { yield &lists.pointee.open }
    }
    /// Groups that take further rows.
    private var groups: ContiguousArray<OpenUpdate> = []
    /// More shapes than these are rare; the group that waited longest is closed then.
    private static let groupLimit = 16
    /// By entity; empty until there is one.
    private var deletes: ContiguousArray<OpenDelete> {
        _read { yield lists.pointee.deletes }
        _modify { yield &lists.pointee.deletes }
    }

    private struct OpenDelete {
        var numbers: [Int64] = []
        var expected: [Int32] = []
    }

    private struct UpdateShape: Hashable {
        var entity: EntityIndex
        var mask: [UInt64]
    }

    private final class OpenUpdate {
        let shape: UpdateShape
        let chunk: RowChunk
        var expected: [Int32] = []
        init(_ shape: UpdateShape, _ chunk: RowChunk) {
            self.shape = shape
            self.chunk = chunk
        }
    }

    init(_ store: NumberedStore, _ runtime: ModelRuntime) {
        self.store = store
        self.runtime = runtime
        lists = .allocate(capacity: 1)
        lists.initialize(to: Lists())
    }

    deinit {
        lists.deinitialize(count: 1)
        lists.deallocate()
    }

    func insert(_ object: NSManagedObject) throws {
        try insert(object, key: object._state.pointee.assigned, version: 1)
    }

    /// A row that another writer deleted comes again, whole and under its key, with its relationships as far as they are known.
    func reinsert(_ object: NSManagedObject) throws {
        let state = object._state
        try insert(object, key: state.pointee.number, version: max(state.version, 0) &+ 1)
        addKnownPairs(of: object)
    }

    /// A row that must have the version that was read.
    func check(_ object: NSManagedObject) {
        let state = object._state
        batch.checks.append(
            VersionCheck(
                entity: EntityIndex(rawValue: state.pointee.entity), numbers: [state.pointee.number],
                expected: [state.version]))
    }

    @inline(__always)
    private func insert(_ object: NSManagedObject, key: Int64, version: Int32) throws {
        let state = object._state
        let entity = Int(state.pointee.entity)
        if open.isEmpty { open = ContiguousArray(repeating: nil, count: runtime.infos.count) }
        let chunk: RowChunk
        if let last = open[entity], !last.isFull {
            chunk = last
        } else {
            let former = open[entity]
            former?.trimArena()
            chunk = RowChunk(
                layout: state.info.layout, capacity: former == nil ? 32 : RowChunk.maximumCount,
                arenaCapacity: former.map { $0.arenaUsed } ?? 1024)
            open[entity] = chunk
            batch.inserts.append(chunk)
        }
        written.append(WrittenRow(object: object, chunk: chunk, row: chunk.count))
        object.pack(into: chunk, key: key, version: version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// Packs a saved object if anything that is stored differs from its row.
    func update(_ object: NSManagedObject) throws {
        let state = object._state
        if state.isFault { try object.fireOrThrow() }
        let mask = changedMask(of: object)
        guard mask.contains(where: { $0 != 0 }) || object.hasChangedToMany() else { return }
        let group = openGroup(UpdateShape(entity: EntityIndex(rawValue: state.pointee.entity), mask: mask), state.info)
        let version = state.version
        written.append(WrittenRow(object: object, chunk: group.chunk, row: group.chunk.count))
        object.pack(into: group.chunk, key: state.pointee.number, version: max(version, 0) &+ 1)
        group.expected.append(version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// The open group of a shape; most saves have one or two shapes.
    private func openGroup(_ shape: UpdateShape, _ info: EntityInfo) -> OpenUpdate {
        if let place = groups.lastIndex(where: { $0.shape == shape }) {
            if !groups[place].chunk.isFull { return groups[place] }
            close(groups.remove(at: place))
        } else if groups.count == BatchBuilder.groupLimit {
            close(groups.removeFirst())
        }
        let made = OpenUpdate(shape, RowChunk(layout: info.layout, capacity: 64, arenaCapacity: 8192))
        groups.append(made)
        return made
    }

    /// The slots whose values differ from the row, as mask words; a tag goes with its to-one.
    private func changedMask(of object: NSManagedObject) -> [UInt64] {
        let state = object._state
        let info = state.info
        guard let overlay = state.overlay else { return info.noSlots }
        var mask = info.noSlots
        for word in 0..<info.layout.maskWords {
            var present = overlay.presentMask(word) & ~info.transientMask[word]
            while present != 0 {
                let bit = present.trailingZeroBitCount
                present &= present - 1
                let slot = word * 64 + bit
                guard object.differs(slot, overlay) else { continue }
                mask[word] |= 1 << UInt64(bit)
                if info.slotRelationships[slot]?.hasEntityTag == true {
                    mask[(slot + 1) >> 6] |= 1 << UInt64((slot + 1) & 63)
                }
            }
        }
        return mask
    }

    func delete(_ object: NSManagedObject) throws {
        let state = object._state
        if state.isFault { try object.fireOrThrow() }
        let entity = Int(state.pointee.entity)
        if deletes.isEmpty { deletes = ContiguousArray(repeating: OpenDelete(), count: runtime.infos.count) }
        deletes[entity].numbers.append(state.pointee.number)
        deletes[entity].expected.append(state.version)
        if state.pointee.toMany != nil { try addRelationships(of: object) }
    }

    /// What has no cell in the object's own row: pairs, orders, members without inverse.
    private func addRelationships(of object: NSManagedObject) throws {
        object.forEachToMany { index, members in
            guard members.isChanged else { return }
            let relationship = object.relationship(toMany: index)
            guard !relationship.description.isTransient else { return }
            let inverse = relationship.inverse.map { runtime.schema[$0] }
            if inverse == nil {
                batch.adoptions.append(
                    AdoptionChange(
                        relationship: relationship.index, owner: object.savedKey,
                        added: members.added.objects.map(\.savedKey),
                        removed: members.removed.objects.filter { $0._state.has(.persistent) }.map(\.savedKey)))
            } else if let inverse, inverse.isToMany {
                addLinks(object, relationship, inverse, members)
            }
            if relationship.isOrdered, let order = members.order, !object._state.has(.deleted) {
                batch.orders.append(
                    OrderChange(
                        relationship: relationship.index, owner: object.savedKey, members: order.map(\.savedKey)))
            }
        }
    }

    /// Names each pair from one side only: the side declared first, or in a self-inverse the smaller key.
    private func addLinks(
        _ object: NSManagedObject, _ relationship: ResolvedRelationship, _ inverse: ResolvedRelationship,
        _ members: ToMany
    ) {
        guard relationship.index.rawValue <= inverse.index.rawValue else { return }
        let own = object.savedKey
        let isSelfInverse = relationship.index == inverse.index
        func named(_ other: NSManagedObject) -> Bool { !isSelfInverse || own.number <= other.savedKey.number }
        let added = members.added.objects.filter(named).map(\.savedKey)
        let removed = members.removed.objects.filter { named($0) && $0._state.has(.persistent) }.map(\.savedKey)
        guard !added.isEmpty || !removed.isEmpty else { return }
        batch.links.append(LinkChange(relationship: relationship.index, owner: own, added: added, removed: removed))
    }

    /// The pairs of many-to-manys that were stored, for a row whose deletion took them along.
    private func addKnownPairs(of object: NSManagedObject) {
        object.forEachToMany { index, members in
            let relationship = object.relationship(toMany: index)
            guard let inverse = relationship.inverse.map({ runtime.schema[$0] }), inverse.isToMany else { return }
            let stored = members.storedKeys(in: object._state.pointee.store).filter { key in
                !members.removed.objects.contains { $0._state.key == key }
            }
            guard !stored.isEmpty else { return }
            batch.links.append(
                LinkChange(
                    relationship: relationship.index, owner: object.savedKey, added: stored.map(\.row), removed: []))
        }
    }

    private func close(_ group: OpenUpdate) {
        let slots = group.shape.mask.enumerated().flatMap { word, bits in
            (0..<64).filter { bits >> UInt64($0) & 1 == 1 }.map { word * 64 + $0 }
        }
        // What the store computes is never written; an object with only such changes gets a new version.
        let derived = runtime.infos[group.shape.entity.value].derivedSlots
        batch.updates.append(
            UpdateGroup(
                entity: group.shape.entity, slots: derived.isEmpty ? slots : slots.filter { !derived.contains($0) },
                chunk: group.chunk, expected: group.expected))
    }

    func finish() -> StoreBatch {
        for group in groups { close(group) }
        for (entity, group) in deletes.enumerated() {
            guard !group.numbers.isEmpty else { continue }
            batch.deletes.append(
                DeleteGroup(entity: EntityIndex(entity), numbers: group.numbers, expected: group.expected))
        }
        return StoreBatch(store: store, batch: batch, written: written)
    }
}

extension NSManagedObject {
    /// Reads the row of a fault for the save: written without it, the values that were not read would be lost.
    final func fireOrThrow() throws {
        fire()
        if _state.isFault { try managedObjectContext?.throwReadError() }
    }

    /// The key that the running save writes for this object.
    final var savedKey: RowKey {
        let state = _state.pointee
        return RowKey(
            entity: EntityIndex(rawValue: state.entity), number: state.assigned != 0 ? state.assigned : state.number)
    }
}
