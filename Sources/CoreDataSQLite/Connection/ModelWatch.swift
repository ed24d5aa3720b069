// Notices that a file was brought to another model, or was given a history, while it is open.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Keeps a connection from reading and writing by a model that the file does not have any more, and from changes that would be missing
/// in a history which somebody has begun meanwhile.
///
/// Both change the schema, so that SQLite compiles each kept statement anew before it runs next, inside the transaction in
/// which it runs, and asks the authorizer, who looks at the hashes and tables that the file has then. A statement whose schema is as it was
/// costs nothing.
final class ModelWatch {
    private let path: String
    private var handle: OpaquePointer?
    /// What the store recorded when it was opened; nil for a file that is not opened as a store.
    private var hashes: [String: Data]?
    /// For a store without history that is open without the wish for one.
    var expectsNoHistory = false
    /// While a statement is compiled for the first time.
    var isPreparing = false
    /// Whether the file was found to have another model.
    private(set) var isOutdated = false
    /// Why the hashes could not be looked at when they had to be.
    private var failure: StoreError?
    /// Whether the file was found to have a history meanwhile.
    private(set) var hasGainedHistory = false

    init(path: String) { self.path = path }

    func install(on handle: OpaquePointer) {
        sqlite3_set_authorizer(
            handle,
            { place, action, _, _, database, _ in
                guard let place, [SQLITE_SELECT, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE].contains(action) else {
                    return SQLITE_OK
                }
                let watch = Unmanaged<ModelWatch>.fromOpaque(place).takeUnretainedValue()
                if !watch.isPreparing, !watch.isOutdated { watch.look() }
                if watch.isOutdated || (watch.failure != nil && !watch.isPreparing) { return SQLITE_DENY }
                guard watch.hasGainedHistory, action != SQLITE_SELECT, let database, strcmp(database, "main") == 0
                else { return SQLITE_OK }
                return SQLITE_DENY
            }, Unmanaged.passUnretained(self).toOpaque())
        self.handle = handle
    }

    func expect(_ hashes: [String: Data]) { self.hashes = hashes }

    /// A look by another connection, as an authorizer may not use its own: what that one sees is at least as new. Where nothing can be
    /// seen, nothing may be read or written either.
    private func look() {
        guard hashes != nil || expectsNoHistory else { return }
        failure = nil
        do {
            let found = try StoreFile(url: URL(fileURLWithPath: path)).facts()
            if let hashes { isOutdated = found.metadata.versionHashes != hashes }
            if expectsNoHistory, found.hasHistory { hasGainedHistory = true }
        } catch {
            let known = error as? StoreError
            // Who writes to the file alone has looked when he began.
            if known?.code == 134090, sqlite3_txn_state(handle, "main") == SQLITE_TXN_WRITE { return }
            failure = StoreError(
                known?.code ?? 134180,
                "The tables of the store at \(path) were changed elsewhere, and whether it has the same model still could not be seen; "
                    + "nothing was read or written. Try again. \(known?.sentence ?? error.localizedDescription)",
                path: path)
        }
    }

    /// Why a statement was not let through; nil where nothing is known against it.
    var refusal: StoreError? { isOutdated ? outdated : failure ?? (hasGainedHistory ? unrecorded : nil) }

    fileprivate var unrecorded: StoreError {
        StoreError(
            134030,
            "Changes cannot be saved: the store at \(path) keeps a history since somebody opened it with NSPersistentHistoryTrackingKey, and "
                + "here it was opened before and without, so that the history would miss them; nothing was written. Open it again with that "
                + "option.", path: path)
    }

    var outdated: StoreError { StoreError(migratedElsewhere: path) }
}

extension Connection {
    /// For a connection that is opened later than its store.
    ///
    /// - Throws: 134100 for a file that has another model meanwhile; 134030 for one that is to be written and has got a history.
    func require(_ plan: StorePlan, _ metadata: StoreMetadata, recordsNothing: Bool = false) throws {
        if isMemory { return }
        modelWatch.expect(metadata.versionHashes)
        modelWatch.expectsNoHistory = recordsNothing
        if recordsNothing, try run(StoreFile.historyCount) != "0" { throw modelWatch.unrecorded }
        guard let record = try self.metadata(), plan.fitting(record.plist, uuid: record.uuid) == nil else { return }
        if try record.metadata(self).versionHashes != metadata.versionHashes { throw modelWatch.outdated }
    }

    /// Part of opening, which is no statement of the store's: neither counted nor told to observers.
    private func metadata() throws -> MetadataRecord? {
        let sql = MetadataStatements(dialect).read(limit: ArchiveLimits.metadataBytes)
        var statement: OpaquePointer?
        modelWatch.isPreparing = true
        var code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        modelWatch.isPreparing = false
        defer { sqlite3_finalize(statement) }
        if code == SQLITE_OK { code = sqlite3_step(statement) }
        if code == SQLITE_DONE { return nil }
        guard code == SQLITE_ROW, let statement else { throw error(code, doing: "Reading the metadata", sql: sql) }
        let list = sqlite3_column_blob(statement, 1).map {
            Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, 1)))
        }
        let identifier = sqlite3_column_text(statement, 0).map { String(cString: $0) }
        return MetadataRecord(uuid: identifier ?? "", plist: list, length: Int(sqlite3_column_int64(statement, 2)))
    }
}
