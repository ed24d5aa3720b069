// Comparing files by their values.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

extension StoreFile {
    /// What a query answers, each row as a whole. Costs a walk through it.
    package func fingerprint(_ sql: String) throws -> ValueFingerprint {
        var found = ValueFingerprint()
        try eachRow(sql) { row in
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for column in 0..<sqlite3_column_count(row) {
                hash = StoreFile.mix(hash, UInt64(sqlite3_column_type(row, column)))
                switch sqlite3_column_type(row, column) {
                case SQLITE_INTEGER: hash = StoreFile.mix(hash, UInt64(bitPattern: sqlite3_column_int64(row, column)))
                case SQLITE_FLOAT: hash = StoreFile.mix(hash, sqlite3_column_double(row, column).bitPattern)
                default:
                    let bytes = UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(row, column), count: Int(sqlite3_column_bytes(row, column)))
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

extension SQLiteStore {
    /// Where the file keeps what, under the names that it has.
    package var map: StoreMap { plan.map }
}
