// The library as one kind of store and one state of the context has it.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// Answers predicates by fetching, and by asking its objects.
final class LibrarySide {
    enum State { case clean, fewUnsaved, allUnsaved }
    let name: String
    let context: NSManagedObjectContext
    let objects: [Int: NSManagedObject]
    private let rig: Rig

    init(_ name: String, _ rig: Rig, _ state: State, parent: NSManagedObjectContext? = nil) throws {
        (self.name, self.rig) = (name, rig)
        if let parent {
            context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.parent = parent
        } else {
            context = rig.context()
        }
        objects = try Library.objects(context)
        switch state {
        case .clean: break
        case .fewUnsaved: for serial in [3, 10, 20, 60] { objects[serial]?.setValue(7, forKey: "touch") }
        case .allUnsaved: for object in objects.values { object.setValue(5, forKey: "touch") }
        }
    }

    /// One store of a type, clean and with unsaved objects, of which none has another value that a predicate reads.
    static func all(_ type: String, seed: UInt64, model: NSManagedObjectModel = Library.model()) throws -> [LibrarySide] {
        let rig = Rig(model)
        try rig.add(type)
        let context = rig.context()
        LibraryFilling.fill(context, seed: seed)
        try context.save()
        return [
            try LibrarySide("\(type), clean", rig, .clean), try LibrarySide("\(type), few unsaved", rig, .fewUnsaved),
            try LibrarySide("\(type), all unsaved", rig, .allUnsaved),
            try LibrarySide("\(type), few unsaved in a child", rig, .fewUnsaved, parent: rig.context()),
        ]
    }

    func predicate(_ text: RandomPredicate.Text) throws -> NSPredicate {
        try NSPredicate(parsing: text.format, arguments: text.arguments.map { argument in
            switch argument {
            case .value(let value): value
            case .object(let serial): try #require(objects[serial])
            case .objects(let serials): try serials.map { try #require(objects[$0]) }
            }
        })
    }

    /// The serial numbers of what is found, or the sentence of the refusal.
    func fetched(_ predicate: NSPredicate) -> String {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: true)]
        do {
            let found = try context.fetch(request).map { $0.value(forKey: "serial") as? Int ?? 0 }
            let count = try context.count(for: request)
            return count == found.count ? "\(found)" : "\(found), counted \(count)"
        } catch { return "refused: \((error as? CocoaError)?.localizedDescription ?? "\(error)")" }
    }

    func evaluated(_ predicate: NSPredicate) -> String {
        "\((Library.serials["Work"] ?? 0...0).filter { serial in objects[serial].map { predicate.evaluate(with: $0) } ?? false })"
    }
}
