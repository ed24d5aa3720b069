// A store's way through the stages.

import CoreDataModelFile
import CoreDataValues
import Foundation

/// Walks a store from the version that it was written with to the coordinator's, a step a transaction.
struct StagedMigration {
    let manager: NSStagedMigrationManager
    let coordinator: NSPersistentStoreCoordinator
    let type: String
    let configuration: String?
    let url: URL
    let options: StoreOptions
    /// Says that nobody else migrates the store.
    let folder: WorkFolder?

    /// A version on the way.
    private struct Stop {
        let checksum: String
        /// The stage that leads here from the stop before; nil for the first version of a stage.
        let stage: NSMigrationStage?
        /// All that stages say of its model, each of which must lead to it; none where only the checksum is known.
        let references: [NSManagedObjectModelReference]
    }

    /// A stop that the store comes to, with its model.
    private struct Leg {
        let model: NSManagedObjectModel
        let stage: NSMigrationStage?
        let label: String
    }

    /// What a step met, in words that say where the store is now.
    struct Failure: Error { let told: CocoaError }

    /// The models of all stops are found and verified before the first step.
    ///
    /// - Parameter recorded: the hashes of the store.
    /// - Throws: 134504 for a version that no stage knows or a model that is not found, 134505 for a model with another checksum, 134506
    ///   for a store that is later than the coordinator's model; `Failure` with what a step throws, its stage and the version that the
    ///   store has.
    func run(from recorded: [String: Data]) throws {
        let stops = stops()
        let target = coordinator.managedObjectModel.versionChecksum
        let checksum = VersionHash.checksum(of: recorded)
        guard
            let start = try stops.lastIndex(where: { $0.checksum == checksum }) ?? place(of: recorded, in: stops)
        else {
            throw CocoaError.coreData(
                134504,
                "The store at \(url.path) was written with a version that no stage of its migration names; its checksum is "
                    + "\(checksum). Add a stage for it.", [NSFilePathErrorKey: url.path])
        }
        if let end = stops.lastIndex(where: { $0.checksum == target }), end < start {
            throw CocoaError.coreData(
                134506,
                "The store at \(url.path) is of a later version than the model: the stages have \(stops[start].checksum) after \(target). "
                    + "Open it with its model, or with a later one.", [NSFilePathErrorKey: url.path])
        }
        var model = try required(stops[start], recorded)
        for leg in try legs(stops, after: start, target) {
            model = try step(from: model, to: leg.model, leg.stage, leg.label)
        }
        if model.versionChecksum != target {
            _ = try step(from: model, to: coordinator.managedObjectModel, nil, "the last one")
        }
    }

    // MARK: The way

    private func stops() -> [Stop] {
        var stops: [Stop] = []
        func add(_ checksum: String, _ stage: NSMigrationStage?, _ reference: NSManagedObjectModelReference?) {
            let own = [reference].compactMap { $0 }
            if let last = stops.last, last.checksum == checksum {
                stops[stops.count - 1] = Stop(
                    checksum: checksum, stage: last.stage, references: last.references + own)
            } else {
                stops.append(Stop(checksum: checksum, stage: stage, references: own))
            }
        }
        for stage in manager.stages {
            if let stage = stage as? NSLightweightMigrationStage {
                for checksum in stage.versionChecksums { add(checksum, stage, nil) }
            } else if let stage = stage as? NSCustomMigrationStage {
                add(stage.currentModel.versionChecksum, nil, stage.currentModel)
                add(stage.nextModel.versionChecksum, stage, stage.nextModel)
            }
        }
        return stops
    }

    /// The stops behind a store's, up to the coordinator's version. One whose model nobody knows is passed over.
    private func legs(_ stops: [Stop], after start: Int, _ target: String) throws -> [Leg] {
        var legs: [Leg] = []
        for place in stops.indices.dropFirst(start + 1) {
            if stops[place - 1].checksum == target { break }
            guard let model = try model(of: stops[place]) else { continue }
            legs.append(Leg(model: model, stage: stops[place].stage, label: label(stops[place].stage, place)))
        }
        return legs
    }

    private func label(_ stage: NSMigrationStage?, _ place: Int) -> String {
        guard let stage else { return "step \(place)" }
        return stage.label.isEmpty
            ? "stage \((manager.stages.firstIndex { $0 === stage } ?? 0) + 1)" : "stage “\(stage.label ?? "")”"
    }

    // MARK: Models

    /// Those of a stop: named by the stage, else the coordinator's, else a version of its package or of the bundles. nil where only the
    /// checksum is known, so that the way goes on without it.
    private func model(of stop: Stop) throws -> NSManagedObjectModel? {
        let named = try stop.references.map { try $0.resolve() }
        if let model = named.first { return model }
        if coordinator.managedObjectModel.versionChecksum == stop.checksum { return coordinator.managedObjectModel }
        for stage in manager.stages.compactMap({ $0 as? NSCustomMigrationStage }) {
            for reference in [stage.currentModel, stage.nextModel] where reference.versionChecksum == stop.checksum {
                return try reference.resolve()
            }
        }
        let own = (coordinator.runtime.schema.versions as? ModelPackage)?.url
        let places = [own].compactMap { $0 } + ModelSearch.models(in: ModelSearch.usualFolders())
        return VersionCandidate.all(at: places).first { $0.checksums.contains(stop.checksum) }?.model
    }

