// A plain script, as tests of main-queue contexts and of the wrong-queue trap run it: `CoreDataScript DEED`.
// What it found goes to standard output, a fact a line.

import CoreData
import Foundation

let name = NSAttributeDescription()
name.name = "name"
name.attributeType = .stringAttributeType
name.isOptional = true
let person = NSEntityDescription()
person.name = "Person"
person.properties = [name]
let model = NSManagedObjectModel()
model.entities = [person]
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)

func makeContext(_ type: NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: type)
    context.persistentStoreCoordinator = coordinator
    return context
}

func insertPerson(into context: NSManagedObjectContext, named name: String = "Eve") -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
    object.setValue(name, forKey: "name")
    return object
}

func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Leaves no child behind on the main thread's stack, which goes with `dispatchMain()`: the leak sanitizer would miss it.
func saveFromChild(of context: NSManagedObjectContext) throws {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    try child.performAndWait {
        _ = insertPerson(into: child, named: "Child")
        try child.save()
        try context.performAndWait { try context.save() }
    }
}

/// What other threads do that wait for a main-queue context.
func waitForMainQueue(_ view: NSManagedObjectContext) throws {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = view
    let grandchild = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    grandchild.parent = child
    let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextWillSave, object: child, queue: nil
    ) { _ in
        child.performAndWait { say("will save \(child.insertedObjects.count)") }
    }
    try grandchild.performAndWait {
        _ = insertPerson(into: grandchild, named: "Abel")
        try grandchild.save()
    }
    try child.performAndWait { try child.save() }
    NotificationCenter.default.removeObserver(observer)
    let other = makeContext(.privateQueueConcurrencyType)
    other.performAndWait {
        view.performAndWait { other.performAndWait { say("nested \(view.insertedObjects.count)") } }
    }
    coordinator.performAndWait {
        view.performAndWait { coordinator.performAndWait { say("coordinator \(Thread.isMainThread)") } }
    }
    let top = makeContext(.privateQueueConcurrencyType)
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.parent = top
    try top.performAndWait {
        let count = try main.performAndWait {
            try main.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
        }
        say("read through \(count)")
    }
}

func makeStreetModel() -> NSManagedObjectModel {
    let (street, house) = (NSEntityDescription(), NSEntityDescription())
    (street.name, house.name) = ("Street", "House")
    let (houses, place) = (NSRelationshipDescription(), NSRelationshipDescription())
    (houses.name, houses.destinationEntity, houses.inverseRelationship, houses.maxCount) = ("houses", house, place, 0)
    (place.name, place.destinationEntity, place.inverseRelationship, place.maxCount) = ("street", street, houses, 1)
    street.properties = [houses]
    house.properties = [place]
    let model = NSManagedObjectModel()
    model.entities = [street, house]
    return model
}

@inline(never)
func countHouses(_ street: NSManagedObject) -> Int { street.mutableSetValue(forKey: "houses").count }

func reportFaults(to report: FaultReport) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeStreetModel())
    let file = URL(fileURLWithPath: "/dev/null")
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
        for _ in 0..<20 {
            let street = NSEntityDescription.insertNewObject(forEntityName: "Street", into: context)
            NSEntityDescription.insertNewObject(forEntityName: "House", into: context).setValue(
                street, forKey: "street")
        }
        try context.save()
        context.reset()
        context.faultReport = report
        let streets = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Street"))
        say("counted \(streets.map(countHouses).reduce(0, +))")
    }
}

/// Carries what is not Sendable to another queue: the very mistake that the trap is for.
struct Smuggled<Value>: @unchecked Sendable { let value: Value }

// Whoever waits for a process that hangs would hang as well.
alarm(50)

switch CommandLine.arguments.dropFirst().first {
case "script":
    // Inline, by performAndWait, and by perform, which needs the main queue to run.
    let context = makeContext(.mainQueueConcurrencyType)
    context.undoManager = UndoManager()
    _ = insertPerson(into: context)
    let count = try context.performAndWait {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
    }
    say("inline \(count)")
    try saveFromChild(of: context)
    context.undo()
    context.rollback()
    say("saved \(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")))")
    context.perform {
        say("perform \(Thread.isMainThread)")
        exit(0)
    }
    dispatchMain()
case "loop":
    // The main queue is served by a run loop: what waits for it goes on on the main thread.
    let view = makeContext(.mainQueueConcurrencyType)
    _ = insertPerson(into: view)
    try view.save()
    Thread.detachNewThread {
        do { try waitForMainQueue(view) } catch { say("\(error)") }
        exit(0)
    }
    RunLoop.main.run()
case "turn":
    // No main queue runs: an event stays open until the script asks for its end, or serves the queue.
    let context = makeContext(.mainQueueConcurrencyType)
    nonisolated(unsafe) var told = 0
    let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { _ in told += 1 }
    for _ in 0..<3 {
        _ = insertPerson(into: context)
        usleep(1000)
    }
    say("open \(told)")
    context.processPendingChanges()
    _ = insertPerson(into: context)
    say("processed \(told)")
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01))
    say("served \(told)")
    NotificationCenter.default.removeObserver(observer)
case "fetch":
    _ = try makeContext(.privateQueueConcurrencyType).count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
    say("not noticed")
case "read":
    let context = makeContext(.privateQueueConcurrencyType)
    context.name = "import"
    let object = context.performAndWait { insertPerson(into: context) }
    say("not noticed: \(object.value(forKey: "name") ?? "")")
case "describe":
    let context = makeContext(.privateQueueConcurrencyType)
    let object = Smuggled(value: context.performAndWait { insertPerson(into: context) })
    say("here \(object.value)")
    say("there \(context.performAndWait { "\(object.value)" })")
case "write":
    let context = makeContext(.mainQueueConcurrencyType)
    let object = Smuggled(value: insertPerson(into: context))
    DispatchQueue(label: "elsewhere").sync { object.value.setValue("Adam", forKey: "name") }
    say("not noticed by sync from the main queue")
    Thread.detachNewThread {
        object.value.setValue("Cain", forKey: "name")
        say("not noticed")
        exit(0)
    }
    sleep(20)
case "fetched":
    let context = makeContext(.privateQueueConcurrencyType)
    try context.performAndWait {
        _ = insertPerson(into: context)
        try context.save()
        context.reset()
    }
    let other = makeContext(.privateQueueConcurrencyType)
    let found = try other.performAndWait { try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) }
    say("found \(found.count), an ID is free for all: \(found[0].objectID.isTemporaryID)")
    say("not noticed: \(found[0].value(forKey: "name") ?? "")")
case "faults":
    // Which function reads members one owner at a time.
    let report = FaultReport()
    try reportFaults(to: report)
    say("\(report)")
default:
    say("usage: CoreDataScript script|fetch|read|write|fetched|faults")
    exit(64)
}
