// The store that a migration is about.

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

    var destination: Schema { coordinator.runtime.schema }

    /// Performs a plan, all of it or nothing.
    func perform(_ plan: MigrationPlan) throws {
        if type == NSSQLiteStoreType { return try performInPlace(plan) }
        guard let storeClass = StoreClasses.named(type) else { throw coordinator.unknownType(type) }
        try storeClass.migrate(self, by: plan)
    }

    private func performInPlace(_ plan: MigrationPlan) throws {
        var sqlite = options.sqlite
        (sqlite.vacuums, sqlite.analyzes) = (false, false)
        let store = try SQLiteStore(url: url, schema: source.schema, configuration: source.configuration, options: sqlite)
        do {
            guard let migrator = store.migrator else { throw StoreError(134110, "A store in memory is not migrated.") }
            try migrator.migrate(plan, configuration: configuration)
        } catch {
            try? store.close()
            throw error
        }
    }
}
