// Coordinators, contexts, objects and requests, made in few words.

import CoreData
import CoreDataValues
import Foundation

/// A coordinator with one store, and contexts on it.
package final class Stack {
    package let folder = Folder()
    package let coordinator: NSPersistentStoreCoordinator
    package let context: NSManagedObjectContext

    package init(
        _ type: String = NSSQLiteStoreType, model: NSManagedObjectModel = Clinic.model(), undo: Bool = true,
        options: [AnyHashable: Any]? = nil
    ) throws {
        StoreMaker.registerSamples()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.file("store.sqlite"),
            options: type == NSSQLiteStoreType ? options : nil)
        context = coordinator.context()
        if undo { context.undoManager = UndoManager() }
    }

    package func another() -> NSManagedObjectContext { coordinator.context() }

    /// A patient that is saved.
    package func saved(_ name: String = "Ada") throws -> NSManagedObject {
        let patient = context.make("Patient", ["name": name])
        try context.save()
        return patient
    }
}

extension NSPersistentStoreCoordinator {
    /// A coordinator with one store.
    package convenience init(
        _ model: NSManagedObjectModel, _ type: String = NSSQLiteStoreType, at url: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws {
        self.init(managedObjectModel: model)
        try addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    }

    /// A coordinator with two stores: of First, and of Second, whose names are unique.
    package static func pair(in folder: Folder) throws -> NSPersistentStoreCoordinator {
        let first = EntityDraft("First", [Clinic.attribute("name", .string)])
        var second = EntityDraft("Second", first.attributes)
        second.uniquenessConstraints = [["name"]]
        var draft = SchemaDraft(first, second)
        draft.configurations = ["One": ["First"], "Two": ["Second"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(draft: draft))
        for name in ["One", "Two"] {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: name, at: folder.file(name))
        }
        return coordinator
    }

    /// Records in a SQLite store a hash of an entity that only another tool would have computed.
    package static func recordOthersHash(of entity: String, at url: URL) throws {
        var metadata = try metadataForPersistentStore(type: .sqlite, at: url)
        guard var hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data], hashes[entity] != nil else {
            throw CocoaError(.fileReadCorruptFile)
        }
        hashes[entity] = Data(repeating: 9, count: 32)
        metadata[NSStoreModelVersionHashesKey] = hashes
        try setMetadata(metadata, type: .sqlite, at: url)
    }

    /// A new context with a queue of its own.
    package func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self
        return context
    }
}

extension NSFetchRequest {
    /// - Parameters:
    ///   - format: the predicate's.
    ///   - key: what the results are sorted by.
    package convenience init(_ entity: String, _ format: String? = nil, _ arguments: Any..., by key: String? = nil) {
        self.init(entityName: entity)
        predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
    }
}

extension NSManagedObjectContext {
    /// A new context with a queue of its own, below this one.
    package func child() -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = self
        return child
    }

    @discardableResult
    package func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// - Parameter key: what they are sorted by.
    package func all(_ entity: String, by key: String? = nil) throws -> [NSManagedObject] {
        try fetch(NSFetchRequest<NSManagedObject>(entity, by: key))
    }
}

extension NSManagedObject {
    package func text(_ key: String) -> String? { value(forKey: key) as? String }
    package func int(_ key: String) -> Int? { value(forKey: key) as? Int }
    package func one(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
}
