// The coordinator: one model, its stores, and the contexts' way to them.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation
import Synchronization

/// Connects contexts with stores. May be used from any thread.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    /// The model; it cannot be changed any more.
    public final let managedObjectModel: NSManagedObjectModel
    final let runtime: ModelRuntime
    final let identities = StoreIdentities()
    /// What its contexts tell each other.
    final let relatives = Relatives()
    private let temporaryNumber = Atomic<Int64>(0)
    private let stores = Mutex<[UInt16: NSPersistentStore]>([:])
    private let lastStore = Atomic<UInt16>(0)
    /// Rises whenever stores come or go, so that contexts may remember one.
    final let storesVersion = Atomic<Int>(0)

    /// Freezes the model. A model that contradicts itself is a misuse here; `NSManagedObjectModel(loading:)` checks it first.
    public init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        do {
            runtime = try model.runtime()
        } catch {
            misuse("The model cannot be used: \(error)")
        }
        super.init()
    }

    /// The stores, in the order they were added.
    public final var persistentStores: [NSPersistentStore] {
        stores.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Opens a store, and creates it if it does not exist yet.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType` or `NSInMemoryStoreType`.
    ///   - configuration: which entities the store is for; nil for all.
    ///   - storeURL: the file; not used by a store in memory.
    ///   - options: see `StoreOptions`; an option that is not known throws `unsupported`, naming it.
    /// - Throws: 134100 if the store was written with another model, 134080 if it cannot be opened, 134000 for an unknown type.
    @discardableResult
    public final func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let options = try StoreOptions(options)
        let rows: any RowStore
        do {
            rows = try openRows(storeType, configuration, storeURL, options)
        } catch { throw CocoaError.presenting(error) }
        let (_, number) = lastStore.wrappingAdd(1, ordering: .relaxed)
        let store = NSPersistentStore(
            rows: rows, type: storeType, url: storeURL, configurationName: configuration, number: number,
            options: options, coordinator: self)
        identities.add(store, number: number)
        stores.withLock { $0[number] = store }
        storesVersion.wrappingAdd(1, ordering: .releasing)
        return store
    }

    private func openRows(
        _ type: String, _ configuration: String?, _ url: URL?, _ options: StoreOptions
    ) throws -> any RowStore {
        if let configuration, runtime.schema.entities(inConfiguration: configuration) == nil {
            throw CocoaError.coreData(134020, "The model has no configuration \(configuration).")
        }
        switch type {
        case NSSQLiteStoreType:
            guard let url else { throw CocoaError.coreData(134080, "A store of type SQLite needs a URL.") }
            return try SQLiteStore(
                url: url, schema: runtime.schema, configuration: configuration, options: options.sqlite)
        case NSInMemoryStoreType:
            return try MemoryStore(
                schema: runtime.schema, configuration: configuration, uuid: UUID())
        default:
            throw CocoaError.coreData(
                134000, "The store type \(type) is not known; use NSSQLiteStoreType or NSInMemoryStoreType.")
        }
    }

    /// Closes a store. Its objects that are not faults stay readable; they cannot be saved any more.
    public final func remove(_ store: NSPersistentStore) throws {
        guard stores.withLock({ $0.removeValue(forKey: store.number) }) != nil else {
            throw CocoaError.coreData(134070, "The store \(store.identifier) is not one of this coordinator's.")
        }
        storesVersion.wrappingAdd(1, ordering: .releasing)
        identities.remove(store.number)
        do { try store.rows.close() } catch { throw CocoaError.presenting(error) }
    }

    public final func persistentStore(for url: URL) -> NSPersistentStore? {
        persistentStores.first { $0.url?.standardizedFileURL == url.standardizedFileURL }
    }

    public final func url(for store: NSPersistentStore) -> URL {
        store.url ?? URL(fileURLWithPath: "/dev/null")
    }

    /// The ID that `uriRepresentation()` was made from; nil for another store's or an unreadable one.
    public final func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        let parts = url.path.split(separator: "/")
        guard url.scheme == "x-coredata", parts.count == 2, let entity = runtime.schema.entity(named: String(parts[0])),
            parts[1].first == "p", let number = Int64(parts[1].dropFirst()), number > 0,
            let store = persistentStores.first(where: { $0.identifier.lowercased() == url.host?.lowercased() })
        else { return nil }
        return NSManagedObjectID(
            key: ObjectKey(number: number, entity: entity.index, store: store.number), identity: identities,
            info: runtime.infos[entity.index.value])
    }

    // MARK: For contexts

    /// Numbers for unsaved objects, to be negated; none is given twice by this coordinator.
    final func takeTemporaryNumbers(_ count: Int64) -> Range<Int64> {
        let first = temporaryNumber.wrappingAdd(count, ordering: .relaxed).oldValue + 1
        return first..<first + count
    }

    final func rowStore(_ number: UInt16) -> (any RowStore)? { stores.withLock { $0[number]?.rows } }

    final func numberedStore(_ number: UInt16) -> NumberedStore? {
        stores.withLock { $0[number] }.map { NumberedStore(number: number, rows: $0.rows, store: $0) }
    }

    /// The stores that a fetch asks.
    final func stores(for order: FetchOrder) -> [NumberedStore] {
        let asked = persistentStores.filter { store in
            store.holds(order.info) && (order.stores?.contains { $0 === store } ?? true)
        }
        return asked.map { NumberedStore(number: $0.number, rows: $0.rows, store: $0) }
    }

    /// Where a new object goes: the first writable store that has its entity.
    final func store(for info: EntityInfo) throws -> NumberedStore {
        guard let store = persistentStores.first(where: { !$0.isReadOnly && $0.holds(info) }) else {
            throw CocoaError.coreData(
                134070,
                "No writable store of the coordinator has the entity \(info.entity.name); add one before saving.")
        }
        return NumberedStore(number: store.number, rows: store.rows, store: store)
    }
}
