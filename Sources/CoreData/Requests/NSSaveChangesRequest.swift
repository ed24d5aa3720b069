// What a save asks of an incremental store.

import Foundation

/// The objects that a save inserts, updates and deletes in one store.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    public final let insertedObjects: Set<NSManagedObject>?
    public final let updatedObjects: Set<NSManagedObject>?
    public final let deletedObjects: Set<NSManagedObject>?
    /// Objects that must not have changed although the save does not write them.
    public final let lockedObjects: Set<NSManagedObject>?
    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSSaveChangesRequest(
            inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects)
        copy.affectedStores = affectedStores
        return copy
    }

    override func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        throw CocoaError.coreData(
            134091, "A save request cannot be executed by a context; call save(), which makes one for each store.")
    }

    public convenience override init() { self.init(inserted: nil, updated: nil, deleted: nil, locked: nil) }
}
