// What a store reports of each statement, for logs, counters and tests.

/// One statement as it was run.
package struct StatementEvent: Sendable {
    package let sql: String
    /// The bound values as text, in order; empty unless the observer asked for them.
    package let bindings: [String]
    /// How many values were bound, whether or not anybody asked for them.
    package let bindingCount: Int
    /// Rows read or changed.
    package let rows: Int
    package let seconds: Double
    /// The database's plan, inner steps indented. Answers while the statement is told of, on the same thread; later nothing.
    package let plan: @Sendable () -> [String]
    package init(
        sql: String, bindings: [String], bindingCount: Int, rows: Int, seconds: Double,
        plan: @escaping @Sendable () -> [String]
    ) {
        self.sql = sql
        self.bindings = bindings
        self.bindingCount = bindingCount
        self.rows = rows
        self.seconds = seconds
        self.plan = plan
    }
}

/// Receives statements. Called on the thread that ran the statement, under the connection's lock: keep it short.
package typealias StatementObserver = @Sendable (StatementEvent) -> Void

/// A wait for a connection that is over.
package struct StoreWait: Sendable {
    package let purpose: ConnectionPurpose
    package let seconds: Double
    /// Whether the connection was given.
    package let isAdmitted: Bool
    package init(purpose: ConnectionPurpose, seconds: Double, isAdmitted: Bool) {
        self.purpose = purpose
        self.seconds = seconds
        self.isAdmitted = isAdmitted
    }
}

/// What a connection is wanted for.
package enum ConnectionPurpose: Sendable { case read, write, pinnedView }

/// Somebody who may listen to what a store does, and may stop.
package protocol StoreListener: AnyObject, Sendable {
    /// Asked before anything is put together.
    var isListening: Bool { get }
    func hear(_ event: StatementEvent, path: String)
    func hear(_ wait: StoreWait, path: String)
}

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
