// What is in a store file, read without any code of the project.

import CCoreDataSQLite
import Foundation
import Testing

/// A connection of the test's own.
final class RawStore {
    private var handle: OpaquePointer?

    init(_ url: URL) throws {
        try #require(sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    }

    deinit { sqlite3_close_v2(handle) }

    /// The first column of every row, as text.
    func texts(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        try #require(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        var found: [String] = []
        while true {
            let step = sqlite3_step(statement)
            if step == SQLITE_DONE { return found }
            try #require(step == SQLITE_ROW, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
            found.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
        }
    }

    func isSound() throws -> Bool { try texts("PRAGMA integrity_check") == ["ok"] }

    /// The schema and every row of every table, in order. Without the last numbers that were handed out (they rise in a
    /// transaction of their own, and gaps are legal): of these only that no row has a higher one.
    func contents() throws -> [String] {
        var all = try texts(
            "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_master ORDER BY name")
        let tables = try texts("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        for table in tables where table != "Z_PRIMARYKEY" {
            let columns = try texts("SELECT name FROM pragma_table_info('\(table)')")
            let row = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ',' || ")
            all += try texts("SELECT \(row) FROM \"\(table)\" ORDER BY 1").map { "\(table) \($0)" }
        }
        for table in tables where table.hasPrefix("Z") && !table.hasPrefix("Z_") {
            let over = try texts(
                "SELECT Z_PK FROM \"\(table)\" t WHERE Z_PK > (SELECT Z_MAX FROM Z_PRIMARYKEY p WHERE p.Z_ENT = t.Z_ENT)"
            )
            #expect(over.isEmpty, "\(table) has rows with numbers that were never handed out: \(over)")
        }
        return all
    }
}
