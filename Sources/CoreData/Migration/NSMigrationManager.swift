// Carries the objects of a store over to another model, as a mapping model says.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// Migrates a store into another one by a mapping model.
///
/// Every object of the source is read and what becomes of it is made by the policies of the entity mappings, in three passes (see
/// `NSEntityMigrationPolicy`). The source is opened read-only; of a SQLite store the whole run, its `sourceContext` too, sees the state that it
/// begins with, whatever others save meanwhile. One without write-ahead log takes no writes as long. Memory holds a thousand objects at a
/// time, and some 60 bytes for each pair of objects that are associated.
open class NSMigrationManager: NSObject, KeyValueCoding {
    /// The model of the rows that are read.
    public final let sourceModel: NSManagedObjectModel
    /// The model of the rows that are written.
    public final let destinationModel: NSManagedObjectModel
    /// What a program likes to have at hand while it migrates; value expressions have it as `$manager.userInfo`.
    open var userInfo: [AnyHashable: Any]?
    /// Whether a SQLite store goes to a new SQLite store by statements, without objects, where the mapping model says no more than
    /// `inferredMappingModel` does. The new store then has the UUID of the former one.
    open var usesStoreSpecificMigrationManager = true

    final var run: MigrationRun?
    private final var mappings = NSMappingModel()
    private let cancellation = Mutex<(any Error)?>(nil)

    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    // MARK: Migrating

