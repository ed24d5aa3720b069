// Who is told of changed results, and what of.

import Foundation

/// What became of an object or a section.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    case insert = 1
    case delete = 2
    case move = 3
    case update = 4
}

/// One section of the results.
public protocol NSFetchedResultsSectionInfo {
    var name: String { get }
    /// What an index beside the list shows.
    var indexTitle: String? { get }
    var numberOfObjects: Int { get }
    var objects: [Any]? { get }
}

/// Is told of changes of a controller's results, on the context's queue.
///
/// Three forms: a snapshot, a difference of IDs (where there is no section key path), or sections and objects one by one. Of these
/// the first that a delegate implements is called, and no other. Every method is optional.
///
/// One by one: will change · sections · objects · did change. `indexPath` and the places of deleted sections count in the list as it
/// was before the event, `newIndexPath` and the places of inserted sections as it is after it: take out from the end what was deleted
/// or moved, then put in from the front what was inserted or moved. The calls come in this order.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
    /// All IDs by section, and those that were updated; also told by `performFetch()`.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: FetchedResultsSnapshot)
    /// What leads from the former IDs to those of now, moves among it. Updates are not part of it.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
    /// An object came, went, moved or has other values.
    ///
    /// A move is told of an object that changed and stands elsewhere among the others now; it may have other values as well. Objects
    /// that only make room are not told. An update has both paths.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)
    /// A section came or went.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)
    /// The results still are as they were.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

/// What a delegate does not implement. Its default implementations say so, once.
struct LackingForms: OptionSet {
    let rawValue: UInt8
    static let snapshot = LackingForms(rawValue: 1)
    static let difference = LackingForms(rawValue: 2)
    static let indexTitles = LackingForms(rawValue: 4)
}

extension NSFetchedResultsControllerDelegate {
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: FetchedResultsSnapshot
    ) { controller.results.delivery.lacking.insert(.snapshot) }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { controller.results.delivery.lacking.insert(.difference) }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {}

    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        controller.results.delivery.lacking.insert(.indexTitles)
        return nil
    }
}
