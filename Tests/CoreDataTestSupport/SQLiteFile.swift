// What is in a SQLite file, read and written without any code of the project.

import CCoreDataSQLite
import Foundation

/// A connection to a file, as another process would have.
package final class SQLiteFile {
    package struct Failure: Error { package let sentence: String }

    package enum Opening: Sendable { case reading, writing, making }

    private var handle: OpaquePointer?

    /// - Parameter vfs: the name of what reads and writes the file; nil takes the platform's.
    package init(_ url: URL, for opening: Opening = .writing, vfs: UnsafePointer<CChar>? = nil) throws {
        let flags =
            switch opening {
            case .reading: SQLITE_OPEN_READONLY
            case .writing: SQLITE_OPEN_READWRITE
            case .making: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        try check(sqlite3_open_v2(url.path, &handle, flags, vfs), url.path)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs statements for their effect.
    package func run(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil), sql) }

    /// Runs one statement with bytes for its parameter.
    package func run(_ sql: String, _ bytes: [UInt8]) throws {
        try forEachRow(sql, bytes) { _ in }
    }

    /// Every row, its columns as text with `|` between them.
    package func rows(_ sql: String, null: String = "-") throws -> [String] {
        var rows: [String] = []
        try forEachRow(sql) { statement in
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? null
                }.joined(separator: "|"))
        }
        return rows
    }

    /// The first column of every row, as it is.
    package func bytes(_ sql: String) throws -> [[UInt8]] {
        var rows: [[UInt8]] = []
        try forEachRow(sql) { statement in
            let bytes = sqlite3_column_blob(statement, 0)
            rows.append(
                Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, 0)))))
        }
        return rows
    }

    private func forEachRow(_ sql: String, _ bytes: [UInt8]? = nil, _ body: (OpaquePointer?) -> Void) throws {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil), sql)
        defer { sqlite3_finalize(statement) }
        try (bytes ?? []).withUnsafeBytes { buffer in
            if bytes != nil {
                try check(sqlite3_bind_blob64(statement, 1, buffer.baseAddress, UInt64(buffer.count), nil), sql)
            }
            var code = sqlite3_step(statement)
            while code == SQLITE_ROW {
                body(statement)
                code = sqlite3_step(statement)
            }
            try check(code == SQLITE_DONE ? SQLITE_OK : code, sql)
        }
    }

    private func check(_ code: Int32, _ what: String) throws {
        guard code == SQLITE_OK else { throw Failure(sentence: "\(what): \(String(cString: sqlite3_errmsg(handle)))") }
    }
}
