// Undo and redo: the log of an event becomes one undo action, whose replay writes by the same code and is logged again.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Undoes the last group of changes. Nothing happens without an undo manager.
    public final func undo() {
        checkQueue()
        undoManager?.undo()
    }

    /// Redoes what was undone last.
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

    /// Registers the log of the event that ends as one undo action.
    final func registerUndo(_ log: ContiguousArray<GraphChange>, hasDeletions: Bool) {
        guard let undoManager = tracker.undoManager else { return }
        if !log.isEmpty, undoManager.isUndoRegistrationEnabled {
            if hasDeletions {
                let kept = DeletionLog(log)
                tracker.addDeletionLog(kept)
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

    /// Marks an object as unchanged if an undo or a merge has brought it back to its saved state.
    final func revertIfRestored(_ object: NSManagedObject) {
        let state = object._state
        state.clear(.replayed)
        guard state.has(.updated), !state.has([.inserted, .deleted]) else { return }
        object.dropRestoredOrders()
        guard !object.differsFromRow, tracker.transients.isEmpty || !tracker.transients.differ(object) else {
            return
        }
        tracker.unmark(object, .updated)
        state.revertUnchanged()
    }
}

/// An unretained reference for a notification block; the observer is removed before the object goes.
private struct Unowned: @unchecked Sendable {
    @Unretained var object: NSManagedObjectContext?
    init(_ object: NSManagedObjectContext) { self.object = object }
}
