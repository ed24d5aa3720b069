// What the process does to its store.

import CoreData
import CoreDataTestSupport
import Foundation

/// A coordinator with one SQLite store and one context, used on the main thread alone.
struct VictimStore {
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    /// Whether the store keeps a history is said by the environment.
    static let historyVariable = "CORE_DATA_VICTIM_HISTORY"

    init(_ url: URL) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: VictimModel.make())
        let keepsHistory = ProcessInfo.processInfo.environment[VictimStore.historyVariable] != nil
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: keepsHistory ? [NSPersistentHistoryTrackingKey: true] : nil)
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    /// Opens a store whose first opening may be refused.
    static func opening(_ url: URL) throws -> VictimStore {
        do {
            return try VictimStore(url)
        } catch let error as CocoaError {
            Victim.say("open refused \(error.code.rawValue)")
            return try VictimStore(url)
        }
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    func prepare() throws {
        let groups = (0..<6).map { context.make("Group", ["name": "group \($0)"]) }
        let city = context.make("City", ["name": "Ulm"])
        for index in 0..<24 {
            let person = context.make("Person", ["name": "person \(10 + index)"])
            person.setValue(index, forKey: "age")
            person.setValue(Data(repeating: UInt8(index), count: 700), forKey: "photo")
            person.setValue(Set([groups[index % 6], groups[(index * 5 + 1) % 6]]), forKey: "groups")
            if index % 2 == 0 { person.setValue(city, forKey: "city") }
        }
        try context.save()
    }

    /// Inserts, updates, deletes and changed links of many-to-many and to-one relationships.
    func change() throws {
        let (people, groups) = (try context.all("Person", by: "name"), try context.all("Group", by: "name"))
        let city = context.make("City", ["name": "Bonn"])
        for (index, person) in people.enumerated() where index % 3 != 0 {
            person.setValue("changed \(index)", forKey: "name")
            person.setValue(Data(repeating: 0xEE, count: 900), forKey: "photo")
            person.setValue(Set([groups[(index + 3) % 6]]), forKey: "groups")
            person.setValue(city, forKey: "city")
        }
        for (index, person) in people.enumerated() where index % 6 == 0 { context.delete(person) }
        for index in 0..<8 {
            let person = context.make("Person", ["name": "new \(index)"])
            person.setValue(Set(groups), forKey: "groups")
            person.setValue(Data(repeating: UInt8(index), count: 1200), forKey: "photo")
        }
        if let last = groups.last { context.delete(last) }
        context.processPendingChanges()
    }

    /// A refused save leaves the context as it was; the same save works once the cause is gone.
    func saveTwice() throws {
        context.undoManager = UndoManager()
        do {
            try change()
        } catch let error as CocoaError {
            Victim.say("change refused \(error.code.rawValue)")
            context.rollback()
            try change()
        }
        let before = try Picture(context)
        do {
            try context.save()
            Victim.say("saved at once")
        } catch let error as CocoaError {
            Victim.say("save refused \(error.code.rawValue)")
            let differences = try Picture(context).differences(from: before)
            guard differences.isEmpty else {
                throw BrokenPromise(
                    sentence: "a refused save changed the context: \(differences.joined(separator: "; "))")
            }
            try context.save()
            Victim.say("saved after all")
        }
        guard !context.hasChanges, context.insertedObjects.isEmpty else {
            throw BrokenPromise(sentence: "the context has changes after its save")
        }
    }

    func allocate() throws {
        for index in 0..<5 {
            let person = context.make("Person", ["name": "rival \(index)"])
            try context.save()
            Victim.say(person.objectID.uriRepresentation().lastPathComponent)
        }
    }

    /// Reads relationships, lets the stack go, then the objects, one by one.
    static func outlive(_ url: URL) throws {
        var objects: [NSManagedObject] = []
        do {
            let store = try VictimStore(url)
            objects = try store.context.all("Person", by: "name")
            for person in objects { _ = (person.value(forKey: "groups") as? NSSet)?.count }
            objects[1].setValue("changed", forKey: "name")
        }
        guard objects.allSatisfy({ $0.managedObjectContext == nil }) else {
            throw BrokenPromise(sentence: "an object has a context that nobody holds")
        }
        while !objects.isEmpty { objects.removeLast() }
        Victim.say("all gone")
    }

    func compete() throws {
        guard let person = try context.all("Person", by: "name").first else {
            throw BrokenPromise(sentence: "there is no person")
        }
        person.setValue((person.value(forKey: "age") as? Int ?? 0) + 1, forKey: "age")
        Victim.say("ready")
        _ = readLine()
        do {
            try context.save()
            Victim.say("saved")
        } catch let error as CocoaError {
            Victim.say("refused \(error.code.rawValue)")
        }
    }
}
