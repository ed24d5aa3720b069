// One store of a coordinator.

import CoreDataFoundation
import CoreDataSQLite
import CoreDataValues
import Foundation

public let NSSQLiteStoreType = "SQLite"
public let NSInMemoryStoreType = "InMemory"
public let NSStoreTypeKey = "NSStoreType"
public let NSStoreUUIDKey = "NSStoreUUID"

/// A place that a coordinator keeps objects in.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    /// `NSSQLiteStoreType` and so on.
    public final let type: String
    public final let url: URL?
    public final let configurationName: String
    /// The store's UUID, part of its objects' URIs.
    public final let identifier: String
    public final let isReadOnly: Bool
    public final var persistentStoreCoordinator: NSPersistentStoreCoordinator? { coordinator }
    @Unretained private var coordinator: NSPersistentStoreCoordinator?
    final let rows: any RowStore
    final let number: UInt16
    private let entities: Set<String>?
    private let givenOptions: [AnyHashable: Any]?

    init(
        rows: any RowStore, type: String, url: URL?, configurationName: String?, number: UInt16,
        options: StoreOptions, coordinator: NSPersistentStoreCoordinator
    ) {
        self.rows = rows
        self.type = type
        self.url = url
        self.number = number
        self.configurationName = configurationName ?? "PF_DEFAULT_CONFIGURATION_NAME"
        identifier = rows.identifier
        isReadOnly = options.isReadOnly
        givenOptions = options.given
        self.coordinator = coordinator
        entities = configurationName.flatMap { name in
            coordinator.runtime.schema.entities(inConfiguration: name).map { Set($0.map(\.name)) }
        }
        super.init()
    }

    public final var options: [AnyHashable: Any]? { givenOptions }

    /// What the store records beside its rows: `NSStoreType`, `NSStoreUUID`, the model's version hashes and identifiers.
    public final var metadata: [String: Any] {
        guard let metadata = try? rows.metadata() else { return [:] }
        var all: [String: Any] = [:]
        if let data = metadata.userInfo,
            let own = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        {
            all = own
        }
        all[NSStoreTypeKey] = metadata.type
        all[NSStoreUUIDKey] = metadata.uuid
        all["NSStoreModelVersionHashes"] = metadata.versionHashes
        all["NSStoreModelVersionIdentifiers"] = metadata.modelVersionIdentifiers
        return all
    }

    final func holds(_ info: EntityInfo) -> Bool { entities?.contains(info.entity.name) ?? true }
}
