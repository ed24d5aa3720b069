// The classes of store types.

import CoreDataValues
import Foundation
import Synchronization

/// The store classes of the process by type: our atomic stores, and those that programs registered.
enum StoreClasses {
    private static let registered = Mutex<[String: NSPersistentStore.Type]>([
        NSBinaryStoreType: BinaryStore.self, NSXMLStoreType: XMLStore.self,
        NSPropertyListStoreType: PropertyListStore.self,
    ])
    /// Types without a class of their own.
    private static let builtIn = [NSSQLiteStoreType, NSInMemoryStoreType]

    /// Whether stores of a type are one file that this library writes, always under its lock.
    static func isFile(_ type: String) -> Bool { named(type) is FileStore.Type }

    static func named(_ type: String) -> NSPersistentStore.Type? { registered.withLock { $0[type] } }

    static func set(_ storeClass: NSPersistentStore.Type?, for type: String) {
        guard !builtIn.contains(type) else {
            misuse("The store type \(type) is the library's own; register a class under another name.")
        }
        registered.withLock { $0[type] = storeClass }
    }

    static var types: [String] { builtIn + registered.withLock { Array($0.keys) }.sorted() }

    static var all: [String: NSPersistentStore.Type] {
        var all = registered.withLock { $0 }
        for type in builtIn { all[type] = NSPersistentStore.self }
        return all
    }
}

extension NSPersistentStoreCoordinator {
    /// The known store types with their classes' addresses as numbers, since `NSValue` on Linux holds no pointers.
    public class var registeredStoreTypes: [String: NSValue] {
        StoreClasses.all.mapValues { NSNumber(value: UInt(bitPattern: ObjectIdentifier($0))) }
    }

    /// Registers a subclass of `NSAtomicStore` or `NSIncrementalStore` for a store type; nil removes it.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        guard let storeClass else { return StoreClasses.set(nil, for: storeType) }
        guard let known = storeClass as? NSPersistentStore.Type,
            known is NSAtomicStore.Type || known is NSIncrementalStore.Type
        else {
            misuse("\(storeClass) is no subclass of NSAtomicStore or NSIncrementalStore and cannot keep a store.")
        }
        StoreClasses.set(known, for: storeType)
    }

    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }

    /// Makes and opens a store of a registered class.
    final func makeStore(
        _ storeClass: NSPersistentStore.Type, _ type: String, _ configuration: String?, _ url: URL?,
        _ given: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        if storeClass is any OwnStore.Type { _ = try StoreOptions(given) }
        if let configuration, runtime.schema.entities(inConfiguration: configuration) == nil {
            throw unknownConfiguration(configuration)
        }
        guard let url else { throw CocoaError.coreData(134080, "A store of type \(type) needs a URL.") }
        do {
            return try migrating(type, configuration, url, StoreOptions(lenient: given)) {
                let store = storeClass.init(
                    persistentStoreCoordinator: self, configurationName: configuration, at: url, options: given)
                store.setType(type)
                try store.refuseConstraints(configuration)
                try store.open()
                return store
            }
        } catch { throw CocoaError.presenting(error) }
    }

    /// Refuses a store that the coordinator has already.
    final func requireNew(_ url: URL?, _ type: String) throws {
        guard let url, type != NSInMemoryStoreType, url.path != "/dev/null", persistentStore(for: url) != nil else {
            return
        }
        throw CocoaError.coreData(
            134080, "The store at \(url.path) is open in this coordinator already; use persistentStore(for:).",
            [NSFilePathErrorKey: url.path])
    }

    /// Refuses a second store with the same UUID, as its objects would share URIs.
    final func requireOwnUUID(of store: NSPersistentStore) throws {
        guard let other = persistentStores.first(where: { $0.identifier == store.identifier }) else { return }
        let path = store.url?.path ?? "", uuid = store.identifier ?? ""
        throw CocoaError.coreData(
            134080,
            "The store at \(path) is a copy of the one at \(other.url?.path ?? "") and has its UUID \(uuid), by which objects are told "
                + "apart. Open it in another coordinator, or give it a UUID with setMetadata(_:forPersistentStoreOfType:at:) first.",
            [NSFilePathErrorKey: path])
    }
}
