// The name of a row, across contexts and threads.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Which stores a coordinator has, by number; every object ID of the coordinator shares it.
final class StoreIdentities: @unchecked Sendable {
    /// Names temporary IDs of this coordinator.
    let uuid = UUID().uuidString
    private let lock = NSLock()
    private var stores: [UInt16: Entry] = [:]
    /// Stores that others have taken the place of, by UUID.
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

    func add(_ store: NSPersistentStore, number: UInt16) {
        let entry = Entry(store)
        lock.withLock { stores[number] = entry }
    }

    /// Enters a store and answers its number: the one it had if it was here before, so that objects that contexts hold of it
    /// have their store back.
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

    /// Gives the number of a store to one that has the same rows under the same keys.
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

    /// The store that took the place of the one with a UUID.
    func successor(of uuid: String) -> NSPersistentStore? {
        lock.withLock { successors[uuid.lowercased()].flatMap { stores[$0]?.store } }
    }
}

/// Names one row of one store. Immutable; may be passed between threads.
public final class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
    let key: ObjectKey
    let identity: StoreIdentities?
    private let info: EntityInfo

    init(key: ObjectKey, identity: StoreIdentities?, info: EntityInfo) {
        self.key = key
        self.identity = identity
        self.info = info
    }

    public var entity: NSEntityDescription { info.description }

    /// Whether the object was not saved yet; its permanent ID will be another one.
    public var isTemporaryID: Bool { key.number <= 0 }

    /// The store that has the row, nil for a temporary ID and after the store was removed.
    public var persistentStore: NSPersistentStore? { identity?.store(key.store) }

    /// `x-coredata://STORE/Entity/pN`, or `x-coredata:///Entity/t…` while temporary.
    public func uriRepresentation() -> URL {
        var components = URLComponents()
        components.scheme = "x-coredata"
        let name = info.entity.name
        if isTemporaryID {
            components.host = ""
            components.path = "/\(name)/t\(identity?.uuid ?? "")\(-key.number)"
        } else {
            components.host = identity?.uuid(of: key.store) ?? ""
            let reference = identity?.store(key.store)?.reference(of: key) ?? String(key.number)
            components.path = "/\(name)/p\(reference)"
        }
        return components.url ?? URL(fileURLWithPath: "/")
    }

    public override var hash: Int {
        Int(truncatingIfNeeded: UInt64(bitPattern: key.number) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(rootNumber))
    }

    private var rootNumber: UInt16 { info.entity.root.rawValue }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        return key.number == other.key.number && key.store == other.key.store && rootNumber == other.rootNumber
            && identity === other.identity
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { uriRepresentation().absoluteString }
}
