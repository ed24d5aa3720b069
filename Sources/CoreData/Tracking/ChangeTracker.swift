// The door through which every change goes: user writes, inverses, delete rules, undo and redo.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject {
    /// Says that an attribute slot is about to change, and answers where to write the value.
    ///
    /// Reads the row of a fault first, logs the former value for an undo, and marks the object changed. An object without a
    /// context is written without further ado.
    final func willWrite(_ slot: Int) -> Overlay {
        let state = _state
        // A new object of the open event is listed already, and undoing its insertion undoes its values.
        if state.pointee.flags & ObjectFlags.quietMask == ObjectFlags.fresh.rawValue, let overlay = state.overlay {
            return overlay
        }
        return willWriteTracked(slot)
    }

    private final func willWriteTracked(_ slot: Int) -> Overlay {
        let state = _state
        // Nobody will save what is written to an object whose context is gone.
        guard !state.has(.gone), let context = state.identityMap?.context else { return state.makeOverlay() }
        if state.isFault { fireUnseen(writing: slot) }
        if state.info.hasTransientSlots { context.tracker.noteTransient(self, slot) }
        context.tracker.willWrite(self, slot)
        return state.makeOverlay()
    }

    /// Says that a relationship of this object changed.
    final func didChangeRelationship() {
        // Listed already, in the open event too. An undo starts with no open event, so it cannot miss its first touch.
        if _state.pointee.flags & ObjectFlags.knownMask == ObjectFlags([.updated, .eventUpdated]).rawValue { return }
        guard !_state.has(.gone), let context = _state.identityMap?.context else { return }
        if _state.isFault { fireUnseen() }
        context.tracker.touch(self)
    }
}

/// The pending changes of one context: which objects are dirty, which belong to the open event, and the log for undo.
struct ChangeTracker {
    /// Objects with changes, each once; some may have none any more (I-2).
    private(set) var dirty: ContiguousArray<NSManagedObject> = []
    /// How many of them have changes.
    private(set) var dirtyCount = 0
    /// Objects of the open event, each once a kind.
    private(set) var event: ContiguousArray<NSManagedObject> = []
    /// Whether the undo manager knows of the open event.
    private var isAnnounced = false
    /// An empty list with room.
    private var spare: ContiguousArray<NSManagedObject> = []
    /// Deleted objects whose delete rules were not applied yet.
    var unpropagated: ContiguousArray<NSManagedObject> = []
    /// The same of former events, where the rules wait for the save.
    var postponed: ContiguousArray<NSManagedObject> = []
    /// What the running redo has deleted.
    var redone: ContiguousArray<NSManagedObject> = []
    /// Deleted objects whose delete rules were applied to others that were refreshed since: they are applied to these anew.
    var reopened: ContiguousArray<NSManagedObject> = []
    /// Objects whose rows were found gone when they were changed.
    var missed: ContiguousArray<NSManagedObject> = []
    /// What transient values of changed objects were at the last save.
    private(set) var transients = FormerTransients()
    /// What changes of children were made on, for objects that are `based`.
    var bases: [ObjectIdentifier: PushBase] = [:]
    var log: ContiguousArray<GraphChange> = []
    /// Whether deletions are in the log, or insertions taken back.
    var logsDeletions = false
    /// Logs with deletions that no save has carried out yet, the last one last. The undo stack alone holds them.
    private var pendingLogs: [WeakLog] = []
    var deletionLogs: [DeletionLog] { pendingLogs.compactMap(\.log) }
    var hasDeletionLogs: Bool { !pendingLogs.isEmpty }
    /// Whether there is a use for a log: there is an undo manager, or did-change notifications are awaited, in which a program may ask
    /// what was there before the event.
    var keepsLog = false
    /// On whose behalf objects are written to now.
    var origin = WriteOrigin()
    /// Whether writes are logged now.
    var isLogging: Bool { keepsLog && origin.isUndone }
    /// Told when an event begins, so that it opens the event's group.
    var undoManager: UndoManager?
    /// While an undo or redo runs: what it touched.
    var replayed: ContiguousArray<NSManagedObject>?
    var isReplaying: Bool { replayed != nil }
    /// Whether the next change leaves the end of its event to the main queue.
    var awaitsTurn = false

    /// Whether no object is listed.
    var isEmpty: Bool { dirty.isEmpty && event.isEmpty }
    var hasEvent: Bool { !event.isEmpty || !unpropagated.isEmpty || !postponed.isEmpty }

    // MARK: Marking

