// The pair of models between which rows are carried over.

import Foundation

/// Names the models that a store is carried over from and to.
///
/// Nothing is migrated yet: a store of another model is refused (134100), naming what differs. The class is here so that a
/// store's class can name its own by `NSPersistentStore.migrationManagerClass()`; `migrateStore` and mappings are not declared.
open class NSMigrationManager: NSObject {
    /// The model of the rows that are read.
    public final let sourceModel: NSManagedObjectModel
    /// The model of the rows that are written.
    public final let destinationModel: NSManagedObjectModel
    /// What a program likes to have at hand while it migrates.
    open var userInfo: [AnyHashable: Any]?

    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }
}
