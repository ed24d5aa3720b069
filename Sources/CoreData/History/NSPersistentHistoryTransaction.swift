// One save or batch request, as the history of a store has it.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A transaction of a store's history: who saved what, when. Immutable; may be passed between threads.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, KeyValueCoding, @unchecked Sendable {
    final let origin: HistoryOrigin
    /// What it did, in no particular order; nil where only transactions were asked for.
    public final let changes: [NSPersistentHistoryChange]?

    init(_ origin: HistoryOrigin, _ changes: [NSPersistentHistoryChange]?) {
        self.origin = origin
        self.changes = changes
        super.init()
        if changes != nil { origin.transaction = self }
    }

    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: origin.record.time) }
    /// Higher numbers came later in the same store.
    open var transactionNumber: Int64 { origin.record.number }
    /// The UUID of the store.
    open var storeID: String { origin.storeID }
    /// The bundle identifier of the program, or its name where it has none.
    open var bundleID: String { origin.record.bundle ?? "" }
    /// The name of the program.
    open var processID: String { origin.record.process ?? "" }
    /// `name` of the context that saved.
    open var contextName: String? { origin.record.contextName }
    /// `transactionAuthor` of the context that saved.
    open var author: String? { origin.record.author }
    /// Names this transaction, to read or delete from here.
    open var token: NSPersistentHistoryToken {
        NSPersistentHistoryToken(transactions: origin.places ?? [storeID: transactionNumber])
    }

    /// What the transaction did as a notification for `mergeChanges(fromContextDidSave:)`: IDs by `NSInsertedObjectIDsKey`,
    /// `NSUpdatedObjectIDsKey` and `NSDeletedObjectIDsKey`. Empty where changes were not asked for.
    open func objectIDNotification() -> Notification {
        var ids: [NSPersistentHistoryChangeType: Set<NSManagedObjectID>] = [:]
        for change in changes ?? [] { ids[change.changeType, default: []].insert(change.changedObjectID) }
        let keys = [
            NSInsertedObjectIDsKey: ids[.insert], NSUpdatedObjectIDsKey: ids[.update],
            NSDeletedObjectIDsKey: ids[.delete],
        ]
        return Notification(
            name: ContextNotice.didSaveIDs.name.unasked, object: nil, objectIDs: keys.compactMapValues { $0 })
    }

    /// Its properties by name, as predicates over transactions that were read ask for them; nil for another key.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "timestamp": timestamp
        case "transactionNumber": transactionNumber
        case "storeID": storeID
        case "bundleID": bundleID
        case "processID": processID
        case "contextName": contextName
        case "author": author
        case "token": token
        case "changes": changes
        default: nil
        }
    }

    open func setValue(_ value: Any?, forKey key: String) {
        misuse("The \(key) of a transaction was set; a history is only read.")
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return transactionNumber == other.transactionNumber && storeID == other.storeID
    }

    open override var hash: Int { transactionNumber.hashValue }

    open override var description: String {
        let who = [author.map { "author \($0)" }, contextName.map { "context \($0)" }].compactMap { $0 }
        let count = changes.map { ["\($0.count) changes"] } ?? []
        return
            "<NSPersistentHistoryTransaction: \((["\(transactionNumber) of \(storeID)", "\(timestamp)"] + who + count).joined(separator: ", "))>"
    }
}
