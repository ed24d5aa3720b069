// A controller's results, and what an event of the context makes of them.

import CoreDataValues
import Foundation

/// A controller, whatever its results are.
protocol AnyFetchedResultsController: AnyObject {
    var erased: NSFetchedResultsController<any NSFetchRequestResult> { get }
    func indexTitle(ofSection name: String) -> String?
}

/// *perform · take an event · make the list of now · tell the difference*
final class FetchedResults {
    let context: NSManagedObjectContext
    weak var controller: (any AnyFetchedResultsController)?
    weak var delegate: (any NSFetchedResultsControllerDelegate)?
    /// What the delegate does not implement, as far as it was asked.
    var lacking: LackingForms = []
    let readers = FetchedReaders()
    private(set) var list: FetchedList?
    private var plan: FetchedPlan?
    private var isTelling = false
    /// The last snapshot that the delegate was told, if it has temporary IDs.
    private var earlySnapshot: FetchedResultsSnapshot?
    /// What changed while the delegate was told.
    private var waiting: [NSManagedObject] = []

    init(_ context: NSManagedObjectContext) { self.context = context }

    // MARK: Fetching

    func perform(_ plan: FetchedPlan) throws {
        let list = try fetched(plan)
        if let name = list.repeatedName {
            throw CocoaError.coreData(
                134060,
                "The objects of \(plan.fetch.info.entity.name) are not sorted by section: \(plan.sectionKeyPath ?? "") is \"\(name)\" "
                    + "in several places. Sort by the section first.")
        }
        (self.plan, self.list) = (plan, list)
        context.follow(self)
        if let delegate, let controller { tellSnapshot(list, reloaded: [], delegate, controller.erased) }
    }

    private func fetched(_ plan: FetchedPlan) throws -> FetchedList {
        let objects = try context.fetchObjects(plan.fetch)
        try plan.check(objects)
        if !plan.fetch.prefetch.isEmpty {
            try Prefetch(context: context, isEverything: false).run(plan.fetch.prefetch, objects)
        }
        return FetchedList(objects, names: plan.sectionKeyPath.map { _ in objects.map(plan.sectionName) })
    }

    // MARK: Following

    /// Whether anybody would be told.
    private var isFollowed: Bool { list != nil && (delegate != nil || !readers.isEmpty) }

    func accept(_ changed: some Sequence<NSManagedObject>) {
        guard isFollowed, let plan = renewPlan() else { return }
        waiting += changed.filter(plan.watches)
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while !waiting.isEmpty {
            let touched = waiting
            waiting = []
            follow(touched, plan)
        }
    }

    /// The plan, with the IDs that the objects in its predicate have now: a save or an undo may have given them others.
    private func renewPlan() -> FetchedPlan? {
        if let renewed = plan?.renewed, let now = try? renewed() { plan = now }
        return plan
    }

    /// Takes in that every object of the context was let go: the results are fetched anew.
    func acceptReset() {
        guard isFollowed, let former = list, let plan = renewPlan() else { return }
        let byKey = Dictionary(former.objects.map { ($0._state.key, $0) }, uniquingKeysWith: { first, _ in first })
        guard let now = renewed(plan) else { return }
        // The same rows, in other objects: to be compared they stand for the former ones.
        let stand = now.objects.reduce(into: [ObjectIdentifier: NSManagedObject]()) { stand, object in
            if let former = byKey[object._state.key] { stand[ObjectIdentifier(former)] = object }
        }
        let old = FetchedList(
            former.objects.map { stand[ObjectIdentifier($0)] ?? $0 },
            names: plan.sectionKeyPath.map { _ in former.names })
        guard !isTelling else { return list = now }
        isTelling = true
        tell(FetchedDifference(from: old, to: now, touched: [], isWhole: true), from: old, to: now)
        isTelling = false
        accept([])
    }

    /// Takes in that a save gave permanent IDs: a delegate that knows results by temporary ones is told the snapshot anew.
    func acceptPermanentIDs() {
        guard let earlySnapshot, let list, let delegate, let controller, !isTelling,
            FetchedResultsSnapshot(list).itemIdentifiers != earlySnapshot.itemIdentifiers
        else { return }
        tellSnapshot(list, reloaded: [], delegate, controller.erased)
    }

