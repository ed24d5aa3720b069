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

extension Value {
    /// A bound value as people read it.
    package var bindingText: String {
        switch self {
        case .null: "NULL"
        case .bool(let flag): flag ? "1" : "0"
        case .int(let number): String(number)
        case .double(let number), .date(let number): String(number)
        case .decimal(let number): number.description
        case .text(let text), .uri(let text): text
        case .data(let data): "<\(data.count) bytes>"
        case .uuid(let uuid): uuid.uuidString
        case .key(let key): String(key.number)
        }
    }
}