    /// A store of a configuration, or of entities whose hashes cannot be computed, has another checksum than its model.
    /// Of several versions that fit, the one that is found to be its.
    private func place(of recorded: [String: Data], in stops: [Stop]) throws -> Int? {
        let fitting = try stops.enumerated().compactMap { place, stop -> (place: Int, checksum: String)? in
            let schema = try model(of: stop).flatMap { try? $0.schema() }
            return schema.flatMap { $0.fits(recorded) ? (place, $0.versionChecksum) : nil }
        }
        if fitting.count < 2 { return fitting.last?.place }
        let checksum = source(recorded)?.schema.versionChecksum
        return (fitting.last { $0.checksum == checksum } ?? fitting.last)?.place
    }

    private func source(_ recorded: [String: Data]) -> SourceModel? {
        SourceModel(of: recorded, at: url, type, before: coordinator.runtime.schema, configuration: configuration)
    }

    private func required(_ stop: Stop, _ recorded: [String: Data]) throws -> NSManagedObjectModel {
        if let model = try model(of: stop) { return model }
        if let source = source(recorded) { return source.model() }
        throw CocoaError.coreData(
            134504,
            "The model that the store at \(url.path) was written with is not found; its checksum is \(stop.checksum).",
            [NSFilePathErrorKey: url.path])
    }

    // MARK: Steps

    private func step(
        from model: NSManagedObjectModel, to next: NSManagedObjectModel, _ stage: NSMigrationStage?, _ label: String
    ) throws -> NSManagedObjectModel {
        var present = model
        do {
            let custom = stage as? NSCustomMigrationStage
            if let custom, let handler = custom.willMigrateHandler { try run(handler, custom, model) }
            try migrate(from: model, to: next)
            present = next
            if let custom, let handler = custom.didMigrateHandler { try run(handler, custom, next) }
        } catch { throw Failure(told: failure(error, label, present)) }
        return next
    }

    /// - Parameter present: the version that the store has.
    private func failure(_ error: any Error, _ label: String, _ present: NSManagedObjectModel) -> CocoaError {
        let cause = CocoaError.presenting(error)
        let known = (cause as? CocoaError)?.code.rawValue ?? 134110
        let code = (134000..<135000).contains(known) ? known : 134110
        let why = (cause as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(cause)"
        var info: [String: Any] = [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: cause]
        for key in CocoaError.handedOn { info[key] = (cause as? CocoaError)?.userInfo[key] }
        return CocoaError.coreData(
            code,
            "The migration of the store at \(url.path) failed in \(label), and the store has the version \(name(of: present)). \(why)",
            info)
    }

    /// Its checksum, which stages call a version by, and the name that its package has for it.
    private func name(of model: NSManagedObjectModel) -> String {
        let checksum = model.versionChecksum
        let places = [(coordinator.runtime.schema.versions as? ModelPackage)?.url].compactMap { $0 }
        let name = VersionCandidate.all(at: places).first { $0.checksums.contains(checksum) }?.name
        return name.map { "\($0) (\(checksum))" } ?? checksum
    }

    private func migrate(from model: NSManagedObjectModel, to next: NSManagedObjectModel) throws {
        let later =
            next === coordinator.managedObjectModel
            ? coordinator : NSPersistentStoreCoordinator(managedObjectModel: next)
        let known = later.runtime.schema.configurations[configuration ?? ""] == nil ? nil : configuration
        let recorded = try later.inspectStore(ofType: type, configurationName: known, at: url).mismatch?.recorded
        guard let recorded else { return }
        guard let source = SourceModel(model, of: recorded, configuration: configuration) else {
            throw CocoaError.coreData(
                134130, "The store's entities are not those of the version that the stage begins with.")
        }
        SourceModel.tellForeign(recorded, source.schema, url)
        let site = MigrationSite(
            coordinator: later, type: type, configuration: known, url: url, options: options, source: source,
            recorded: recorded, folder: folder)
        try site.perform(MigrationPlan(SchemaDiff(from: source.schema, to: later.runtime.schema)))
    }

    /// Runs a handler with a stack over the store.
    private func run(
        _ handler: NSCustomMigrationStage.Handler, _ stage: NSCustomMigrationStage, _ model: NSManagedObjectModel
    ) throws {
        let container = NSPersistentContainer(
            name: url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        var given = options.given ?? [:]
        given[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        given[NSMigratePersistentStoresAutomaticallyOption] = false
        let known = model.configurations.contains(configuration ?? "") ? configuration : nil
        let store = try container.persistentStoreCoordinator.addPersistentStore(
            ofType: type, configurationName: known, at: url, options: given)
        defer { try? container.persistentStoreCoordinator.remove(store) }
        try manager.run(with: container) { try handler(manager, stage) }
    }
}
