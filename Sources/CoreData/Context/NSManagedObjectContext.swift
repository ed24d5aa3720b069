// A managed object context: objects, their pending changes, undo, and the save.

import CCoreDataRuntime
import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// A workspace of managed objects over a store coordinator.
///
/// A context is confined to its queue: use it and its objects inside `perform`, `performAndWait` or `await perform`, or
/// on the main queue if it is a main-queue context. Insertions, changes and deletions are pending until `save()`, which
/// writes them in one transaction a store, or until `rollback()`.
open class NSManagedObjectContext: NSObject, NSSecureCoding, @unchecked Sendable {
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    /// The turns of the context's blocks.
    final let turn: Turn
    /// The context's queue; made when a caller waits for it.
    final var queue: DispatchQueue { turn.queue }
    /// Pending changes. Only on the context's queue.
    ///
    /// Behind a pointer, since every write of a value uses it: accesses to a stored property of a class would be
    /// checked for exclusivity at run time (8 % of an insertion, measured).
    private let trackerStorage: UnsafeMutablePointer<ChangeTracker>
    @inline(__always)
    final var tracker: ChangeTracker {
        _read { yield trackerStorage.pointee }
        _modify { yield &trackerStorage.pointee }
    }
    /// The context's entry in the process's list of living contexts.
    @inline(__always)
    final var listPlace: UnsafeMutablePointer<coredata_context_node> {
        UnsafeMutableRawPointer(trackerStorage + 1).assumingMemoryBound(to: coredata_context_node.self)
    }
    /// The identity map; nil until there is a coordinator, as the model below.
    private(set) final var identityMap: IdentityMap?
    private(set) final var boundRuntime: ModelRuntime?
    /// Makes objects of rows, and reads the rows of faults.
    final let faulting = Faulting()
    /// The event posted last, whose sets a save that follows it can use.
    final var lastEvent: ContextEvent?
    final var eventsSinceSave = 0
    /// The event whose did-change notification is being posted.
    final var toldEvent: ToldEvent?
    /// The class that `init(context:)` was last called for.
    private final var lastClass: (type: ObjectIdentifier, info: EntityInfo)?
    private final var temporaryNumbers: Range<Int64> = 0..<0
    /// The reader of the store that was read last, until a store is added or removed.
    final var lastStore: (number: UInt16, version: Int, rows: any StoreReader)?
    final var comparesOwners = false
    /// nil for `NSMergePolicy.error`.
    final var chosenPolicy: NSMergePolicy?
    /// Unchanged objects whose rows the next save compares (`detectConflicts`).
    final var checkedObjects: ContiguousArray<NSManagedObject> = []
    /// Versions that rows must have when the next save writes (`expect`).
    final var expectations: [ExpectedVersion] = []
    /// What a save that resolves conflicts must be able to restore.
    final var saveMemory: SaveMemory?
    /// Validates objects later than at the save, in a migration.
    final var deferredValidation: DeferredValidation?
    /// How many saves failed after a merge policy had resolved conflicts, so that the resolution was rolled back.
    final var failedMerges = 0
    final var isProcessingChanges = false
    final var isSaving = false
    /// Outcomes of the saves so far.
    final var saveRecord: SaveRecord = []
    /// Whether a relationship may lead to an object that will have no row, so that the next save has to check.
    final var hasStrays = false
    /// Changes announced by `willChangeValue` that `didChangeValue` will complete.
    final var openChanges: [OpenChange] = []
    /// Live ordered sets through which the open event was written (`openSet(of:_:)`).
    final var openSets: ContiguousArray<MutableOrderedMembers> = []
    /// The stores chosen for new objects; nil until one is.
    final var assignments: StoreAssignments?
    final var checkpointObserver: (any NSObjectProtocol)?
    /// What it reads from and saves into.
    final var link: any ContextLink = CoordinatorLink.shared { didSet { noteSource() } }
    /// The pinned state of the stores that the context reads; nil for the latest one, and in a child.
    final var generation: QueryGeneration? {
        didSet {
            noteSource()
            lastStore = nil
        }
    }
    /// Whether it reads a parent or a pinned state, and not what the coordinator's stores and row cache have now.
    @exclusivity(unchecked) private(set) final var readsElsewhere = false
    private func noteSource() { readsElsewhere = link.givesUnsavedRows || generation != nil }
    /// How many contexts have this one as their parent.
    final let childCount = Atomic<Int>(0)
    /// The versions that its saves gave to rows; nil if no context below needs them.
    final var savedVersions: SavedVersions?
    /// Whether inserted objects were given their permanent IDs before the save.
    final var hasEarlyKeys = false
    /// The context that this one's owner is blocked on, retained until it gets on. Only under the lock of `TurnWaits`.
    final var awaited: NSManagedObjectContext?
    final var temporaryIndex = TemporaryIndex()
    final var mergesAutomatically = false
    final var keepsObjects = false
    /// The lock of `lock()`; made when it is first used.
    final var sharedLock: NSRecursiveLock?
    private final var coordinator: NSPersistentStoreCoordinator?

