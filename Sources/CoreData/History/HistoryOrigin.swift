// What the transaction and the changes of one save have in common.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// What the transaction and the changes of one save have in common.
final class HistoryOrigin: @unchecked Sendable {
    let storeID: String
    let record: HistoryTransaction
    let store: UInt16
    let identities: StoreIdentities
    let runtime: ModelRuntime
    /// How far a sequence is in all stores with this transaction; nil for one that was asked for alone. Set before anybody else has it.
    var places: [String: Int64]?
    /// Set once, before anybody else has it.
    weak var transaction: NSPersistentHistoryTransaction?

    /// - Parameter record: its changes are not looked at.
    init(_ record: HistoryTransaction, of store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator) {
        storeID = store.identifier
        self.record = record
        self.store = store.number
        identities = coordinator.identities
        runtime = coordinator.runtime
    }
}
