// The stores of a coordinator by number, shared by all object IDs of the coordinator.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The stores of a coordinator by number, shared by all object IDs of the coordinator.
final class StoreIdentities: @unchecked Sendable {
    /// Part of the URIs of this coordinator's temporary IDs.
    let uuid = UUID().uuidString
    /// Kept for the IDs, whose entities it owns: they may outlive everything else.
    private let model: NSManagedObjectModel
    private let lock = NSLock()
    private var stores: [UInt16: Entry] = [:]
    /// The numbers of stores that were replaced by others, by the UUID of the former store.
    private var successors: [String: UInt16] = [:]

    private struct Entry {
        var uuid: String
        let configuration: String
        /// nil once the store was removed.
        @Unretained var store: NSPersistentStore?

        init(_ store: NSPersistentStore) {
            uuid = store.identifier
            configuration = store.configurationName
            self.store = store
        }
    }

    init(_ model: NSManagedObjectModel) { self.model = model }

    func add(_ store: NSPersistentStore, number: UInt16) {
        let entry = Entry(store)
        lock.withLock { stores[number] = entry }
    }

    /// Registers a store and answers its number. A store that was here before gets its former number, so that objects
    /// which contexts still hold belong to it again.
    func register(_ store: NSPersistentStore) -> UInt16 {
        let entry = Entry(store)
        return lock.withLock {
            let former = stores.first {
                $0.value.store == nil && $0.value.uuid == entry.uuid && $0.value.configuration == entry.configuration
            }
            let number = store.numbersObjects ? store.number : former?.key ?? store.number
            stores[number] = entry
            return number
        }
    }

    /// Gives the number of a store to another one, which has the same rows under the same keys.
    func succeed(_ former: NSPersistentStore, by store: NSPersistentStore) {
        let (entry, uuid) = (Entry(store), former.identifier.lowercased())
        lock.withLock {
            stores[store.number] = nil
            stores[former.number] = entry
            successors[uuid] = former.number
        }
    }

    func rename(_ number: UInt16, _ uuid: String) {
        lock.withLock { stores[number]?.uuid = uuid }
    }

    func remove(_ number: UInt16) {
        lock.withLock { stores[number]?.store = nil }
    }

    func uuid(of number: UInt16) -> String? { lock.withLock { stores[number]?.uuid } }
    func store(_ number: UInt16) -> NSPersistentStore? { lock.withLock { stores[number]?.store } }

    /// The store that replaced the one with a UUID.
    func successor(of uuid: String) -> NSPersistentStore? {
        lock.withLock { successors[uuid.lowercased()].flatMap { stores[$0]?.store } }
    }
}
