// The keys of the objects that a save changed, in a form that one context may pass to another.

import CoreDataValues
import Foundation

/// The keys of changed objects. Made from a context's event, or from a notification's user info.
struct ChangePayload: Sendable {
    var inserted: [ObjectKey] = []
    var updated: [ObjectKey] = []
    var deleted: [ObjectKey] = []
    /// Whether everything may have changed.
    var invalidatesAll = false
    /// Whether `updated` also names the objects that gained or lost members. A save names them; a batch request names
    /// only the rows that it wrote.
    var namesOwners = true

    init(_ event: ContextEvent) {
        inserted = event.inserted.map { $0._state.key }
        updated = event.updated.map { $0._state.key } + event.refreshed.map { $0._state.key }
        deleted = event.deleted.map { $0._state.key }
    }

    /// Reads the user info of a did-save notification, with objects or IDs, or a dictionary of IDs or URIs.
    ///
    /// - Parameter source: the coordinator of the objects in it; nil for the receiving `coordinator`.
    init(
        _ info: [AnyHashable: Any], from source: NSPersistentStoreCoordinator? = nil,
        for coordinator: NSPersistentStoreCoordinator
    ) {
        let identities = (source ?? coordinator).identities
        func keys(_ names: [String]) -> [ObjectKey] {
            var seen = Set<ObjectKey>()
            let all = names.flatMap { ChangePayload.elements(info[$0]) }
            return all.compactMap { ChangePayload.key($0, identities, coordinator) }.filter { seen.insert($0).inserted }
        }
        inserted = keys([NSInsertedObjectsKey, NSInsertedObjectIDsKey])
        deleted = keys([NSDeletedObjectsKey, NSDeletedObjectIDsKey])
        updated = keys([
            NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey,
            NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey,
        ])
        invalidatesAll = info[NSInvalidatedAllObjectsKey] != nil
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !invalidatesAll }

    private static func elements(_ value: Any?) -> [Any] {
        switch value {
        case let objects as Set<NSManagedObject>: Array(objects)
        case let ids as Set<NSManagedObjectID>: Array(ids)
        case let urls as Set<URL>: Array(urls)
        case let set as NSSet: set.allObjects
        case let array as NSArray: array.map { $0 }
        case let array as [Any]: array
        default: []
        }
    }

    /// Reads an object's key and nothing else, since it may belong to another queue.
    private static func key(
        _ element: Any, _ identities: StoreIdentities, _ coordinator: NSPersistentStoreCoordinator
    ) -> ObjectKey? {
        switch element {
        case let object as NSManagedObject:
            if identities === coordinator.identities { return object._state.key }
            let id = NSManagedObjectID(key: object._state.key, identity: identities, info: object._state.info)
            return coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation())?.key
        case let id as NSManagedObjectID:
            if id.identity === coordinator.identities { return id.key }
            return coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation())?.key
        case let url as URL: return coordinator.managedObjectID(forURIRepresentation: url)?.key
        default: return nil
        }
    }
}
