// The coordinator of one model, its stores and its contexts.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation
import Synchronization

/// Connects contexts with stores. May be used on any thread.
open class NSPersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
    /// The model, which cannot be changed any more.
    public final let managedObjectModel: NSManagedObjectModel
    final let runtime: ModelRuntime
    final let identities: StoreIdentities
    /// Rows that this coordinator's contexts have read or saved.
    final let rowCache: RowCache
    /// A name for logs and debugging.
    public final var name: String? {
        get { nameLock.withLock { $0 } }
        set { nameLock.withLock { $0 = newValue } }
    }
    private let nameLock = Mutex<String?>(nil)
    /// The queue of `perform`.
    final let queue = DispatchQueue(label: "CoreData.coordinator")
    final let recursiveLock = NSRecursiveLock()
    /// Taken by saves, which wait while a store is moved.
    final let writes = WriteGate()
    /// Orders the callers of `write(_:)`.
    final let writers = TurnLine(turns: 1)
    /// Orders the callers of `read(_:)` that would wait for a connection.
    final let readers = TurnLine(turns: .max)
    /// How many nanoseconds callers of `read(_:)` and `write(_:)` wait at most for their turn and a place.
    private let allowedWait = Atomic<UInt64>(.max)
    /// What the coordinator's contexts share.
    final let contextFamily = ContextFamily()
    /// The observers of its stores and contexts.
    final let observers: Observers
    private let temporaryNumber = Atomic<Int64>(0)
    /// In the order in which they were added.
    private let stores = Mutex<[NSPersistentStore]>([])
    /// The store if there is only one, as nearly all fetches and saves need it. An array, to be passed on as it is.
    private let onlyStore = Mutex<[NumberedStore]>([])
    /// The rows that a view of a coordinator reads instead of its store.
    private let shown: (any StoreReader)?
    /// Whether this is a view, for a store that is being saved to.
    final var isView: Bool { shown != nil }
    private let lastStore = Atomic<UInt16>(0)
    /// Rises whenever stores are added or removed, so that contexts may cache one.
    final let storesVersion = Atomic<Int>(0)
    /// Whether `close()` was called.
    final let isClosed = Atomic<Bool>(false)
    /// How many faults fired without a row in memory.
    final let faultCount = Atomic<Int>(0)
    /// Bits for what saves must consider: 1 several stores, 2 one that chooses keys itself, 4 one that can be pinned.
    private let saveTraits = Atomic<Int>(0)
    /// Whether metadata that was set could ever not be written at once.
    let hasUnwrittenMetadata = Atomic<Bool>(false)

    /// Freezes the model. An invalid model is a misuse here; `NSManagedObjectModel(loading:)` checks it first.
    public init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        shown = nil
        observers = Observers()
        identities = StoreIdentities(model)
        do {
            runtime = try model.runtime()
        } catch {
            misuse("The model cannot be used: \(error)")
        }
        rowCache = RowCache(runtime)
        super.init()
    }

    /// The stores, in the order in which they were added.
    public final var persistentStores: [NSPersistentStore] {
        stores.withLock { $0 }
    }

    /// Opens a store, and creates it if it does not exist yet.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType`, `NSInMemoryStoreType`, `NSBinaryStoreType`, `NSXMLStoreType`,
    ///     `NSPropertyListStoreType`, or the type of a registered class.
    ///   - configuration: the configuration with the store's entities; nil for all.
    ///   - storeURL: the file; not used by a store in memory.
    ///   - options: see `StoreOptions`; an unknown option throws `unsupported` with its name.
    /// - Throws: 134100 if another model wrote the store and it may not be migrated, what `migrating` throws if it may;
    ///   134080 if it cannot be opened, 134000 for an unknown type.
    @discardableResult
    public final func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addStore(storeType, configuration, storeURL, options)
    }

    /// - Parameter isFixed: whether a SQLite store is read in the state that it has now, whatever is written meanwhile.
    @discardableResult
    final func addStore(
        _ type: String, _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]?, isFixed: Bool = false
    ) throws -> NSPersistentStore {
        let store = try makeStore(type, configuration, url, options, isFixed: isFixed)
        do { try requireOwnUUID(of: store) } catch {
            try? store.rows.close()
            throw error
        }
        attach(store)
        postStoresDidChange([NSAddedPersistentStoresKey: [store]])
        return store
    }

    /// Makes a view of another coordinator that reads other rows instead of one store's; its object IDs are the same.
    init(viewing other: NSPersistentStoreCoordinator, store: NSPersistentStore, as rows: any StoreReader) {
        shown = rows
        observers = other.observers
        managedObjectModel = other.managedObjectModel
        runtime = other.runtime
        identities = other.identities
        rowCache = RowCache(runtime)
        super.init()
        rowCache.limit = 0
        stores.withLock { $0 = [store] }
    }

    /// Opens or creates a store without adding it.
    final func makeStore(
        _ type: String, _ configuration: String?, _ url: URL?, _ given: [AnyHashable: Any]?, isFixed: Bool = false
    ) throws -> NSPersistentStore {
        try requireOpen()
        try requireNew(url, type)
        if let storeClass = StoreClasses.named(type) {
            return try makeStore(storeClass, type, configuration, url, given)
        }
        var options = try StoreOptions(given)
        options.listen(observers)
        if isFixed { options.fixState() }
        let rows: any RowStore
        do {
            rows = try migrating(type, configuration, url, options) { try openRows(type, configuration, url, options) }
        } catch { throw CocoaError.presenting(error) }
        return NSPersistentStore(
            rows: rows, type: type, url: url, configurationName: configuration, number: nextStoreNumber(),
            options: options, coordinator: self)
    }

    final func nextStoreNumber() -> UInt16 { lastStore.wrappingAdd(1, ordering: .relaxed).newValue }

    final func attach(_ store: NSPersistentStore) {
        store.setNumber(identities.register(store))
        stores.withLock { $0.append(store) }
        storesChanged()
        if store.postsRemoteChanges { RemoteChanges.add(store) }
        if store.recordsHistory { RemoteChanges.wake() }
        store.didAdd(to: self)
    }

    final func post(_ name: NSNotification.Name, _ info: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }

    private func openRows(
        _ type: String, _ configuration: String?, _ url: URL?, _ options: StoreOptions
    ) throws -> any RowStore {
        if let configuration, runtime.schema.entities(inConfiguration: configuration) == nil {
            throw unknownConfiguration(configuration)
        }
        switch type {
        case NSSQLiteStoreType:
            guard let url else { throw CocoaError.coreData(134080, "A store of type SQLite needs a URL.") }
            return try SQLiteStore(url: url, plan: runtime.storePlan(configuration), options: options.sqlite)
        case NSInMemoryStoreType:
            return try MemoryStore(
                schema: runtime.schema, configuration: configuration, uuid: UUID())
        default:
            throw unknownType(type)
        }
    }

    /// Replaces a store by another with the same rows under the same keys, without closing it: registered objects
    /// belong to the new store from then on.
    final func exchange(_ former: NSPersistentStore, for store: NSPersistentStore) {
        let number = former.number
        identities.succeed(former, by: store)
        store.setNumber(number)
        stores.withLock { $0 = $0.map { $0 === former ? store : $0 } }
        storesChanged()
        rowCache.removeAll(store: number)
        if store.postsRemoteChanges { RemoteChanges.add(store) }
        store.didAdd(to: self)
    }

    /// Removes and closes a store. Its objects that are not faults stay readable, but cannot be saved. A fault that is
    /// read stays one, and the next fetch or save of its context throws. Adding the store again connects them again.
    ///
    /// - Throws: 134070 for a store of another coordinator; the error of the store's last write.
    public final func remove(_ store: NSPersistentStore) throws {
        try requireOwn(store)
        announceRemoval(of: store)
        if detach(store) { try release(store) }
    }

    /// - Throws: 134070 for a store of another coordinator.
    final func requireOwn(_ store: NSPersistentStore) throws {
        guard isOwn(store) else {
            throw CocoaError.coreData(134070, "The store \(store.identifier ?? "") is not one of this coordinator's.")
        }
    }

    final func announceRemoval(of store: NSPersistentStore) {
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        store.willRemove(from: self)
    }

    /// Removes a store from the list; false if another thread has done so before.
    final func detach(_ store: NSPersistentStore) -> Bool {
        let isOut = stores.withLock { stores in
            guard let place = stores.firstIndex(where: { $0 === store }) else { return false }
            stores.remove(at: place)
            return true
        }
        if isOut { storesChanged() }
        return isOut
    }

    /// Closes a removed store and forgets its rows and its number.
    final func release(_ store: NSPersistentStore) throws {
        rowCache.removeAll(store: store.number)
        identities.remove(store.number)
        try close(removed: store)
    }

    /// Closes a removed store and posts the notification.
    final func close(removed store: NSPersistentStore) throws {
        if store.postsRemoteChanges { RemoteChanges.remove(store) }
        defer {
            RemoteChanges.wake()
            postStoresDidChange([NSRemovedPersistentStoresKey: [store]])
        }
        do { try store.rows.close() } catch { throw CocoaError.presenting(error) }
    }

    public final func persistentStore(for url: URL) -> NSPersistentStore? {
        persistentStores.first { $0.url?.standardizedFileURL == url.standardizedFileURL }
    }

    public final func url(for store: NSPersistentStore) -> URL {
        store.url ?? URL(fileURLWithPath: "/dev/null")
    }

    /// Returns the ID for its `uriRepresentation()`; nil for another store's or an invalid one.
    ///
    /// After `migratePersistentStore` the old store's URIs lead to the same objects in the new one.
    public final func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        // The reference of an object in a program's own store may contain slashes, also at its end.
        let path = URLComponents(url: url, resolvingAgainstBaseURL: false)?.path ?? ""
        let parts = path.split(separator: "/", maxSplits: 1)
        guard url.scheme == "x-coredata", parts.count == 2, let entity = runtime.schema.entity(named: String(parts[0])),
            parts[1].first == "p", let store = store(identified: url.host ?? ""),
            let number = store.number(of: String(parts[1].dropFirst()), in: entity)
        else { return nil }
        return NSManagedObjectID(
            key: ObjectKey(number: number, entity: entity.index, store: store.number), identity: identities,
            info: runtime.infos[entity.index.value])
    }

    private func store(identified uuid: String) -> NSPersistentStore? {
        persistentStores.first { $0.identifier.lowercased() == uuid.lowercased() } ?? identities.successor(of: uuid)
    }

    // MARK: For contexts

    /// Returns numbers for unsaved objects, to be negated; this coordinator returns none twice.
    final func allocateTemporaryNumbers(_ count: Int64) -> Range<Int64> {
        let first = temporaryNumber.wrappingAdd(count, ordering: .relaxed).oldValue + 1
        return first..<first + count
    }

    /// Whether a save must look for relationships between stores.
    final var hasSeveralStores: Bool { saveTraits.load(ordering: .relaxed) & 1 != 0 }

    /// Whether a store chooses the keys of its new objects.
    final var asksObjectsForKeys: Bool { saveTraits.load(ordering: .relaxed) & 2 != 0 }

    /// The limit in nanoseconds for callers of `read(_:)` and `write(_:)` to wait; nil if no store has one.
    final var patience: UInt64? {
        let wait = allowedWait.load(ordering: .relaxed)
        return wait == .max ? nil : wait
    }

    /// Whether contexts can be pinned to states of a store.
    final var showsGenerations: Bool { saveTraits.load(ordering: .relaxed) & 4 != 0 }

    /// Updates what is derived from the list of stores.
    private func storesChanged() {
        let traits = stores.withLock { stores in
            let only = stores.count == 1 ? stores.first : nil
            onlyStore.withLock { $0 = only.map { [numbered($0)] } ?? [] }
            return (stores.count > 1 ? 1 : 0) | (stores.contains { $0.numbersObjects } ? 2 : 0)
                | (stores.contains { $0.showsGenerations } ? 4 : 0)
        }
        saveTraits.store(traits, ordering: .relaxed)
        let limits = persistentStores.compactMap(\.connectionLimits)
        readers.turns = limits.map { $0.readers }.min() ?? .max
        allowedWait.store(limits.map { UInt64(min($0.patience, 1e9) * 1e9) }.min() ?? .max, ordering: .relaxed)
        storesVersion.wrappingAdd(1, ordering: .releasing)
    }

    /// The reader of a store.
    final func reader(of number: UInt16) -> (any StoreReader)? {
        store(numbered: number).map { shown ?? $0.rows }
    }

    /// Whether this coordinator opened a store; a view has opened none.
    final func isOwn(_ store: NSPersistentStore) -> Bool {
        shown == nil && self.store(numbered: store.number) === store
    }

    private func numbered(_ store: NSPersistentStore) -> NumberedStore {
        NumberedStore(
            number: store.number, rows: shown ?? store.rows, store: store,
            isOnlyOne: lastStore.load(ordering: .relaxed) <= 1)
    }

    final func store(numbered number: UInt16) -> NSPersistentStore? {
        stores.withLock { stores in stores.first { $0.number == number } }
    }

    final func numberedStore(_ number: UInt16) -> NumberedStore? {
        if let only = onlyStore.withLock({ $0.first }), only.number == number { return only }
        return store(numbered: number).map { numbered($0) }
    }

    /// The stores that a fetch asks.
    final func stores(for fetch: BoundFetch) -> [NumberedStore] {
        if fetch.stores == nil {
            let only = onlyStore.withLock { $0 }
            if !only.isEmpty, only[0].store.holds(fetch.info) { return only }
        }
        return persistentStores.compactMap { store in
            guard store.holds(fetch.info), fetch.stores?.contains(where: { $0 === store }) ?? true else { return nil }
            return numbered(store)
        }
    }

    /// The store for new objects of an entity: the first writable one that has it.
    final func store(for info: EntityInfo) throws -> NumberedStore {
        if let only = onlyStore.withLock({ $0.first }), !only.store.isReadOnly, only.store.holds(info) { return only }
        guard let store = persistentStores.first(where: { !$0.isReadOnly && $0.holds(info) }) else {
            throw CocoaError.coreData(
                134070,
                "No writable store of the coordinator has the entity \(info.entity.name); add one before saving.")
        }
        return numbered(store)
    }
}
