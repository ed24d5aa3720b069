// Lists that know of a controller's results only what a snapshot, a difference or the sequence of changes tells.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// Follows controllers in all forms but the calls for objects and sections.
final class OtherForms {
    private typealias Controller = NSFetchedResultsController<NSManagedObject>
    private let snapshots: [(Controller, Snapshots)]
    private let differences: (Controller, Differences)
    private var streams: [(Controller, EventLog, AsyncStream<FetchedResultsChanges>)]

    init(_ context: NSManagedObjectContext) throws {
        func controller(_ request: NSFetchRequest<NSManagedObject>, _ section: String?) -> Controller {
            NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
        }
        let limited = Shelf.request()
        (limited.fetchLimit, limited.fetchOffset) = (6, 2)
        snapshots = [
            (controller(Shelf.request(), "shelf"), Snapshots()),
            (controller(Shelf.request(["box.label", "rank", "name"]), "box.label"), Snapshots()),
        ]
        differences = (controller(Shelf.request(["rank", "name"]), nil), Differences())
        streams = try [(Shelf.request(), "shelf"), (limited, "shelf"), (Shelf.request(["rank", "name"]), nil)].map {
            let followed = controller($0, $1)
            try followed.performFetch()
            return (followed, EventLog(followed), followed.changes)
        }
        for (controller, delegate) in snapshots {
            controller.delegate = delegate
            try controller.performFetch()
        }
        try differences.0.performFetch()
        differences.1.names = differences.0.fetchedNames
        differences.0.delegate = differences.1
    }

    func check(_ round: Int) throws {
        for (controller, delegate) in snapshots {
            let told = delegate.sections
            try #require(told == controller.names && delegate.places == controller.names, "round \(round)")
        }
        try #require(differences.1.names == differences.0.fetchedNames, "round \(round)")
    }

    /// Reads the sequences to their ends, and compares each change with what the list was then.
    func checkStreams() async throws {
        #expect(snapshots.allSatisfy { $0.1.count > 300 } && differences.1.count > 300)
        let all = streams.map { (log: $0.1, changes: $0.2) }
        streams = []
        for (log, changes) in all {
            var (sections, place) = (log.start, 0)
            for await change in changes {
                try #require(place < log.events.count, "a change of which the delegate was not told")
                let event = log.events[place]
                sections = try Self.applied(change, to: sections, event)
                try #require(
                    sections.map(\.name) == event.sections.map(\.name)
                        && sections.map(\.members) == event.sections.map(\.members))
                place += 1
            }
            #expect(place == log.events.count && place > 300)
        }
    }

    private static func applied(_ change: FetchedResultsChanges, to old: [EventLog.Section], _ event: EventLog.Event)
        throws -> [EventLog.Section]
    {
        var sections = old
        let moving = change.items.filter { $0.type != .update }
        for path in moving.compactMap(\.indexPath).sorted(by: >) {
            sections[path.section].members.remove(at: path.item)
        }
        for section in change.sections where section.type == .delete {
            try #require(sections.remove(at: section.index).members.isEmpty)
        }
        for section in change.sections where section.type == .insert {
            sections.insert(EventLog.Section(name: section.name), at: section.index)
        }
        for item in moving {
            guard let path = item.newIndexPath else { continue }
            sections[path.section].members.insert(try #require(event.names[item.objectID]), at: path.item)
        }
        return sections
    }
}

/// Takes snapshots.
private final class Snapshots: NSFetchedResultsControllerDelegate {
    private(set) var sections: [String] = []
    /// The same by the numbers of the sections.
    private(set) var places: [String] = []
    private(set) var count = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: FetchedResultsSnapshot
    ) {
        count += 1
        let context = controller.managedObjectContext
        func line(_ name: String, _ ids: some Sequence<NSManagedObjectID>) -> String {
            name + ": "
                + ids.map { context.registeredObject(for: $0)?.value(forKey: "name") as? String ?? "-" }.joined(
                    separator: " ")
        }
        var rest = snapshot.itemIdentifiers[...]
        sections = snapshot.sectionIdentifiers.map { name in
            let count = snapshot.itemIdentifiers(inSection: name).count
            defer { rest = rest.dropFirst(count) }
            return line(name, rest.prefix(count))
        }
        places = (0..<snapshot.numberOfSections).map {
            line(snapshot.sectionIdentifiers[$0], snapshot.itemIdentifiers(inSection: $0))
        }
    }
}

/// Takes differences of IDs.
private final class Differences: NSFetchedResultsControllerDelegate {
    var names: [String] = []
    private(set) var count = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        count += 1
        // Saved objects have other IDs than new ones, so the list is one of names.
        let changes = diff.map { change -> CollectionDifference<String>.Change in
            switch change {
            case .insert(let offset, let id, let moved):
                .insert(
                    offset: offset,
                    element: controller.managedObjectContext.registeredObject(for: id)?.value(forKey: "name") as? String
                        ?? "-",
                    associatedWith: moved)
            case .remove(let offset, _, let moved):
                .remove(offset: offset, element: names[offset], associatedWith: moved)
            }
        }
        guard let difference = CollectionDifference(changes), let now = names.applying(difference) else {
            Issue.record("\(diff) is no difference of \(names)")
            return
        }
        names = now
    }
}

/// What the list was after each event.
final class EventLog: NSFetchedResultsControllerDelegate {
    struct Section {
        let name: String
        var members: [String] = []
    }
    struct Event {
        let sections: [Section]
        let names: [NSManagedObjectID: String]
    }
    let start: [Section]
    private(set) var events: [Event] = []

    init(_ controller: NSFetchedResultsController<NSManagedObject>) {
        start = EventLog.sections(controller.sections)
        controller.delegate = self
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        let objects = controller.fetchedObjects as? [NSManagedObject] ?? []
        events.append(
            Event(
                sections: EventLog.sections(controller.sections),
                names: Dictionary(
                    objects.map { ($0.objectID, EventLog.name($0)) }, uniquingKeysWith: { first, _ in first })))
    }

    private static func sections(_ sections: [any NSFetchedResultsSectionInfo]?) -> [Section] {
        (sections ?? []).map { Section(name: $0.name, members: ($0.objects ?? []).map(name)) }
    }

    private static func name(_ object: Any) -> String {
        (object as? NSManagedObject)?.value(forKey: "name") as? String ?? "-"
    }
}

extension NSFetchedResultsController<NSManagedObject> {
    fileprivate var fetchedNames: [String] { (fetchedObjects ?? []).map { $0.value(forKey: "name") as? String ?? "-" } }
}
