// The notifications an undo manager posts, each with itself as the object.

import Foundation

/// Set to true in the notifications of a closing group that is discardable as a whole.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

/// When Foundation's run loop closes an event's group. Kept for source compatibility; no run loop does so here.
public let NSUndoCloseGroupingRunLoopOrdering = 350_000

extension NSNotification.Name {
    /// Before groups open, close, are undone or redone, and when `canRedo` is asked: register what is pending now.
    public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")
    public static let NSUndoManagerWillUndoChange = NSNotification.Name("NSUndoManagerWillUndoChangeNotification")
    public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")
    public static let NSUndoManagerWillRedoChange = NSNotification.Name("NSUndoManagerWillRedoChangeNotification")
    public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")
    public static var NSUndoManagerDidOpenUndoGroup: NSNotification.Name { UndoManager.didOpen.asked }
    public static var NSUndoManagerWillCloseUndoGroup: NSNotification.Name { UndoManager.willClose.asked }
    public static var NSUndoManagerDidCloseUndoGroup: NSNotification.Name { UndoManager.didClose.asked }
}

extension UndoManager {
    // Posted at every event.
    static let didOpen = AwaitedName("NSUndoManagerDidOpenUndoGroupNotification")
    static let willClose = AwaitedName("NSUndoManagerWillCloseUndoGroupNotification")
    static let didClose = AwaitedName("NSUndoManagerDidCloseUndoGroupNotification")
}
