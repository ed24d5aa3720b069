// A store that is read and written as a whole.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The base of stores that keep all their objects in memory and write them down at each save.
///
/// A subclass overrides `load()`, which makes a node for each object and hands them to `addCacheNodes(_:)`, and `save()`, which
/// writes `cacheNodes()` down. Fetches, relationships and conflicts are the library's. The objects that a subclass is given
/// belong to a context of the library's own.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
    private let lock = NSLock()
    private var nodes: [RowKey: NSAtomicStoreCacheNode] = [:]
    private let references: ReferenceTable
    private var keepsOwnMetadata = true
    /// Where a program's class read or wrote the store last, and the hashes that it read or wrote.
    private var known: (place: URL?, hashes: [String: Data]?) = (nil, nil)

    public required init(
        persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        guard let schema = coordinator?.runtime.schema else {
            misuse("A store was made without a coordinator; add stores with addPersistentStore(ofType:…).")
        }
        references = ReferenceTable(schema: schema)
        super.init(
            persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options)
        rowsInMemory.store = self
    }

    // MARK: For subclasses

    /// Reads the file and calls `addCacheNodes(_:)`. A file that is not there yet is an empty store.
    open func load() throws {
        misuse("\(type) must override load(), which reads the file and adds a cache node for each object.")
    }

    /// Writes all nodes and the metadata. What it throws fails the save, and all is as before.
    open func save() throws { misuse("\(type) must override save(), which writes cacheNodes() down.") }

    /// The node of a new object. This calls `updateCacheNode(_:from:)`.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    /// Takes an object's values over into its node: of all its attributes and relationships, unless overridden.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        for (name, property) in managedObject.entity.propertiesByName where !property.isTransient {
            if property is NSAttributeDescription {
                node.setValue(managedObject.value(forKey: name), forKey: name)
            } else if property is NSRelationshipDescription {
                node.setValue(nodes(of: managedObject.value(forKey: name)), forKey: name)
            }
        }
    }

    private func nodes(of value: Any?) -> Any? {
        switch value {
        case let target as NSManagedObject: cacheNode(for: target.objectID)
        case let members as NSOrderedSet:
            NSMutableOrderedSet(
                array: members.array.compactMap { ($0 as? NSManagedObject).flatMap { cacheNode(for: $0.objectID) } })
        case let members as NSSet:
            NSMutableSet(
                array: members.allObjects.compactMap {
                    ($0 as? NSManagedObject).flatMap { cacheNode(for: $0.objectID) }
                })
        default: nil
        }
    }

    /// All nodes.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { lock.withLock { Set(nodes.values) } }

    /// Takes nodes in; one for each object.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        lock.withLock { for node in cacheNodes { nodes[place(node.objectID)] = node } }
    }

    /// Nodes are about to leave because their objects were deleted.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    /// The node of an object; nil when there is none.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
        lock.withLock { nodes[place(objectID)] }
    }

    /// The ID of the object that a reference object names.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        madeID(entity, data, references)
    }

    /// A name for a new object, unique among the objects of the entity and of those above and below it: the text of a UUID,
    /// unless overridden.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    /// What names an object in the store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        references.row(objectID.key.number, in: place(objectID).entity)?.reference
            ?? NSNumber(value: objectID.key.number)
    }

    private func place(_ id: NSManagedObjectID) -> RowKey {
        let schema = rowsInMemory.schema
        return RowKey(entity: schema[id.key.entity].root, number: id.key.number)
    }

    // MARK: For the library

    override class func makeRows(
        for coordinator: NSPersistentStoreCoordinator, configurationName: String?
    ) -> any RowStore {
        AtomicRows(schema: coordinator.runtime.schema)
    }

    final var rowsInMemory: AtomicRows {
        guard let rows = rows as? AtomicRows else { misuse("An atomic store was made without its rows.") }
        return rows
    }

    /// A program's own store is made anew, object by object, by its class.
    override class func migrate(_ site: MigrationSite, by plan: MigrationPlan) throws {
        let (from, to) = (site.source.model(), site.coordinator.managedObjectModel)
        try NSMigrationManager(sourceModel: from, destinationModel: to).migrateInPlace(
            site.url, type: site.type, options: site.options.given,
            configurations: (site.source.configuration, site.configuration),
            in: site.folder, with: NSMappingModel.inferredMappingModel(forSourceModel: from, destinationModel: to))
    }

    /// The configuration by name, nil for the default one.
    final var configurationForRows: String? {
        coordinator?.runtime.schema.configurations[configurationName] == nil ? nil : configurationName
    }

    /// The metadata that the subclass keeps; nil when the rows keep it.
    final var ownMetadata: [String: Any]? { keepsOwnMetadata ? metadata ?? [:] : nil }

    final func leaveMetadataToRows() {
        keepsOwnMetadata = false
        forgetMetadata()
    }

    override var keepsConstraints: Bool { keepsOwnMetadata }
    override var numbersObjects: Bool { keepsOwnMetadata }

    override func takeKeys(for objects: [NSManagedObject]) throws -> [Int64]? {
        guard keepsOwnMetadata else { return nil }
        return objects.map { references.number(of: newReferenceObject(for: $0), entity: $0._state.key.entity) }
    }

    override func reference(of key: ObjectKey) -> String {
        guard keepsOwnMetadata, let schema = coordinator?.runtime.schema else { return super.reference(of: key) }
        let row = references.row(key.number, in: schema[key.entity].root)
        return row.map { String(describing: $0.reference) } ?? super.reference(of: key)
    }

    override func number(of reference: String, in entity: Entity) -> Int64? {
        guard keepsOwnMetadata else { return super.number(of: reference, in: entity) }
        let found = cacheNodes().first {
            $0.objectID.key.entity == entity.index && String(describing: referenceObject(for: $0.objectID)) == reference
        }
        return found?.objectID.key.number
    }

    override func saveMetadata() throws { if keepsOwnMetadata { try rowsInMemory.saveMetadata() } }

    /// Has the class write the file, unless it was migrated elsewhere since it was read.
    ///
    /// The class may know nothing of files that are not open, and may record hashes in a way of its own.
    final func saveFile() throws {
        if wasMigratedElsewhere() { throw StoreError(migratedElsewhere: url?.path ?? "") }
        try save()
        known = (url, (metadata ?? [:])[NSStoreModelVersionHashesKey] as? [String: Data])
    }

    private func wasMigratedElsewhere() -> Bool {
        guard let url, url == known.place, let schema = coordinator?.runtime.schema,
            !StoreOptions(lenient: options).sqlite.ignoresVersionHashes,
            FileManager.default.fileExists(atPath: url.path),
            let metadata = try? Self.metadataForPersistentStore(with: url),
            let found = metadata[NSStoreModelVersionHashesKey] as? [String: Data], found != known.hashes
        else { return false }
        let entities = schema.entities(inConfiguration: configurationForRows) ?? []
        return StoreMismatch(schema, entities, recorded: found) != nil
    }

    override func open() throws {
        guard let coordinator else { return }
        let schema = coordinator.runtime.schema
        let configuration = configurationForRows
        let new = StoreMetadata(newStoreOf: schema, configuration: configuration, type: type)
        try loadMetadata()
        var known = metadata ?? [:]
        if known[NSStoreModelVersionHashesKey] != nil, !StoreOptions(lenient: options).sqlite.ignoresVersionHashes {
            let recorded = try StoreMetadata(known, over: new, isForeign: true)
            try StoreInspection(path: url?.path ?? "", metadata: recorded, schema: schema, configuration: configuration)
                .requireFit()
        }
        let recorded = known[NSStoreModelVersionHashesKey] as? [String: Data]
        known.merge(StoreMetadata.dictionary(new)) { own, made in own is NSNull ? made : own }
        known[NSStoreTypeKey] = type
        metadata = known
        self.known = (url, recorded ?? new.versionHashes)
        metadataWereWritten()
        try load()
        let empty = try MemoryStore(schema: schema, configuration: configuration)
        let reader = NodeReader(schema: schema, nodes: cacheNodes())
        rowsInMemory.replace(
            with: try empty.holding(try reader.image(try StoreMetadata(known, over: new, isForeign: true))))
    }

    /// Writes what a commit made of the rows: *new nodes · new values · leaving nodes · save*. A failure takes the nodes back.
    func persist(_ next: MemoryStore, after batch: ChangeBatch?) throws {
        guard let coordinator, let batch else { return }
        let former = lock.withLock { nodes }
        let caches = former.mapValues { $0.propertyCache?.mutableCopy() as? NSMutableDictionary }
        do {
            let pending = try PendingRows(batch, over: rowsInMemory)
            try Scratch.run(on: coordinator, showing: self, as: next) { try change(batch, pending, in: $0) }
            try saveFile()
        } catch {
            lock.withLock {
                nodes = former
                for (key, cache) in caches { nodes[key]?.propertyCache = cache }
            }
            throw error
        }
    }

    /// Objects whose members without inverse went to other owners.
    private func formerOwners(_ batch: ChangeBatch) -> [RowKey] {
        let schema = rowsInMemory.schema
        return batch.adoptions.flatMap { adoption -> [RowKey] in
            let name = schema[adoption.relationship].name
            let members = Set(adoption.added.map(\.number))
            return cacheNodes().compactMap { node in
                let value = node.value(forKey: name)
                let listed = ((value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [])
                    .compactMap { ($0 as? NSAtomicStoreCacheNode)?.objectID.key.number }
                return members.isDisjoint(with: listed) ? nil : node.objectID.key.row
            }
        }
    }

    /// - Parameter pending: the batch over the rows that are there still.
    private func change(_ batch: ChangeBatch, _ pending: PendingRows, in context: NSManagedObjectContext) throws {
        func objects(_ keys: [RowKey]) -> [NSManagedObject] {
            keys.map { context.object(for: ObjectKey(number: $0.number, entity: $0.entity, store: number)) }
        }
        for key in pending.inserted { references.setEntity(key) }
        let inserted = objects(pending.inserted)
        addCacheNodes(Set(inserted.map { newCacheNode(for: $0) }))
        let leaving = objects(pending.deleted.map(\.key)).compactMap { cacheNode(for: $0.objectID) }
        if !leaving.isEmpty {
            willRemoveCacheNodes(Set(leaving))
            lock.withLock { for node in leaving { nodes[place(node.objectID)] = nil } }
        }
        // Once more for new objects with relationships: now all nodes are there to point at.
        let linked = inserted.filter { !$0._state.info.relationships.isEmpty }
        let related = try pending.touchedByRelations()
        let touched = related.union(pending.former.map(\.row.key)).union(formerOwners(batch)).filter { key in
            lock.withLock { nodes[RowKey(entity: rowsInMemory.schema[key.entity].root, number: key.number)] != nil }
        }
        for object in linked + objects(Array(touched)) {
            if let node = cacheNode(for: object.objectID) { updateCacheNode(node, from: object) }
        }
    }
}

extension NSPersistentStore {
    /// The ID of what a reference object names.
    final func madeID(_ entity: NSEntityDescription, _ reference: Any, _ references: ReferenceTable)
        -> NSManagedObjectID
    {
        guard let coordinator, let known = coordinator.runtime.schema.entity(named: entity.name ?? "") else {
            misuse("The entity \(entity.name ?? "") is not in the model of this store's coordinator.")
        }
        let number = references.number(of: reference, entity: known.index)
        return NSManagedObjectID(
            key: ObjectKey(number: number, entity: known.index, store: self.number), identity: coordinator.identities,
            info: coordinator.runtime.infos[known.index.value])
    }
}
