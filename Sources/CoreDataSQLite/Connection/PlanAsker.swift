// The plan of a statement that is told of.

import CoreDataValues
import Foundation
import Synchronization

/// Asks for the plan of a statement on the connection that has run it, while whoever is told of the statement holds that.
final class PlanAsker: Sendable {
    private let sql: String
    private let thread: pthread_t
    private let connection: Mutex<Connection?>

    init(_ connection: Connection, _ sql: String) {
        self.sql = sql
        thread = pthread_self()
        self.connection = Mutex(connection)
    }

    /// The connection is somebody else's from now on.
    func close() { connection.withLock { $0 = nil } }

    /// The steps, inner ones indented; none for a statement that has no plan.
    func steps() -> [String] {
        guard pthread_equal(thread, pthread_self()) != 0, let connection = connection.withLock({ $0 }),
            ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(where: { sql.hasPrefix($0) })
        else { return [] }
        return (try? connection.planSteps(of: sql)) ?? []
    }
}

extension Connection {
    /// Past the statements that are kept and told of.
    fileprivate func planSteps(of sql: String) throws -> [String] {
        let statement = try Statement("EXPLAIN QUERY PLAN " + sql, on: self)
        var depths: [Int64: Int] = [:]
        var steps: [String] = []
        while try statement.stepUntold() {
            let depth = depths[statement.int(1)].map { $0 + 1 } ?? 0
            depths[statement.int(0)] = depth
            steps.append(String(repeating: "  ", count: depth) + (statement.text(3) ?? ""))
        }
        return steps
    }
}
