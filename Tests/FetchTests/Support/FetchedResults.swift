// A list that knows of a controller's results only what its delegate is told.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Things on shelves, for lists in sections.
enum Shelf {
    static func model() -> NSManagedObjectModel {
        var thing = EntityDraft(name: "Thing")
        thing.attributes = [
            Clinic.attribute("name", .string), Clinic.attribute("shelf", .string), Clinic.attribute("rank", .integer64),
            Clinic.attribute("shown", .boolean, default: .bool(true)),
            Clinic.attribute("note", .integer64),
        ]
        thing.relationships = [Clinic.toOne("box", "Box", inverse: "things")]
        let box = EntityDraft(
            "Box", [Clinic.attribute("label", .string)], [Clinic.toMany("things", "Thing", inverse: "box")])
        return NSManagedObjectModel(thing, box)
    }

    /// What is shown, by shelf and rank.
    static func request(_ sort: [String] = ["shelf", "rank", "name"], shown: Bool = true) -> NSFetchRequest<
        NSManagedObject
    > {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        if shown { request.predicate = NSPredicate(format: "shown == YES") }
        return request
    }
}

/// Follows a controller by the calls for sections and objects alone.
final class Copy: NSFetchedResultsControllerDelegate {
    /// The sections: name and objects.
    private(set) var sections: [(name: String, objects: [NSManagedObject])] = []
    /// What was told in one event, in short: `S-1` `S+1` `-0.1` `+0.1` `0.1>1.0` `~0.1`.
    private(set) var told: [String] = []
    private(set) var eventCount = 0
    private var deleted: [IndexPath] = []
    private var inserted: [(IndexPath, NSManagedObject)] = []
    private var goneSections: [Int] = []
    private var newSections: [(Int, String)] = []
    private var before: [NSManagedObject] = []

    func start(_ controller: NSFetchedResultsController<NSManagedObject>) {
        sections = (controller.sections ?? []).map { ($0.name, $0.objects as? [NSManagedObject] ?? []) }
        told = []
        controller.delegate = self
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        (told, deleted, inserted, goneSections, newSections) = ([], [], [], [], [])
        eventCount += 1
        before = controller.fetchedObjects as? [NSManagedObject] ?? []
        #expect(
            before.count == sections.reduce(0) { $0 + $1.objects.count },
            "The former results are there until they change.")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        told.append("S\(type == .insert ? "+" : "-")\(sectionIndex)")
        if type == .insert {
            newSections.append((sectionIndex, sectionInfo.name))
        } else {
            goneSections.append(sectionIndex)
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else { return }
        let (old, new) = (
            indexPath.map { "\($0.section).\($0.row)" } ?? "", newIndexPath.map { "\($0.section).\($0.item)" } ?? ""
        )
        switch type {
        case .insert: told.append("+\(new)")
        case .delete: told.append("-\(old)")
        case .move: told.append("\(old)>\(new)")
        case .update: told.append("~\(new)")
        }
        if type == .update { return }
        if let indexPath { deleted.append(indexPath) }
        if let newIndexPath { inserted.append((newIndexPath, object)) }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        for path in deleted.sorted(by: >) { sections[path.section].objects.remove(at: path.row) }
        for section in goneSections {
            #expect(
                sections[section].objects.isEmpty, "All objects of a section that goes were told to have gone or moved."
            )
            sections.remove(at: section)
        }
        for (section, name) in newSections { sections.insert((name, []), at: section) }
        for (path, object) in inserted { sections[path.section].objects.insert(object, at: path.row) }
    }

    var names: [String] {
        sections.map { section in
            section.name + ": "
                + section.objects.map { $0.value(forKey: "name") as? String ?? "-" }.joined(separator: " ")
        }
    }
}

extension NSFetchedResultsController<NSManagedObject> {
    var names: [String] {
        (sections ?? []).map { section in
            section.name + ": "
                + ((section.objects ?? []).map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "-" })
                .joined(separator: " ")
        }
    }
}
