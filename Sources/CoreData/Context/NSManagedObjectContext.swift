// A managed object context: objects, their pending changes, undo, and the save.

import CCoreDataRuntime
import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// A workspace of managed objects over a store coordinator.
///
/// A context is confined to its queue: touch it and its objects inside `perform`, `performAndWait` or `await perform`, or on the
/// main queue if it is a main-queue context. Insertions, changes and deletions are pending until `save()`, which writes them in
/// one transaction a store, or until `rollback()`.
open class NSManagedObjectContext: NSObject, NSSecureCoding, @unchecked Sendable {
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    /// Who may use the context, and when.
    final let turn: Turn
    /// Made when somebody waits for it.
    final var queue: DispatchQueue { turn.queue }
    /// Pending changes. Only on the context's queue.
    ///
    /// Kept behind a pointer: every write of a value comes by here, and as a stored property of a class each access would be
    /// checked for exclusivity at run time (8 % of an insertion, measured).
    private let trackerStorage: UnsafeMutablePointer<ChangeTracker>
    @inline(__always)
    final var tracker: ChangeTracker {
        _read { yield trackerStorage.pointee }
        _modify { yield &trackerStorage.pointee }
    }
    /// Its place in the list of contexts that are alive.
    @inline(__always)
    final var listPlace: UnsafeMutablePointer<coredata_context_node> {
        UnsafeMutableRawPointer(trackerStorage + 1).assumingMemoryBound(to: coredata_context_node.self)
    }
    /// The identity map and the model, once there is a coordinator.
    private(set) final var identityMap: IdentityMap?
    private(set) final var boundRuntime: ModelRuntime?
    /// The first error of a read inside a getter since the last call that could throw it.
    final var readError: (any Error)?
    /// The last event told, so that a save that follows it can use the same sets.
    final var lastEvent: ContextEvent?
    final var eventsSinceSave = 0
    /// The event of the did-change notification that is being posted.
    final var toldEvent: ToldEvent?
    /// The class that `init(context:)` was last called for.
    private final var lastClass: (type: ObjectIdentifier, info: EntityInfo)?
    private final var temporaryNumbers: Range<Int64> = 0..<0
    private final var lastStore: (number: UInt16, version: Int, rows: any StoreReader)?
    final var comparesOwners = false
    /// nil for `NSMergePolicy.error`.
    final var chosenPolicy: NSMergePolicy?
    /// Unchanged objects whose rows the next save compares (`detectConflicts`).
    final var checkedObjects: ContiguousArray<NSManagedObject> = []
    /// What the rows of some objects must be when the next save writes (`expect`).
    final var expectations: [ExpectedVersion] = []
    /// What a save that settles conflicts must be able to take back.
    final var saveMemory: SaveMemory?
    /// What judges objects later than at the save, in a migration.
    final var deferredValidation: DeferredValidation?
    /// How many saves took back what their policy had done.
    final var failedMerges = 0
    final var isProcessingChanges = false
    final var isSaving = false
    /// What the saves so far have come to.
    final var saveRecord: SaveRecord = []
    /// An object that has no row and will have none may be the target of a relationship: the next save looks.
    final var hasStrays = false
    /// Changes that `willChangeValue` announced and `didChangeValue` will complete.
    final var openChanges: [OpenChange] = []
    /// Live ordered sets that the open event was written through (`openSet(of:_:)`).
    final var openSets: ContiguousArray<MutableOrderedMembers> = []
    /// Goes up whenever rows that objects hold may have become old: at saves and refreshes.
    final var rowTime = 0
    /// While rows are read that the program does not see: for a delete rule, a write or a save.
    @exclusivity(unchecked) final var readsUnseen = false
    /// Stores chosen for new objects; nil until one is.
    final var assignments: StoreAssignments?
    final var checkpointObserver: (any NSObjectProtocol)?
    /// What ties the context to its parent; nil for one that has the coordinator to itself.
    final var lineage: Lineage? { didSet { readsElsewhere = lineage != nil || generation != nil } }
    /// The state of the stores that it reads; nil for the latest one, and in a child.
    final var generation: QueryGeneration? {
        didSet {
            readsElsewhere = lineage != nil || generation != nil
            lastStore = nil
        }
    }
    /// Whether it reads a parent or a pinned state: not what the coordinator's stores and row cache have now.
    @exclusivity(unchecked) private(set) final var readsElsewhere = false
    /// How many contexts have this one as their parent.
    final let childCount = Atomic<Int>(0)
    /// What its saves have made of versions; nil where no context below needs to know.
    final var savedVersions: SavedVersions?
    /// Whether inserted objects were given their permanent IDs before the save.
    final var hasEarlyKeys = false
    /// The context whose queue the holder of this one waits for. Only under the lock of `Turns`.
    ///
    /// Held for as long as the wait lasts.
    final var awaited: NSManagedObjectContext?
    final var temporaryIndex = TemporaryIndex()
    final var mergesAutomatically = false
    final var keepsObjects = false
    /// What `lock()` takes; made when it is first asked for.
    final var sharedLock: NSRecursiveLock?
    private final var coordinator: NSPersistentStoreCoordinator?

