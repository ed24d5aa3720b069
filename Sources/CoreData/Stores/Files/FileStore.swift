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
    /// What the file was when it was last read or written, and where.
    private var stamp: FileStamp?
    private var stampedPath = ""

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
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
            keepStamp(found)
            rowsInMemory.replace(with: try read(empty, schema, configuration))
        } else {
            guard !isReadOnly else {
                throw StoreError(
                    134080, "There is no store at \(path), and a store that is opened read-only is not created.",
                    path: path)
            }
            let metadata = StoreMetadata(newStoreOf: schema, configuration: configuration, type: type)
            let rows = try empty.holding(StoreImage(metadata: metadata))
            try write(rows)
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

    override func keep(_ next: MemoryStore, after batch: ChangeBatch?) throws { try write(next) }

    private func keepStamp(_ found: FileStamp?) {
        stamp = found
        stampedPath = path
    }

    /// A place that the store was moved to since may be free; else the file there is the one that was read or written last.
    private func isUntouched() -> Bool {
        guard let found = FileStamp(path) else { return stamp == nil || path != stampedPath }
        return found == stamp
    }

    private func write(_ rows: MemoryStore) throws {
        guard isUntouched() else {
            throw StoreError(
                134030,
                "The store at \(path) was changed by another writer since it was read, and saving would undo that. "
                    + "Remove the store from its coordinator and add it again.",
                path: path)
        }
        let document = StoredDocument(try rows.image(), rows.schema)
        try file.write(try Self.format.encode(document))
        keepStamp(FileStamp(path))
    }

    /// Reads the file, migrates what it holds, and writes it anew, under the lock of the file: a second process waits and finds another
    /// file then. Objects keep their numbers.
    override class func migrate(_ site: MigrationSite, by plan: MigrationPlan) throws {
        let path = site.url.path
        if site.options.isReadOnly {
            throw StoreError(134030, "The store at \(path) was opened read-only.", path: path)
        }
        let stamp = FileStamp(path)
        let lock = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        defer { if lock >= 0 { close(lock) } }
        if lock >= 0 { flock(lock, LOCK_EX) }
        let document = try document(AtomicFile(url: site.url), path)
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
        let migrated = try format.encode(StoredDocument(rows.image(), plan.destination))
        guard FileStamp(path) == stamp else {
            throw StoreError(
                134110, "The store at \(path) was changed elsewhere meanwhile. Open it again.", path: path)
        }
        try AtomicFile(url: site.url).write(migrated)
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
            var document = try document(AtomicFile(url: url), url.path)
            document.metadata = try StoreMetadata(metadata ?? [:], over: document.metadata)
            try AtomicFile(url: url).write(try format.encode(document))
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
