// SQLite's C API as a careful Swift programmer calls it by hand.

import CYardstickSQLite
import Foundation
import Yardstick

/// SQLite copies the bytes during the call.
nonisolated(unsafe) private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// One open database. Closing finalises the statements it prepared.
final class Connection {
    private let database: OpaquePointer
    private var statements: [OpaquePointer] = []

    init(path: String) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
            throw Failure("SQLite cannot open \(path)")
        }
        database = handle
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close(database)
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    func prepare(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard sqlite3_prepare_v3(database, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement
        else { throw failure(sql) }
        statements.append(statement)
        return statement
    }

    /// Runs a statement that has no rows, or whose row is of no interest.
    func run(_ statement: OpaquePointer) throws {
        let code = sqlite3_step(statement)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            throw failure(String(cString: sqlite3_sql(statement)))
        }
        sqlite3_reset(statement)
    }

    private func failure(_ sql: String) -> Failure {
        Failure("\(sql): \(String(cString: sqlite3_errmsg(database)))")
    }
}

/// The columns in the order of `read`.
let columns = "id,name,age,admitted,weight,note,photo,injury"

@inline(__always)
func read(_ statement: OpaquePointer) -> PatientRow {
    PatientRow(
        id: sqlite3_column_int64(statement, 0), name: text(statement, 1) ?? "",
        age: sqlite3_column_int64(statement, 2),
        admitted: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, 3)),
        weight: sqlite3_column_double(statement, 4), note: text(statement, 5), photo: blob(statement, 6),
        injury: sqlite3_column_int64(statement, 7))
}

@inline(__always)
func text(_ statement: OpaquePointer, _ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
}

@inline(__always)
private func blob(_ statement: OpaquePointer, _ column: Int32) -> Data? {
    guard let bytes = sqlite3_column_blob(statement, column) else { return nil }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
}

func bind(_ row: PatientRow, to statement: OpaquePointer) {
    sqlite3_bind_int64(statement, 1, row.id)
    bind(row.name, to: statement, at: 2)
    sqlite3_bind_int64(statement, 3, row.age)
    sqlite3_bind_double(statement, 4, row.admitted.timeIntervalSinceReferenceDate)
    sqlite3_bind_double(statement, 5, row.weight)
    if let note = row.note { bind(note, to: statement, at: 6) } else { sqlite3_bind_null(statement, 6) }
    if let photo = row.photo {
        photo.withUnsafeBytes { bytes in
            _ = sqlite3_bind_blob(statement, 7, bytes.baseAddress, Int32(bytes.count), transient)
        }
    } else {
        sqlite3_bind_null(statement, 7)
    }
    if row.injury > 0 { sqlite3_bind_int64(statement, 8, row.injury) } else { sqlite3_bind_null(statement, 8) }
}

func bind(_ text: String, to statement: OpaquePointer, at index: Int32) {
    var text = text
    text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { bytes in
            _ = sqlite3_bind_text(statement, index, bytes.baseAddress, Int32(bytes.count), transient)
        }
    }
}
