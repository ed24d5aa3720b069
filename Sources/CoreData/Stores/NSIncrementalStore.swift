// A store that a program writes itself, row by row: a web service, a file of its own, another database.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The base of stores that fetch and save by code of their own.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`,
/// `newValue(forRelationship:forObjectWith:with:)` and `obtainPermanentIDs(for:)`. Its methods may be called from any thread. The
/// contexts and objects that they are given are the library's own, made for the call; object IDs may be kept.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
    final let references: ReferenceTable

    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        guard let schema = root?.runtime.schema else {
            misuse("A store was made without a coordinator; add stores with addPersistentStore(ofType:…).")
        }
        references = ReferenceTable(schema: schema)
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
        (rows as? IncrementalRows)?.store = self
    }

    // MARK: For subclasses

    /// Answers a fetch or carries a save out.
    ///
    /// A fetch request, an `NSFetchRequest<any NSFetchRequestResult>`, of objects wants an array of objects made by
    /// `context.object(with:)`, in order; one of counts wants an array of one number. A save request wants an empty array; one
    /// whose collections are all nil asks for the metadata to be written down.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw CocoaError.unsupported("\(Swift.type(of: self)).execute(_:with:) is not overridden")
    }

    /// The values of one object.
    ///
    /// - Throws: 133000 when there is no such object.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw CocoaError.unsupported("\(Swift.type(of: self)).newValuesForObject(with:with:) is not overridden")
    }

    /// What a relationship leads to: an ID or `NSNull` for a to-one, an array or set of IDs for a to-many, in order if it has one.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw CocoaError.unsupported(
            "\(Swift.type(of: self)).newValue(forRelationship:forObjectWith:with:) is not overridden")
    }

    /// The UUID of a store that is made at a URL.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// IDs for new objects, in their order, made with `newObjectID(for:referenceObject:)`: of reference objects that are unique
    /// among an entity and those above and below it. A save of one that names a row which is there throws 134030.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }

    /// Contexts hold objects of these IDs. Never called here: see Documentation/Deviations.md.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// The ID of what a reference object names.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        madeID(entity, data, references)
    }

    /// What names an object in the store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        guard let schema = coordinator?.runtime.schema,
            let row = references.row(objectID.key.number, in: schema[objectID.key.entity].root)
        else { misuse("\(objectID) was not made by this store.") }
        return row.reference
    }

    // MARK: For the library

    override class func makeRows(
        for coordinator: NSPersistentStoreCoordinator, configurationName: String?
    ) -> any RowStore {
        IncrementalRows(schema: coordinator.runtime.schema)
    }

    override var keepsConstraints: Bool { false }
    override var numbersObjects: Bool { true }

    override func takeKeys(for objects: [NSManagedObject]) throws -> [Int64]? {
        let ids = try obtainPermanentIDs(for: objects)
        guard ids.count == objects.count else {
            throw CocoaError.coreData(
                134030,
                "\(type) made \(ids.count) permanent IDs for \(objects.count) objects; it must make one for each.")
        }
        return ids.map(\.key.number)
    }

    override func reference(of key: ObjectKey) -> String {
        guard let schema = coordinator?.runtime.schema,
            let row = references.row(key.number, in: schema[key.entity].root)
        else { return super.reference(of: key) }
        return ReferenceTable.text(of: row.reference)
    }

    override func number(of reference: String, in entity: Entity) -> Int64? {
        references.number(ofTextInURI: reference, entity: entity.index)
    }

    override func open() throws {
        guard let coordinator else { return }
        try loadMetadata()
        var known = metadata ?? [:]
        if known[NSStoreUUIDKey] == nil, let url { known[NSStoreUUIDKey] = Self.identifierForNewStore(at: url) }
        known[NSStoreTypeKey] = known[NSStoreTypeKey] ?? type
        let schema = coordinator.runtime.schema
        let isDefault = schema.configurations[configurationName] == nil
        let configuration = isDefault ? nil : configurationName
        if known[NSStoreModelVersionHashesKey] == nil {
            known[NSStoreModelVersionHashesKey] = StoreMetadata.hashes(schema, configuration)
            known[NSStoreModelVersionIdentifiersKey] = schema.versionIdentifiers
        }
        metadata = known
        metadataWereWritten()
    }

    override func saveMetadata() throws { try (rows as? IncrementalRows)?.saveMetadata() }
}
