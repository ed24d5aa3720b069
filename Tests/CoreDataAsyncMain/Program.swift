// An async main that uses a main-queue context before and after suspensions. What it found goes to standard output.

import CoreData
import Foundation
import Synchronization

@main
enum Program {
    @MainActor
    static func main() async throws {
        let container = NSPersistentContainer(name: "People", managedObjectModel: makeModel())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in if let error { say("refused \(error)") } }
        let context = container.viewContext
        context.automaticallyMergesChangesFromParent = true

        insertPerson(into: context)
        try context.save()
        say("before \(try count(context))")
        try await Task.sleep(for: .milliseconds(5))
        insertPerson(into: context)
        try context.save()
        say("after \(try count(context))")
        // At once: nobody else can have run on the main actor in between.
        let before = Turn.number
        Task { @MainActor in Turn.number += 1 }
        await context.perform { insertPerson(into: context) }
        say("immediate \(Turn.number - before)")
        await context.perform(schedule: .enqueued) { insertPerson(into: context) }
        say("enqueued \(Turn.number - before)")
        try context.performAndWait { try context.save() }
        try await container.performBackgroundTask { background in
            insertPerson(into: background)
            try background.save()
        }
        let found = try await Task.detached { try await context.perform { try count(context) } }.value
        say("detached \(found)")
        try await turns(of: container)
    }

    /// Events of the view context end with the turns of the main queue, and a context that is let go is not held until then.
    @MainActor
    private static func turns(of container: NSPersistentContainer) async throws {
        let context = container.viewContext
        let told = Told()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { note in told.note((note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0) }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.undoManager = UndoManager()
        for count in [2, 1] {
            for _ in 0..<count { insertPerson(into: context) }
            say("in the turn \(told.counts)")
            await nextTurn()
        }
        say("after the turns \(told.counts)")
        context.undo()
        say("undone \(context.insertedObjects.count)")
        weak var last: NSManagedObjectContext?
        do {
            let other = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            other.persistentStoreCoordinator = container.persistentStoreCoordinator
            insertPerson(into: other)
            last = other
        }
        say("held \(last != nil)")
        await nextTurn()
    }

    /// Waits until the main queue has done what was left to it before.
    @MainActor
    private static func nextTurn() async {
        await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
    }

    private final class Told: Sendable {
        private let all = Mutex<[Int]>([])
        var counts: [Int] { all.withLock { $0 } }
        func note(_ count: Int) { all.withLock { $0.append(count) } }
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private static func makeModel() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = true
        let person = NSEntityDescription()
        person.name = "Person"
        person.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private nonisolated static func insertPerson(into context: NSManagedObjectContext) {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
    }

    private nonisolated static func count(_ context: NSManagedObjectContext) throws -> Int {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
    }
}

/// Counts what else ran on the main actor.
@MainActor
enum Turn {
    static var number = 0
}
