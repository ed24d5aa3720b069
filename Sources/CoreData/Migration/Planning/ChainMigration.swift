// A store and the versions that it passes.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

/// Carries a store from version to version.
struct ChainMigration {
    let url: URL
    let type: String
    let configuration: String?
    let options: [AnyHashable: Any]?
    let chain: VersionChain
    /// For each step the mapping model that a program or its bundles have; nil for one that is inferred.
    let mappings: [NSMappingModel?]
    /// Whether a step goes on after an object that failed, so that its error names them all.
    var collectsFailures = false

    /// The same steps for another file.
    func moved(to url: URL) -> ChainMigration {
        ChainMigration(
            url: url, type: type, configuration: configuration, options: options, chain: chain, mappings: mappings,
            collectsFailures: collectsFailures)
    }

    private func site(_ number: Int, _ folder: WorkFolder) throws -> MigrationSite {
        let (from, to) = chain.steps[number]
        return MigrationSite(
            coordinator: NSPersistentStoreCoordinator(managedObjectModel: to.model), type: type,
            configuration: configuration, url: url,
            options: try StoreOptions(options),
            source: SourceModel(from.model, from.schema, configuration: configuration), recorded: nil, folder: folder)
    }

    func inferred(_ number: Int) throws -> MigrationPlan {
        let (from, to) = chain.steps[number]
        return try MigrationPlan(SchemaDiff(from: from.schema, to: to.schema))
    }

    /// The statements of a step in a SQLite store.
    ///
    /// - Parameter map: the tables before the step, under the names that the file has for them; nil for those of a new store.
    func compiler(_ number: Int, on map: StoreMap?) throws -> MigrationCompiler {
        let (from, to) = chain.steps[number]
        let (dialect, migration) = (SQLiteDialect(), try BoundMigration(inferred(number)))
        let former = try map ?? StoreMap(schema: from.schema, configuration: configuration, dialect: dialect)
        let later = try StoreMap(schema: to.schema, configuration: configuration, dialect: dialect)
        return try MigrationCompiler(
            migration, from: former, to: StoreMap(later, after: former, migration),
            defers: StoreOptions(options).sqlite.defersCleanup)
    }

    /// One step, as a whole or not at all.
    ///
    /// - Parameter progress: called with the number of steps that are done and what is done of this one.
    func perform(_ number: Int, _ progress: (Double) -> Void = { _ in }) throws {
        progress(Double(number))
        do {
            let folder = try WorkFolder(beside: url, waiting: StoreOptions(options).patience)
            defer { withExtendedLifetime(folder) {} }
            if try isDone(number) { return }
            guard let mapping = mappings[number] else { return try site(number, folder).perform(inferred(number)) }
            let (from, to) = chain.steps[number]
            let manager = NSMigrationManager(sourceModel: from.model, destinationModel: to.model)
            manager.collectsFailures = collectsFailures
            try withoutActuallyEscaping(progress) { progress in
                manager.reports = { progress(Double(number) + min(Double($0), 0.999)) }
                defer { manager.reports = nil }
                try manager.migrateInPlace(
                    url, type: type, options: options, configurations: (configuration, configuration), in: folder,
                    with: mapping)
            }
        } catch { throw named(error, number, at: number) }
    }

    /// Whether another process was first.
    private func isDone(_ number: Int) throws -> Bool {
        let recorded = try recorded(at: url)
        return !chain.versions[number].schema.fits(recorded)
            && chain.versions[(number + 1)...].contains { $0.schema.fits(recorded) }
    }

