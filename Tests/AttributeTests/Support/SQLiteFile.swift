// What stands in a store's file.

import CCoreDataSQLite
import Foundation
import Testing

struct SQLiteFile {
    private let url: URL
    init(_ url: URL) { self.url = url }

    /// The first column of each row that has a value there, as text.
    func texts(_ sql: String) throws -> [String] {
        var handle: OpaquePointer?
        try #require(sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        defer { sqlite3_close_v2(handle) }
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, "\(sql)")
        defer { sqlite3_finalize(statement) }
        var texts: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            if let text = sqlite3_column_text(statement, 0) { texts.append(String(cString: text)) }
        }
        return texts
    }

    func run(_ sql: String) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        defer { sqlite3_close_v2(handle) }
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
    }
}
