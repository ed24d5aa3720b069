// The rows of an incremental store: each asked of the program's code.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// Lets an `NSIncrementalStore` answer as a `RowStore`.
///
/// A fetch asks the store for objects and then for the values of each. A commit compares versions itself, then hands the store a
/// save request with objects that read as they will be.
final class IncrementalRows: RowStore, @unchecked Sendable {
    let schema: Schema
    var capabilities: StoreCapabilities { .memberKeys }
    private let writing = NSLock()
    private let versions = Mutex<[RowKey: RowVersion]>([:])
    private let isClosed = Atomic<Bool>(false)
    /// Set while the store is made, before anything is read.
    @Unretained var store: NSIncrementalStore?

    /// The version that contexts know of a row. Stores count as they like; a row that a save of ours wrote has a version that
    /// they tell only when it is read again.
    private struct RowVersion {
        var told: UInt64?
        var known: Int32
    }

    init(schema: Schema) { self.schema = schema }

    private func parts() throws -> (NSIncrementalStore, NSPersistentStoreCoordinator) {
        guard !isClosed.load(ordering: .acquiring), let store, let coordinator = store.coordinator else {
            throw StoreError(134070, "The store was used after it was closed.")
        }
        return (store, coordinator)
    }

    var identifier: String { store?.identifier ?? "" }

    func metadata() throws -> StoreMetadata {
        let (store, _) = try parts()
        let new = StoreMetadata(newStoreOf: schema, configuration: nil, type: store.type)
        return try StoreMetadata(store.metadata ?? [:], over: new, isForeign: true)
    }

    func setMetadata(_ metadata: StoreMetadata) throws {
        try parts().0.metadata = StoreMetadata.dictionary(metadata)
    }

    /// Asks the store to write its metadata down: a save request of nothing.
    func saveMetadata() throws {
        let (store, coordinator) = try parts()
        try writing.withLock {
            try Scratch.run(on: coordinator) { context in _ = try store.execute(NSSaveChangesRequest(), with: context) }
        }
    }

    // MARK: Reading

    /// The program's code answers whole: what is pulled is the packing.
    func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> {
        try view.requireLatest()
        let (store, coordinator) = try parts()
        _ = try Query(plan, in: schema)
        let rows = try Scratch.run(on: coordinator) { context in
            let request = IncrementalRequest(plan, schema: schema, context: context)
            return try request.ids(from: store).map { id in
                try plan.includesValues ? row(of: id, store, context) : bareRow(of: id)
            }
        }
        return BatchPacker(schema: schema, includesValues: plan.includesValues).cursor(rows[...])
    }

    func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int {
        try view.requireLatest()
        let (store, coordinator) = try parts()
        _ = try Query(plan, in: schema)
        return try Scratch.run(on: coordinator) { context in
            try IncrementalRequest(plan, schema: schema, context: context).count(from: store)
        }
    }

