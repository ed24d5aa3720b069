// Further names of options and of keys in stores' notifications.

/// Bool. Tells of each write to the store, whichever coordinator of the process made it, by `NSPersistentStoreRemoteChange`.
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
/// false is accepted; this version keeps no history, so true throws `unsupported`.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Bool. Has SQLite rewrite the file without gaps when the store is added, which takes as long as copying it.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Bool. Has SQLite gather the statistics that it chooses indexes by when the store is added, which reads every index.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// How many reads of a SQLite store run at once, 64 unless set. `SQLiteReaderLimitOption` says the same and goes first.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// A key of metadata: the first system that can read the store. Stores made here say nothing about systems.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

public let NSAddedPersistentStoresKey = "added"
public let NSRemovedPersistentStoresKey = "removed"
/// An array: the former store, the new one, and an array of object IDs, each old one followed by its new one.
public let NSUUIDChangedPersistentStoresKey = "changed"
/// The URL of the store that changed, in a remote change.
public let NSPersistentStoreURLKey = "storeURL"
