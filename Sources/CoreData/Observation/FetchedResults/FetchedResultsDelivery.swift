// Tells a controller's delegate, and those who read its changes, what an event made of the results.

import Foundation

/// A controller, whatever its results are.
protocol AnyFetchedResultsController: AnyObject {
    var erased: NSFetchedResultsController<any NSFetchRequestResult> { get }
    func indexTitle(ofSection name: String) -> String?
}

/// Calls a controller's delegate in the first form that it implements, and hands the same to those who read `changes`.
final class FetchedResultsDelivery {
    weak var controller: (any AnyFetchedResultsController)?
    weak var delegate: (any NSFetchedResultsControllerDelegate)?
    /// What the delegate does not implement, as far as it was asked.
    var lacking: LackingForms = []
    let readers = FetchedReaders()
    /// The last snapshot that the delegate was told, if it has temporary IDs.
    private var earlySnapshot: FetchedResultsSnapshot?

    /// Whether anybody would be told.
    var isAwaited: Bool { delegate != nil || !readers.isEmpty }

    /// Tells the delegate what a fetch found.
    func tell(_ list: FetchedList) {
        if let delegate, let controller { tellSnapshot(list, reloaded: [], delegate, controller.erased) }
    }

    /// Tells the delegate the snapshot anew if it knows results by temporary IDs that have become permanent ones.
    func tellPermanentIDs(of list: FetchedList) {
        guard let earlySnapshot, let delegate, let controller,
            FetchedResultsSnapshot(list).itemIdentifiers != earlySnapshot.itemIdentifiers
        else { return }
        tellSnapshot(list, reloaded: [], delegate, controller.erased)
    }

    /// Tells a difference.
    ///
    /// - Parameters:
    ///   - hasSections: whether there is a section key path.
    ///   - show: makes a list the controller's results: the new one when the form at work wants it there.
    func tell(
        _ difference: FetchedDifference, from old: FetchedList, to new: FetchedList, hasSections: Bool,
        show: (FetchedList) -> Void
    ) {
        guard !difference.isEmpty else { return show(new) }
        defer { readers.tell(FetchedResultsChanges(difference, from: old, to: new)) }
        guard let delegate, let controller = controller?.erased else { return show(new) }
        let updated = difference.changes.filter { $0.type == .update }.map(\.object)
        if !lacking.contains(.snapshot) {
            show(new)
            if tellSnapshot(new, reloaded: updated, delegate, controller) { return }
            show(old)
        }
        if !hasSections, !lacking.contains(.difference) {
            show(new)
            delegate.controller(
                controller,
                didChangeContentWith: new.objects.map(\.objectID).difference(from: old.objects.map(\.objectID))
                    .inferringMoves())
            if !lacking.contains(.difference) { return }
            show(old)
        }
        delegate.controllerWillChangeContent(controller)
        show(new)
        tellEach(difference, from: old, to: new, delegate, controller)
        delegate.controllerDidChangeContent(controller)
    }

    /// False where the delegate has no such method.
    @discardableResult private func tellSnapshot(
        _ list: FetchedList, reloaded: [NSManagedObject], _ delegate: any NSFetchedResultsControllerDelegate,
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) -> Bool {
        guard !lacking.contains(.snapshot) else { return false }
        let snapshot = FetchedResultsSnapshot(list, reloaded: reloaded)
        earlySnapshot = snapshot.itemIdentifiers.contains(where: \.isTemporaryID) ? snapshot : nil
        delegate.controller(controller, didChangeContentWith: snapshot)
        return !lacking.contains(.snapshot)
    }

    private func tellEach(
        _ difference: FetchedDifference, from old: FetchedList, to new: FetchedList,
        _ delegate: any NSFetchedResultsControllerDelegate,
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
        for section in difference.deletedSections {
            let info = FetchedSection(section, of: old, self.controller)
            delegate.controller(controller, didChange: info, atSectionIndex: section, for: .delete)
        }
        for section in difference.insertedSections {
            let info = FetchedSection(section, of: new, self.controller)
            delegate.controller(controller, didChange: info, atSectionIndex: section, for: .insert)
        }
        for change in difference.changes {
            delegate.controller(
                controller, didChange: change.object, at: change.old.map(old.path(at:)), for: change.type,
                newIndexPath: change.new.map(new.path(at:)))
        }
    }
}
