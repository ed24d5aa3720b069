// The objects of a fetch request, in sections, kept as the context's changes leave them.

import Foundation

/// Holds the results of a fetch request, and tells of what each change of the context does to them.
///
/// The request needs a sort order. Where there are sections its first key has to sort by section. Changes are followed from the first
/// `performFetch()` on, as long as there is a delegate or somebody reads `changes`: at the end of each event of the context, on the
/// context's queue. An event costs a pass over the list; it reads from the store only where predicate, order or sections lead to
/// other objects, or where the request has a limit, an offset or stores of its own.
open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: NSObject {
    // No stored property depends on the type: delegates get this object as a controller of any results.
    let results: FetchedResults

    /// What is fetched. A change of it counts from the next `performFetch()` on; with a cache, `deleteCache` has to come first.
    public let fetchRequest: NSFetchRequest<ResultType>
    public let sectionNameKeyPath: String?
    public let cacheName: String?

    /// - Parameters:
    ///   - fetchRequest: what is fetched; it needs a sort order.
    ///   - context: whose objects are listed, and whose changes the list follows.
    ///   - sectionNameKeyPath: what objects of one section have in common; nil for one section of all. The texts of the values are
    ///     the sections' names, none for nil.
    ///   - name: keeps a fetch from being changed unnoticed under one name. Nothing is written to a file.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName name: String?
    ) {
        self.fetchRequest = fetchRequest
        self.sectionNameKeyPath = sectionNameKeyPath
        cacheName = name
        results = FetchedResults(context)
        super.init()
    }

    public var managedObjectContext: NSManagedObjectContext { results.context }

    /// Who is told of changes; held weakly.
    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { results.delivery.delegate }
        set {
            results.delivery.lacking = []
            results.delivery.delegate = newValue
            results.delivery.controller = self
        }
    }

    /// Fetches, and makes the sections.
    ///
    /// - Throws: 134060 for a request without sort order, of other results than objects, or whose objects are not sorted by section
    ///   or not of the type of the results; and what the fetch throws. The former results stay then.
    open func performFetch() throws {
        results.delivery.controller = self
        let plan = try FetchedPlan(fetchRequest, sectionNameKeyPath, managedObjectContext)
        if let cacheName { try FetchedCaches.check(cacheName, plan) }
        try results.perform(plan)
    }

    /// Forgets what fetch goes by a name; all of them with nil.
    open class func deleteCache(withName name: String?) { FetchedCaches.delete(name) }

    // MARK: Results

    /// nil before the first `performFetch()`.
    open var fetchedObjects: [ResultType]? {
        guard let list = results.list else { return nil }
        // Each was checked when it was fetched or came in.
        return unsafeBitCast(list.objects, to: [ResultType].self)
    }

    /// The object at a section and a place in it. A path that is not there ends the process.
    open func object(at indexPath: IndexPath) -> ResultType {
        guard let list = results.list, let place = list.place(at: indexPath) else {
            results.refuse("object(at:)", indexPath)
        }
        return unsafeBitCast(list.objects[place], to: ResultType.self)
    }

    /// nil for an object that is not among the results. The first call after a change looks at all of them.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        results.list?.path(of: unsafeDowncast(object, to: NSManagedObject.self))
    }

    /// The IDs of the results by section, as they are now.
    public var snapshot: FetchedResultsSnapshot {
        results.list.map(FetchedResultsSnapshot.init) ?? FetchedResultsSnapshot()
    }

    /// What each event changes, from the call on; for several readers, ask several times. Ends with the controller.
    public var changes: AsyncStream<FetchedResultsChanges> {
        results.delivery.controller = self
        return results.delivery.readers.stream()
    }

    // MARK: Sections

    /// nil before the first `performFetch()`; then at least one where there is no `sectionNameKeyPath`.
    open var sections: [any NSFetchedResultsSectionInfo]? { results.sections }

    /// What an index beside the list shows for a section: its delegate's answer, else the first letter of the name, as a capital.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        if !results.delivery.lacking.contains(.indexTitles), let delegate {
            let title = delegate.controller(erased, sectionIndexTitleForSectionName: sectionName)
            if !results.delivery.lacking.contains(.indexTitles) { return title }
        }
        return sectionName.first.map { $0.uppercased() }
    }

    /// The titles of all sections, each once.
    open var sectionIndexTitles: [String] { results.indexTitles }

    /// The section of a title of `sectionIndexTitles`. One that is not there ends the process.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        let titles = results.indexTitles
        guard titles.indices.contains(sectionIndex), titles[sectionIndex] == title,
            let section = results.sections?.firstIndex(where: { $0.indexTitle == title })
        else { results.refuse("section(forSectionIndexTitle:at:)", "\(title), \(sectionIndex)") }
        return section
    }
}

extension NSFetchedResultsController: AnyFetchedResultsController {
    /// This object. All its stored properties are references, whatever the results are.
    var erased: NSFetchedResultsController<any NSFetchRequestResult> {
        unsafeBitCast(self, to: NSFetchedResultsController<any NSFetchRequestResult>.self)
    }

    func indexTitle(ofSection name: String) -> String? { sectionIndexTitle(forSectionName: name) }
}
