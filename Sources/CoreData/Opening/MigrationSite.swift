// The store that a migration is about.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

/// A store that nobody of this coordinator has open, written with another version of its model.
struct MigrationSite {
    let coordinator: NSPersistentStoreCoordinator
    let type: String
    /// Of the later model.
    let configuration: String?
    let url: URL
    let options: StoreOptions
    let source: SourceModel
    /// The hashes that the store was refused with; nil where nobody compared it.
    let recorded: [String: Data]?
    /// Says that nobody else migrates the store.
    let folder: WorkFolder?

    var destination: Schema { coordinator.runtime.schema }

    /// Performs a plan, all of it or nothing.
    func perform(_ plan: MigrationPlan) throws {
        if type == NSSQLiteStoreType {
            // What opening with the later model has worked out already.
            let target =
                try plan.destination === destination
                ? coordinator.runtime.storePlan(configuration)
                : StorePlan(schema: plan.destination, configuration: configuration)
            let omitted = try SQLiteStore.migrate(
                url, by: plan, from: source.configuration, to: target, options: options.sqlite)
            return CoreDataWarning.tell(removed: omitted, from: url)
        }
        guard let storeClass = StoreClasses.named(type) else { throw coordinator.unknownType(type) }
        try storeClass.migrate(self, by: plan)
    }
}
