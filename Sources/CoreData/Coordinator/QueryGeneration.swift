// One state of a coordinator's stores, which contexts are pinned to.

import CoreDataValues
import Foundation
import Synchronization

/// Taken of all stores at once when the first of them is read, and kept as long as a context or a token has it. May be used from any
/// thread.
final class QueryGeneration: Sendable {
    /// Whose stores it shows. A token may outlive the coordinator.
    let identities: StoreIdentities
    private let state = Mutex(State())

    private struct State {
        var views: [ObjectIdentifier: Shown] = [:]
        /// How archives name it; made when one does.
        var uuid: UUID?
    }

    /// A view, with the store that it is of: while it is held, no other one takes its address.
    private struct Shown {
        let store: any StoreReader
        let view: ReadView
    }

    init(of coordinator: NSPersistentStoreCoordinator) { identities = coordinator.identities }

    /// What is seen of a store. One that was added later is pinned when it is first asked for.
    ///
    /// - Throws: 134090 when as many views are pinned already as may be, 134070 when the store is closed.
    func view(of store: any StoreReader, in coordinator: NSPersistentStoreCoordinator) throws -> ReadView {
        try state.withLock { state in
            if let shown = state.views[ObjectIdentifier(store)] { return shown.view }
            // All or none: a state that was taken of some stores and then of others is none.
            var views = state.views
            for other in coordinator.persistentStores
            where other.showsGenerations && views[ObjectIdentifier(other.rows)] == nil {
                views[ObjectIdentifier(other.rows)] = Shown(store: other.rows, view: try other.rows.pinnedView())
            }
            state.views = views
            return views[ObjectIdentifier(store)]?.view ?? .latest
        }
    }

    // MARK: Archives

    private struct Weak: Sendable { weak var generation: QueryGeneration? }
    /// The generations of this process that archives name.
    private static let archived = Mutex<[UUID: Weak]>([:])

    /// How archives name it.
    var uuid: UUID {
        let uuid = state.withLock { state in
            let uuid = state.uuid ?? UUID()
            state.uuid = uuid
            return uuid
        }
        QueryGeneration.archived.withLock { archived in
            archived = archived.filter { $0.value.generation != nil }
            archived[uuid] = Weak(generation: self)
        }
        return uuid
    }

    /// The generation that an archive of this process named; nil once nobody has it.
    static func named(_ uuid: UUID) -> QueryGeneration? { archived.withLock { $0[uuid]?.generation } }
}

extension NSPersistentStore {
    /// Whether contexts can be pinned to its states: SQLite with a write-ahead log (12.1). The store in memory could, and does not: programs
    /// that are tested with it see there what they see with Core Data.
    final var showsGenerations: Bool { type == NSSQLiteStoreType && rows.capabilities.contains(.pinnedViews) }
}
