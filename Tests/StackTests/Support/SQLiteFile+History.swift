// What the history in a store's file says, read by plain SQL.

import CoreDataTestSupport
import Testing

@testable import CoreData

extension SQLiteFile {
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
    func history() throws -> SQLiteFile { try SQLiteFile(folder.file("store")) }

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
