// Random events: what is told of them, applied to the old list, makes the new one.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct FetchedRandomTests {
    /// Rounds of edits, saves, undos, merges of another context's saves, and resets; nothing is held between them.
    @Test(
        "In 5,000 random rounds the reported changes make the new list of the old one, in each of their forms",
        arguments: zip(
            [NSSQLiteStoreType, NSInMemoryStoreType, NSSQLiteStoreType, NSInMemoryStoreType], [1, 2, 3, 4] as [UInt64]))
    func rounds(_ type: String, _ seed: UInt64) async throws {
        let stack = try Stack(type, model: Shelf.model())
        let context = stack.context
        let other = stack.another()
        var random = SplitMix(seed)
        for label in ["x", "y", "z"] { _ = context.make("Box", ["label": label]) }
        for number in 0..<15 { Self.add(number, context, &random) }
        try context.save()
        let limited = Shelf.request()
        (limited.fetchLimit, limited.fetchOffset) = (6, 2)
        let controllers = [
            (Shelf.request(), "shelf"), (Shelf.request(["rank", "name"]), nil),
            (Shelf.request(["box.label", "rank", "name"]), "box.label"),
            (limited, "shelf"),
        ].map {
            NSFetchedResultsController(
                fetchRequest: $0, managedObjectContext: context, sectionNameKeyPath: $1, cacheName: nil)
        }
        let copies = try controllers.map { controller in
            try controller.performFetch()
            let copy = Copy()
            copy.start(controller)
            return copy
        }
        let forms = try OtherForms(context)
        var number = 15
        for round in 0..<1_250 {
            try Self.step(context, other, &random, &number)
            try forms.check(round)
            for (controller, copy) in zip(controllers, copies) {
                try #require(copy.names == controller.names, "round \(round)")
                guard round % 5 == 0 else { continue }
                let fetched = try context.fetch(controller.fetchRequest)
                try #require(fetched.map(\.objectID) == controller.fetchedObjects?.map(\.objectID), "round \(round)")
            }
        }
        #expect(copies.allSatisfy { $0.eventCount > 300 })
        try await forms.checkStreams()
    }

    private static func step(
        _ context: NSManagedObjectContext, _ other: NSManagedObjectContext, _ random: inout SplitMix,
        _ number: inout Int
    ) throws {
        switch random.below(20) {
        case 0: try context.save()
        case 1: context.undo()
        case 2: context.redo()
        case 3:
            try context.save()
            try edit(other, &random, &number)
            let saved = Saved()
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: other, queue: nil
            ) { saved.notification = $0 }
            defer { NotificationCenter.default.removeObserver(token) }
            try other.save()
            if let notification = saved.notification { context.mergeChanges(fromContextDidSave: notification) }
            other.reset()
        case 4: if random.below(4) == 0 { context.rollback() }
        case 5:
            if random.below(4) == 0 {
                try context.save()
                context.reset()
            }
        default: try edit(context, &random, &number)
        }
        context.processPendingChanges()
    }

    private final class Saved: @unchecked Sendable { var notification: Notification? }

    private static func add(_ number: Int, _ context: NSManagedObjectContext, _ random: inout SplitMix) {
        let thing = context.make("Thing", ["name": "t\(number)"])
        change(thing, context, &random)
    }

    private static func change(_ thing: NSManagedObject, _ context: NSManagedObjectContext, _ random: inout SplitMix) {
        thing.setValue(["A", "B", "C", "D", nil][random.below(5)], forKey: "shelf")
        thing.setValue(Int64(random.below(30)), forKey: "rank")
    }

    /// One event of one to four edits.
    private static func edit(_ context: NSManagedObjectContext, _ random: inout SplitMix, _ number: inout Int) throws {
        let boxes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box"))
        var things = try context.fetch(Shelf.request(shown: false))
        for _ in 0..<(1 + random.below(4)) {
            let kind = random.below(10)
            if things.isEmpty || kind < 2 && things.count < 30 {
                number += 1
                add(number, context, &random)
            } else {
                let place = random.below(things.count)
                let thing = things[place]
                switch kind {
                case 2, 3:
                    context.delete(thing)
                    things.remove(at: place)
                case 4: thing.setValue(random.below(4) > 0, forKey: "shown")
                case 5:
                    thing.setValue(
                        boxes.isEmpty || random.below(4) == 0 ? nil : boxes[random.below(boxes.count)], forKey: "box")
                case 6 where !boxes.isEmpty:
                    boxes[random.below(boxes.count)].setValue(
                        ["u", "v", "w"][random.below(3)] + "\(random.below(9))", forKey: "label")
                case 7: thing.setValue(Int64(random.below(99)), forKey: "note")
                default: change(thing, context, &random)
                }
            }
        }
    }
}
