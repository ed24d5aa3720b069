// Set changes of a SQLite store.

import CoreDataSQL
import CoreDataValues

extension SQLiteStore {
    package func apply(_ change: SetChange) throws -> SetOutcome {
        try refuseIfReadOnly("Rows cannot be changed")
        return try writer.apply(change, over: self) { counter.moved($0.rowCount) }
    }
}
