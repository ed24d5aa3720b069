// Orders of texts whose task is cancelled.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("Orders that are broken off") struct CancelledOrderTests {
    @Test("A collation compares no more once the task is cancelled, and what came of it is no result")
    func collations() throws {
        let folder = Folder()
        let store = try folder.store(Triage.schema)
        for name in ["COREDATA_CASE", "COREDATA_LOCALE", "COREDATA_LOCALE_CASE", "COREDATA_LOCALE_STANDARD"] {
            // Few steps, so that SQLite itself never asks.
            for isCancelled in [false, true] {
                let cancellation = Cancellation()
                let ask = {
                    try cancellation.covering {
                        try store.pool.read { connection in
                            if isCancelled { cancellation.cancel() }
                            return try connection.run("SELECT 'b' < 'c' COLLATE \(name)")
                        }
                    }
                }
                if isCancelled {
                    #expect(throws: CancellationError.self) { try ask() }
                } else {
                    #expect(try ask() == "1")
                }
            }
        }
    }
}
