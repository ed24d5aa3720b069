// What is in a store file, read without any code of the project.

import CoreDataTestSupport
import Foundation
import Testing

extension SQLiteFile {
    func isSound() throws -> Bool { try rows("PRAGMA integrity_check") == ["ok"] }

    /// The schema and every row of every table, in order. Without the last numbers that were handed out (they rise in a
    /// transaction of their own, and gaps are legal): of these only that no row has a higher one.
    func contents() throws -> [String] {
        var all = try rows(
            "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_master ORDER BY name")
        let tables = try rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        for table in tables where table != "Z_PRIMARYKEY" {
            let columns = try rows("SELECT name FROM pragma_table_info('\(table)')")
            let row = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ',' || ")
            all += try rows("SELECT \(row) FROM \"\(table)\" ORDER BY 1").map { "\(table) \($0)" }
        }
        for table in tables where table.hasPrefix("Z") && !table.hasPrefix("Z_") {
            let over = try rows(
                "SELECT Z_PK FROM \"\(table)\" t WHERE Z_PK > (SELECT Z_MAX FROM Z_PRIMARYKEY p WHERE p.Z_ENT = t.Z_ENT)"
            )
            #expect(over.isEmpty, "\(table) has rows with numbers that were never handed out: \(over)")
        }
        return all
    }
}
