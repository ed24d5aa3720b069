// The coordinator: one model, its stores, and the contexts' way to them.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation
import Synchronization

/// Connects contexts with stores. May be used from any thread.
open class NSPersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
    /// The model; it cannot be changed any more.
    public final let managedObjectModel: NSManagedObjectModel
    final let runtime: ModelRuntime
    final let identities: StoreIdentities
    /// Rows that its contexts have read or saved.
    final let rowCache: RowCache
    /// A name for logs and debugging.
    public final var name: String? {
        get { nameLock.withLock { $0 } }
        set { nameLock.withLock { $0 = newValue } }
    }
    private let nameLock = Mutex<String?>(nil)
    /// Where `perform` runs.
    final let queue = DispatchQueue(label: "CoreData.coordinator")
    final let recursiveLock = NSRecursiveLock()
    /// Saves pass it, and wait while a store moves.
    final let writes = WriteGate()
    /// Who `write(_:)` lets write next.
    final let writers = TurnLine(turns: 1)
    /// Who `read(_:)` lets read next, of those who would wait for a connection.
    final let readers = TurnLine(turns: .max)
    /// Nanoseconds that callers of `read(_:)` and `write(_:)` wait at most for their turn and a place.
    private let allowedWait = Atomic<UInt64>(.max)
    /// What its contexts tell each other.
    final let relatives = Relatives()
    /// Who is told what its stores and contexts do.
    final let observers: Observers
    private let temporaryNumber = Atomic<Int64>(0)
    /// In the order they were added.
    private let stores = Mutex<[NSPersistentStore]>([])
    /// The only store, when there is one: what nearly every fetch and save asks for. A list, which a fetch hands on as it is.
    private let onlyStore = Mutex<[NumberedStore]>([])
    /// What a view of a coordinator reads in the place of its store.
    private let shown: (any StoreReader)?
    /// Whether it is a view, of a store that is being saved to.
    final var isView: Bool { shown != nil }
    private let lastStore = Atomic<UInt16>(0)
    /// Rises whenever stores come or go, so that contexts may remember one.
    final let storesVersion = Atomic<Int>(0)
    /// Whether `close()` was called.
    final let isClosed = Atomic<Bool>(false)
    /// Faults fired without a row in memory.
    final let faultCount = Atomic<Int>(0)
    /// What saves must look at because of the stores: 1 there are several, 2 one names its objects itself, 4 contexts can be pinned to one.
    private let saveTraits = Atomic<Int>(0)

    /// Freezes the model. A model that contradicts itself is a misuse here; `NSManagedObjectModel(loading:)` checks it first.
    public init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        shown = nil
        observers = Observers()
        identities = StoreIdentities()
        do {
            runtime = try model.runtime()
        } catch {
            misuse("The model cannot be used: \(error)")
        }
        rowCache = RowCache(runtime)
        super.init()
    }

    /// The stores, in the order they were added.
    public final var persistentStores: [NSPersistentStore] {
        stores.withLock { $0 }
    }

    /// Opens a store, and creates it if it does not exist yet.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType`, `NSInMemoryStoreType`, `NSBinaryStoreType`, `NSXMLStoreType`,
    ///     `NSPropertyListStoreType`, or the type of a registered class.
    ///   - configuration: which entities the store is for; nil for all.
    ///   - storeURL: the file; not used by a store in memory.
    ///   - options: see `StoreOptions`; an option that is not known throws `unsupported`, naming it.
    /// - Throws: 134100 if the store was written with another model and may not be migrated, what `migrating` throws if it may, 134080
    ///   if it cannot be opened, 134000 for an unknown type.
    @discardableResult
    public final func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let store = try makeStore(storeType, configuration, storeURL, options)
        do { try requireOwnUUID(of: store) } catch {
            try? store.rows.close()
            throw error
        }
        attach(store)
        postStoresDidChange([NSAddedPersistentStoresKey: [store]])
        return store
    }

    /// A view of another coordinator in which something else is read in the place of one store; its object IDs are the same.
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
        _ type: String, _ configuration: String?, _ url: URL?, _ given: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        try requireOpen()
        try requireNew(url, type)
        if let storeClass = StoreClasses.named(type) {
            return try makeStore(storeClass, type, configuration, url, given)
        }
        var options = try StoreOptions(given)
        options.listen(observers)
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

    /// Puts a store with the same rows under the same keys in the place of another, which is taken out and not closed: objects that
    /// contexts hold are the new one's from now on.
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

    /// Closes a store. Its objects that are not faults stay readable; they cannot be saved any more. Reading a fault leaves it one and
    /// makes the next fetch or save of its context throw. All of them have their store back when it is added again.
    ///
    /// - Throws: 134070 for a store of another coordinator; what the store's last write says.
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

    /// False when somebody else was faster.
    final func detach(_ store: NSPersistentStore) -> Bool {
        let isOut = stores.withLock { stores in
            guard let place = stores.firstIndex(where: { $0 === store }) else { return false }
            stores.remove(at: place)
            return true
        }
        if isOut { storesChanged() }
        return isOut
    }

    /// Forgets and closes a store that was taken out.
    final func release(_ store: NSPersistentStore) throws {
        rowCache.removeAll(store: store.number)
        identities.remove(store.number)
        try close(removed: store)
    }

    /// Closes a store that is not the coordinator's any more, and tells of it.
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

    /// The ID that `uriRepresentation()` was made from; nil for another store's or an unreadable one.
    ///
    /// After `migratePersistentStore` the IDs of the former store lead to the same objects in the new one.
    public final func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        // What names a row in a program's own store may have slashes, at its end too.
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

    /// Numbers for unsaved objects, to be negated; none is given twice by this coordinator.
    final func allocateTemporaryNumbers(_ count: Int64) -> Range<Int64> {
        let first = temporaryNumber.wrappingAdd(count, ordering: .relaxed).oldValue + 1
        return first..<first + count
    }

    /// Whether a save must look for relationships between stores.
    final var hasSeveralStores: Bool { saveTraits.load(ordering: .relaxed) & 1 != 0 }

    /// Whether a store names its new objects itself.
    final var asksObjectsForKeys: Bool { saveTraits.load(ordering: .relaxed) & 2 != 0 }

    /// Nanoseconds that callers of `read(_:)` and `write(_:)` wait at most for their turn and a place; nil where no store has a limit.
    final var patience: UInt64? {
        let wait = allowedWait.load(ordering: .relaxed)
        return wait == .max ? nil : wait
    }

    /// Whether contexts can be pinned to states of a store.
    final var showsGenerations: Bool { saveTraits.load(ordering: .relaxed) & 4 != 0 }

    /// Stores came or went: what saves and contexts remember of them is old.
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

    /// Where a store is read.
    final func rows(of number: UInt16) -> (any StoreReader)? {
        store(numbered: number).map { shown ?? $0.rows }
    }

    /// Whether a store is one that this coordinator opened; a view's is not.
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
    final func stores(for order: FetchOrder) -> [NumberedStore] {
        if order.stores == nil {
            let only = onlyStore.withLock { $0 }
            if !only.isEmpty, only[0].store.holds(order.info) { return only }
        }
        return persistentStores.compactMap { store in
            guard store.holds(order.info), order.stores?.contains(where: { $0 === store }) ?? true else { return nil }
            return numbered(store)
        }
    }

    /// Where a new object goes: the first writable store that has its entity.
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
