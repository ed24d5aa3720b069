// The stages of a migration.

import Foundation
import Synchronization

/// One stage of a staged migration; see `NSLightweightMigrationStage` and `NSCustomMigrationStage`.
open class NSMigrationStage: NSObject {
    /// What the stage is called in errors; its place among the stages unless it was set.
    open var label: String! {
        get { name ?? "" }
        set { name = newValue }
    }
    private final var name: String?

    public override init() { super.init() }
}

/// Versions that follow each other by what the difference of their models tells.
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The checksums of the versions, in order.
    public final let versionChecksums: [String]

    public init(_ checksums: [String]) {
        versionChecksums = checksums
        super.init()
    }
}

/// Two versions that the difference of their models leads from one to the other, with work of the program before and after.
open class NSCustomMigrationStage: NSMigrationStage {
    public typealias Handler = (_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage)
        throws -> Void

    public final let currentModel: NSManagedObjectModelReference
    public final let nextModel: NSManagedObjectModelReference
    /// Runs while the store has the current model: `migrationManager.container` has it open. What it saves is kept even if the stage fails.
    open var willMigrateHandler:
        ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?
    /// Runs when the store has the next model: `migrationManager.container` has it open.
    open var didMigrateHandler:
        ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?

    public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference)
    {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }
}

/// Brings stores from version to version, stage by stage, where it is given as `NSPersistentStoreStagedMigrationManagerOptionKey`.
///
/// A store begins at the stage whose version it was written with. Every step is a transaction, so that a failure leaves the last whole
/// version, and its error names the stage.
///
/// One manager may serve any number of stores, opened by any threads at once; their handlers run beside each other.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    public final let stages: [NSMigrationStage]
    /// A stack over the store whose handler runs; nil otherwise.
    ///
    /// On the thread that a handler is called on it is always that of its own store. Another thread that a handler waits for has it as long
    /// as no other store's handler of the same manager runs, and nil else: hand it the container.
    public final var container: NSPersistentContainer? {
        running.withLock { running in
            let own = running.last { $0.thread == UInt(pthread_self()) }
            return own?.container ?? (running.count == 1 ? running[0].container : nil)
        }
    }
    /// What runs, each with the thread that it was called on; a handler inside another one comes after it.
    private final let running = Mutex<[(thread: UInt, container: NSPersistentContainer)]>([])

    /// Runs a handler of a store.
    final func run(with container: NSPersistentContainer, _ handler: () throws -> Void) rethrows {
        let thread = UInt(pthread_self())
        running.withLock { $0.append((thread, container)) }
        defer {
            running.withLock { running in
                if let place = running.lastIndex(where: { $0.thread == thread }) { running.remove(at: place) }
            }
        }
        try handler()
    }

    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
