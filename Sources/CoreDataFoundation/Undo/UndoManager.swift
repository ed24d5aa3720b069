// Foundation's UndoManager, which Foundation lacks on Linux: two stacks of groups of actions.

import CoreDataValues
import Foundation

/// Records how to take back what was done, in groups, and does it on `undo()`; what is registered meanwhile becomes the redo.
///
/// It is Foundation's class with two differences that Linux asks for. There are no selectors, so that actions are closures.
/// And nothing drives a run loop, so that an *event* is what a managed object context says it is: with `groupsByEvent`, a
/// group opens by itself at the first registration, and `undo()`, `redo()` or the context's `processPendingChanges()` close it.
///
/// Targets are not retained, as in Foundation; an action whose target is gone is skipped. A group without actions leaves
/// nothing to undo. Unbalanced calls trap with a sentence. An undo manager belongs to one thread (or queue) at a time.
open class UndoManager: NSObject {
    /// A key of `setActionUserInfoValue(_:forKey:)`.
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    /// Which way the actions that run at this moment go.
    enum Direction { case none, undoing, redoing }

    // Not checked for exclusivity: one thread uses an undo manager, handlers run between accesses, and the checks were 1,500
    // instructions of each save.
    @exclusivity(unchecked) var direction = Direction.none
    /// Open groups, outermost first. While undoing or redoing, the groups that record the way back.
    @exclusivity(unchecked) var open: [UndoGroup] = []
    @exclusivity(unchecked) var undoStack: [UndoGroup] = []
    @exclusivity(unchecked) var redoStack: [UndoGroup] = []
    @exclusivity(unchecked) private var disableCount = 0
    @exclusivity(unchecked) private var isPostingCheckpoint = false

    public override init() { super.init() }

    // MARK: Registration

    /// Counts down how often registration was disabled. Calling it more often than `disableUndoRegistration()` traps.
    open func enableUndoRegistration() {
        guard disableCount > 0 else {
            misuse(
                "enableUndoRegistration() was called without a disableUndoRegistration() before it; balance the two.")
        }
        disableCount -= 1
    }

    /// Stops recording until `enableUndoRegistration()` has been called as often. What is registered meanwhile is ignored.
    open func disableUndoRegistration() { disableCount += 1 }

