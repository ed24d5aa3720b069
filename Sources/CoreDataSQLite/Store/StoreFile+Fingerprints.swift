// Comparing files by their values.

import CCoreDataSQLite
import CoreDataValues
import Foundation

/// How many values there are, and a sum over them in which their order plays no part.
package struct ValueFingerprint: Equatable, Sendable {
    package private(set) var count = 0
    private var sum: UInt64 = 0

    package init() {}

    fileprivate mutating func add(_ hash: UInt64) {
        count += 1
        sum &+= hash
    }
}

extension StoreFile {
    /// The values that rows of an entity have in a column, each with its row. Costs a walk through the table.
    package func fingerprint(of column: String, in table: String, entity: Int) throws -> ValueFingerprint {
        let dialect = SQLiteDialect()
        let (name, rows) = (dialect.quoted(column), dialect.quoted(table))
        var found = ValueFingerprint()
        try eachRow("SELECT Z_PK, \(name) FROM \(rows) WHERE Z_ENT = \(entity) AND \(name) IS NOT NULL") { row in
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for column in 0..<Int32(2) {
                hash = StoreFile.mix(hash, UInt64(sqlite3_column_type(row, column)))
                switch sqlite3_column_type(row, column) {
                case SQLITE_INTEGER: hash = StoreFile.mix(hash, UInt64(bitPattern: sqlite3_column_int64(row, column)))
                case SQLITE_FLOAT: hash = StoreFile.mix(hash, sqlite3_column_double(row, column).bitPattern)
                default:
                    let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(row, column), count: Int(sqlite3_column_bytes(row, column)))
                    for byte in bytes { hash = StoreFile.mix(hash, UInt64(byte)) }
                }
            }
            found.add(hash)
        }
        return found
    }

    private static func mix(_ hash: UInt64, _ value: UInt64) -> UInt64 {
        var mixed = (hash ^ value) &* 0x0000_0100_0000_01b3
        mixed ^= mixed >> 29
        return mixed
    }
}
