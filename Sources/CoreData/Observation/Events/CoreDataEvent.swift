// What stores and contexts do, as those are told who observe a coordinator.

import CoreDataValues
import Foundation

/// A piece of work of a coordinator's stores and contexts that has ended: what it was, and how long it took.
///
/// Ours, beside Core Data's API. See `NSPersistentStoreCoordinator.observe(carrying:_:)`.
public enum CoreDataEvent: Sendable {
    /// A SQLite store has run a statement.
    case statement(Statement)
    /// A context has fetched or counted.
    case fetch(Fetch)
    /// A context has saved, or failed to.
    case save(Save)
    /// Faults were fulfilled, or objects looked up by ID.
    case faults(Faults)
    /// A read or a save has waited for a connection, or a block that a task awaits for a place or its turn.
    case wait(Wait)

    public struct Statement: Sendable {
        public let sql: String
        /// How many values were bound.
        public let bindingCount: Int
        /// Rows read or changed.
        public let rows: Int
        /// From the first step to the end, with the time that the caller took for the rows in between.
        public let duration: Duration
        /// The path of the store's file.
        public let storePath: String
        let plan: @Sendable () -> [String]

        /// The database's plan, a step an element, inner steps indented. Runs a statement, which is not told.
        ///
        /// Answers while the observer is called, on the same thread; later there are no steps.
        public func queryPlan() -> [String] { plan() }
    }

    public struct Fetch: Sendable {
        /// What a request asks for.
        public enum Kind: String, Sendable { case objects, objectIDs, dictionaries, count }
        public let entityName: String
        public let kind: Kind
        /// Objects, IDs or dictionaries found; for a count the number counted.
        public let results: Int
        /// With prefetching and the making of objects.
        public let duration: Duration
        /// `name` of the context.
        public let contextName: String?
        /// nil for a fetch that succeeded.
        public let error: (any Error)?
    }

    public struct Save: Sendable {
        public let inserted: Int
        public let updated: Int
        public let deleted: Int
        /// With validation and notifications.
        public let duration: Duration
        public let contextName: String?
        /// Whether the changes went to a parent context and not to a store.
        public let isToParent: Bool
        /// nil for a save that succeeded.
        public let error: (any Error)?
    }

    public struct Faults: Sendable {
        /// The entity of the object that was read.
        public let entityName: String
        /// The to-many whose members were read; nil for objects' own rows.
        public let relationshipName: String?
        /// Rows or members read; 0 for a row that is gone.
        public let count: Int
        /// Whether the coordinator's row cache had the row, so that no store was asked.
        public let isFromCache: Bool
        /// Zero for the row cache, which nobody measures.
        public let duration: Duration
        public let contextName: String?
    }

    public struct Wait: Sendable {
        public enum Purpose: String, Sendable {
            /// A connection to read, to write, or of a pinned view.
            case read, write, pinnedView
            /// A place among the blocks of `perform` and `read` that run at once.
            case block
            /// The turn of a block of `write`, or of `read` where the store has few connections, and its place.
            case turn
        }
        public let purpose: Purpose
        public let duration: Duration
        /// False when time ran out, the task was cancelled or the store closed.
        public let isAdmitted: Bool
        /// Empty for waits that are for no connection.
        public let storePath: String
    }

    /// How long the work took.
    public var duration: Duration {
        switch self {
        case .statement(let statement): statement.duration
        case .fetch(let fetch): fetch.duration
        case .save(let save): save.duration
        case .faults(let faults): faults.duration
        case .wait(let wait): wait.duration
        }
    }
}

extension CoreDataEvent.Wait {
    init(_ wait: StoreWait, path: String) {
        purpose = Purpose(wait.purpose)
        duration = .seconds(wait.seconds)
        isAdmitted = wait.isAdmitted
        storePath = path
    }
}

extension CoreDataEvent.Wait.Purpose {
    init(_ purpose: ConnectionPurpose) {
        self =
            switch purpose {
            case .read: .read
            case .write: .write
            case .pinnedView: .pinnedView
            }
    }
}
