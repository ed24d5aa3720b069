// What undo stacks hold: actions, and groups of them.

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
