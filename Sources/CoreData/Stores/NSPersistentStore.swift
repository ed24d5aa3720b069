// One store of a coordinator.

import CoreDataFoundation
import CoreDataSQLite
import CoreDataValues
import Foundation
import Synchronization

public let NSSQLiteStoreType = "SQLite"
public let NSInMemoryStoreType = "InMemory"
public let NSBinaryStoreType = "Binary"
public let NSXMLStoreType = "XML"
/// A store in a binary property list. Ours; Core Data has no such type.
public let NSPropertyListStoreType = "PropertyList"
public let NSStoreTypeKey = "NSStoreType"
public let NSStoreUUIDKey = "NSStoreUUID"
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// A place that a coordinator keeps objects in.
///
/// Programs subclass `NSAtomicStore` or `NSIncrementalStore`, never this class, and register their class with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    public final let configurationName: String
    public final var persistentStoreCoordinator: NSPersistentStoreCoordinator? { coordinator }
    @Unretained final var coordinator: NSPersistentStoreCoordinator?
    final let rows: any RowStore
    /// What keys name the store by. Settled when the store becomes one of the coordinator's, before others see it.
    final private(set) var number: UInt16
    /// Whether writes of any coordinator of the process are told as remote changes.
    final let postsRemoteChanges: Bool
    /// Whether saves are recorded in the store's history.
    final let recordsHistory: Bool
    /// Whether saves may touch rows without comparing them. Programs' own stores are asked of versions as Core Data asks them.
    final let takesTouches: Bool
    private let entities: Set<String>?
    private let givenOptions: [AnyHashable: Any]?
    private let readOnly: Atomic<Bool>
    /// Whether the store has metadata that it has not written down.
    private let hasNewMetadata = Atomic<Bool>(false)
    private let lock = NSLock()
    private var facts: Facts

    private struct Facts {
        var type: String
        var url: URL?
        var identifier: String
        /// What a store of another's class says of itself; nil when the rows know.
        var metadata: [String: Any]?
        /// What was set and could not be written yet, where the rows know the metadata.
        var unwritten: [String: Any]?
    }

    /// A store over rows that are open already.
    init(
        rows: any RowStore, type: String, url: URL?, configurationName: String?, number: UInt16,
        options: StoreOptions, coordinator: NSPersistentStoreCoordinator
    ) {
        self.rows = rows
        self.number = number
        self.configurationName = configurationName ?? NSPersistentStore.defaultConfiguration
        let history = rows.history
        recordsHistory = history == .recorded
        takesTouches = true
        readOnly = Atomic(options.isReadOnly || history == .closed)
        postsRemoteChanges = options.postsRemoteChanges
        givenOptions = options.given
        entities = NSPersistentStore.entities(configurationName, coordinator)
        facts = Facts(type: type, url: url, identifier: rows.identifier)
        super.init()
        self.coordinator = coordinator
    }

    /// Makes a store of a subclass; the coordinator calls this when a store of the class's type is added.
    ///
    /// The coordinator then calls `loadMetadata()`, an atomic store's `load()`, and `didAdd(to:)`.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        guard let root else {
            misuse("A store was made without a coordinator; add stores with addPersistentStore(ofType:…).")
        }
        rows = Self.makeRows(for: root, configurationName: name)
        number = root.nextStoreNumber()
        configurationName = name ?? NSPersistentStore.defaultConfiguration
        let known = StoreOptions(lenient: options)
        readOnly = Atomic(known.isReadOnly)
        recordsHistory = false
        takesTouches = Self.self is any OwnStore.Type
        postsRemoteChanges = known.postsRemoteChanges
        givenOptions = options
        entities = NSPersistentStore.entities(name, root)
        facts = Facts(
            type: String(describing: Self.self), url: url, identifier: UUID().uuidString, metadata: [:])
        super.init()
        coordinator = root
    }

    private static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    private static func entities(_ name: String?, _ coordinator: NSPersistentStoreCoordinator) -> Set<String>? {
        name.flatMap { coordinator.runtime.schema.entities(inConfiguration: $0).map { Set($0.map(\.name)) } }
    }

    open override var description: String { "<\(Swift.type(of: self)): \(summary)>" }

    // MARK: For the coordinator

    /// The rows of a store of this class.
    class func makeRows(
        for coordinator: NSPersistentStoreCoordinator, configurationName: String?
    ) -> any RowStore {
        misuse("\(self) is no NSAtomicStore and no NSIncrementalStore; a store's class must be one of these.")
    }

    /// Reads what must be read before the store can be used.
    func open() throws {}

    /// Numbers for new objects; nil when the rows hand out blocks of them.
    func takeKeys(for objects: [NSManagedObject]) throws -> [Int64]? { nil }

    /// Whether `takeKeys` is to be asked.
    var numbersObjects: Bool { false }

    /// Whether uniqueness constraints of the model are kept (6.6).
    var keepsConstraints: Bool { true }

    /// What names a row in a URI, and the number that such a name stands for.
    func reference(of key: ObjectKey) -> String { String(key.number) }
    func number(of reference: String, in entity: Entity) -> Int64? {
        Int64(reference).flatMap { $0 > 0 ? $0 : nil }
    }

    /// The last transaction of its history that was heard of; -1 for none.
    private let knownTransaction = Atomic<Int64>(-1)

    final func noteTransaction(_ number: Int64) { knownTransaction.max(number, ordering: .relaxed) }

    /// The last transaction of its history, or the last that is known where that cannot be read now; nil where none is known.
    final func currentTransaction() throws -> Int64? {
        do {
            guard let last = try rows.lastTransaction() else { return nil }
            noteTransaction(last)
            return last
        } catch {
            warn("Where the history of the store \(identifier ?? "") is now cannot be read: \(error)")
            let known = knownTransaction.load(ordering: .relaxed)
            if known < 0 { throw error }
            return known
        }
    }

    final func setNumber(_ number: UInt16) { self.number = number }

    final func holds(_ info: EntityInfo) -> Bool { entities?.contains(info.entity.name) ?? true }

    // MARK: Facts

    /// `NSSQLiteStoreType` and so on.
    open var type: String { lock.withLock { facts.type } }
    final func setType(_ type: String) { lock.withLock { facts.type = type } }

    /// Where the store lies; `NSPersistentStoreCoordinator.setURL(_:for:)` changes it.
    open var url: URL? {
        get { lock.withLock { facts.url } }
        set { lock.withLock { facts.url = newValue } }
    }

    /// The store's UUID, part of its objects' URIs. Setting it writes it to the metadata.
    open var identifier: String! {
        get { lock.withLock { facts.identifier } }
        set {
            var changed: [String: Any] = metadata ?? [:]
            changed[NSStoreUUIDKey] = newValue
            metadata = changed
        }
    }

    final func setIdentifier(_ identifier: String) {
        lock.withLock { facts.identifier = identifier }
        coordinator?.identities.rename(number, identifier)
    }

    /// Whether saving to the store is refused.
    open var isReadOnly: Bool {
        get { readOnly.load(ordering: .relaxed) }
        set { readOnly.store(newValue, ordering: .relaxed) }
    }

    /// How many blocks read it at once, and the seconds that others wait; nil where nobody waits for a connection.
    final var connectionLimits: (readers: Int, patience: Double)? { (rows as? SQLiteStore)?.connectionLimits }

    public final var options: [AnyHashable: Any]? { givenOptions }

    /// What the store records beside its rows: `NSStoreType`, `NSStoreUUID`, the model's version hashes and identifiers, and the
    /// application's own keys.
    ///
    /// Stores of this library write it at once; a store of another's class with its next save. A change that cannot be
    /// written is written by the next save, which throws what is in the way. What is no metadata, and any change to a store that is open
    /// read-only, is dropped; `NSPersistentStoreCoordinator.setMetadata(_:forPersistentStoreOfType:at:)` says why.
    open var metadata: [String: Any]! {
        get {
            if let own = lock.withLock({ facts.metadata ?? facts.unwritten }) { return own }
            return (try? rows.metadata()).map { StoreMetadata.dictionary($0) } ?? [:]
        }
        set {
            let new = newValue ?? [:]
            let isForeign = lock.withLock {
                guard facts.metadata != nil else { return false }
                facts.metadata = new
                return true
            }
            if isForeign {
                hasNewMetadata.store(true, ordering: .releasing)
                if let uuid = new[NSStoreUUIDKey] as? String { setIdentifier(uuid) }
            } else {
                write(new)
            }
        }
    }

    /// The store's metadata is what it was opened with.
    final func metadataWereWritten() { hasNewMetadata.store(false, ordering: .releasing) }

    /// Has metadata that was set since the last save written down. What that throws leaves it for the next save.
    final func saveNewMetadata() throws {
        guard !isReadOnly, hasNewMetadata.exchange(false, ordering: .acquiringAndReleasing) else { return }
        do {
            if let unwritten = lock.withLock({ facts.unwritten }) {
                try writeMetadata(unwritten)
            } else {
                try saveMetadata()
            }
        } catch {
            hasNewMetadata.store(true, ordering: .releasing)
            throw CocoaError.presenting(error)
        }
    }

    /// Writes down metadata alone, where a program's code writes it.
    func saveMetadata() throws {}

    /// From now on the rows know the metadata.
    final func forgetMetadata() { lock.withLock { facts.metadata = nil } }

    /// Writes metadata of rows that know their own, or leaves it for the next save.
    private func write(_ new: [String: Any]) {
        do { try writeMetadata(new) } catch {
            guard !isReadOnly, CocoaError.cocoaCode(of: error) != 134060 else { return }
            lock.withLock { facts.unwritten = new }
            hasNewMetadata.store(true, ordering: .releasing)
            coordinator?.noteUnwrittenMetadata()
        }
    }

    /// Replaces the metadata of rows that know their own.
    final func writeMetadata(_ new: [String: Any]) throws {
        do {
            let changed = try StoreMetadata(new, over: try rows.metadata())
            try rows.setMetadata(changed)
            lock.withLock { facts.unwritten = nil }
            if changed.uuid != identifier { setIdentifier(changed.uuid) }
        } catch { throw CocoaError.presenting(error) }
    }

    // MARK: For subclasses

    /// Reads the metadata, with at least `NSStoreUUIDKey` and `NSStoreTypeKey`, into `metadata`.
    open func loadMetadata() throws {}

    /// The store was added to a coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// The store is about to be removed from its coordinator.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// The class that carries a store of this class over to another model; a subclass may name its own.
    ///
    /// Inferred migrations need none.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

    /// Carries a store of the class that is not open over to another model.
    ///
    /// - Throws: 134110 for a class whose stores only the program itself can migrate.
    class func migrate(_ site: MigrationSite, by plan: MigrationPlan) throws {
        throw StoreError(
            134110,
            "The store at \(site.url.path) is one of \(self), which answers from another place; migrate that place.",
            path: site.url.path)
    }

    /// The metadata of a store that is not open.
    ///
    /// - Throws: 134070 unless a subclass knows better.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CocoaError.coreData(134070, "\(self) does not read metadata of a store that is not open.")
    }

    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CocoaError.coreData(134070, "\(self) does not write metadata of a store that is not open.")
    }
}
