// The options of a store, read once; what is not known is refused by name.

import CoreDataSQLite
import CoreDataValues
import Foundation

/// Bool. Opens the file without writing to it; saving objects of the store fails.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// A dictionary of pragma names and values, both text.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Bool. Opens a store that another model wrote, and records this model's hashes.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Seconds to wait for a lock of another connection.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Bool. Has a store that another version of the model wrote migrated when it is added; without it such a store is refused (134100).
///
/// The model that wrote the store is looked for among the versions of the coordinator's model and in the bundles (134130 where it is
/// not). A mapping model for the two that the bundles hold goes before an inferred one. SQLite stores are migrated in place, in one
/// transaction; stores of other types are written anew.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Bool, beside `NSMigratePersistentStoresAutomaticallyOption`. Where the bundles hold no mapping model, what becomes of the objects is
/// inferred from the two models; 134190 where they do not tell, 134140 without the option.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// A `SQLTrace`: receives each statement with bindings, rows and time. Ours; for Core Data's log see `SQLTrace.log`.
public let SQLTraceOption = "OpenCoreDataSQLTraceOption"

/// Options as read from the dictionary of `addPersistentStore`.
struct StoreOptions {
    let given: [AnyHashable: Any]?
    private(set) var isReadOnly = false
    private(set) var postsRemoteChanges = false
    /// Whether a store of another model is migrated, and whether that may be inferred.
    private(set) var migrates = false
    private(set) var infersMapping = false
    /// By which stages; nil for one step.
    private(set) var stages: NSStagedMigrationManager?
    private(set) var sqlite = SQLiteOptions()
    /// Seconds that another process' migration of the store is waited for; nil for as long as it takes.
    private(set) var patience: Double?

    init(_ options: [AnyHashable: Any]?) throws {
        given = options
        if SQLLog.level > 0 { observe(by: .log(bindings: SQLLog.level > 2)) }
        for (key, value) in options ?? [:] { try read(key, value) }
        if waits { patience = sqlite.connectionTimeout }
    }

    /// Whether it is said how long.
    private var waits: Bool {
        [NSPersistentStoreTimeoutOption, SQLiteConnectionTimeoutOption].contains { given?[$0] != nil }
    }

    private mutating func observe(by trace: SQLTrace) {
        sqlite.observesBindings = true
        sqlite.observer = { event in
            trace.receive(
                SQLTrace.Statement(sql: event.sql, bindings: event.bindings, rows: event.rows, seconds: event.seconds))
        }
    }

    /// Has the store read in the state that it is opened in.
    mutating func fixState() { sqlite.readsOneState = true }

    mutating func listen(_ observers: Observers) { sqlite.listener = observers }

    /// For stores of other people's classes, which have options of their own: what is not known here is left to them.
    init(lenient options: [AnyHashable: Any]?) {
        given = options
        for (key, value) in options ?? [:] { try? read(key, value) }
        if waits { patience = sqlite.connectionTimeout }
    }

    private mutating func read(_ key: AnyHashable, _ value: Any) throws {
        switch key as? String {
        case NSReadOnlyPersistentStoreOption:
            isReadOnly = try flag(key, value)
            sqlite.isReadOnly = isReadOnly
        case NSIgnorePersistentStoreVersioningOption: sqlite.ignoresVersionHashes = try flag(key, value)
        case NSSQLiteManualVacuumOption: sqlite.vacuums = try flag(key, value)
        case NSSQLiteAnalyzeOption: sqlite.analyzes = try flag(key, value)
        case NSPersistentStoreConnectionPoolMaxSizeKey:
            guard given?[SQLiteReaderLimitOption] == nil else { break }
            _ = try sqlite.read(SQLiteReaderLimitOption, value)
        case NSMigratePersistentStoresAutomaticallyOption: migrates = try flag(key, value)
        case NSInferMappingModelAutomaticallyOption: infersMapping = try flag(key, value)
        case NSPersistentStoreDeferredLightweightMigrationOptionKey: sqlite.defersCleanup = try flag(key, value)
        case NSPersistentStoreStagedMigrationManagerOptionKey:
            guard let manager = value as? NSStagedMigrationManager else {
                throw unfit(key, "an NSStagedMigrationManager")
            }
            stages = manager
        case NSPersistentStoreTimeoutOption:
            guard let seconds = (value as? NSNumber)?.doubleValue ?? value as? Double, seconds >= 0 else {
                throw unfit(key, "a number of seconds")
            }
            sqlite.timeout = seconds
            if given?[SQLiteConnectionTimeoutOption] == nil { sqlite.connectionTimeout = seconds }
        case NSSQLitePragmasOption:
            guard let pragmas = value as? [String: Any] else { throw unfit(key, "a dictionary of texts") }
            sqlite.pragmas = pragmas.mapValues { "\($0)" }
        case NSPersistentStoreRemoteChangeNotificationPostOptionKey: postsRemoteChanges = try flag(key, value)
        case NSPersistentStoreFileProtectionKey, NSBinaryStoreSecureDecodingClasses: break
        case NSValidateXMLStoreOption, NSBinaryStoreInsecureDecodingCompatibilityOption,
            NSPersistentStoreForceDestroyOption:
            _ = try flag(key, value)
        case NSPersistentHistoryTrackingKey: sqlite.recordsHistory = try flag(key, value)
        case NSPersistentStoreKeepsFormerValues:
            sqlite.keepsFormerValues = try flag(key, value)
            let isTracking =
                (given?[NSPersistentHistoryTrackingKey] as? NSNumber)?.boolValue ?? given?[
                    NSPersistentHistoryTrackingKey] as? Bool
            guard !sqlite.keepsFormerValues || isTracking == true else {
                throw CocoaError.coreData(
                    134060,
                    "The store option \(key) needs \(NSPersistentHistoryTrackingKey): former values are kept for each transaction."
                )
            }
        case SQLTraceOption:
            guard let trace = value as? SQLTrace else { throw unfit(key, "an SQLTrace") }
            observe(by: trace)
        case let name?:
            guard try sqlite.read(name, value) else { throw CocoaError.unsupported("the store option \(key)") }
        case nil: throw CocoaError.unsupported("the store option \(key)")
        }
    }

    private func flag(_ key: AnyHashable, _ value: Any) throws -> Bool {
        if let flag = value as? Bool { return flag }
        guard let number = value as? NSNumber else { throw unfit(key, "true or false") }
        return number.boolValue
    }

    private func unfit(_ key: AnyHashable, _ expected: String) -> any Error {
        CocoaError.coreData(134060, "The store option \(key) takes \(expected).")
    }
}