    /// The hashes of the version that a store has.
    private func recorded(at place: URL) throws -> [String: Data] {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: type, at: place, options: options)
        return metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    }

    /// An error that says which step failed.
    ///
    /// - Parameter present: the place of the version that the store has.
    func named(_ error: any Error, _ number: Int, at present: Int) -> CocoaError {
        let (from, to) = chain.steps[number]
        let shown = CocoaError.migrating(
            error, url, outcome: "The store at \(url.path) could not be migrated further. ")
        var info = shown.userInfo
        let text = info[NSLocalizedDescriptionKey] as? String ?? ""
        let words =
            "The step from \(from.name) to \(to.name) failed, and the store has the version \(chain.versions[present].name). \(text)"
        info.merge(CocoaError.saying(words)) { $1 }
        return CocoaError(shown.code, userInfo: info)
    }

    /// Copies the store with its files, as it is at one moment.
    ///
    /// - Throws: 134030 where a file is already; 134100 when somebody has migrated it since the plan was made. Nothing is left then.
    func copy(to place: URL) throws {
        guard !FileManager.default.fileExists(atPath: place.path) else {
            throw CocoaError.coreData(
                134030, "A copy of the store cannot be put at \(place.path), where a file is already.",
                [NSFilePathErrorKey: place.path])
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: chain.versions[0].model)
        do {
            try coordinator.replacePersistentStore(
                at: place, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: options, ofType: type)
        } catch {
            throw CocoaError.coreData(
                134030, "The store at \(url.path) cannot be copied to \(place.path): \(error.localizedDescription)",
                [NSFilePathErrorKey: place.path, NSUnderlyingErrorKey: error])
        }
        guard try !chain.versions[0].schema.fits(recorded(at: place)) else { return }
        coordinator.removeFiles(of: place)
        throw CocoaError.coreData(
            134100,
            "The store at \(url.path) does not have the version \(chain.versions[0].name) any more, which this plan begins with: it was "
                + "migrated meanwhile. Make a new plan; nothing was copied or changed.", [NSFilePathErrorKey: url.path])
    }
}

extension NSPersistentStoreCoordinator {
    /// Migrates a store through the versions of a model, one after the other.
    ///
    /// Each step is carried out by a mapping model of the bundles, or one beside the model, if there is one, else as the models tell, in a
    /// transaction of its own: a failure leaves the last whole version, and its error names the step. A store that has the last version
    /// already stays as it is. The store must not be open in this coordinator. Ours, beside Core Data's API.
    /// - Parameters:
    ///   - url: the store's file.
    ///   - model: a `.xcdatamodeld` or `.momd` with the version that the store was written with.
    ///   - versions: the versions in the order in which the store passes them; nil for all up to the current one, by name.
    ///   - type: the store's type.
    ///   - configuration: which entities the store is for; nil for all.
    ///   - options: those with which the store is opened.
    /// - Throws: 134130 where the store's version is not on the way; what a step throws.
    public final func migrateStore(
        at url: URL, toVersionsOf model: URL, versions: [String]? = nil, type: NSPersistentStore.StoreType = .sqlite,
        configuration: String? = nil, options: [AnyHashable: Any]? = nil
    ) throws {
        let migration = try chainMigration(url, model, versions, type, configuration, options)
        for number in migration.mappings.indices { try migration.perform(number) }
    }

    /// What `migrateStore(at:toVersionsOf:)` would do. The store is only read.
    ///
    /// - Throws: 134130 where the store's version is not on the way; 134190, naming the step, where the models do not tell what becomes of a value.
    public final func migrationPlan(
        at url: URL, toVersionsOf model: URL, versions: [String]? = nil, type: NSPersistentStore.StoreType = .sqlite,
        configuration: String? = nil, options: [AnyHashable: Any]? = nil
    ) throws -> StoreMigrationPlan {
        var migration = try chainMigration(url, model, versions, type, configuration, options)
        while true {
            do { return try MigrationForecast(migration).plan() } catch {
                // Others may have migrated it since its version was read: then there is another plan.
                let present = try chainMigration(url, model, versions, type, configuration, options)
                if present.chain.versions[0].name == migration.chain.versions[0].name { throw error }
                migration = present
            }
        }
    }

    private func chainMigration(
        _ url: URL, _ model: URL, _ versions: [String]?, _ type: NSPersistentStore.StoreType, _ configuration: String?,
        _ options: [AnyHashable: Any]?
    ) throws -> ChainMigration {
        let metadata = try Self.metadataForPersistentStore(type: type, at: url, options: options)
        let recorded = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let chain = try VersionChain(of: recorded, at: url, type.rawValue, in: model, order: versions)
        SourceModel.tellForeign(recorded, chain.versions[0].schema, url)
        let folders = ModelSearch.usualFolders() + [model.deletingLastPathComponent()]
        let mappings = try chain.steps.map { try NSMappingModel.fitting($0.from.schema, $0.to.schema, in: folders) }
        return ChainMigration(
            url: url, type: type.rawValue, configuration: configuration, options: options, chain: chain,
            mappings: mappings)
    }
}
