// Opening, closing, undoing and redoing groups.

import CoreDataValues
import Foundation

extension UndoManager {
    func openEventGroupIfNeeded() {
        if groupsByEvent, open.isEmpty { openGroup(isEvent: true) }
    }

    func openGroup(isEvent: Bool) {
        open.append(UndoGroup(isEvent: isEvent))
        post(UndoManager.didOpen)
    }

    /// Closes the innermost group: into the one around it, or onto the stack that is being recorded.
    func closeGroup() {
        guard let group = open.last else { return }
        post(UndoManager.willClose, of: group)
        open.removeLast()
        if !group.isEmpty { keep(group) }
        post(UndoManager.didClose, of: group)
    }

    private func post(_ awaited: AwaitedName, of group: UndoGroup? = nil) {
        guard let name = awaited.ifAwaited else { return }
        post(name, userInfo: group?.isDiscardable == true ? [NSUndoManagerGroupIsDiscardableKey: true] : nil)
    }

    private func keep(_ group: UndoGroup) {
        if let outer = open.last {
            outer.items.append(.group(group))
        } else {
            switch direction {
            case .none, .redoing: undoStack.append(group)
            case .undoing: redoStack.append(group)
            }
            trim()
        }
    }

    /// Runs a group and records what it registers as one group on the other stack.
    ///
    /// Groups that are open around a nested undo are set aside meanwhile: the way back does not belong to them.
    func run(_ group: UndoGroup, _ way: Direction) {
        let outside = open
        open = []
        direction = way
        openGroup(isEvent: false)
        open[0].label = group.label
        group.run()
        postCheckpoint()
        while !open.isEmpty { closeGroup() }
        direction = .none
        open = outside
    }

    /// The group that `undoNestedGroup()` takes back: the last one that is closed.
    func takeLastGroup() -> UndoGroup? {
        guard let innermost = open.last else { return undoStack.popLast() }
        switch innermost.items.last {
        case nil: return nil
        case .group(let group):
            innermost.items.removeLast()
            return group
        case .action:
            misuse(
                "undoNestedGroup() was called while a group with registered actions is open; "
                    + "call endUndoGrouping() first, or undo().")
        }
    }

    func closeEventGroup() {
        if open.count == 1, open[0].isEvent { closeGroup() }
    }

    func refuseWhileRunning(_ method: String) {
        switch direction {
        case .none: break
        case .undoing: misuse("\(method) was called while an undo is running; call it when the undo has returned.")
        case .redoing: misuse("\(method) was called while a redo is running; call it when the redo has returned.")
        }
    }

    /// The group that a menu's Undo would take back: the outermost open one if it has actions, else the last closed one.
    var undoGroup: UndoGroup? {
        if direction == .none, let outermost = open.first, hasActions { return outermost }
        return undoStack.last
    }

    var hasActions: Bool { open.contains { !$0.isEmpty || $0.expectsChanges } }

    /// The group that naming applies to: what is being recorded, else what was recorded last.
    var labelled: UndoGroup? { open.first ?? undoStack.last }
}
