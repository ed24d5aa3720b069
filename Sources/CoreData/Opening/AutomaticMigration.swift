// A store of another version of the model is migrated when it is added.

import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Opens a store. One that another model wrote is migrated first, if the options say so.
    ///
    /// Costs the look-up of a name for a store that fits. Of several processes one migrates; the others wait, as long as
    /// `SQLiteConnectionTimeoutOption` says or else as long as it takes, and find that the store fits.
    /// - Throws: 134100 without the option, 134130 where no model is found that the store was written with, 134140 without a mapping
    ///   model and inference, 134190 where the models do not tell what becomes of a value, 134111 where rows break a new uniqueness
    ///   constraint, 134110 for any other failure, with the cause under `NSUnderlyingErrorKey`. The store is then as it was.
    final func migrating<Store>(
        _ type: String, _ configuration: String?, _ url: URL?, _ options: StoreOptions, _ open: () throws -> Store
    ) throws -> Store {
        var attempts = 0
        while true {
            do {
                let store = try open()
                if !options.isReadOnly, let url, url.isFileURL { WorkFolder.removeLeftovers(beside: url) }
                return store
            } catch {
                guard options.migrates || options.stages != nil, let url, attempts < 8,
                    CocoaError.cocoaCode(of: error) == 134100
                else {
                    throw error
                }
                attempts += 1
                let migration = AutomaticMigration(
                    coordinator: self, type: type, configuration: configuration, url: url, options: options)
                try migration.run(insteadOf: error)
            }
        }
    }
}

/// *what wrote the store · a mapping model, else what the models tell · perform*
private struct AutomaticMigration {
    let coordinator: NSPersistentStoreCoordinator
    let type: String
    let configuration: String?
    let url: URL
    let options: StoreOptions

    /// Only one migrates a store, and all others wait for it.
    ///
    /// - Parameter refusal: what opening said.
    func run(insteadOf refusal: any Error) throws {
        let refused = (refusal as? StoreError)?.mismatch?.recorded
        if refused == nil, try mismatch(insteadOf: refusal) == nil { return }
        do {
            let folder =
                try url.isFileURL && !options.isReadOnly ? WorkFolder(beside: url, waiting: options.patience) : nil
            defer { withExtendedLifetime(folder) {} }
            // What was compared a moment ago is compared again only where somebody was at it meanwhile: a store that migrates looks
            // itself, under its own lock, whether it is still the one that was refused.
            let isFresh = refused != nil && folder?.hasWaited != true && options.stages == nil
            if let recorded = try isFresh ? refused : mismatch(insteadOf: refusal) {
                try migrate(from: recorded, insteadOf: refusal, in: folder)
            }
        } catch let failure as StagedMigration.Failure {
            throw failure.told
        } catch { throw CocoaError.migrating(error, url) }
    }

    private func migrate(from recorded: [String: Data], insteadOf refusal: any Error, in folder: WorkFolder?) throws {
        if let stages = options.stages {
            return try StagedMigration(
                manager: stages, coordinator: coordinator, type: type, configuration: configuration, url: url,
                options: options, folder: folder
            ).run(from: recorded)
        }
        let found = SourceModel(
            of: recorded, at: url, type, before: coordinator.runtime.schema, configuration: configuration)
        guard let source = found ?? SourceModel(besideRowsAt: url, type, of: recorded, configuration: configuration)
        else {
            if try mismatch(insteadOf: refusal) != recorded { return }
            throw missingSource(refusal)
        }
        // A version that a program's package has not may be a later one. A model made by code knows no other version.
        let later = coordinator.runtime.schema
        if found == nil, later.versions != nil, let lost = SchemaPairs(from: source.schema, to: later).lost.first {
            throw missingSource(refusal, losing: lost)
        }
        SourceModel.tellForeign(recorded, source.schema, url)
        let site = MigrationSite(
            coordinator: coordinator, type: type, configuration: configuration, url: url, options: options,
            source: source, recorded: recorded, folder: folder)
        do {
            if let mapped = try MappingSearch.migration(for: site) { return try mapped(site) }
            guard options.infersMapping else { throw missingMapping() }
            try site.perform(MigrationPlan(SchemaDiff(from: source.schema, to: coordinator.runtime.schema)))
        } catch {
            // Somebody who knows the store by another path may have been first.
            guard case .success(let now) = Result(catching: { try mismatch(insteadOf: error) }), now != recorded else {
                throw error
            }
        }
    }

    /// The hashes that the store records, none of a version without entities; nil where the model fits meanwhile.
    /// - Throws: the refusal for a store that cannot be asked.
    private func mismatch(insteadOf refusal: any Error) throws -> [String: Data]? {
        let found = try coordinator.inspectStore(ofType: type, configurationName: configuration, at: url)
        guard found.content == .store else { throw refusal }
        return found.mismatch?.recorded
    }

    /// - Parameter lost: what the copy of its model that the store has says it would lose.
    private func missingSource(_ refusal: any Error, losing lost: String? = nil) -> CocoaError {
        let why =
            lost.map {
                " The store itself has a copy of it, by which \($0) would be lost: perhaps a later version of the program wrote it."
            } ?? ""
        return CocoaError.coreData(
            134130,
            "The store at \(url.path) cannot be migrated, as the model that wrote it is not found: neither among the versions of the "
                + "coordinator's model nor in the bundles.\(why) Add that version to the model package that the program loads.",
            [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: CocoaError.presenting(refusal)])
    }

    private func missingMapping() -> CocoaError {
        CocoaError.coreData(
            134140,
            "The store at \(url.path) cannot be migrated: no mapping model between the model that wrote it and the coordinator's is in the "
                + "bundles, and none may be inferred. Add one, or set \(NSInferMappingModelAutomaticallyOption).",
            [NSFilePathErrorKey: url.path])
    }
}

extension CocoaError {
    /// Codes of migration that say all there is to say.
    private static let told: Set<Int> = [
        134100, 134111, 134120, 134130, 134140, 134150, 134160, 134170, 134190, 134504, 134505, 134506,
    ]

    /// What an error says of objects and properties, and what is thrown for it says as well.
    static let handedOn = [
        NSEntityNameErrorKey, NSValidationKeyErrorKey, NSAffectedObjectsErrorKey, NSDetailedErrorsKey,
    ]

    /// What a migration throws for a failure of it: 134110 with the cause, unless a code of its own says more.
    ///
    /// - Parameter outcome: what stands before the cause; that the store is as it was unless it is given.
    static func migrating(_ error: any Error, _ url: URL, outcome: String? = nil) -> CocoaError {
        let failed = error as? MigrationRun.ObjectFailure
        let shown = presenting(failed?.cause ?? error)
        if let known = shown as? CocoaError, told.contains(known.code.rawValue) { return known }
        let cause = (shown as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(shown)"
        var info: [String: Any] = [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: shown]
        for key in handedOn { info[key] = (shown as? CocoaError)?.userInfo[key] }
        if let failed { info[NSAffectedObjectsErrorKey] = [failed.object as NSURL] }
        let words = outcome ?? "The store at \(url.path) could not be migrated and is as it was. "
        return coreData(
            134110, words + (failed.map { "It failed for \($0.object.absoluteString). " } ?? "") + cause, info)
    }
}
