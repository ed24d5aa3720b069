// The stages of a migration.

import Foundation

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
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    public final let stages: [NSMigrationStage]
    /// A stack over the store, while a handler runs; nil otherwise.
    public internal(set) final var container: NSPersistentContainer?

    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
