// Undo and redo: the log of an event becomes one undo action; applying it goes through the same door and is logged again.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Takes the last group of changes back. Nothing happens without an undo manager.
    public final func undo() {
        checkQueue()
        undoManager?.undo()
    }

    /// Does again what was undone last.
    public final func redo() {
        checkQueue()
        undoManager?.redo()
    }

    final func observeUndoManager(_ former: UndoManager?) {
        guard former !== undoManager else { return }
        if let checkpointObserver { NotificationCenter.default.removeObserver(checkpointObserver) }
        checkpointObserver = nil
        processChanges()
        former?.removeAllActions(withTarget: self)
        tracker.keepsLog = undoManager != nil || ContextNotice.didChange.name.ifAwaited != nil
        tracker.undoManager = undoManager
        guard let undoManager else { return }
        let context = Unowned(self)
        checkpointObserver = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: undoManager, queue: nil
        ) { _ in context.object?.processChanges() }
    }

    /// Turns the log of the event that ends into one undo action.
    final func registerUndo(_ log: ContiguousArray<GraphChange>, hasDeletions: Bool) {
        guard let undoManager = tracker.undoManager else { return }
        if !log.isEmpty, undoManager.isUndoRegistrationEnabled {
            if hasDeletions {
                let kept = DeletionLog(log)
                tracker.keep(kept)
                undoManager.registerUndo(of: self) {
                    ($0 as? NSManagedObjectContext).map { UndoReplay($0, kept.changes, hasDeletions: true).run() }
                }
            } else {
                undoManager.registerUndo(of: self) {
                    ($0 as? NSManagedObjectContext).map { UndoReplay($0, log, hasDeletions: false).run() }
                }
            }
        }
        if !undoManager.isUndoing, !undoManager.isRedoing { undoManager.endEvent() }
    }

    /// An object that an undo or a merge brought to its saved state is not changed any more.
    final func revertIfRestored(_ object: NSManagedObject) {
        let state = object._state
        state.clear(.recheck)
        guard state.has(.updated), !state.has([.inserted, .deleted]) else { return }
        object.dropRestoredOrders()
        guard !SaveOperation.differs(object), tracker.transients.isEmpty || !tracker.transients.differ(object) else {
            return
        }
        tracker.unmark(object, .updated)
        state.revertUnchanged()
    }
}

/// A weak reference that a notification block may hold; the observer is removed before the object goes.
private struct Unowned: @unchecked Sendable {
    @Unretained var object: NSManagedObjectContext?
    init(_ object: NSManagedObjectContext) { self.object = object }
}
