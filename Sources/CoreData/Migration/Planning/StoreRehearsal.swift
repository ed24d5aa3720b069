// A migration that is tried on a copy.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

extension StoreMigrationPlan {
    /// Carries the plan out on a copy of the store, and looks whether the result is right.
    ///
    /// Every object is validated against the last version, and what is kept without a mapping model is compared by queries that know nothing of the
    /// migration: the number of objects of each entity and the values of each property. The copy lies beside the store's own folder for temporary files and
    /// is removed. Costs as much room as the store.
    /// - Parameter progress: called before each step and after the last, with the number of steps that are done.
    /// - Returns: each object that would not fit, with its ID and the property, and each difference; the error of a step that fails. Nothing for
    ///   a migration that can be run.
    /// - Throws: what keeps the copy from being made or read.
    public func rehearse(progress: (_ done: Int) -> Void = { _ in }) throws -> [Finding] {
        if !findings.isEmpty { return findings }
        if steps.isEmpty { return [] }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("CoreDataRehearsal-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent(migration.url.lastPathComponent)
        try migration.copy(to: copy)
        let rehearsal = StoreRehearsal(migration: migration.moved(to: copy), store: migration.url)
        return try rehearsal.run(steps, progress)
    }
}

/// *run on the copy · validate · compare*
private struct StoreRehearsal {
    let migration: ChainMigration
    /// The store itself.
    let store: URL

    func run(_ steps: [StoreMigrationPlan.Step], _ progress: (Int) -> Void) throws -> [StoreMigrationPlan.Finding] {
        for number in steps.indices {
            progress(number)
            do { try migration.perform(number) } catch { return findings(of: error) }
        }
        progress(steps.count)
        let invalid = try validated()
        return try invalid + (steps.allSatisfy { $0.kind == .inferred } && migration.type == NSSQLiteStoreType ? differences() : [])
    }

    private func findings(of error: any Error) -> [StoreMigrationPlan.Finding] {
        let error = error as NSError
        let several = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        return (several.isEmpty ? [error] : several).map { finding($0) }
    }

    private func finding(_ error: NSError, _ object: NSManagedObject? = nil) -> StoreMigrationPlan.Finding {
        let object = object ?? error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
        return StoreMigrationPlan.Finding(
            error.localizedDescription, entity: object?.entity.name ?? error.userInfo[NSEntityNameErrorKey] as? String,
            property: error.userInfo[NSValidationKeyErrorKey] as? String, file: store.path,
            id: object?.objectID.uriRepresentation().absoluteString)
    }

    // MARK: Validation

    private func validated() throws -> [StoreMigrationPlan.Finding] {
        guard let last = migration.chain.versions.last else { return [] }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: last.model)
        var options = migration.options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = true
        let opened = try coordinator.addPersistentStore(
            ofType: migration.type, configurationName: migration.configuration, at: migration.url, options: options)
        defer { try? coordinator.remove(opened) }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        return try context.hold {
            var findings: [StoreMigrationPlan.Finding] = []
            for entity in last.schema.entities(inConfiguration: migration.configuration) ?? [] where !entity.isAbstract {
                findings += try validated(entity.name, in: context)
            }
            return findings
        }
    }

    private func validated(_ entity: String, in context: NSManagedObjectContext) throws -> [StoreMigrationPlan.Finding] {
        let all = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        all.resultType = .managedObjectIDResultType
        all.includesSubentities = false
        let ids = try context.fetch(all)
        var findings: [StoreMigrationPlan.Finding] = []
        for start in stride(from: 0, to: ids.count, by: 1000) {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "SELF IN %@", Array(ids[start..<min(start + 1000, ids.count)]))
            request.returnsObjectsAsFaults = false
            for object in try context.fetch(request) {
                do { try object.validateForUpdate() } catch let error as NSError {
                    let several = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
                    findings += several.map { finding($0, object) }
                }
            }
            context.reset()
        }
        return findings
    }

    // MARK: Comparison

    /// What differs between the store and its migrated copy, by SQL over both.
    private func differences() throws -> [StoreMigrationPlan.Finding] {
        guard let origins = MigrationForecast.origins(migration.chain).last, let last = migration.chain.versions.last else { return [] }
        let source = migration.chain.versions[0].schema
        let (before, after) = (StoreFile(url: store), StoreFile(url: migration.url))
        var findings: [StoreMigrationPlan.Finding] = []
        for later in last.schema.entities(inConfiguration: migration.configuration) ?? [] where !later.isAbstract {
            guard let name = origins.entities[later.name], let earlier = source.entity(named: name) else { continue }
            let columns = comparable(earlier, later, origins.properties[later.name] ?? [:], source, last.schema)
            for (property, former, present) in [(nil, "Z_PK", "Z_PK")] + columns {
                let (a, b) = (
                    try before.fingerprint(of: former, in: earlier.tableName(in: source), entity: earlier.index.number),
                    try after.fingerprint(of: present, in: later.tableName(in: last.schema), entity: later.index.number))
                guard a != b else { continue }
                let what = property.map { "The values of \(later.name).\($0)" } ?? "The objects of \(later.name)"
                findings.append(
                    .init("\(what) are others than before: \(a.count) and \(b.count) of them.", entity: later.name, property: property, file: store.path))
            }
        }
        return findings
    }

    /// Attributes and to-ones that keep their values, with their columns by Core Data's rules.
    private func comparable(
        _ earlier: Entity, _ later: Entity, _ names: [String: String], _ source: Schema, _ destination: Schema
    ) -> [(String?, String, String)] {
        later.slots.compactMap { slot in
            guard !slot.isTransient, slot.kind != .entityTag, slot.composite == nil, slot.attribute?.isDerived != true, let name = names[slot.name],
                case .slot(let place)? = earlier.places[name], !earlier.slots[place].isTransient,
                slot.attribute?.defaultValue.isNull != false || !slot.isRequired || earlier.slots[place].isRequired,
                slot.relationship == nil || earlier.slots[place].relationship != nil
            else { return nil }
            return (slot.name, "Z" + name.uppercased(), "Z" + slot.name.uppercased())
        }
    }
}

extension Entity {
    /// By Core Data's rule: all entities of a tree share the table of its root.
    fileprivate func tableName(in schema: Schema) -> String { "Z" + schema[root].name.uppercased() }
}
