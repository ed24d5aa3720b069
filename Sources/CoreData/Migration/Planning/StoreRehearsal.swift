// A migration that is tried on a copy.

import CoreDataValues
import Foundation

extension StoreMigrationPlan {
    /// Carries the plan out on a copy of the store, and looks whether the result is right.
    ///
    /// Every object is validated against the last version, and what is kept is compared by queries that know nothing of the migration: the
    /// number of objects of each entity, the values of each attribute, large ones included, and the pairs and order of each relationship. Of what
    /// went through a mapping model that is what is taken over as it is, without policy and predicate: objects have other numbers then, so
    /// that values are compared without saying whose they are. The copy is removed. Costs as much room as the store.
    /// - Parameters:
    ///   - place: the folder for the copy; nil for the one for temporary files.
    ///   - progress: see `run(backup:progress:)`.
    /// - Returns: each object that would not fit or for which a step fails, with its ID and the property, a hundred of each property and the
    ///   number of the others (once a mapping model has made objects anew, the ID of what became of it in the copy); each difference; any other
    ///   error of a step, and of reading the copy. Nothing for a migration that can be run.
    /// - Throws: what keeps the copy from being made.
    public func rehearse(in place: URL? = nil, progress: (_ done: Double) -> Void = { _ in }) throws -> [Finding] {
        if !findings.isEmpty { return findings }
        if steps.isEmpty { return [] }
        let folder = (place ?? FileManager.default.temporaryDirectory).appendingPathComponent(
            "CoreDataRehearsal-\(UUID().uuidString)", isDirectory: true)
        // Nobody sees a copy who cannot see the store.
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent(migration.url.lastPathComponent)
        try migration.copy(to: copy)
        var moved = migration.moved(to: copy)
        moved.collectsFailures = true
        let rehearsal = StoreRehearsal(migration: moved, store: migration.url, lost: lost)
        return try rehearsal.run(steps, progress)
    }
}

/// *note what the copy has · run on it · validate · compare*
private struct StoreRehearsal {
    let migration: ChainMigration
    /// The store itself.
    let store: URL
    /// What the plan says of it.
    let lost: [StoreMigrationPlan.Loss]
    private let lineage: MigrationLineage

    init(migration: ChainMigration, store: URL, lost: [StoreMigrationPlan.Loss]) {
        (self.migration, self.store, self.lost) = (migration, store, lost)
        lineage = MigrationLineage(migration)
    }

    func run(_ steps: [StoreMigrationPlan.Step], _ progress: (Double) -> Void) throws -> [StoreMigrationPlan.Finding] {
        do {
            let comparison = try StoreComparison(migration, store, lost: lost)
            for number in steps.indices { try migration.perform(number, progress) }
            progress(Double(steps.count))
            return try validated() + comparison.differences()
        } catch { return findings(of: CocoaError.presenting(error)) }
    }

    private func findings(of error: any Error) -> [StoreMigrationPlan.Finding] {
        let error = error as NSError
        let several = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        return (several.isEmpty ? [error] : several).map { finding($0) }
    }

    private func finding(_ error: NSError, _ object: NSManagedObject? = nil) -> StoreMigrationPlan.Finding {
        let affected = (error.userInfo[NSAffectedObjectsErrorKey] as? [Any])?.first
        let failing = object ?? error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
        let id =
            object.map { former($0.objectID) } ?? (affected as? NSManagedObjectID)?.uri
        // What is wrong with the copy is wrong with the store.
        let message = error.localizedDescription.replacing(
            migration.url.deletingLastPathComponent().path, with: store.deletingLastPathComponent().path)
        return StoreMigrationPlan.Finding(
            message, entity: failing?.entity.name ?? error.userInfo[NSEntityNameErrorKey] as? String,
            property: error.userInfo[NSValidationKeyErrorKey] as? String, file: store.path,
            id: id ?? (affected as? NSURL)?.absoluteString)
    }

    /// The URI that an object has in the store as it is. Rows keep their numbers unless a mapping model makes objects.
    private func former(_ id: NSManagedObjectID) -> String {
        let uri = id.uriRepresentation()
        guard let line = id.entity.name.flatMap({ lineage.entities[$0] }), line.isKeyed else {
            return uri.absoluteString
        }
        let store = uri.deletingLastPathComponent().deletingLastPathComponent()
        return store.appendingPathComponent(line.entity).appendingPathComponent(uri.lastPathComponent).absoluteString
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
            for entity in last.schema.entities(inConfiguration: migration.configuration) ?? [] where !entity.isAbstract
            {
                findings += try validated(entity.name, in: context)
            }
            return findings
        }
    }

    private func validated(_ entity: String, in context: NSManagedObjectContext) throws -> [StoreMigrationPlan.Finding]
    {
        var findings: [StoreMigrationPlan.Finding] = []
        /// How many there are of each property.
        var counts: [String: Int] = [:]
        let counted = context.runtime.schema.entity(named: entity)?.relationships.map { context.runtime.schema[$0] }
            .filter { $0.isToMany && $0.description.minCount + $0.description.maxCount > 0 }.map(\.name)
        try context.forEachBatch(of: entity, with: counted ?? []) { object in
            Validation.readCounted(object)
            do { try object.validateForUpdate() } catch let error as NSError {
                for error in error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error] {
                    let finding = finding(error, object)
                    let count = counts[finding.property ?? "", default: 0] + 1
                    counts[finding.property ?? ""] = count
                    if count <= FailedObject.limit { findings.append(finding) }
                }
            }
        }
        for (property, count) in counts.sorted(by: { $0.key < $1.key }) where count > FailedObject.limit {
            let name = property.isEmpty ? entity : "\(entity).\(property)"
            findings.append(
                .init(
                    "\(count - FailedObject.limit) other objects would fail for \(name) as well.", entity: entity,
                    property: property.isEmpty ? nil : property, file: store.path))
        }
        return findings
    }
}