    private func follow(_ touched: [NSManagedObject], _ plan: FetchedPlan) {
        guard let old = list else { return }
        let identities = Set(touched.map(ObjectIdentifier.init))
        guard let new = plan.isLocal ? merged(old, touched, identities, plan) : renewed(plan) else { return }
        tell(FetchedDifference(from: old, to: new, touched: identities, isWhole: !plan.isLocal), from: old, to: new)
    }

    /// The list with the touched objects where they belong now.
    private func merged(
        _ old: FetchedList, _ touched: [NSManagedObject], _ identities: Set<ObjectIdentifier>, _ plan: FetchedPlan
    ) -> FetchedList? {
        var seen: Set<ObjectIdentifier> = []
        let fitting = touched.filter {
            plan.mayHave($0) && seen.insert(ObjectIdentifier($0)).inserted && plan.evaluator.matches(ObjectSource($0))
        }
        if fitting.isEmpty, !touched.contains(where: { old.place(of: $0) != nil }) { return nil }
        let rest = old.objects.filter { !identities.contains(ObjectIdentifier($0)) }
        let objects = plan.objectOrder.inserted(fitting, into: rest)
        guard plan.sectionKeyPath != nil else { return FetchedList(objects, names: nil) }
        let names = objects.map { object in
            if !identities.contains(ObjectIdentifier(object)), let place = old.place(of: object) {
                return old.names[place]
            }
            return plan.sectionName(of: object)
        }
        return FetchedList(objects, names: names)
    }

    /// What the fetch finds now. An error waits for the context's next call that throws; the results stay as they are.
    private func renewed(_ plan: FetchedPlan) -> FetchedList? {
        do { return try fetched(plan) } catch {
            context.faulting.recordReadError(error)
            return nil
        }
    }

    // MARK: Telling

    private func tell(_ difference: FetchedDifference, from old: FetchedList, to new: FetchedList) {
        guard !difference.isEmpty else { return list = new }
        defer { readers.tell(FetchedResultsChanges(difference, from: old, to: new)) }
        guard let delegate, let controller = controller?.erased else { return list = new }
        let updated = difference.changes.filter { $0.type == .update }.map(\.object)
        if !lacking.contains(.snapshot) {
            list = new
            if tellSnapshot(new, reloaded: updated, delegate, controller) { return }
            list = old
        }
        if plan?.sectionKeyPath == nil, !lacking.contains(.difference) {
            list = new
            delegate.controller(
                controller,
                didChangeContentWith: new.objects.map(\.objectID).difference(from: old.objects.map(\.objectID))
                    .inferringMoves())
            if !lacking.contains(.difference) { return }
            list = old
        }
        delegate.controllerWillChangeContent(controller)
        list = new
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
            delegate.controller(controller, didChange: info(section, old), atSectionIndex: section, for: .delete)
        }
        for section in difference.insertedSections {
            delegate.controller(controller, didChange: info(section, new), atSectionIndex: section, for: .insert)
        }
        for change in difference.changes {
            delegate.controller(
                controller, didChange: change.object, at: change.old.map(old.path(at:)), for: change.type,
                newIndexPath: change.new.map(new.path(at:)))
        }
    }

    // MARK: Sections

    var sections: [any NSFetchedResultsSectionInfo]? {
        guard let list else { return nil }
        return list.sections.indices.map { info($0, list) }
    }

    var indexTitles: [String] {
        var seen: Set<String> = []
        return (sections ?? []).compactMap(\.indexTitle).filter { seen.insert($0).inserted }
    }

    private func info(_ section: Int, _ list: FetchedList) -> FetchedSection {
        let name = list.sections[section].name
        return FetchedSection(
            name: name, indexTitle: controller?.indexTitle(ofSection: name), list: list, range: list.range(of: section))
    }

    func refuse(_ call: String, _ argument: Any) -> Never {
        misuse("NSFetchedResultsController.\(call): there is nothing at \(argument).")
    }
}

/// A section as a program sees it.
struct FetchedSection: NSFetchedResultsSectionInfo {
    let name: String
    let indexTitle: String?
    let list: FetchedList
    let range: Range<Int>

    var numberOfObjects: Int { range.count }
    var objects: [Any]? { Array(list.objects[range]) }
}
