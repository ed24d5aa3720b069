// The Dr. Dobb's example: a model is prepared, linked to a file, filled with a constant table, and saved.

import CoreData

/// A store of injuries and the context that changes it. What is unsaved is saved when the object is let go.
final class Triage {
    static let names = "Blunt Trauma%Burn%C-Spine%Cardiac%Crushing%Fracture%Laceration%Penetration"

    let model: NSManagedObjectModel
    let context: NSManagedObjectContext

    /// - Throws: when the store cannot be opened.
    init(model: NSManagedObjectModel, store: URL, sql: Bool) throws {
        self.model = model
        context = try Triage.link2file(model, store: store, sql: sql)
    }

    deinit {
        _ = save2file()
    }

    /// Reads the model from its XML, so that an attribute added there is in the next new store.
    ///
    /// - Throws: when it cannot be read or has no place for the table.
    static func prepModel(_ url: URL) throws -> NSManagedObjectModel {
        guard let model = NSManagedObjectModel(contentsOf: url) else {
            // Asked again by our own initialiser, it says what is wrong, with file, line and column.
            return try NSManagedObjectModel(loading: url)
        }
        let injury = model.entitiesByName["Injury"]
        let (id, name) = (injury?.attributesByName["id"], injury?.attributesByName["name"])
        let integers: [NSAttributeType] = [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType]
        guard let id, let name, integers.contains(id.attributeType), name.attributeType == .stringAttributeType,
            injury?.isAbstract == false
        else {
            throw Failure(
                "the model at \(url.path) needs an entity Injury, not abstract, with an integer attribute id and a string "
                    + "attribute name.")
        }
        return model
    }

    /// Attaches a store to the model and a context to the store.
    static func link2file(_ model: NSManagedObjectModel, store: URL, sql: Bool) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: sql ? printingStatements() : nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Saves what has changed and says how that went; answers whether nothing is left unsaved.
    func save2file() -> Bool {
        guard context.hasChanges else { return true }
        do {
            try context.save()
            print("successful save")
            return true
        } catch {
            printError("failed save: \(error.localizedDescription)")
            // Otherwise the save at the end of this object's life would fail a second time.
            context.rollback()
            return false
        }
    }

    /// Inserts one object for each term of the list.
    func initInjury() {
        for (index, name) in Triage.names.split(separator: "%").enumerated() {
            let record = Injury(context: context)
            record.id = Int32(index)
            record.name = String(name)
            // Inserting an object that is inserted already is harmless.
            context.insert(record)
        }
    }
}
