// What may be taken to other threads: IDs of results, and of changes of them.

import Foundation
import Synchronization

/// The IDs of a controller's results by section.
public struct FetchedResultsSnapshot: Hashable, Sendable {
    /// The names of the sections.
    public let sectionIdentifiers: [String]
    /// The IDs of all results.
    public let itemIdentifiers: [NSManagedObjectID]
    /// Those whose values the event changed. Objects that moved may be among them.
    public let reloadedItemIdentifiers: [NSManagedObjectID]
    private let sections: [FetchedList.Section]
    private let bounds: [Int]

    init() { (sectionIdentifiers, itemIdentifiers, reloadedItemIdentifiers, sections, bounds) = ([], [], [], [], [0]) }

    init(_ list: FetchedList) { self.init(list, reloaded: []) }

    init(_ list: FetchedList, reloaded: [NSManagedObject]) {
        sectionIdentifiers = list.sections.map(\.name)
        itemIdentifiers = list.objects.map(\.objectID)
        reloadedItemIdentifiers = reloaded.map(\.objectID)
        (sections, bounds) = (list.sections, list.bounds)
    }

    public var numberOfSections: Int { sectionIdentifiers.count }
    public var numberOfItems: Int { itemIdentifiers.count }

    /// The IDs of one section, by its number; none for a number that is not there.
    public func itemIdentifiers(inSection section: Int) -> ArraySlice<NSManagedObjectID> {
        sectionIdentifiers.indices.contains(section) ? itemIdentifiers[bounds[section]..<bounds[section + 1]] : []
    }

    /// The IDs of the first section of a name; none for a name that is not there.
    public func itemIdentifiers(inSection name: String) -> ArraySlice<NSManagedObjectID> {
        let first = FetchedList.Section(name: name, occurrence: 0)
        return sections.firstIndex(of: first).map { itemIdentifiers(inSection: $0) } ?? []
    }
}

/// What one event of a context changed in a controller's results.
///
/// Take out what was deleted or moved by `indexPath`, from the end; then sections, from the end; put in sections, from the front, then
/// what was inserted or moved by `newIndexPath`, from the front: the arrays have this order.
public struct FetchedResultsChanges: Sendable {
    public struct Section: Hashable, Sendable {
        public let name: String
        public let index: Int
        /// `insert` or `delete`.
        public let type: NSFetchedResultsChangeType
    }
    public struct Item: Hashable, Sendable {
        public let objectID: NSManagedObjectID
        public let type: NSFetchedResultsChangeType
        /// Where it was before the event.
        public let indexPath: IndexPath?
        /// Where it is after it.
        public let newIndexPath: IndexPath?
    }

    public let sections: [Section]
    public let items: [Item]

    init(_ difference: FetchedDifference, from old: FetchedList, to new: FetchedList) {
        sections =
            difference.deletedSections.map { Section(name: old.sections[$0].name, index: $0, type: .delete) }
            + difference.insertedSections.map { Section(name: new.sections[$0].name, index: $0, type: .insert) }
        items = difference.changes.map {
            Item(
                objectID: $0.object.objectID, type: $0.type, indexPath: $0.old.map(old.path(at:)),
                newIndexPath: $0.new.map(new.path(at:)))
        }
    }
}