    open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Records what takes back the change that is being made.
    ///
    /// Outside `undo()` and `redo()` this empties the redo stack. Traps when no group is open and `groupsByEvent` is false.
    ///
    /// - Parameters:
    ///   - target: The object `handler` is given; not retained. The handler is dropped unrun when the target is gone.
    ///   - handler: Takes back the change. What it registers in turn becomes the redo.
    public func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        register(
            UndoAction(target: target) { object in
                if let target = object as? TargetType { handler(target) }
            })
    }

    /// `registerUndo(withTarget:handler:)` for whoever knows what its target is.
    package func registerUndo(of target: AnyObject, _ handler: @escaping (AnyObject) -> Void) {
        register(UndoAction(target: target, handler: handler))
    }

    private func register(_ action: UndoAction) {
        guard isUndoRegistrationEnabled else { return }
        openEventGroupIfNeeded()
        guard let group = open.last else {
            misuse(
                "registerUndo(withTarget:handler:) was called with no group open; call beginUndoGrouping() first, "
                    + "or leave groupsByEvent on.")
        }
        group.items.append(.action(action))
        if direction == .none { redoStack.removeAll() }
    }

    /// Opens the event's group before there is anything to register, so that `canUndo` and `setActionName(_:)` see it.
    ///
    /// For contexts, which register what changed only when they process pending changes. Does nothing while
    /// registration is disabled.
    package func expectChanges() {
        guard isUndoRegistrationEnabled else { return }
        openEventGroupIfNeeded()
        open.last?.expectsChanges = true
        if direction == .none { redoStack.removeAll() }
    }

    /// Empties both stacks and enables registration. Groups that the caller opened stay open, emptied.
    open func removeAllActions() {
        undoStack.removeAll()
        redoStack.removeAll()
        disableCount = 0
        if let only = open.first, open.count == 1, only.isEvent { open.removeAll() }
        for group in open { empty(group) }
    }

    private func empty(_ group: UndoGroup) {
        group.items.removeAll()
        group.expectsChanges = false
        group.label = UndoGroup.Label()
    }

    /// Drops every action of `target`, from both stacks and from open groups.
    open func removeAllActions(withTarget target: Any) {
        let target = target as AnyObject
        for group in undoStack + redoStack + open { group.removeActions(for: target) }
        undoStack.removeAll(where: \.isEmpty)
        redoStack.removeAll(where: \.isEmpty)
    }

    // MARK: Settings

    /// Whether the first registration of an event opens a group by itself. True unless set.
    @exclusivity(unchecked) open var groupsByEvent = true

    /// The most groups a stack keeps, the oldest going first; 0 for no limit.
    @exclusivity(unchecked) open var levelsOfUndo = 0 {
        didSet {
            guard levelsOfUndo >= 0 else { misuse("levelsOfUndo was set to \(levelsOfUndo); set 0 for no limit.") }
            trim()
        }
    }

    /// Kept for source compatibility. No run loop closes groups here, so that the modes have no effect.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    func trim() {
        guard levelsOfUndo > 0 else { return }
        undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
        redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
    }

    // MARK: Groups

    /// Opens a group inside the ones that are open, the event's own included. Close it with `endUndoGrouping()`.
    ///
    /// A change that a context has not registered yet belongs to the groups that were open before; where there is none, and the
    /// event opens none, it joins this one.
    open func beginUndoGrouping() {
        if direction == .none, groupsByEvent || !open.isEmpty { postCheckpoint() }
        openEventGroupIfNeeded()
        openGroup(isEvent: false)
    }

    /// Closes the group opened last. Traps when none is open.
    open func endUndoGrouping() {
        postCheckpoint()
        guard !open.isEmpty else {
            misuse("endUndoGrouping() was called with no group open; balance it with beginUndoGrouping().")
        }
        closeGroup()
    }

    /// How many groups are open, one inside the other; 0 when none is.
    open var groupingLevel: Int { open.count }

    // MARK: Undo and redo

    /// Closes the top-level group if it is the only one open, and takes back the last group. Traps when more are open.
    open func undo() {
        refuseWhileRunning("undo()")
        postCheckpoint()
        guard open.count <= 1 else {
            misuse("undo() was called with \(open.count) groups open; close the inner ones with endUndoGrouping().")
        }
        if open.count == 1 { closeGroup() }
        undoNestedGroup()
    }

    /// Takes back the last closed group, be it a top-level one or the last inside the open group.
    ///
    /// Traps when actions were registered in the open group since. Does nothing when there is nothing to take back.
    open func undoNestedGroup() {
        refuseWhileRunning("undoNestedGroup()")
        postCheckpoint()
        guard let group = takeLastGroup() else { return }
        post(.NSUndoManagerWillUndoChange)
        run(group, .undoing)
        post(.NSUndoManagerDidUndoChange)
    }

    /// Does again what the last undo took back. Does nothing when there is nothing, or when something was registered since.
    open func redo() {
        refuseWhileRunning("redo()")
        postCheckpoint()
        closeEventGroup()
        guard let group = redoStack.popLast() else { return }
        post(.NSUndoManagerWillRedoChange)
        run(group, .redoing)
        post(.NSUndoManagerDidRedoChange)
    }

    /// Whether there are actions to take back. An inner group may have to be closed before `undo()`.
    open var canUndo: Bool { !undoStack.isEmpty || direction == .none && hasActions }

    open var canRedo: Bool {
        if direction == .none { postCheckpoint() }
        return !redoStack.isEmpty
    }

    /// How many times `undo()` can be called.
    open var undoCount: Int { undoStack.count + (direction == .none && hasActions ? 1 : 0) }

    /// How many times `redo()` can be called.
    open var redoCount: Int { redoStack.count }

    open var isUndoing: Bool { direction == .undoing }

    open var isRedoing: Bool { direction == .redoing }

    // MARK: Names and labels

    /// Names the outermost group that is being recorded, or the last one recorded. An empty name takes the name away.
    open func setActionName(_ actionName: String) { labelled?.label.name = actionName }

    /// The name of what `undo()` takes back; empty when it has none.
    open var undoActionName: String { undoGroup?.label.name ?? "" }

    /// The name of what `redo()` does again; empty when it has none.
    open var redoActionName: String { redoStack.last?.label.name ?? "" }

    /// The menu command's whole title: `Undo` and the action's name.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// The menu command's whole title: `Redo` and the action's name.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// `Undo` and a name, in English: override it to localise.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// `Redo` and a name, in English: override it to localise.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    /// Marks the latest action as one that may be dropped when a document cannot be saved.
    open func setActionIsDiscardable(_ discardable: Bool) { labelled?.label.isDiscardable = discardable }

    open var undoActionIsDiscardable: Bool { undoGroup?.isDiscardable ?? false }

    open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

    /// Keeps something of the application's with the latest action; nil takes it away.
    open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
        labelled?.label.userInfo[key] = info
    }

    open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { undoGroup?.label.userInfo[key] }

    open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.last?.label.userInfo[key] }

    // MARK: Notifications

    func post(_ name: Notification.Name, userInfo: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }

    /// Asks contexts to register what they have not yet. Their registrations open groups, which asks again: once is enough.
    func postCheckpoint() {
        guard !isPostingCheckpoint else { return }
        isPostingCheckpoint = true
        post(.NSUndoManagerCheckpoint)
        isPostingCheckpoint = false
    }

    /// Closes the group that the event opened, unless the caller opened others inside it.
    ///
    /// Called by a context that has processed or dropped its pending changes. Does nothing inside a checkpoint, whose
    /// sender closes the group itself.
    package func endEvent() {
        guard !isPostingCheckpoint, direction == .none, open.count == 1, open[0].isEvent else { return }
        closeGroup()
    }
}
