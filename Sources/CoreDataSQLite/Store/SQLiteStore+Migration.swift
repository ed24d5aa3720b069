// Brings the file of a store from one schema to another.

import CoreDataSQL
import CoreDataValues
import Foundation

extension SQLiteStore: StoreMigrator, StoreCleaner {
    /// A store in memory would be gone with its connection.
    package var migrator: (any StoreMigrator)? { pool.isSingle ? nil : self }

    /// Migrates a file that is not open as a store here. Its history goes along, whether or not the options ask for one.
    ///
    /// - Parameters:
    ///   - configuration: whose entities the store has.
    ///   - target: what the store is to be; of the schema that the migration leads to.
    /// - Returns: the views, triggers and indexes of a program's own that could not stay.
    package static func migrate(
        _ url: URL, by plan: MigrationPlan, from configuration: String?, to target: StorePlan, options: SQLiteOptions
    ) throws -> [String] {
        var options = options.patient
        (options.vacuums, options.analyzes, options.isMigrating) = (false, false, true)
        let store = try SQLiteStore(url: url, schema: plan.source, configuration: configuration, options: options)
        do {
            return try store.migrate(plan, to: target)
        } catch {
            try? store.close()
            throw error
        }
    }

    package func migrate(_ plan: MigrationPlan, configuration: String?) throws -> [String] {
        try migrate(plan, to: StorePlan(schema: plan.destination, configuration: configuration))
    }

    private func migrate(_ plan: MigrationPlan, to target: StorePlan) throws -> [String] {
        try refuseIfReadOnly("It cannot be migrated")
        let migration = try StoreMigration(
            plan, from: self.plan, to: target, at: url, files: externals, known: recorded)
        let folder = ExternalFolder(store: url)
        let note = PendingFiles(folder, store: identifier)
        var (gone, omitted): (Set<String>, [String]) = ([], [])
        try pool.alone { connection in
            DerivedFunctions.register(on: connection.handle, touched: connection.touched)
            if let missing = try connection.missingRTrees(of: migration.target) {
                _ = try Definitions(migration.target).statements(withoutSpatial: missing)
            }
            if try migration.hasRTrees || connection.hasRTrees() { connection.trustsTriggers() }
            (gone, omitted) = try migration.perform(
                connection, recordsHistory: historyWriter != nil, defers: options.defersCleanup, note: note)
        }
        KeptFiles.of(folder).remove(gone, note)
        return omitted
    }

    package var cleaner: (any StoreCleaner)? { pool.isSingle ? nil : self }

    package func cleanUp() throws -> [String]? {
        guard try pool.read({ try Cleanup.isPending($0) }) else { return nil }
        try refuseIfReadOnly("What a migration has put off cannot be done")
        let folder = ExternalFolder(store: url)
        let note = PendingFiles(folder, store: identifier)
        var outcome: Cleanup.Outcome?
        try pool.write { connection in
            try connection.transaction {
                outcome = try Cleanup(connection, self.plan.map, externals).step()
                if let gone = outcome?.gone, !gone.isEmpty { try note.add(gone.sorted()) }
                return true
            }
        }
        KeptFiles.of(folder).remove(outcome?.gone ?? [], note)
        return outcome?.omitted
    }
}
