// Stores that are carried to another version of their model.

import CoreData
import Yardstick

/// `migrateAdd` and `migrateRename`: a store is opened with a later model, which migrates it where it is. `migrateMapping`: a mapping model
/// carries its objects to a new store. `copyObjects`, which that is compared with: a program fetches them, inserts as many, and saves.
struct MigrationTasks {
    let path: String
    let region: Region

    func run(_ task: Task) throws -> Checksum {
        if task == .migrateAdd { try open("ClinicAdded") }
        if task == .migrateRename { try open("ClinicRenamed") }
        if task == .migrateMapping { try map() }
        if task == .copyObjects { try copy() }
        return Checksum()
    }

    // MARK: In place

    private func open(_ name: String) throws {
        // Read anew, so that no version of it is remembered.
        let model = try Models.load(name)
        let coordinator = try region.measure {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let options = [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ]
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: options)
            return coordinator
        }
        try close(coordinator)
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: Into another store

    private var later: String { path + ".later" }

    private func map() throws {
        let manager = NSMigrationManager(
            sourceModel: try Models.load("Clinic"), destinationModel: try Models.load("ClinicAdded"))
        let mapping = try mapping(manager.sourceModel, manager.destinationModel)
        try region.measure {
            try manager.migrateStore(
                from: URL(fileURLWithPath: path), type: .sqlite, mapping: mapping, to: URL(fileURLWithPath: later),
                type: .sqlite)
        }
        try takeLater()
    }

    /// What a mapping model of Xcode's says: value expressions for all properties, the default policy.
    private func mapping(_ from: NSManagedObjectModel, _ to: NSManagedObjectModel) throws -> NSMappingModel {
        let mapping = NSMappingModel()
        mapping.entityMappings = ["Injury", "Patient"].map { name in
            let entity = NSEntityMapping()
            entity.name = "\(name)To\(name)"
            entity.mappingType = .customEntityMappingType
            (entity.sourceEntityName, entity.destinationEntityName) = (name, name)
            let source = from.entitiesByName[name]
            entity.attributeMappings = (source?.attributesByName.keys.sorted() ?? []).map {
                property($0, "$source.\($0)")
            }
            if name == "Patient" { entity.attributeMappings?.append(property("ward", "$source.age + 1")) }
            entity.relationshipMappings = (source?.relationshipsByName.sorted { $0.key < $1.key } ?? []).map {
                key, relationship in
                let target = relationship.destinationEntity?.name ?? ""
                let function = "destinationInstancesForEntityMappingNamed:sourceInstances:"
                return property(key, "FUNCTION($manager, '\(function)', '\(target)To\(target)', $source.\(key))")
            }
            return entity
        }
        return mapping
    }

    private func property(_ name: String, _ expression: String) -> NSPropertyMapping {
        let property = NSPropertyMapping()
        (property.name, property.valueExpression) = (name, NSExpression(format: expression))
        return property
    }

    private func copy() throws {
        let (from, to) = (try Stack(path: path), try Stack(path: later))
        for stack in [from, to] { stack.context.performAndWait { stack.context.undoManager = nil } }
        try from.context.performAndWait {
            try to.context.performAndWait { try region.measure { try copy(from.context, to.context) } }
        }
        try from.close()
        try to.close()
        try takeLater()
    }

    private func copy(_ from: NSManagedObjectContext, _ to: NSManagedObjectContext) throws {
        var injuries: [NSManagedObjectID: Injury] = [:]
        for former in try from.fetch(all(Injury.self)) {
            let injury = Injury(context: to)
            injury.name = former.name
            injuries[former.objectID] = injury
        }
        for former in try from.fetch(all(Patient.self)) {
            let patient = Patient(context: to)
            patient.name = former.name
            patient.age = former.age
            patient.admitted = former.admitted
            patient.weight = former.weight
            if let note = former.note { patient.note = note }
            if let photo = former.photo { patient.photo = photo }
            patient.injury = former.injury.flatMap { injuries[$0.objectID] }
        }
        try to.save()
    }

    private func all<T: NSManagedObject>(_ type: T.Type) -> NSFetchRequest<T> {
        let request = NSFetchRequest<T>(entityName: "\(type)")
        request.returnsObjectsAsFaults = false
        return request
    }

    /// Puts what was written where the result is looked for.
    private func takeLater() throws {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        guard rename(later, path) == 0 else { throw Failure("\(later) is not there") }
    }
}
