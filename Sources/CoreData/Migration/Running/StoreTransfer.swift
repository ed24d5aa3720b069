// Opens the two stores of a migration, and puts the result in its place.

import CoreDataFoundation
import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

/// One migration of a store, to another place or in its own.
struct StoreTransfer {
    typealias Place = (url: URL, type: String, options: [AnyHashable: Any]?, configuration: String?)
    let manager: NSMigrationManager
    let mappings: NSMappingModel
    let source: Place
    let destination: Place

    private var isInPlace: Bool { destination.url.standardizedFileURL == source.url.standardizedFileURL }

    /// Whether nothing is at the destination whose objects stay.
    private var isNew: Bool { isInPlace || !FileManager.default.fileExists(atPath: destination.url.path) }

    /// How many bytes of rows each side keeps.
    private static let cached = 4 << 20

    /// Puts the new store at the destination when it is whole.
    func run() throws {
        let folder = try workFolder()
        defer { withExtendedLifetime(folder) {} }
        let work = folder.url.appendingPathComponent(destination.url.lastPathComponent)
        try make(at: work)
        try manager.throwIfCancelled()
        try NSPersistentStoreCoordinator(managedObjectModel: manager.destinationModel).replacePersistentStore(
            at: destination.url, withPersistentStoreFrom: work, ofType: destination.type)
        manager.progress = 1
    }

