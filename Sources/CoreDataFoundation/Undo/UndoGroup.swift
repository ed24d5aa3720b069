// What undo stacks hold, actions and groups of them: opening, closing, undoing and redoing these.

import CoreDataValues
import Foundation

/// One registered action. Its target is held weakly and skipped once it is gone.
struct UndoAction {
    @Unretained private var target: AnyObject?
    private let handler: (AnyObject) -> Void

    init(target: AnyObject, handler: @escaping (AnyObject) -> Void) {
        self.target = target
        self.handler = handler
    }

    func isFor(_ other: AnyObject) -> Bool { target === other }

    func run() {
        if let target { handler(target) }
    }
}

/// Actions and nested groups in the order of their registration; undone as one, last first.
final class UndoGroup {
    enum Item {
        case action(UndoAction)
        case group(UndoGroup)
    }

    /// What a menu and a document know of a group; it travels with the group from undo to redo and back.
    struct Label {
        var name = ""
        var isDiscardable = false
        var userInfo: [UndoManager.UserInfoKey: Any] = [:]
    }

    // Not checked for exclusivity, as in `UndoManager`.
    @exclusivity(unchecked) var items: [Item] = []
    var label = Label()
    /// Whether it was opened by the first registration of an event, so that the event's end closes it.
    let isEvent: Bool
    /// Whether a context has noted changes that it has not registered yet.
    var expectsChanges = false

    init(isEvent: Bool = false) { self.isEvent = isEvent }

    var isEmpty: Bool { items.isEmpty }

    /// A group is discardable when it was marked so, or when all it holds are discardable groups.
    var isDiscardable: Bool {
        if label.isDiscardable { return true }
        return !items.isEmpty
            && items.allSatisfy { item in
                switch item {
                case .action: false
                case .group(let group): group.isDiscardable
                }
            }
    }

    /// Runs everything, last first. Consumes the items, so that what they hold is released as it is done with.
    func run() {
        while let item = items.popLast() {
            switch item {
            case .action(let action): action.run()
            case .group(let group): group.run()
            }
        }
    }

    /// Drops the actions of a target, and the nested groups that this empties.
    func removeActions(for target: AnyObject) {
        items.removeAll { item in
            switch item {
            case .action(let action): return action.isFor(target)
            case .group(let group):
                group.removeActions(for: target)
                return group.isEmpty
            }
        }
    }
}

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
