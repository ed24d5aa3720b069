// Receives each statement that a store runs.

import CoreDataSQLite
import CoreDataValues
import Foundation

/// Receives each statement that a store runs.
///
/// Called on the thread that ran the statement, while its connection is held: return quickly and do not use the store.
public struct SQLTrace: Sendable {
    public struct Statement: Sendable {
        public let sql: String
        /// The bound values as text.
        public let bindings: [String]
        /// Rows read or changed.
        public let rows: Int
        public let seconds: Double
    }
    let receive: @Sendable (Statement) -> Void
    public init(_ receive: @escaping @Sendable (Statement) -> Void) { self.receive = receive }
}
