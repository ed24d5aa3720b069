// The stores that are one file each: binary, XML, property list.

import CoreDataValues
import Foundation

/// Marks the store classes of this library: their options are all known.
protocol OwnStore: NSPersistentStore {}

/// An atomic store of this library.
///
/// The whole file is read when the store is opened and written anew by each save, which costs time in proportion to all
/// objects: fit for documents, not for data that grows.
class FileStore: NSAtomicStore, OwnStore, @unchecked Sendable {
    class var format: any StoreFormat.Type { misuse("FileStore is no store by itself.") }
    /// What the file was when it was last read or written, where, and by which model.
    private var stamp: FileStamp?
    private var stampedPath = ""
    private var stampedHashes: [String: Data] = [:]
    /// How many seconds others who write the file are waited for; nil for as long as it takes.
    private let patience: Double?

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        patience = StoreOptions(lenient: options).patience
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
        leaveMetadataToRows()
    }

    private var path: String { url?.path ?? "" }
    private var file: AtomicFile { AtomicFile(url: url ?? URL(fileURLWithPath: "/")) }

    override func open() throws {
        guard let coordinator else { return }
        let schema = coordinator.runtime.schema
        let configuration = configurationForRows
        let empty = try MemoryStore(schema: schema, configuration: configuration)
        try requireFilePlace()
        if let found = FileStamp(path) {
            rowsInMemory.replace(with: try read(empty, schema, configuration))
            keepStamp(found)
        } else {
            guard !isReadOnly else {
                throw StoreError(
                    134080, "There is no store at \(path), and a store that is opened read-only is not created.",
                    path: path)
            }
            let metadata = StoreMetadata(newStoreOf: schema, configuration: configuration, type: type)
            let rows = try empty.holding(StoreImage(metadata: metadata))
            do { try write(rows) } catch {
                // Somebody else may have made it meanwhile.
                if FileStamp(path) != nil { return try open() }
                throw error
            }
            rowsInMemory.replace(with: rows)
        }
        setIdentifier(rows.identifier)
    }

    /// Errors name the cause before a file is made in vain.
    private func requireFilePlace() throws {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw StoreError(134080, "The store's path \(path) is a folder. Name a file in it.", path: path)
        }
        let folder = (path as NSString).deletingLastPathComponent
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw StoreError(
                134080, "The folder \(folder) of the store does not exist. Create it first.", path: path)
        }
    }

    private func read(_ empty: MemoryStore, _ schema: Schema, _ configuration: String?) throws -> MemoryStore {
        var document = try Self.document(file, path)
        stampedHashes = document.metadata.versionHashes
        if StoreOptions(lenient: options).sqlite.ignoresVersionHashes {
            document.metadata.versionHashes = StoreMetadata.hashes(schema, configuration)
            document.metadata.modelVersionIdentifiers = schema.versionIdentifiers
        }
        try StoreInspection(path: path, metadata: document.metadata, schema: schema, configuration: configuration)
            .requireFit()
        return try empty.holding(try document.image(schema, path: path))
    }

    private static func document(_ file: AtomicFile, _ path: String) throws -> StoredDocument {
        let document = try format.decode(try file.read(), path: path)
        try StoreMetadata.requireReadable(
            document.metadata.userInfo, code: 134080, "The metadata of the store at \(path)")
        return document
    }

    override func persist(_ next: MemoryStore, after batch: ChangeBatch?) throws { try write(next) }

    private func keepStamp(_ found: FileStamp) {
        stamp = found
        stampedPath = path
    }

    /// A place that the store was moved to since may be free; else the file there is the one that was read or written last.
    private func isUntouched(_ found: FileStamp?) -> Bool {
        guard let found else { return stamp == nil || path != stampedPath }
        return found == stamp
    }

    /// Looks at the file and exchanges it as one, under its lock.
    private func write(_ rows: MemoryStore) throws {
        let lock = try FileLock(path, waiting: patience)
        defer { extendLifetime(lock) }
        let found = FileStamp(path)
        guard isUntouched(found) else { throw refusal() }
        let image = try rows.image()
        let hashes = image.metadata.versionHashes
        keepStamp(
            try file.write(try Self.format.encode(StoredDocument(image, rows.schema)), isNew: found == nil))
        stampedHashes = hashes
    }

    /// Why what somebody else wrote is not written over.
    private func refusal() -> StoreError {
        if path == stampedPath, let document = try? Self.document(file, path),
            document.metadata.versionHashes != stampedHashes
        {
            return StoreError(migratedElsewhere: path)
        }
        return StoreError(
            134030,
            "The store at \(path) was changed by another writer since it was read, and saving would undo that. "
                + "Remove the store from its coordinator and add it again.",
            path: path)
    }

    /// Reads the file, migrates what it holds, and writes it anew, under the lock of the file: whoever saves waits, and finds another file
    /// then. Objects keep their numbers.
    override class func migrate(_ site: MigrationSite, by plan: MigrationPlan) throws {
        let path = site.url.path
        if site.options.isReadOnly {
            throw StoreError(134030, "The store at \(path) was opened read-only.", path: path)
        }
        let file = AtomicFile(url: site.url)
        try file.exchange(waiting: site.options.patience) {
            try migrated(site, try document(file, path), by: plan)
        } by: {
            try file.write($0)
        }
    }

    private static func migrated(_ site: MigrationSite, _ document: StoredDocument, by plan: MigrationPlan) throws
        -> Data
    {
        let path = site.url.path
        guard site.recorded == nil || site.recorded == document.metadata.versionHashes else {
            throw StoreError(
                134110,
                "The store at \(path) was migrated or replaced elsewhere meanwhile; nothing was changed. Open it again.",
                path: path)
        }
        let migration = try BoundMigration(plan)
        var image = try ImageMigration(migration, document.image(plan.source, path: path), path: path).migrated()
        image.metadata.versionHashes = StoreMetadata.hashes(plan.destination, site.configuration)
        image.metadata.modelVersionIdentifiers = plan.destination.versionIdentifiers
        let rows = try MemoryStore(schema: plan.destination, configuration: site.configuration).holding(image).deriving(
            migration)
        return try format.encode(StoredDocument(rows.image(), plan.destination))
    }

    // What follows is for nodes, which these stores do not need.
    override func load() throws {}
    override func save() throws {}

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        do {
            let document = try document(AtomicFile(url: url), url.path)
            return StoreMetadata.dictionary(document.metadata)
        } catch { throw CocoaError.presenting(error) }
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        do {
            let file = AtomicFile(url: url)
            try file.exchange(waiting: nil) {
                var document = try document(file, url.path)
                document.metadata = try StoreMetadata(metadata ?? [:], over: document.metadata)
                return try format.encode(document)
            } by: {
                try file.write($0)
            }
        } catch { throw CocoaError.presenting(error) }
    }
}

/// `NSBinaryStoreType`.
final class BinaryStore: FileStore, @unchecked Sendable {
    override class var format: any StoreFormat.Type { BinaryFormat.self }
}

/// `NSXMLStoreType`.
final class XMLStore: FileStore, @unchecked Sendable {
    override class var format: any StoreFormat.Type { XMLFormat.self }
}

/// `NSPropertyListStoreType`. Unlike Core Data's own atomic stores it keeps uniqueness constraints.
final class PropertyListStore: FileStore, @unchecked Sendable {
    override class var format: any StoreFormat.Type { PropertyListFormat.self }
    override var keepsConstraints: Bool { true }
}
