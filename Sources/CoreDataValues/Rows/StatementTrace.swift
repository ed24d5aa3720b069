// What a store reports of each statement, for logs, counters and tests.

/// One statement as it was run.
package struct StatementEvent: Sendable {
    package let sql: String
    /// The bound values as text, in order; empty unless the observer asked for them.
    package let bindings: [String]
    /// Rows read or changed.
    package let rows: Int
    package let seconds: Double
    package init(sql: String, bindings: [String], rows: Int, seconds: Double) {
        self.sql = sql
        self.bindings = bindings
        self.rows = rows
        self.seconds = seconds
    }
}

/// Receives statements. Called on the thread that ran the statement, under the connection's lock: keep it short.
package typealias StatementObserver = @Sendable (StatementEvent) -> Void
