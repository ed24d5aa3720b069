// `--sql`: what the store is asked, as it is asked.

import CoreData

/// The options of a store that prints each statement with its bindings, rows and time on standard error.
func printingStatements() -> [AnyHashable: Any] {
    let trace = SQLTrace { statement in
        let bindings = statement.bindings.isEmpty ? "" : " [\(statement.bindings.joined(separator: ", "))]"
        let milliseconds = String(format: "%.3f", statement.seconds * 1000)
        printError("sql: \(statement.sql)\(bindings) -- \(statement.rows) rows, \(milliseconds) ms")
    }
    return [SQLTraceOption: trace]
}