    /// A name for logs and debugging; stores that keep a history write it down with each save.
    open var name: String? { didSet { ContextNames.shared.note(name, of: self) } }
    /// Who signs the saves, in stores that keep a history.
    open var transactionAuthor: String?
    /// The transactions that the last save made in the histories of stores, by their UUIDs; nil where none records it.
    final var savedTransactions: [String: Int64]?
    /// Whether delete rules are applied when pending changes are processed; otherwise at the save.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether an object whose row is gone reads as deleted, instead of stopping the next save with an error.
    open var shouldDeleteInaccessibleFaults = true
    /// How old a row that the coordinator keeps may be, in seconds, when a fault takes it instead of asking the store.
    ///
    /// Below zero, as at first, any age will do; 0 always asks the store.
    open var stalenessInterval: TimeInterval {
        get { oldestRow }
        set { oldestRow = newValue }
    }
    private final var oldestRow: TimeInterval = -1
    /// Whether firing a fault reads the faults beside it in the same statement, at most 256. True at first.
    ///
    /// Beside it stand the faults that one fetch without property values found, other members of a to-many, other targets of a
    /// to-one of rows that were read together, and of single faults those that came before any of them was read: by
    /// `object(with:)`, by a merge or by a refresh. They stay faults, but reading them costs nothing any more.
    open var readsFaultsTogether = true
    /// Rows that were read with a fault and have no object yet.
    final var waitingRows: [WaitingRows] = []
    /// Faults that came one by one, a group a tree and store.
    final var openSiblings: [OpenSiblings] = []
    /// Controllers of fetched results; nil until one has fetched.
    final var followers: FetchedFollowers?
    /// What the running save makes of inserted objects; nil unless the program asks for it.
    final var saveReport: SaveReport?
    /// Who is told of unexpected faults; nil until somebody asks for it.
    final var faultWatch: FaultWatch?
    final var isTellingOfFault = false
    /// Whether every fault would be told, so that it matters how objects are reached. Asked for each to-many that is read.
    @exclusivity(unchecked) final var isTracing = false
    /// Of the asynchronous fetch that runs. Asked for each batch that a fetch reads.
    @exclusivity(unchecked) final var fetchProgress: FetchProgress?
    /// Whether a fault whose row is gone is to read as deleted: asked once for each, and `shouldDeleteInaccessibleFaults` unless
    /// overridden. The property is the one that was read or set; nil when the object was asked for as a whole.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }
    /// Anything of the program's own. Made at the first call: most contexts have none.
    public final var userInfo: NSMutableDictionary {
        if let ownInfo { return ownInfo }
        let made = NSMutableDictionary()
        ownInfo = made
        return made
    }
    private final var ownInfo: NSMutableDictionary?

