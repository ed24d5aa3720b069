// Brings the file of a store from one schema to another.

import CoreDataSQL
import CoreDataValues
import Foundation

extension SQLiteStore: StoreMigrator, StoreCleaner {
    /// A store in memory would be gone with its connection.
    package var migrator: (any StoreMigrator)? { pool.isSingle ? nil : self }

    /// Migrates a file that is not open as a store here. Its history goes along, whether or not the options ask for one.
    ///
    /// - Parameter configurations: whose entities the store has, and is to have.
    package static func migrate(
        _ url: URL, by plan: MigrationPlan, configurations: (from: String?, to: String?), options: SQLiteOptions
    ) throws {
        var options = options.patient
        (options.vacuums, options.analyzes, options.isMigrating) = (false, false, true)
        let store = try SQLiteStore(url: url, schema: plan.source, configuration: configurations.from, options: options)
        do {
            try store.migrate(plan, configuration: configurations.to)
        } catch {
            try? store.close()
            throw error
        }
    }

    package func migrate(_ plan: MigrationPlan, configuration: String?) throws {
        try refuseIfReadOnly("It cannot be migrated")
        let migration = try StoreMigration(
            plan, of: self.plan.map, at: url, files: externals, known: metadata(), configuration: configuration)
        let folder = ExternalFolder(store: url)
        let note = PendingFiles(folder, store: identifier)
        var gone: Set<String> = []
        try pool.alone { connection in
            DerivedFunctions.register(on: connection.handle, touched: connection.touched)
            if let missing = try connection.missingRTrees(of: migration.target) {
                _ = try Definitions(migration.target).statements(withoutSpatial: missing)
            }
            if migration.hasRTrees { connection.trustsTriggers() }
            gone = try migration.perform(
                connection, recordsHistory: historyWriter != nil, defers: options.defersCleanup, note: note)
        }
        KeptFiles.of(folder).remove(gone, note)
    }

    package var cleaner: (any StoreCleaner)? { pool.isSingle ? nil : self }

    package func cleanUp() throws -> Bool {
        guard try pool.read({ try Cleanup.isPending($0) }) else { return false }
        try refuseIfReadOnly("What a migration has put off cannot be done")
        let folder = ExternalFolder(store: url)
        let note = PendingFiles(folder, store: identifier)
        var gone: Set<String>?
        try pool.write { connection in
            try connection.transaction {
                gone = try Cleanup(connection, self.plan.map, externals).step()
                if let gone, !gone.isEmpty { try note.add(gone.sorted()) }
                return true
            }
        }
        KeptFiles.of(folder).remove(gone ?? [], note)
        return gone != nil
    }
}