    /// Puts the new store in the place of the former one: the same file, in one transaction that saw the former one being read, where it is a
    /// SQLite store; under the lock of the file, for which saves ask, where it is another store of this library.
    ///
    /// - Parameter given: the folder, where the caller has it already.
    func runInPlace(in given: WorkFolder?) throws {
        if StoreOptions(lenient: source.options).isReadOnly {
            throw StoreError(
                134030, "The store at \(source.url.path) was opened read-only and cannot be migrated.",
                path: source.url.path)
        }
        let folder = try given ?? workFolder()
        defer { withExtendedLifetime(folder) {} }
        let work = folder.url.appendingPathComponent(source.url.lastPathComponent)
        if source.type == NSSQLiteStoreType {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: source.type, at: source.url)
            let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
            let succession = try StoreSuccession(
                url: source.url, schema: manager.sourceModel.schema(), configuration: source.configuration,
                options: StoreOptions(source.options).sqlite)
            let omitted = try succession.run(
                expecting: hashes, successor: work, make: { try make(at: work) }, check: manager.throwIfCancelled)
            CoreDataWarning.tell(removed: omitted, from: source.url)
        } else {
            let patience = StoreOptions(lenient: source.options).patience
            try AtomicFile(url: source.url).exchange(
                isLocked: StoreClasses.isFile(source.type), waiting: patience
            ) {
                try? FileManager.default.removeItem(at: work)
                try make(at: work)
                try manager.throwIfCancelled()
            } by: {
                try NSPersistentStoreCoordinator.exchange(source.url, by: work, ofType: source.type)
            }
        }
        manager.progress = 1
    }

    private func workFolder() throws -> WorkFolder {
        do {
            return try WorkFolder(
                beside: destination.url, waiting: StoreOptions(lenient: destination.options).patience,
                manager.throwIfCancelled)
        } catch let error as StoreError {
            throw failure(134160, "The store cannot be migrated", destination.url, error)
        }
    }

    /// *check the mappings · open both · three passes · close both*
    private func make(at work: URL) throws {
        manager.progress = 0
        let from = NSPersistentStoreCoordinator(managedObjectModel: manager.sourceModel)
        let to = NSPersistentStoreCoordinator(managedObjectModel: manager.destinationModel)
        // What was read once is not asked for again soon.
        (from.rowCache.limit, to.rowCache.limit) = (Self.cached, Self.cached)
        let steps = try (mappings.entityMappings ?? []).map { try MappingStep($0, of: mappings, manager) }
        try requireNames(steps)
        do {
            try openSource(from)
            if try !migrateByStatements(from, work) {
                try openDestination(to, work)
                try carry(steps, from, to)
            }
            try close(from)
            try close(to)
        } catch {
            try? close(from)
            try? close(to)
            throw error
        }
    }

    private func requireNames(_ steps: [MappingStep]) throws {
        var seen: Set<String> = []
        for step in steps where !seen.insert(step.name).inserted {
            throw CocoaError.coreData(
                134110,
                "The mapping model has two entity mappings of the name \(step.name). Give each its own. Nothing was written."
            )
        }
    }

    private func carry(_ steps: [MappingStep], _ from: NSPersistentStoreCoordinator, _ to: NSPersistentStoreCoordinator)
        throws
    {
        let (sourceContext, destinationContext) = (context(from), context(to))
        // Both contexts' queues are held by this thread, which runs all of it.
        nonisolated(unsafe) let (manager, steps) = (manager, steps)
        let isNew = isNew
        try sourceContext.performAndWait {
            try destinationContext.performAndWait {
                let run = MigrationRun(
                    manager, steps, from: sourceContext, to: destinationContext, isNew: isNew)
                manager.run = run
                defer {
                    manager.progress = run.progress
                    manager.run = nil
                }
                try run.run()
            }
        }
        try carryMetadata(from, to)
    }

    /// A copy of a SQLite store is migrated as stores are in place, where the mapping model says what the difference alone tells.
    private func migrateByStatements(_ from: NSPersistentStoreCoordinator, _ work: URL) throws -> Bool {
        guard manager.usesStoreSpecificMigrationManager, source.type == NSSQLiteStoreType,
            destination.type == NSSQLiteStoreType,
            isNew,
            let plan = try? MigrationPlan(SchemaDiff(from: from.runtime.schema, to: manager.destinationModel.schema())),
            InferredMapping(plan.diff.pairs, manager.sourceModel, manager.destinationModel).model().says(as: mappings)
        else { return false }
        try manager.throwIfCancelled()
        try NSPersistentStoreCoordinator.exchange(work, by: source.url, ofType: source.type, isHeld: isInPlace)
        let omitted = try SQLiteStore.migrate(
            work, by: plan, from: source.configuration,
            to: StorePlan(schema: plan.destination, configuration: destination.configuration),
            options: StoreOptions(destination.options).sqlite)
        CoreDataWarning.tell(removed: omitted, from: source.url)
        return true
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        return context
    }

    // MARK: Stores

    /// What has no migration begin inside this one.
    private func plain(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
        var options = options ?? [:]
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        return options
    }

    /// Others may write to it: all of the run reads one state. In place nobody else writes.
    private func openSource(_ coordinator: NSPersistentStoreCoordinator) throws {
        var options = plain(source.options)
        options[NSReadOnlyPersistentStoreOption] = true
        do {
            guard source.type != NSInMemoryStoreType else {
                throw CocoaError.unsupported(
                    "a migration of a store in memory, which only its own coordinator has; have that write it elsewhere "
                        + "(migratePersistentStore)")
            }
            guard FileManager.default.fileExists(atPath: source.url.path) else {
                throw CocoaError.coreData(
                    134080, "There is no file at \(source.url.path).", [NSFilePathErrorKey: source.url.path])
            }
            try coordinator.addStore(
                source.type, source.configuration, source.url, options, isFixed: !isInPlace)
        } catch { throw failure(134150, "The store to be migrated cannot be opened", source.url, error) }
    }

    private func openDestination(_ coordinator: NSPersistentStoreCoordinator, _ work: URL) throws {
        do {
            guard destination.type != NSInMemoryStoreType else {
                throw CocoaError.unsupported("a migration into a store in memory, which would be gone when it ends")
            }
            var options = plain(destination.options)
            if !isNew {
                try coordinator.replacePersistentStore(
                    at: work, withPersistentStoreFrom: destination.url, ofType: destination.type)
            } else {
                // Migrations are not recorded.
                options[NSPersistentHistoryTrackingKey] = nil
                options[NSPersistentStoreKeepsFormerValues] = nil
            }
            // A file that is thrown away unless it is whole.
            if destination.type == NSSQLiteStoreType {
                var pragmas = options[NSSQLitePragmasOption] as? [String: Any] ?? [:]
                if pragmas["synchronous"] == nil { pragmas["synchronous"] = "OFF" }
                options[NSSQLitePragmasOption] = pragmas
            }
            try coordinator.addPersistentStore(
                ofType: destination.type, configurationName: destination.configuration, at: work, options: options)
        } catch { throw failure(134160, "The store that the objects go to cannot be opened", destination.url, error) }
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// The program's own metadata go with the objects.
    private func carryMetadata(_ from: NSPersistentStoreCoordinator, _ to: NSPersistentStoreCoordinator) throws {
        guard let former = from.persistentStores.first?.metadata, let store = to.persistentStores.first else { return }
        let library = [
            NSPersistentStoreDeferredLightweightMigrationOptionKey, NSStoreTypeKey, NSStoreUUIDKey,
            NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
        ]
        let own = former.filter {
            !library.contains($0.key) && !$0.key.hasPrefix("NSStoreModel") && !$0.key.hasPrefix("NSPersistence")
        }
        guard !own.isEmpty else { return }
        store.metadata = own.merging(store.metadata ?? [:]) { _, present in present }
        try to.saveNewMetadata()
    }

    private func failure(_ code: Int, _ what: String, _ url: URL, _ error: any Error) -> CocoaError {
        let cause = CocoaError.presenting(error)
        return CocoaError.coreData(
            code, "\(what): \(cause.localizedDescription)", [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: cause])
    }
}
