// Stacks over any type of store, for tests.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// A coordinator with stores in one folder, and contexts on it.
final class Rig {
    let folder: Folder
    let coordinator: NSPersistentStoreCoordinator

    init(_ model: NSManagedObjectModel = Clinic.model(), in folder: Folder = Folder()) {
        StoreMaker.registerSamples()
        self.folder = folder
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    }

    @discardableResult
    func add(
        _ type: String = NSSQLiteStoreType, _ file: String = "store", configuration: String? = nil,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: folder.file(file), options: options)
    }

    func context() -> NSManagedObjectContext { coordinator.context() }

    /// The clinic with the entities Ward, Place and Bed in one configuration and all others in a second; Doctor is in both.
    static func divided() -> NSManagedObjectModel {
        var draft = Clinic.draft()
        draft.configurations = [
            "House": ["Place", "Ward", "Bed", "Doctor"], "People": ["Patient", "Visit", "Badge", "Doctor"],
        ]
        return NSManagedObjectModel(draft: draft)
    }
}

/// What the error that a body throws says to people.
func sentence(of body: () throws -> Void) -> String {
    do {
        try body()
        return ""
    } catch { return (error as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)" }
}

extension Rig {
    /// Takes the write lock of the SQLite store as another process would; the answer lets it go.
    func lock() throws -> () -> Void {
        let file = try SQLiteFile(folder.file("store"))
        try file.run("BEGIN IMMEDIATE")
        return { try? file.run("ROLLBACK") }
    }
}

extension Rig {
    /// Runs a statement on the SQLite store's file as another program would.
    func run(_ sql: String) throws { try SQLiteFile(folder.file("store")).run(sql) }
}

extension Rig {
    /// Saves a small graph: a patient with ward, doctor and two visits.
    @discardableResult
    func filled() throws -> NSManagedObjectContext {
        let context = context()
        let ward = context.make("Ward", ["name": "North"])
        let patient = context.make("Patient", ["name": "Eve"])
        patient.setValue(ward, forKey: "ward")
        patient.setValue(Set([context.make("Doctor", ["name": "Ada"])]), forKey: "doctors")
        let visits = ["b", "a"].map { context.make("Visit", ["note": $0]) }
        patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
        try context.save()
        return context
    }

    func summary(_ context: NSManagedObjectContext) throws -> String {
        let patient = try #require(try context.all("Patient").first)
        let visits = (patient.value(forKey: "visits") as? NSOrderedSet)?.array.map {
            ($0 as? NSManagedObject)?.value(forKey: "note") as? String ?? ""
        }
        let doctors = (patient.value(forKey: "doctors") as? NSSet)?.count
        let ward = (patient.value(forKey: "ward") as? NSManagedObject)?.value(forKey: "name") as? String
        return "\(ward ?? "") \(doctors ?? 0) \(visits ?? [])"
    }
}