    mutating func willWrite(_ object: NSManagedObject, _ slot: Int) {
        guard origin.isNoticed else { return }
        if isLogging, !object._state.has(.fresh) {
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
        if replayed != nil, !state.has(.recheck) {
            state.set(.recheck)
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
        if !state.has(.listed) {
            state.set(.listed)
            dirty.append(object)
        }
    }

    /// Lists a new object everywhere at once.
    mutating func insert(_ object: NSManagedObject) {
        let state = object._state
        guard !state.has([.dirty, .listed, .event]) else {
            mark(object, .inserted)
            addToEvent(object, .eventInserted)
            if isLogging { log.append(.existence(object, appeared: true)) }
            return state.set(.fresh)
        }
        if !isAnnounced, isLogging { announce() }
        if awaitsTurn { expectTurn(of: object) }
        dirtyCount += 1
        state.set([.inserted, .listed, .eventInserted, .fresh])
        dirty.append(object)
        event.append(object)
        if isLogging { log.append(.existence(object, appeared: true)) }
    }

    /// Lists a deleted object; its delete rules come later.
    ///
    /// One that is new in the open event is fresh no more: what it leaves is logged, so that an undo finds each order as it was.
    mutating func delete(_ object: NSManagedObject) {
        object._state.clear(.fresh)
        if isLogging {
            log.append(.existence(object, appeared: false))
            logsDeletions = true
        }
        mark(object, .deleted)
        addToEvent(object, .eventDeleted)
        unpropagated.append(object)
    }

    /// Leaves the delete rules of the open event to the save.
    mutating func postpone() {
        postponed += unpropagated
        unpropagated = []
    }

    /// Logs that a deletion is taken back: one of the open event, whose delete rules still wait, leaves no trace.
    mutating func logRevival(of object: NSManagedObject) {
        guard isLogging else { return }
        // An undo brings objects back before it deletes any.
        let place = replayed != nil ? nil : log.lastIndex { $0.isDeletion(of: object) }
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

    /// Forgets an object's changes.
    mutating func discard(_ object: NSManagedObject) {
        unmark(object, .dirty)
        object._state.clear([.propagated, .eventInserted, .eventUpdated, .eventDeleted])
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

    /// Has the undo manager open a group for the event. A refresh alone, which nobody undoes, does not.
    private mutating func announce() {
        isAnnounced = true
        undoManager?.expectChanges()
    }

    /// The object is the first of a main-queue context that changes in this turn of the main queue.
    @inline(never)
    private mutating func expectTurn(of object: NSManagedObject) {
        if object._state.identityMap?.context?.endEventWithTurn() == true { awaitsTurn = false }
    }

    // MARK: Taking

    /// Ends the open event and answers its objects; their event bits are still set. `reuse` takes the list back.
    mutating func endEvent() -> ContiguousArray<NSManagedObject> {
        var taken = reuseSpare()
        swap(&taken, &event)
        isAnnounced = false
        return taken
    }

    /// Takes back the memory of a list that was taken, for the next changes. A context that saves one object after the other
    /// would allocate its lists at every save.
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

    mutating func keep(_ log: DeletionLog) {
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

    /// Forgets everything, the objects' bits included.
    mutating func clear() {
        var former = reuseSpare()
        swap(&former, &dirty)
        former.borrowEach { $0._state.clear([.dirty, .listed, .event, .fresh, .recheck, .propagated, .based]) }
        event.borrowEach { $0._state.clear([.event, .fresh]) }
        if !event.isEmpty { event = [] }
        isAnnounced = false
        unpropagated = []
        postponed = []
        redone = []
        reopened = []
        log = []
        logsDeletions = false
        if !pendingLogs.isEmpty { pendingLogs = [] }
        if !transients.isEmpty { transients = FormerTransients() }
        if !bases.isEmpty { bases = [:] }
        if !missed.isEmpty { missed = [] }
        dirtyCount = 0
        reuse(&former)
    }

    /// Drops objects that have no changes any more from the list, when they are half of it: nobody else may hold them.
    mutating func compact() {
        guard dirty.count > dirtyCount, dirty.count >= 2 * dirtyCount else { return }
        dirty.removeAll { object in
            guard !object._state.has(.dirty) else { return false }
            object._state.clear(.listed)
            return true
        }
    }

    func objects(_ flag: ObjectFlags, without other: ObjectFlags = []) -> ContiguousArray<NSManagedObject> {
        dirty.filter { $0._state.has(flag) && !$0._state.has(other) }
    }
}
