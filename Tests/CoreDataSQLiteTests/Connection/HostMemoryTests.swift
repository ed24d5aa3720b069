// SQLite's memory in a process that uses stores: the platform's own.

import CCoreDataSQLite
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("The host's memory")
struct HostMemoryTests {
    @Test("After a store was opened SQLite's blocks are as large as malloc makes them")
    func blocks() throws {
        let folder = Folder()
        let path = folder.url.appendingPathComponent("memory.sqlite").path
        let connection = try Connection(
            path: path, access: .create, options: SQLiteOptions(), counter: StatementCounter())
        try connection.run("CREATE TABLE t(id INTEGER PRIMARY KEY)")
        for size in [40, 100, 1000, 2040] {
            let block = try #require(sqlite3_malloc(Int32(size)))
            #expect(sqlite3_msize(block) < UInt64(size) + 24)
            sqlite3_free(block)
        }
    }
}
