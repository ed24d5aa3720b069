// The model that a store was written with.

import CoreDataModelFile
import CoreDataSQLite
import CoreDataValues
import Foundation

/// The version of a model whose hashes a store records, with the configuration that has the store's entities.
struct SourceModel {
    let schema: Schema
    /// nil for all entities.
    let configuration: String?
    private let origin: Origin

    private enum Origin {
        case version(SchemaVersion)
        case model(NSManagedObjectModel)
    }

    init(_ model: NSManagedObjectModel, _ schema: Schema, configuration: String?) {
        (origin, self.schema, self.configuration) = (.model(model), schema, configuration)
    }

    /// The same as programs see it. Costs the making of its descriptions where only its schema was of use until now.
    func model() -> NSManagedObjectModel {
        switch origin {
        case .version(let version): NSManagedObjectModel(draft: version.draft)
        case .model(let model): model
        }
    }

    /// Looks among the versions of the later model, then in all places where programs have their resources.
    ///
    /// - Parameters:
    ///   - later: the model that the store is to have.
    ///   - name: the configuration of it whose entities the store is to keep.
    /// - Returns: nil where no model has the store's hashes. Costs the reading of model files.
    init?(of recorded: [String: Data], at url: URL, _ type: String, before later: Schema, configuration name: String?) {
        let version =
            recorded.isEmpty
            ? nil
            : Self.version(of: recorded, at: url, type) { later.versions?.version(fitting: $0) ?? Self.bundled($0) }
        if let version {
            guard let configuration = Self.configuration(of: recorded, in: version.schema, name) else { return nil }
            (origin, schema, self.configuration) = (.version(version), version.schema, configuration.name)
            return
        }
        let found = recorded.isEmpty ? NSManagedObjectModel() : Self.merged(recorded)
        // Nobody else has it, and it is asked for its hashes again.
        guard let found, let schema = try? found.freeze(),
            let configuration = Self.configuration(of: recorded, in: schema, name)
        else { return nil }
        (origin, self.schema, self.configuration) = (.model(found), schema, configuration.name)
    }

    /// A version that somebody has found already; nil where its entities are not the store's.
    init?(_ found: NSManagedObjectModel, of recorded: [String: Data], configuration name: String?) {
        guard let schema = try? found.schema(), let configuration = Self.configuration(of: recorded, in: schema, name)
        else { return nil }
        (origin, self.schema, self.configuration) = (.model(found), schema, configuration.name)
    }

    /// The copy of its model that Core Data keeps in a SQLite store; nil where there is none, or one of other entities.
    init?(besideRowsAt url: URL, _ type: String, of recorded: [String: Data], configuration name: String?) {
        guard let copy = Self.copy(besideRowsAt: url, type, of: recorded) else { return nil }
        self.init(NSManagedObjectModel(draft: copy.draft), of: recorded, configuration: name)
    }

    private static func copy(besideRowsAt url: URL, _ type: String, of recorded: [String: Data]) -> (
        draft: SchemaDraft, schema: Schema
    )? {
        guard type == NSSQLiteStoreType, let data = (try? StoreFile(url: url).modelCopy()) ?? nil,
            let draft = try? ModelFile.draft(modelCache: data, path: url.path),
            let schema = try? Schema(checking: draft), schema.fits(recorded)
        else { return nil }
        return (draft, schema)
    }

    /// Hashes that cannot be compared may fit several versions: which one it is the copy of its model says that a SQLite store has.
    ///
    /// - Parameter search: looks for a version by hashes.
    static func version(
        of recorded: [String: Data], at url: URL, _ type: String, _ search: ([String: Data]) -> SchemaVersion?
    ) -> SchemaVersion? {
        let found = search(recorded)
        guard let found, !found.isExact, let copy = copy(besideRowsAt: url, type, of: recorded)?.schema else {
            return found
        }
        let hashes = recorded.keys.compactMap { name in copy.entity(named: name).map { (name, $0.versionHash) } }
        let exact = search(Dictionary(uniqueKeysWithValues: hashes))
        return exact?.schema.fits(recorded) == true ? exact : found
    }

    /// Tells of a version that was recognised although hashes of it cannot be computed.
    static func tellForeign(_ recorded: [String: Data], _ schema: Schema, _ url: URL) {
        let names = recorded.compactMap { name, hash in
            schema.entity(named: name).flatMap { VersionHash.isForeign(hash, for: $0) ? name : nil }
        }
        if names.isEmpty { return }
        warn(
            "The version that the store at \(url.path) was written with is recognised by its other entities, as the hashes of "
                + "\(names.sorted().joined(separator: ", ")), which have derived or composite attributes, cannot be computed: those that the store "
                + "records are taken.")
    }

    private static var packages: [ModelPackage] {
        ModelSearch.models(in: ModelSearch.usualFolders()).compactMap { try? ModelPackage(at: $0) }
    }

    private static func bundled(_ recorded: [String: Data]) -> SchemaVersion? {
        packages.lazy.compactMap { $0.version(fitting: recorded) }.first
    }

    /// A version of each of several models, whose entities the store has together.
    private static func merged(_ recorded: [String: Data]) -> NSManagedObjectModel? {
        let models = packages.flatMap { package in
            package.versions.reversed().compactMap { try? package.draft(of: $0) }
        }.map { NSManagedObjectModel(draft: $0) }
        return NSManagedObjectModel(byMerging: models, forStoreMetadata: [NSStoreModelVersionHashesKey: recorded])
    }

    /// The configuration of the name, else any that has exactly the recorded entities.
    private static func configuration(
        of recorded: [String: Data], in schema: Schema, _ name: String?
    ) -> (name: String?, Void)? {
        let names = [name, nil] + schema.configurations.keys.sorted().map { $0 }
        let fitting = names.first { name in
            schema.entities(inConfiguration: name).map { Set($0.map(\.name)) == Set(recorded.keys) } ?? false
        }
        return fitting.map { ($0, ()) }
    }
}
