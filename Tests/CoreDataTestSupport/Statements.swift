// What a store runs and reads, counted and written down.

import CoreData
import Synchronization

extension Stack {
    /// How many statements the store has run.
    package var statements: Int { coordinator.counters.statements }

    /// How many statements a body runs.
    package func statements(of body: () throws -> Void) rethrows -> Int { try costs(of: body).statements }

    /// How many statements a body runs, and how many rows they read and write.
    package func costs(of body: () throws -> Void) rethrows -> (statements: Int, rows: Int) {
        let before = coordinator.counters
        try body()
        let after = coordinator.counters
        return (after.statements - before.statements, after.rows - before.rows)
    }
}

/// The statements of a store that is opened with `options`.
package final class StatementLog: Sendable {
    private let statements = Mutex<[String]>([])

    package init() {}

    package var options: [String: Any] {
        [SQLTraceOption: SQLTrace { statement in self.statements.withLock { $0.append(statement.sql) } }]
    }

    /// Those that were not taken yet.
    package var texts: [String] { statements.withLock { $0 } }

    /// Those since the last call, or since the beginning.
    @discardableResult
    package func take() -> [String] {
        statements.withLock { statements in
            defer { statements = [] }
            return statements
        }
    }

    package func count(_ body: () throws -> Void) rethrows -> Int { try run(body).count }

    package func reads(_ body: () throws -> Void) rethrows -> [String] {
        try run(body).filter { $0.hasPrefix("SELECT") }
    }

    package func writes(_ body: () throws -> Void) rethrows -> [String] {
        try run(body).filter { !$0.hasPrefix("SELECT") }
    }

    private func run(_ body: () throws -> Void) rethrows -> [String] {
        take()
        try body()
        return take()
    }
}