    /// A name for logs and debugging; stores with a history record it with each save.
    open var name: String? { didSet { ContextNames.shared.note(name, of: self) } }
    /// The author of the saves, in stores with a history.
    open var transactionAuthor: String?
    /// The transactions of the last save in the histories of stores, by the stores' UUIDs; nil if no store records one.
    final var savedTransactions: [String: Int64]?
    /// Whether delete rules are applied when pending changes are processed; otherwise they are applied at the save.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether an object whose row is gone reads as deleted, instead of making the next save fail.
    open var shouldDeleteInaccessibleFaults = true
    /// How old, in seconds, a row in the coordinator's cache may be for a fault to use it instead of asking the store.
    ///
    /// With a value below zero, the default, any age will do; 0 always asks the store.
    open var stalenessInterval: TimeInterval {
        get { oldestRow }
        set { oldestRow = newValue }
    }
    private final var oldestRow: TimeInterval = -1
    /// Whether firing a fault reads the faults beside it in the same statement, at most 256. True by default.
    ///
    /// Faults are beside each other if one fetch without property values found them, if they are members of one to-many
    /// or targets of one to-one of rows that were read together, or, for single faults, if they came before any of them
    /// was read: by `object(with:)`, by a merge or by a refresh. They stay faults, but firing them costs nothing any
    /// more.
    open var readsFaultsTogether: Bool {
        get { faulting.readsTogether }
        set { faulting.readsTogether = newValue }
    }
    /// The fetched results controllers; nil until one has fetched.
    final var followers: FetchedFollowers?
    /// Records what the running save does with inserted objects; nil unless the program asks for it.
    final var saveReport: SaveReport?
    /// The progress of the running asynchronous fetch. Read for each batch of a fetch.
    @exclusivity(unchecked) final var fetchProgress: FetchProgress?
    /// Whether a fault whose row is gone reads as deleted. Called once for each; answers
    /// `shouldDeleteInaccessibleFaults` unless overridden. The property is the one that was read or set; nil if the
    /// object was requested as a whole.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }
    /// A dictionary for the program. Made at the first call, since most contexts have none.
    public final var userInfo: NSMutableDictionary {
        if let ownInfo { return ownInfo }
        let made = NSMutableDictionary()
        ownInfo = made
        return made
    }
    private final var ownInfo: NSMutableDictionary?

    /// nil until set. Without an undo manager nothing is recorded; `rollback()` works all the same.
    open var undoManager: UndoManager? { didSet { observeUndoManager(oldValue) } }

    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        concurrencyType = type
        // The second element holds the node in the list of contexts.
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
        faulting.begin(in: self)
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

    /// Makes a context with the archived configuration, without coordinator and objects; nil for a damaged archive.
    public required convenience init?(coder: NSCoder) {
        guard let archive = coder.decode(ContextArchive.self), let type = archive.concurrencyType,
            type != .confinementConcurrencyType
        else { return nil }
        self.init(concurrencyType: type)
        archive.fill(self)
    }

    /// Archives the configuration: concurrency type, names, the type of the merge policy, and switches. No objects.
    open func encode(with coder: NSCoder) { coder.encode(ContextArchive(self)) }

    /// Makes a main-queue context.
    public convenience override init() { self.init(concurrencyType: .mainQueueConcurrencyType) }

    deinit {
        coredata_leave_context(listPlace)
        if name != nil { ContextNames.shared.forget(self) }
        if let checkpointObserver { NotificationCenter.default.removeObserver(checkpointObserver) }
        identityMap?.leaveContext()
        if !tracker.isEmpty {
            // Changed relationships hold their objects; an abandoned context must not leave such cycles behind.
            let changed = tracker.dirty
            tracker.clear()
            for object in changed { object._state.breakCycles() }
        }
        trackerStorage.deinitialize(count: 1)
        trackerStorage.deallocate()
    }

    /// The coordinator of the stores that the context uses. Set it once, before the first object.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set {
            guard newValue !== coordinator else { return }
            guard parent == nil else { misuse("A context with a parent uses its parent's coordinator; set none.") }
            guard coordinator == nil || allObjects.isEmpty else {
                misuse("A context with objects cannot change its coordinator; call reset() first.")
            }
            if mergesAutomatically {
                coordinator?.contextFamily.removeMerger(self)
                newValue?.contextFamily.addMerger(self)
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

    /// The model. Traps in a context without a coordinator.
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

    /// A number below zero for an unsaved object, from a range that the coordinator hands out.
    final func nextTemporaryNumber() -> Int64 {
        if temporaryNumbers.isEmpty { temporaryNumbers = requiredCoordinator.allocateTemporaryNumbers(64) }
        let number = temporaryNumbers.lowerBound
        temporaryNumbers = number + 1..<temporaryNumbers.upperBound
        return -number
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

    /// Name, queue and parent, and the number of pending changes if the caller is on the context's queue.
    open override var description: String {
        "<\(Swift.type(of: self)): \(ObjectIdentifier(self).hexadecimal); \(summary)>"
    }

    // MARK: What changed

    /// Whether there are pending changes, processed or not.
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
    /// All living objects of this context.
    open var registeredObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(allObjects)
    }

    final var allObjects: [NSManagedObject] {
        (identityMap?.all() ?? []) + tracker.objects(.inserted, without: .registered)
    }
}