    func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try view.requireLatest()
        let (store, coordinator) = try parts()
        let rows = try Scratch.run(on: coordinator) { context in
            try numbers.compactMap { try row($0, in: root, store, context) }
        }
        try BatchPacker(schema: schema).pack(rows[...], receive)
    }

    /// nil for a row that is not there.
    private func row(
        _ number: Int64, in root: EntityIndex, _ store: NSIncrementalStore, _ context: NSManagedObjectContext
    ) throws -> MemoryRow? {
        guard let known = store.references.row(number, in: schema[root].root),
            let id = id(RowKey(entity: known.entity, number: number), store)
        else { return nil }
        do {
            return try row(of: id, store, context)
        } catch let error as CocoaError where error.code.rawValue == 133000 { return nil }
    }

    private func id(_ key: RowKey, _ store: NSIncrementalStore) -> NSManagedObjectID? {
        guard let coordinator = store.coordinator else { return nil }
        return NSManagedObjectID(
            key: ObjectKey(number: key.number, entity: key.entity, store: store.number),
            identity: coordinator.identities, info: coordinator.runtime.infos[key.entity.value])
    }

    /// A key alone: the store is not asked for values that nobody wants.
    private func bareRow(of id: NSManagedObjectID) -> MemoryRow { MemoryRow(key: id.key.row, version: 1, values: []) }

    private func row(
        of id: NSManagedObjectID, _ store: NSIncrementalStore, _ context: NSManagedObjectContext
    ) throws -> MemoryRow {
        let node = try store.newValuesForObject(with: id, with: context)
        let key = id.key.row
        let entity = schema[key.entity]
        let foreign = ForeignValues(schema: schema, entity: entity)
        let properties = id.entity.propertiesByName
        var values = [Value](repeating: .null, count: entity.slots.count)
        for (slot, property) in entity.slots.enumerated() where property.attribute != nil && !property.isTransient {
            values[slot] = try foreign.value(slot: slot) { node.value(named: $0, properties) }
        }
        for relationship in foreign.toOnes where !relationship.description.isTransient {
            var target = node.value(named: relationship.name, properties)
            if target == nil, let description = properties[relationship.name] as? NSRelationshipDescription {
                target = try store.newValue(forRelationship: description, forObjectWith: id, with: context)
            }
            foreign.point(&values, relationship, at: (target as? NSManagedObjectID)?.key.row)
        }
        return MemoryRow(key: key, version: version(of: key, told: node.version), values: values)
    }

    private func version(of key: RowKey, told: UInt64) -> Int32 {
        let place = RowKey(entity: schema[key.entity].root, number: key.number)
        return versions.withLock { versions in
            guard var row = versions[place] else {
                let first = Int32(truncatingIfNeeded: told)
                versions[place] = RowVersion(told: told, known: first)
                return first
            }
            if let former = row.told, former != told { row.known &+= 1 }
            row.told = told
            versions[place] = row
            return row.known
        }
    }

    func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try view.requireLatest()
        let (store, coordinator) = try parts()
        let root = schema[relationship].destination
        let rows = try Scratch.run(on: coordinator) { context in
            try members(of: relationship, owner, store, context).compactMap {
                try row($0.number, in: root, store, context)
            }
        }
        try BatchPacker(schema: schema).pack(rows[...], receive)
    }

    /// The store names members by their IDs; whether their rows are there shows when they are read (4.12).
    func memberKeys(of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView) throws -> [RowKey] {
        try view.requireLatest()
        let (store, coordinator) = try parts()
        return try Scratch.run(on: coordinator) { try members(of: relationship, owner, store, $0) }
    }

    private func members(
        of relationship: RelationshipIndex, _ owner: RowKey, _ store: NSIncrementalStore,
        _ context: NSManagedObjectContext
    ) throws -> [RowKey] {
        let resolved = schema[relationship]
        guard let id = id(owner, store), let description = id.entity.relationshipsByName[resolved.name] else {
            return []
        }
        let value = try store.newValue(forRelationship: description, forObjectWith: id, with: context)
        let keys = IncrementalRequest.ids(in: value).map { id in
            // The store may have named the row by a more special entity elsewhere.
            let known = store.references.row(id.key.number, in: schema[id.key.entity].root)
            return RowKey(entity: known?.entity ?? id.key.entity, number: id.key.number)
        }
        return resolved.isOrdered ? keys : keys.sorted { $0.number < $1.number }
    }

    // MARK: Writing

    func allocateKeys(_ count: Int, in root: EntityIndex) throws -> Range<Int64> {
        try parts().0.takeKeys(count, in: schema[root])
    }

    /// *read what the batch touches · compare versions · hand over*
    func commit(_ batch: ChangeBatch) throws -> CommitOutcome {
        if batch.isEmpty { return .committed }
        let (store, coordinator) = try parts()
        guard !store.isReadOnly else {
            throw StoreError(
                134030, "The store \(store.identifier ?? "") was opened read-only; nothing can be saved to it.")
        }
        return try writing.withLock {
            let pending = try PendingRows(batch, over: self)
            guard pending.conflicts.isEmpty else { return .conflicts(pending.conflicts) }
            try requireNew(pending, in: store)
            for key in pending.inserted { store.references.setEntity(key) }
            let touched = try pending.touchedByRelations()
            try Scratch.run(on: coordinator, showing: store, as: pending) { context in
                let objects = SavedObjects(pending, store: store.number, context: context)
                _ = try store.execute(try objects.request(touched), with: context)
            }
            keepVersions(of: pending, touched)
            return .committed
        }
    }

    /// New rows are refused that the store has named like rows of its that are there: it would write over these.
    private func requireNew(_ pending: PendingRows, in store: NSIncrementalStore) throws {
        for key in pending.inserted {
            let root = schema[key.entity].root
            // A row that nobody has read or written is not looked for.
            guard versions.withLock({ $0[RowKey(entity: root, number: key.number)] }) != nil,
                let row = try pending.baseRows([key.number], in: root).first
            else { continue }
            let reference = store.references.row(key.number, in: root).map { String(describing: $0.reference) } ?? ""
            throw StoreError(
                134030,
                "\(store.type) named a new \(schema[key.entity].name) \(reference), which is the name of a "
                    + "\(schema[row.key.entity].name) that is there. Reference objects are unique among an entity and those above and "
                    + "below it.",
                entity: schema[key.entity].name)
        }
    }

    /// A row that was handed over for its relationships alone is the same one in whatever version the store has it now.
    private func keepVersions(of pending: PendingRows, _ touched: Set<RowKey>) {
        versions.withLock { versions in
            for (place, row) in pending.rows { versions[place] = RowVersion(told: nil, known: row.version) }
            for key in touched { versions[RowKey(entity: schema[key.entity].root, number: key.number)]?.told = nil }
        }
    }

    func close() throws { isClosed.store(true, ordering: .releasing) }
}

extension NSPersistentStore {
    /// Numbers for rows of which nothing is known yet. Those of a save are asked with its objects instead.
    final func takeKeys(_ count: Int, in root: Entity) throws -> Range<Int64> {
        guard count > 0 else { return 0..<0 }
        guard let coordinator else { throw StoreError(134070, "The store was used after it was removed.") }
        let infos = coordinator.runtime.infos
        let concrete = (root.index.value...root.last.value).first { !infos[$0].entity.isAbstract } ?? root.index.value
        for _ in 0..<3 {
            let objects = (0..<count).map { _ in infos[concrete].makeObject() }
            let numbers = try takeKeys(for: objects) ?? []
            if let first = numbers.first, numbers == Array(first..<first + Int64(count)) {
                return first..<first + Int64(count)
            }
        }
        throw StoreError(
            134030, "The store \(identifier ?? "") could not number \(count) new rows of \(root.name) in a row.")
    }
}
