// A controller's results, and what an event of the context makes of them.

import CoreDataValues
import Foundation

/// *perform · take an event · make the list of now · have the difference told (`FetchedResultsDelivery`)*
final class FetchedResults {
    let context: NSManagedObjectContext
    let delivery = FetchedResultsDelivery()
    private(set) var list: FetchedList?
    private var plan: FetchedPlan?
    private var isTelling = false
    /// What changed while the delegate was told.
    private var waiting: [NSManagedObject] = []
    /// Whether the context has let go of its objects since.
    private var isReset = false

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
        delivery.tell(list)
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
    private var isFollowed: Bool { list != nil && delivery.isAwaited }

    func accept(_ changed: some Sequence<NSManagedObject>) {
        guard isFollowed, let plan = renewPlan() else { return }
        waiting += changed.filter(plan.watches)
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while isReset || !waiting.isEmpty {
            if isReset {
                isReset = false
                waiting.removeAll { $0._state.has(.detached) }
                followReset(plan)
            } else {
                let touched = waiting
                waiting = []
                follow(touched, plan)
            }
        }
    }

    /// The plan, with the IDs that the objects in its predicate have now: a save or an undo may have given them others.
    private func renewPlan() -> FetchedPlan? {
        if let renewed = plan?.renewed, let now = try? renewed() { plan = now }
        return plan
    }

    /// Takes in that every object of the context was let go: the results are fetched anew.
    func acceptReset() {
        isReset = isFollowed
        accept([])
    }

    private func followReset(_ plan: FetchedPlan) {
        guard let former = list else { return }
        let byKey = Dictionary(former.objects.map { ($0._state.key, $0) }, uniquingKeysWith: { first, _ in first })
        guard let now = renewed(plan) else { return }
        // The same rows, in other objects: to be compared they stand for the former ones.
        let stand = now.objects.reduce(into: [ObjectIdentifier: NSManagedObject]()) { stand, object in
            if let former = byKey[object._state.key] { stand[ObjectIdentifier(former)] = object }
        }
        let old = FetchedList(
            former.objects.map { stand[ObjectIdentifier($0)] ?? $0 },
            names: plan.sectionKeyPath.map { _ in former.names })
        tell(FetchedDifference(from: old, to: now, touched: [], isWhole: true), from: old, to: now)
    }

    /// Takes in that a save gave permanent IDs: a delegate that knows results by temporary ones is told the snapshot anew.
    func acceptPermanentIDs() {
        if let list, !isTelling { delivery.tellPermanentIDs(of: list) }
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

    private func tell(_ difference: FetchedDifference, from old: FetchedList, to new: FetchedList) {
        delivery.tell(difference, from: old, to: new, hasSections: plan?.sectionKeyPath != nil) { list = $0 }
    }

    // MARK: Sections

    var sections: [any NSFetchedResultsSectionInfo]? {
        guard let list else { return nil }
        return list.sections.indices.map { FetchedSection($0, of: list, delivery.controller) }
    }

    var indexTitles: [String] {
        var seen: Set<String> = []
        return (sections ?? []).compactMap(\.indexTitle).filter { seen.insert($0).inserted }
    }

    func refuse(_ call: String, _ argument: Any) -> Never {
        misuse("NSFetchedResultsController.\(call): there is nothing at \(argument).")
    }
}

/// A section as a program sees it.
struct FetchedSection: NSFetchedResultsSectionInfo {
    let name: String
    let indexTitle: String?
    private let list: FetchedList
    private let range: Range<Int>

    init(_ section: Int, of list: FetchedList, _ controller: (any AnyFetchedResultsController)?) {
        name = list.sections[section].name
        indexTitle = controller?.indexTitle(ofSection: name)
        self.list = list
        range = list.range(of: section)
    }

    var numberOfObjects: Int { range.count }
    var objects: [Any]? { Array(list.objects[range]) }
}