    /// Makes of a store another one at another place, of any type.
    ///
    /// Whatever ends it, the source is as it was, and the destination is as it was or has all objects. A store that is at the destination
    /// already keeps its objects, and gets those of the source beside them.
    /// - Throws: 134140 without mapping model, 134110 and 134170 for one that cannot be carried out, before anything is written; 134150 and
    ///   134160 for a source or destination that cannot be opened or is in memory; 134120 when it was cancelled; what policies throw;
    ///   validation errors (1560 with all of them for several).
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?,
        toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CocoaError.coreData(
                134140, "There is no mapping model for the store at \(sourceURL.path). Give one to migrateStore.")
        }
        cancellation.withLock { $0 = nil }
        self.mappings = mappings
        guard dURL.standardizedFileURL != sourceURL.standardizedFileURL else {
            throw CocoaError.coreData(
                134160,
                "The store at \(sourceURL.path) cannot be migrated onto itself. Choose another place, or open it with the options that "
                    + "migrate it.", [NSFilePathErrorKey: dURL.path])
        }
        let transfer = StoreTransfer(
            manager: self, mappings: mappings, source: (sourceURL, sStoreType, sOptions, nil),
            destination: (dURL, dStoreType, dOptions, nil))
        do { try transfer.run() } catch let failure as MigrationRun.ObjectFailure {
            throw CocoaError.presenting(failure.cause)
        } catch { throw CocoaError.presenting(error) }
    }

    /// Migrates a store where it is, as opening it with a mapping model does.
    ///
    /// A SQLite store is migrated in one transaction of its own file: other processes that have it open wait with their writes, and whatever
    /// ends it, the store is the former one or the new one.
    /// - Throws: as `migrateStore`.
    package final func migrateInPlace(
        _ url: URL, type: String, options: [AnyHashable: Any]?, with mappings: NSMappingModel
    ) throws {
        try migrateInPlace(url, type: type, options: options, configurations: (nil, nil), in: nil, with: mappings)
    }

    /// - Parameter folder: where the new store is made, if the caller has it already.
    final func migrateInPlace(
        _ url: URL, type: String, options: [AnyHashable: Any]?, configurations: (String?, String?),
        in folder: WorkFolder?,
        with mappings: NSMappingModel
    ) throws {
        cancellation.withLock { $0 = nil }
        self.mappings = mappings
        let transfer = StoreTransfer(
            manager: self, mappings: mappings, source: (url, type, options, configurations.0),
            destination: (url, type, options, configurations.1))
        do { try transfer.runInPlace(in: folder) } catch { throw CocoaError.presenting(error) }
    }

    /// See `migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)`.
    open func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
            toDestinationURL: destinationURL,
            destinationType: destinationType.rawValue, destinationOptions: destinationOptions)
    }

    /// Ends the migration that runs, from any thread; it throws 134120 with the error under `NSUnderlyingErrorKey`. Heard until the new
    /// store takes its place.
    open func cancelMigrationWithError(_ error: any Error) { cancellation.withLock { $0 = error } }

    final func throwIfCancelled() throws {
        guard let error = cancellation.withLock({ $0 }) else { return }
        throw CocoaError.coreData(
            134120, "The migration was cancelled: \(error.localizedDescription)", [NSUnderlyingErrorKey: error])
    }

    /// Forgets all associations. What is not related yet stays unrelated.
    open func reset() { run?.reset() }

    // MARK: What runs

    /// The mapping model of the migration that runs or ran last; an empty one before.
    open var mappingModel: NSMappingModel { mappings }
    /// Where source objects are. Asking while nothing runs is a misuse.
    open var sourceContext: NSManagedObjectContext { requiredRun(for: "sourceContext").sourceContext }
    /// Where new objects are inserted. Asking while nothing runs is a misuse.
    open var destinationContext: NSManagedObjectContext { requiredRun(for: "destinationContext").destinationContext }
    /// The mapping that is carried out. Asking while none is, is a misuse.
    open var currentEntityMapping: NSEntityMapping {
        guard let mapping = run?.current?.mapping else {
            misuse("currentEntityMapping was asked of a migration manager that does not migrate.")
        }
        return mapping
    }
    /// From 0 to 1; 0 before the first migration. May be asked on any thread.
    open var migrationProgress: Float { progress }
    final var progress: Float {
        get { Float(bitPattern: progressBits.load(ordering: .relaxed)) }
        set { progressBits.store(newValue.bitPattern, ordering: .relaxed) }
    }
    private let progressBits = Atomic<UInt32>(0)
    /// Whether a run goes on after an object that failed, so that its error names them all. Nothing comes of such a run.
    final var collectsFailures = false
    /// Told of the progress whenever objects were saved.
    final var reports: ((Float) -> Void)?

    final func requiredRun(for what: String) -> MigrationRun {
        guard let run else {
            misuse(
                "\(what) was asked of a migration manager that does not migrate. Call it from a policy while migrateStore runs."
            )
        }
        return run
    }

    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    // MARK: Associations

    /// Says that a source object became a destination object, in one of the mappings. A source may have several, and a destination too.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        requiredRun(for: "associate").associate(sourceInstance, destinationInstance, entityMapping)
    }

    /// What a mapping made of source objects, in their order; everything that it made for nil. What was deleted since is left out.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        let run = requiredRun(for: "destinationInstances")
        guard let table = try? run.table(named: mappingName) else { return [] }
        guard let sourceInstances else { return run.pairs(in: table).map { run.destinationObject($0.destination) } }
        return run.destinationObjects(in: table, of: sourceInstances)
    }

    /// Of what a mapping made destination objects, in their order; all that became some for nil. Deleted ones come of nothing.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        let run = requiredRun(for: "sourceInstances")
        guard let table = try? run.table(named: mappingName) else { return [] }
        guard let destinationInstances else { return run.pairs(in: table).map { run.sourceObject($0.source) } }
        return table.sources(of: destinationInstances.filter { !$0.isDiscarded }).map(run.sourceObject)
    }

    // MARK: Keys

    /// Its properties by name, as value expressions ask for them; nil for another key.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "sourceContext": sourceContext
        case "destinationContext": destinationContext
        case "sourceModel": sourceModel
        case "destinationModel": destinationModel
        case "mappingModel": mappingModel
        case "currentEntityMapping": currentEntityMapping
        case "migrationProgress": NSNumber(value: migrationProgress)
        case "userInfo": userInfo.map { NSDictionary(dictionary: $0) }
        case "usesStoreSpecificMigrationManager": NSNumber(value: usesStoreSpecificMigrationManager)
        default: nil
        }
    }

    open func setValue(_ value: Any?, forKey key: String) {
        misuse("The \(key) of a migration manager is set by its property, not by key.")
    }
}
