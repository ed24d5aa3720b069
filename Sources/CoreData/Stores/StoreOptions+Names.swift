// Further names of options and of keys in stores' notifications.

/// Bool. Tells of each write to the store, whichever coordinator or process made it, by `NSPersistentStoreRemoteChange`. Other processes
/// are heard of SQLite stores in files: by the system (inotify), or by a look at the file four times a second where it has none to give.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Accepted and without effect: files on Linux have no protection classes.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Bool. Accepted; an XML store is always read strictly.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Accepted and without effect: the binary format holds no archived classes.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Bool, for `destroyPersistentStore`: empties the file even if it is no store.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Bool, for SQLite stores; others ignore it. Each save is recorded in the store's history, in the same transaction: who made it,
/// and which objects it inserted, updated and deleted.
///
/// A store that has a history and is opened without this option is read-only.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Bool, for SQLite stores with `NSPersistentHistoryTrackingKey`. Keeps what each save and batch request changes or deletes as it was
/// before, in a table of our own that Core Data does not look at, so that `revert(_:)` of a context can make it undone.
///
/// Costs a row for each value that changes, and one for each value of a deleted row; shortening the history removes them. Large values
/// are kept whole. What a batch insertion updates is not kept. Ours; Core Data has no such option.
public let NSPersistentStoreKeepsFormerValues = "OpenCoreDataKeepsFormerValuesOption"
/// Bool. Has SQLite rewrite the file without gaps when the store is added, which takes as long as copying it.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Bool. Has SQLite gather the statistics that it chooses indexes by when the store is added, which reads every index.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// How many reads of a SQLite store run at once, 64 unless set. `SQLiteReaderLimitOption` says the same and goes first.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// A key of metadata: the first system that can read the store. Stores made here say nothing about systems.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// An `NSStagedMigrationManager`, by whose stages a store of another version is migrated when it is added.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Bool, beside the options that migrate. Has an inferred migration of a SQLite store leave the columns, tables and indexes that the model
/// has no use for any more; the store's metadata then have this key with true until `finishDeferredLightweightMigration()` has removed
/// them.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

public let NSAddedPersistentStoresKey = "added"
public let NSRemovedPersistentStoresKey = "removed"
/// An array: the former store, the new one, and an array of object IDs, each old one followed by its new one.
public let NSUUIDChangedPersistentStoresKey = "changed"
/// The URL of the store that changed, in a remote change.
public let NSPersistentStoreURLKey = "storeURL"
/// The `NSPersistentHistoryToken` of the store that changed, in a remote change; only where the store keeps a history.
public let NSPersistentHistoryTokenKey = "historyToken"
/// The name under which stores record the checksum of their model, as `NSManagedObjectModel.versionChecksum` computes it.
public let NSPersistentStoreModelVersionChecksumKey: String = "NSStoreModelVersionChecksumKey"
