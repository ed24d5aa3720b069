// Histories as entities: what a fetch request over them names.

import CoreDataSQL
import CoreDataValues
import Foundation

/// The descriptions of transactions and changes, the same for every store.
enum HistoryModel {
    // Nothing of a frozen model changes.
    nonisolated(unsafe) private static let made: (model: NSManagedObjectModel, runtime: ModelRuntime)? = {
        let model = NSManagedObjectModel(draft: HistorySchema.draft)
        return (try? model.runtime()).map { (model, $0) }
    }()

    static var schema: Schema? { made?.runtime.schema }

    static func entity(_ name: String) -> NSEntityDescription? { made?.model.entitiesByName[name] }

    static func fetchRequest(_ name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let entity = entity(name) else { return nil }
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }
}

extension NSPersistentHistoryTransaction {
    /// The entity of transactions: `author`, `bundleID`, `contextName`, `processID`, `timestamp`, `token`, `transactionNumber`, and the
    /// to-many `changes`. The same for every context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// The entity of transactions.
    public class var entityDescription: NSEntityDescription? { HistoryModel.entity(HistorySchema.transaction) }

    /// A request for transactions, to be given a predicate and handed to `NSPersistentHistoryChangeRequest`; a new one each time.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        HistoryModel.fetchRequest(HistorySchema.transaction)
    }
}

extension NSPersistentHistoryChange {
    /// The entity of changes: `changeID` (also `changedID`), `changedEntity`, `changedObjectID`, `changeType`, and the to-one
    /// `transaction`. The same for every context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// The entity of changes.
    public class var entityDescription: NSEntityDescription? { HistoryModel.entity(HistorySchema.change) }

    /// A request for changes, to be given a predicate and handed to `NSPersistentHistoryChangeRequest`; a new one each time.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        HistoryModel.fetchRequest(HistorySchema.change)
    }
}
