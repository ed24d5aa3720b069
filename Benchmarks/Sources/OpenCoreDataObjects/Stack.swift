// A store and a context on it, as an application sets them up.

import CoreData
import Synchronization
import Yardstick

/// Coordinator, store and context with an undo manager and an observer of saves.
final class Stack: Sendable {
    /// Made once a process, as an application does; frozen by the first coordinator.
    nonisolated(unsafe) private static let model = Result { try Models.load("Clinic") }

    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    private let observedSaves: SaveCount
    /// Set once, here.
    nonisolated(unsafe) private let observer: any NSObjectProtocol

    init(path: String, options: [AnyHashable: Any]? = nil) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model.get())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: options)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = UndoManager()
        let observedSaves = SaveCount()
        self.observedSaves = observedSaves
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { _ in observedSaves.add() }
    }

    deinit { NotificationCenter.default.removeObserver(observer) }

    /// Brings the table's pages into SQLite's cache without making a row.
    func warmPages() throws {
        let request = NSFetchRequest<Patient>(entityName: "Patient")
        request.predicate = NSPredicate(format: "weight > 0")
        _ = try context.count(for: request)
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Throws unless the observer heard of as many saves as there were.
    func expectObservedSaves(_ count: Int) throws {
        let observed = observedSaves.value
        guard observed == count else {
            throw Failure("\(count) saves, but the observer heard of \(observed)")
        }
    }

    /// The ID of the patient with this primary key.
    func patientID(_ key: Int64) throws -> NSManagedObjectID {
        guard let store = coordinator.persistentStores.first,
            let url = URL(string: "x-coredata://\(store.identifier ?? "")/Patient/p\(key)"),
            let id = coordinator.managedObjectID(forURIRepresentation: url)
        else { throw Failure("no ID for the patient \(key)") }
        return id
    }
}

/// How often the observer was called.
private final class SaveCount: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}
