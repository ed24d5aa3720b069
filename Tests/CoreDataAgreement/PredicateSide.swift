// A graph as one kind of store and one state of the context has it.

import CoreDataTestSupport
import CoreDataValues
import Foundation

import CoreData

/// A model, the rows of a graph, and the entity that predicates ask.
package struct PredicateWorld {
    package let model: NSManagedObjectModel
    package let root: String
    let fill: (NSManagedObjectContext) -> Void
}

/// Answers predicates by fetching, and by asking its objects.
package final class PredicateSide {
    enum State { case clean, fewUnsaved, allUnsaved, allInserted }
    package let name: String
    package let context: NSManagedObjectContext
    /// By their serial numbers.
    package let objects: [Int: NSManagedObject]
    let world: PredicateWorld
    let serials: [String: [Int]]
    private let folder: Folder

    private init(
        _ name: String, _ world: PredicateWorld, _ folder: Folder, _ context: NSManagedObjectContext, _ state: State
    ) throws {
        (self.name, self.world, self.folder, self.context) = (name, world, folder, context)
        if state == .allInserted { world.fill(context) }
        var (objects, serials): ([Int: NSManagedObject], [String: [Int]]) = ([:], [:])
        for entity in world.model.entities.compactMap(\.name) {
            let found = try context.all(entity)
            for object in found { objects[object.value(forKey: "serial") as? Int ?? 0] = object }
            serials[entity] = found.compactMap { $0.value(forKey: "serial") as? Int }.sorted()
        }
        (self.objects, self.serials) = (objects, serials)
        let touched =
            switch state {
            case .clean, .allInserted: [Int]()
            case .fewUnsaved: objects.keys.filter { $0 % 9 == 3 }
            case .allUnsaved: Array(objects.keys)
            }
        for serial in touched { objects[serial]?.setValue(7, forKey: "touch") }
    }

    /// One store of a type, clean and with unsaved objects, of which none has another value that a predicate reads.
    package static func all(_ type: String, _ world: PredicateWorld) throws -> [PredicateSide] {
        StoreMaker.registerSamples()
        let folder = Folder()
        let (coordinator, empty) = (try open(type, "store", world, folder), try open(type, "empty", world, folder))
        let context = coordinator.context()
        world.fill(context)
        try context.save()
        let child = coordinator.context().child()
        return [
            try PredicateSide("\(type), clean", world, folder, coordinator.context(), .clean),
            try PredicateSide("\(type), few unsaved", world, folder, coordinator.context(), .fewUnsaved),
            try PredicateSide("\(type), all unsaved", world, folder, coordinator.context(), .allUnsaved),
            try PredicateSide("\(type), few unsaved in a child", world, folder, child, .fewUnsaved),
            try PredicateSide("\(type), all inserted", world, folder, empty.context(), .allInserted),
        ]
    }

    private static func open(_ type: String, _ file: String, _ world: PredicateWorld, _ folder: Folder) throws
        -> NSPersistentStoreCoordinator
    {
        try NSPersistentStoreCoordinator(world.model, type, at: folder.file(file))
    }

    package func predicate(_ text: RandomPredicate.Text) throws -> NSPredicate {
        try NSPredicate(parsing: text.format, arguments: arguments(text))
    }

    /// As a text from outside.
    func valid(_ text: RandomPredicate.Text) throws -> NSPredicate {
        try NSPredicate(validating: text.format, argumentArray: arguments(text))
    }

    private func arguments(_ text: RandomPredicate.Text) -> [Any] {
        text.arguments.map { argument in
            switch argument {
            case .value(let value): value
            case .object(let serial): objects[serial] ?? NSNull()
            case .objects(let serials): serials.map { objects[$0] ?? NSNull() }
            }
        }
    }

    /// The serial numbers of what is found, or the sentence of the refusal.
    package func fetched(_ predicate: NSPredicate) -> String {
        let request = NSFetchRequest<NSManagedObject>(world.root, by: "serial")
        request.predicate = predicate
        do {
            let found = try context.fetch(request).map { $0.value(forKey: "serial") as? Int ?? 0 }
            let count = try context.count(for: request)
            return count == found.count ? "\(found)" : "\(found), counted \(count)"
        } catch { return "refused: \((error as? CocoaError)?.localizedDescription ?? "\(error)")" }
    }

    package func evaluated(_ predicate: NSPredicate) -> String {
        "\((serials[world.root] ?? []).filter { serial in objects[serial].map { predicate.evaluate(with: $0) } ?? false })"
    }
}
