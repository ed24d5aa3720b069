// The changes of a context: which objects have some, the open event and the log for an undo.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The pending changes of one context: which objects are dirty, which belong to the open event, and the log for undo.
struct ChangeTracker {
    /// Dirty objects, each once; some may have no changes any more (I-2).
    private(set) var dirty: ContiguousArray<NSManagedObject> = []
    /// How many objects of the list have changes.
    private(set) var dirtyCount = 0
    /// Objects of the open event, each once.
    private(set) var event: ContiguousArray<NSManagedObject> = []
    /// Whether the undo manager was told of the open event.
    private var isAnnounced = false
    /// An empty list with memory, for reuse.
    private var spare: ContiguousArray<NSManagedObject> = []
    /// The delete rules that are still to be applied.
    var deletePropagation = DeletePropagation()
    /// Changed objects whose rows were found gone.
    var missingRows: ContiguousArray<NSManagedObject> = []
    /// The transient values that changed objects had at the last save.
    private(set) var transients = FormerTransients()
    /// For each object with `childBase`: the base on which a child made its changes.
    var bases: [ObjectIdentifier: PushBase] = [:]
    var log: ContiguousArray<GraphChange> = []
    /// Whether the log has deletions, or insertions that were taken back.
    var logsDeletions = false
    /// Logs with deletions that were not saved yet, the latest last. Only the undo stack keeps them alive.
    private var pendingLogs: [WeakLog] = []
    var deletionLogs: [DeletionLog] { pendingLogs.compactMap(\.log) }
    var hasDeletionLogs: Bool { !pendingLogs.isEmpty }
    /// Whether the log is needed: by an undo manager, or by observers of the did-change notification, who may ask for
    /// values from before the event.
    var keepsLog = false
    /// On whose behalf objects are written to at present.
    var origin = WriteOrigin()
    /// Whether writes are logged at present.
    var isLogging: Bool { keepsLog && origin.isUndone }
    /// Told when an event begins, so that it opens an undo group.
    var undoManager: UndoManager?
    /// The objects that the running undo or redo has written; nil while none runs.
    var replayed: ContiguousArray<NSManagedObject>?
    var isReplaying: Bool { replayed != nil }
    /// Whether the next change schedules the end of its event on the main queue.
    var awaitsTurn = false

    /// Whether no object is listed.
    var isEmpty: Bool { dirty.isEmpty && event.isEmpty }
    var hasEvent: Bool { !event.isEmpty || !deletePropagation.isDone }

    // MARK: Marking

    mutating func willWrite(_ object: NSManagedObject, _ slot: Int) {
        guard origin.isNoticed else { return }
        if isLogging, !object._state.has(.skipsLog) {
            log.append(.attribute(object, slot: Int32(truncatingIfNeeded: slot), old: object.formerValue(slot)))
        }
        touch(object)
    }

    mutating func noteTransient(_ object: NSManagedObject, _ slot: Int) {
        if origin.isNoticed, object._state.has(.persistent) { transients.note(object, slot) }
    }

    /// Marks an object updated.
    mutating func touch(_ object: NSManagedObject) {
        guard origin.isNoticed else { return }
        let state = object._state
        if isReplaying, !state.has(.replayed) {
            state.set(.replayed)
            replayed?.append(object)
        }
        if state.has([.inserted, .deleted]) {
            if state.pointee.flags & ObjectFlags.event.rawValue == 0 { addToEvent(object, .eventUpdated) }
            return
        }
        if !state.has(.updated) { mark(object, .updated) }
        if !state.has([.eventUpdated, .eventInserted]) { addToEvent(object, .eventUpdated) }
    }

    /// Sets a bit of `ObjectFlags.dirty` and lists the object.
    @inline(__always)
    mutating func mark(_ object: NSManagedObject, _ flag: ObjectFlags) {
        let state = object._state
        if !state.has(.dirty) { dirtyCount += 1 }
        state.set(flag)
        if !state.has(.inDirtyList) {
            state.set(.inDirtyList)
            dirty.append(object)
        }
    }

    /// Lists a new object as dirty and in the open event.
    mutating func insert(_ object: NSManagedObject) {
        let state = object._state
        guard !state.has([.dirty, .inDirtyList, .event]) else {
            mark(object, .inserted)
            addToEvent(object, .eventInserted)
            if isLogging { log.append(.existence(object, appeared: true)) }
            return state.set(.skipsLog)
        }
        if !isAnnounced, isLogging { announce() }
        if awaitsTurn { expectTurn(of: object) }
        dirtyCount += 1
        state.set([.inserted, .inDirtyList, .eventInserted, .skipsLog])
        dirty.append(object)
        event.append(object)
        if isLogging { log.append(.existence(object, appeared: true)) }
    }

    /// Marks an object deleted; its delete rules are applied later.
    ///
    /// An object inserted in the open event loses `skipsLog`: the changes of its relationships are logged, so that
    /// an undo restores every order.
    mutating func delete(_ object: NSManagedObject) {
        object._state.clear(.skipsLog)
        if isLogging {
            log.append(.existence(object, appeared: false))
            logsDeletions = true
        }
        mark(object, .deleted)
        addToEvent(object, .eventDeleted)
        deletePropagation.add(object)
    }

    /// Logs that a deletion is taken back. If the deletion is in the log of the open event, it is removed from there
    /// instead.
    mutating func logRevival(of object: NSManagedObject) {
        guard isLogging else { return }
        // An undo brings objects back before it deletes any, so a deletion in its log is not the one that is taken
        // back.
        let place = isReplaying ? nil : log.lastIndex { $0.isDeletion(of: object) }
        if let place { log.remove(at: place) } else { log.append(.revival(object)) }
    }

