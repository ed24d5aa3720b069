// `--sql`: what the store is asked, as it is asked.

import CoreData

/// Prints each statement of the coordinator's stores with its bindings, rows and time on standard error.
func printStatements(of coordinator: NSPersistentStoreCoordinator) {
    coordinator.statementObserver = { statement in
        let bindings = statement.bindings.isEmpty ? "" : " [\(statement.bindings.joined(separator: ", "))]"
        let milliseconds = String(format: "%.3f", statement.seconds * 1000)
        printError("sql: \(statement.sql)\(bindings) -- \(statement.rows) rows, \(milliseconds) ms")
    }
}
