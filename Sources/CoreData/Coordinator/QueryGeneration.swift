// One state of a coordinator's stores, to which contexts are pinned.

import CoreDataValues
import Foundation
import Synchronization

/// One state of all stores, taken when the first of them is read and kept as long as a context or a token has it. May
/// be used on any thread.
final class QueryGeneration: Sendable {
    /// Identifies the coordinator, which a token may outlive.
    let identities: StoreIdentities
    private let state = Mutex(State())

    private struct State {
        var views: [ObjectIdentifier: Shown] = [:]
        /// The name in archives, made by the first of them.
        var uuid: UUID?
    }

    /// A view with its store, which is retained so that no other gets its address.
    private struct Shown {
        let store: any StoreReader
        let view: ReadView
    }

    init(of coordinator: NSPersistentStoreCoordinator) { identities = coordinator.identities }

    /// Returns the view of a store. A store added later is pinned when it is first read.
    ///
    /// - Throws: 134090 if as many views as allowed are pinned, 134070 if the store is closed.
    func view(of store: any StoreReader, in coordinator: NSPersistentStoreCoordinator) throws -> ReadView {
        try state.withLock { state in
            if let shown = state.views[ObjectIdentifier(store)] { return shown.view }
            // Pins all stores or none: views taken at different times are no common state.
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
    /// The generations of this process that are in archives.
    private static let archived = Mutex<[UUID: Weak]>([:])

    /// The name in archives.
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

    /// The generation of an archive of this process; nil once nothing retains it.
    static func named(_ uuid: UUID) -> QueryGeneration? { archived.withLock { $0[uuid]?.generation } }
}

extension NSPersistentStore {
    /// Whether contexts can be pinned to its states: SQLite with a write-ahead log (12.1). The store in memory could,
    /// but does not, so that programs tested with it behave as with Core Data.
    final var showsGenerations: Bool { type == NSSQLiteStoreType && rows.capabilities.contains(.pinnedViews) }
}