    mutating func unmark(_ object: NSManagedObject, _ flags: ObjectFlags) {
        let state = object._state
        guard state.has(flags) else { return }
        state.clear(flags)
        guard !state.has(.dirty) else { return }
        dirtyCount -= 1
        if !transients.isEmpty { transients.forget(object) }
        if !bases.isEmpty { forgetBase(of: object) }
    }

    /// Forgets an object's pending changes.
    mutating func discard(_ object: NSManagedObject) {
        unmark(object, .dirty)
        object._state.clear([.rulesApplied, .eventInserted, .eventUpdated, .eventDeleted])
    }

    /// Makes an object part of the open event.
    @inline(__always)
    mutating func addToEvent(_ object: NSManagedObject, _ flag: ObjectFlags) {
        let state = object._state
        if !isAnnounced, isLogging, flag != .eventRefreshed { announce() }
        if awaitsTurn { expectTurn(of: object) }
        if !state.has(.event) { event.append(object) }
        state.set(flag)
    }

    /// Tells the undo manager, which opens a group for the event. A refresh alone does not, since nobody undoes it.
    private mutating func announce() {
        isAnnounced = true
        undoManager?.expectChanges()
    }

    /// Schedules the end of the event when the first object of a main-queue context changes in a turn of the main
    /// queue.
    @inline(never)
    private mutating func expectTurn(of object: NSManagedObject) {
        if object._state.identityMap?.context?.endEventWithTurn() == true { awaitsTurn = false }
    }

    // MARK: Ending the event

    /// Ends the open event and answers its objects, whose event bits are still set. Give the list back by `reuse`.
    mutating func endEvent() -> ContiguousArray<NSManagedObject> {
        var taken = reuseSpare()
        swap(&taken, &event)
        isAnnounced = false
        return taken
    }

    /// Keeps the memory of a list for the next changes: a context that saves objects one by one would otherwise
    /// allocate its lists at every save.
    mutating func reuse(_ list: inout ContiguousArray<NSManagedObject>) {
        guard list.capacity <= 64 else { return }
        list.removeAll(keepingCapacity: true)
        swap(&list, &spare)
    }

    private mutating func reuseSpare() -> ContiguousArray<NSManagedObject> {
        let list = spare
        spare = []
        return list
    }

    mutating func addDeletionLog(_ log: DeletionLog) {
        if pendingLogs.count == pendingLogs.capacity { pendingLogs.removeAll { $0.log == nil } }
        pendingLogs.append(WeakLog(log: log))
    }

    private struct WeakLog { weak var log: DeletionLog? }

    mutating func endLog() -> ContiguousArray<GraphChange> {
        let taken = log
        log = []
        logsDeletions = false
        return taken
    }

    /// Forgets all changes and clears the objects' bits.
    mutating func clear() {
        var former = reuseSpare()
        swap(&former, &dirty)
        former.borrowEach {
            $0._state.clear([.dirty, .inDirtyList, .event, .skipsLog, .replayed, .rulesApplied, .childBase])
        }
        event.borrowEach { $0._state.clear([.event, .skipsLog]) }
        if !event.isEmpty { event = [] }
        isAnnounced = false
        deletePropagation.removeAll()
        log = []
        logsDeletions = false
        if !pendingLogs.isEmpty { pendingLogs = [] }
        if !transients.isEmpty { transients = FormerTransients() }
        if !bases.isEmpty { bases = [:] }
        if !missingRows.isEmpty { missingRows = [] }
        dirtyCount = 0
        reuse(&former)
    }

    /// Removes objects without changes once they make up half of the list, which may be all that keeps them alive.
    mutating func compact() {
        guard dirty.count > dirtyCount, dirty.count >= 2 * dirtyCount else { return }
        dirty.removeAll { object in
            guard !object._state.has(.dirty) else { return false }
            object._state.clear(.inDirtyList)
            return true
        }
    }

    func objects(_ flag: ObjectFlags, without other: ObjectFlags = []) -> ContiguousArray<NSManagedObject> {
        dirty.filter { $0._state.has(flag) && !$0._state.has(other) }
    }
}

// MARK: - The door through which every change goes: user writes, inverses, delete rules, undo and redo

extension NSManagedObject {
    /// Prepares a write to an attribute slot and answers the overlay to write to.
    ///
    /// Reads the row of a fault first, logs the former value for an undo, and marks the object updated. An object
    /// without a context is only written.
    final func willWrite(_ slot: Int) -> Overlay {
        let state = _state
        // A new object of the open event is listed already, and undoing its insertion takes its values back too.
        if state.pointee.flags & ObjectFlags.quietMask == ObjectFlags.skipsLog.rawValue, let overlay = state.overlay {
            return overlay
        }
        return willWriteTracked(slot)
    }

    private final func willWriteTracked(_ slot: Int) -> Overlay {
        let state = _state
        // Nobody saves what is written to an object whose context is gone.
        guard !state.has(.detached), let context = state.identityMap?.context else { return state.makeOverlay() }
        if state.isFault { fireUnseen(writing: slot) }
        if state.info.hasTransientSlots { context.tracker.noteTransient(self, slot) }
        context.tracker.willWrite(self, slot)
        return state.makeOverlay()
    }

    /// Marks the object updated after a change of one of its relationships.
    final func didChangeRelationship() {
        // Listed already, in the open event too. Before an undo the open event ends, so an undo does not miss its first
        // change of an object.
        if _state.pointee.flags & ObjectFlags.knownMask == ObjectFlags([.updated, .eventUpdated]).rawValue { return }
        guard !_state.has(.detached), let context = _state.identityMap?.context else { return }
        if _state.isFault { fireUnseen() }
        context.tracker.touch(self)
    }
}
