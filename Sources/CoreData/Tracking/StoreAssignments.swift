// The stores that new objects were assigned to.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The choices made by `assign(_:to:)`. A context has none of these until the first choice.
final class StoreAssignments {
    private struct Choice {
        @Unretained var object: NSManagedObject?
        var store: UInt16
    }
    private var choices: [ObjectIdentifier: Choice] = [:]

    func assign(_ object: NSManagedObject, to store: UInt16) {
        choices[ObjectIdentifier(object)] = Choice(object: object, store: store)
    }

    func store(of object: NSManagedObject) -> UInt16? {
        guard let choice = choices[ObjectIdentifier(object)], choice.object === object else { return nil }
        return choice.store
    }
}

extension NSManagedObjectContext {
    /// Chooses the store that a new object is saved in. Without a choice it is the first writable store that has the entity.
    ///
    /// Misuse: an object of another context or one that is saved already, a store of another coordinator, one that does not have
    /// the object's entity.
    public final func assign(_ object: Any, to store: NSPersistentStore) {
        checkQueue()
        guard let object = object as? NSManagedObject, object._state.identityMap === requiredIdentityMap else {
            misuse("assign(_:to:) was given \(Swift.type(of: object)), which is no object of this context.")
        }
        let name = object.entity.name ?? ""
        guard object._state.has(.inserted) else {
            misuse("The \(name) given to assign(_:to:) is saved already; an object cannot move to another store.")
        }
        guard requiredCoordinator.isOwn(store) else {
            misuse("assign(_:to:) was given a store that is not one of the context's coordinator.")
        }
        guard store.holds(object._state.info) else {
            misuse("The store's configuration \(store.configurationName) does not have the entity \(name).")
        }
        choose(store.number, for: object)
    }

    final func choose(_ store: UInt16, for object: NSManagedObject) {
        let choices = assignments ?? StoreAssignments()
        assignments = choices
        choices.assign(object, to: store)
    }

    /// The store in which a fetch finds a new object: the one it will be saved in, or the first one asked if no store
    /// takes it.
    final func home(of object: NSManagedObject, among fetch: BoundFetch) -> UInt16 {
        let stores = requiredCoordinator.persistentStores
        if stores.count == 1 { return stores[0].number }
        if let above = link.home(of: object, among: fetch, self) { return above }
        return (try? home(of: object))?.number ?? requiredCoordinator.stores(for: fetch).first?.number ?? 0
    }

    /// The store that a new object is saved in: the chosen one, else the first that takes it.
    ///
    /// - Throws: 134070 when no writable store has its entity.
    final func home(of object: NSManagedObject) throws -> NumberedStore {
        let chosen = assignments?.store(of: object).flatMap { requiredCoordinator.numberedStore($0) }
        return try chosen ?? requiredCoordinator.store(for: object._state.info)
    }
}
