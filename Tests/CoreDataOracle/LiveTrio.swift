// Three real contexts, moved as the reference is.

import CoreData
import CoreDataTestSupport

final class LiveTrio {
    private let first: Live
    private let second: Live
    private let child: Live
    private var savedChanges: Notification?
    private var observers: [any NSObjectProtocol] = []

    init(_ stack: Stack) {
        first = Live(stack)
        second = Live(stack)
        child = Live(stack, parent: first.context)
        for live in [first, second] {
            let box = Unchecked(self)
            observers.append(
                NotificationCenter.default.addObserver(
                    forName: .NSManagedObjectContextDidSave, object: live.context, queue: nil
                ) { box.trio?.savedChanges = $0 })
        }
    }

    deinit { observers.forEach { NotificationCenter.default.removeObserver($0) } }

    private final class Unchecked: @unchecked Sendable {
        weak var trio: LiveTrio?
        init(_ trio: LiveTrio) { self.trio = trio }
    }

    private subscript(site: Site) -> Live {
        switch site {
        case .first: first
        case .second: second
        case .child: child
        }
    }

    /// Makes a move; `before` and `after` are what the reference says.
    func apply(_ move: Move, before: Trio, after: Trio) throws {
        switch move {
        case .act(let site, let action):
            if site == .child, before.isChildBehind { try child.startAnew() }
            try self[site].apply(action)
            if case .save = action, site != .child { try merge(into: site == .first ? second : first) }
            try self[site].compare(after[site], after: action)
        case .push:
            try child.apply(.save)
            first.context.processPendingChanges()
            try first.findObjects()
            try child.compare(after.child, after: .save)
            try first.compare(after.first, after: .process)
        case .reset:
            try first.startAnew()
            try second.startAnew()
            try first.compare(after.first, after: .reread)
        case .clash(let clash):
            try apply(clash, after)
            try first.compare(after.first, after: .reread)
            try second.compare(after.second, after: .process)
        case .interrupt(let site, let interruption):
            try self[site.other].apply(interruption.action)
            try self[site.other].apply(.save)
            self[site].context.processPendingChanges()
            try tell(self[site])
            try self[site].compare(after[site], after: .process)
            try self[site.other].compare(after[site.other], after: .save)
        }
    }

    func compareStore(_ trio: Trio) throws { try first.compareStore(trio.first) }

    /// The other context hears what was saved.
    private func merge(into other: Live) throws {
        try tell(other)
        other.forgetUndo()
        try other.findObjects()
    }

    private func tell(_ other: Live) throws {
        if let savedChanges { other.context.mergeChanges(fromContextDidSave: savedChanges) }
        savedChanges = nil
        other.context.processPendingChanges()
    }

    // MARK: Conflicts

    private func apply(_ clash: Clash, _ after: Trio) throws {
        try first.write(clash.ours, to: clash.id)
        try second.write(clash.theirs, to: clash.id)
        try first.context.save()
        savedChanges = nil
        second.context.mergePolicy = clash.policy.live
        defer { second.context.mergePolicy = NSMergePolicy.error }
        do {
            try second.context.save()
            guard clash.policy != .error else { throw Discrepancy("the conflict was not noticed") }
            // What the policy decided is in memory, here and, once it is told, where the other side was saved.
            try second.compareGraph(after.second)
            try tell(first)
            try first.findObjects()
            try first.compareGraph(after.first)
        } catch let error as CocoaError where clash.policy == .error {
            guard error.code.rawValue == 133020 else { throw error }
            second.context.rollback()
        }
        for live in [second, first] { try live.startAnew() }
    }
}

extension Policy {
    fileprivate var live: NSMergePolicy {
        switch self {
        case .error: .error
        case .storeTrump: .mergeByPropertyStoreTrump
        case .objectTrump: .mergeByPropertyObjectTrump
        case .overwrite: .overwrite
        case .rollback: .rollback
        }
    }
}