    /// nil until set: without an undo manager nothing is recorded, and `rollback()` still works.
    open var undoManager: UndoManager? { didSet { observeUndoManager(oldValue) } }

    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        concurrencyType = type
        // With room behind it for the place in the list of contexts.
        trackerStorage = .allocate(capacity: 2)
        trackerStorage.initialize(to: ChangeTracker())
        switch type {
        case .mainQueueConcurrencyType: turn = Turn(.main)
        case .privateQueueConcurrencyType: turn = Turn()
        case .confinementConcurrencyType:
            misuse(
                "confinementConcurrencyType is unsupported: there are no contexts that belong to a thread. Use "
                    + "privateQueueConcurrencyType with perform, or mainQueueConcurrencyType on the main queue.")
        }
        super.init()
        coredata_enter_context(listPlace, UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()))
        tracker.keepsLog = ContextNotice.didChange.name.ifAwaited != nil
        if SQLLog.level > 0 { logRepeatedFaults() }
        if type == .mainQueueConcurrencyType {
            MainQueue.mark()
            tracker.awaitsTurn = true
        }
    }

    // MARK: NSSecureCoding

    open class var supportsSecureCoding: Bool { true }

    /// A context that is set up as the archived one was, without coordinator and objects; nil for a damaged archive.
    public required convenience init?(coder: NSCoder) {
        guard let archive = coder.decode(ContextArchive.self), let type = archive.concurrencyType,
            type != .confinementConcurrencyType
        else { return nil }
        self.init(concurrencyType: type)
        archive.fill(self)
    }

    /// Archives how the context is set up: its kind, names, merge policy by its type, and switches. Nothing of its objects.
    open func encode(with coder: NSCoder) { coder.encode(ContextArchive(self)) }

    /// A main-queue context.
    public convenience override init() { self.init(concurrencyType: .mainQueueConcurrencyType) }

    deinit {
        coredata_leave_context(listPlace)
        if name != nil { ContextNames.shared.forget(self) }
        if let checkpointObserver { NotificationCenter.default.removeObserver(checkpointObserver) }
        identityMap?.leaveContext()
        if lineage != nil { coordinator?.relatives.leave() }
        if !tracker.isEmpty {
            // Changed relationships hold their objects; an abandoned context must not leave such cycles behind.
            let changed = tracker.dirty
            tracker.clear()
            for object in changed { object._state.breakCycles() }
        }
        trackerStorage.deinitialize(count: 1)
        trackerStorage.deallocate()
    }

    /// Where the context's objects come from and go to. Set it once, before the first object.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set {
            guard newValue !== coordinator else { return }
            guard lineage == nil else { misuse("A context with a parent uses its parent's coordinator; set none.") }
            guard coordinator == nil || allObjects.isEmpty else {
                misuse("A context with objects cannot change its coordinator; call reset() first.")
            }
            if mergesAutomatically {
                coordinator?.relatives.removeMerger(self)
                newValue?.relatives.addMerger(self)
            }
            coordinator = newValue
            coredata_own_context(listPlace, newValue.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
            if generation != nil { generation = nil }
            boundRuntime = newValue?.runtime
            identityMap = newValue.map { IdentityMap($0.runtime, $0.identities) }
            identityMap?.context = self
            if keepsObjects { identityMap?.kept = [] }
        }
    }

    /// The model; a context without a coordinator can do nothing.
    final var runtime: ModelRuntime {
        guard let boundRuntime else {
            misuse("This context has no persistentStoreCoordinator; set it before using objects.")
        }
        return boundRuntime
    }

    final var requiredIdentityMap: IdentityMap {
        guard let identityMap else {
            misuse("This context has no persistentStoreCoordinator; set it before using objects.")
        }
        return identityMap
    }

    final var requiredCoordinator: NSPersistentStoreCoordinator {
        guard let coordinator else {
            misuse("This context has no persistentStoreCoordinator; set it before using objects.")
        }
        return coordinator
    }

    /// A number for an unsaved object: below zero, from a block that the coordinator hands out.
    final func nextTemporaryNumber() -> Int64 {
        if temporaryNumbers.isEmpty { temporaryNumbers = requiredCoordinator.allocateTemporaryNumbers(64) }
        let number = temporaryNumbers.lowerBound
        temporaryNumbers = number + 1..<temporaryNumbers.upperBound
        return -number
    }

    /// The rows of a store, remembered as long as no store comes or goes.
    final func rows(of store: UInt16) -> (any StoreReader)? {
        let version = requiredCoordinator.storesVersion.load(ordering: .acquiring)
        if let lastStore, lastStore.number == store, lastStore.version == version { return lastStore.rows }
        guard let rows = isChild ? parentRows(store) : requiredCoordinator.rows(of: store).map(shown) else {
            return nil
        }
        lastStore = (store, version, rows)
        return rows
    }

    /// The rows of the store that an object was saved in; nil for one that was never saved.
    ///
    /// - Throws: 134070 when the store was removed: its rows are not gone, they cannot be reached.
    final func storedRows(of store: UInt16) throws -> (any StoreReader)? {
        if let rows = rows(of: store) { return rows }
        guard store != 0 else { return nil }
        throw CocoaError.removedStore(requiredCoordinator.identities.uuid(of: store))
    }

    final var identities: StoreIdentities? { coordinator?.identities }

    final func info(for type: NSManagedObject.Type) -> EntityInfo {
        if let last = lastClass, last.type == ObjectIdentifier(type) { return last.info }
        guard let info = runtime.info(for: type) else {
            misuse("The model of this context has no entity of the class \(type).")
        }
        lastClass = (ObjectIdentifier(type), info)
        return info
    }

    /// Name, queue and parent, and how much is pending if the caller is on the context's queue.
    open override var description: String {
        "<\(Swift.type(of: self)): \(ObjectIdentifier(self).hexadecimal); \(summary)>"
    }

    // MARK: What changed

    /// Whether anything is pending, processed or not.
    open var hasChanges: Bool {
        checkQueue()
        return tracker.dirtyCount > 0
    }
    open var insertedObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(tracker.objects(.inserted))
    }
    open var updatedObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(tracker.objects(.updated, without: [.inserted, .deleted]))
    }
    open var deletedObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(tracker.objects(.deleted))
    }
    /// Every object that is alive in this context.
    open var registeredObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(allObjects)
    }

    final var allObjects: [NSManagedObject] {
        (identityMap?.all() ?? []) + tracker.objects(.inserted, without: .registered)
    }
}
