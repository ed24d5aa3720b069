// What the history in a store's file says, read by plain SQL.

import CCoreDataSQLite
import CoreDataTestSupport
import Testing

@testable import CoreData

/// A connection of the test's own.
final class HistoryFile {
    private var handle: OpaquePointer?

    init(_ url: URL) throws { try #require(sqlite3_open(url.path, &handle) == SQLITE_OK) }
    deinit { sqlite3_close_v2(handle) }

    /// Every row, its columns as text with `|` between them, `-` for NULL.
    func rows(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        try #require(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "-"
                }.joined(separator: "|"))
        }
        return rows
    }

    func run(_ sql: String) throws {
        try #require(
            sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    /// Definitions of the history's tables and indexes.
    func definitions() throws -> [String] {
        try rows(
            "SELECT sql FROM sqlite_master WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY rowid"
        )
    }

    var keepsHistory: Bool { get throws { try !definitions().isEmpty } }

    /// Number, author and context name of each transaction.
    func transactions() throws -> [String] {
        try rows(
            "SELECT t.Z_PK, a.ZNAME, c.ZNAME FROM ATRANSACTION t LEFT JOIN ATRANSACTIONSTRING a ON a.Z_PK = t.ZAUTHORTS "
                + "LEFT JOIN ATRANSACTIONSTRING c ON c.Z_PK = t.ZCONTEXTNAMETS ORDER BY t.Z_PK")
    }

    /// The changes of the last transaction: `update Patient 1 2000`, without the mask where there is none; sorted.
    func lastChanges() throws -> [String] {
        try rows(
            "SELECT CASE ZCHANGETYPE WHEN 0 THEN 'insert' WHEN 1 THEN 'update' WHEN 2 THEN 'delete' END || ' ' || e.Z_NAME || ' ' "
                + "|| ZENTITYPK || CASE WHEN ZCOLUMNS IS NULL THEN '' ELSE ' ' || hex(ZCOLUMNS) END "
                + "FROM ACHANGE JOIN Z_PRIMARYKEY e ON e.Z_ENT = ZENTITY "
                + "WHERE ZTRANSACTIONID = (SELECT MAX(Z_PK) FROM ATRANSACTION)"
        ).sorted()
    }
}

extension Rig {
    static var tracking: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    /// The file of the store, whatever the coordinator does meanwhile.
    func history() throws -> HistoryFile { try HistoryFile(folder.file("store")) }

    /// A context that signs its saves.
    func context(author: String, name: String? = nil) -> NSManagedObjectContext {
        let context = context()
        context.transactionAuthor = author
        context.name = name
        return context
    }
}

extension NSManagedObject {
    /// Its row's number, as the history writes it.
    var row: String { String(objectID.uriRepresentation().lastPathComponent.dropFirst()) }
}
