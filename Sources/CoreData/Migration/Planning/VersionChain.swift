// The versions of a model that lie before a store.

import CoreDataModelFile
import CoreDataValues
import Foundation

/// The version that a store was written with, and those after it up to the one that it is to have.
struct VersionChain {
    struct Version {
        let name: String
        let model: NSManagedObjectModel
        let schema: Schema
    }
    /// At least one.
    let versions: [Version]

    var steps: [(from: Version, to: Version)] { Array(zip(versions, versions.dropFirst())) }

    /// Costs the reading of the versions on the way, and of what it takes to find the first. Of versions with the store's hashes one that
    /// is on the way is taken.
    ///
    /// - Parameter order: the versions by name, the store's among them; nil for all up to the current one, by name, with numbers as numbers.
    /// - Throws: 134130 where the store's version is not on the way; 134020 for an unknown name; what reading models throws.
    init(
        of recorded: [String: Data], at store: URL, _ type: String = NSSQLiteStoreType, in model: URL, order: [String]?
    ) throws {
        let package: ModelPackage
        do { package = try ModelPackage(at: model) } catch { throw CocoaError.presenting(error) }
        let way =
            try order.map { try $0.map { try VersionChain.version(named: $0, in: package) } }
            ?? VersionChain.usual(package)
        let source = SourceModel.version(of: recorded, at: store, type) { package.version(fitting: $0) }
        guard let source else {
            throw CocoaError.coreData(
                134130,
                "The store at \(store.path) was written with none of the versions of \(package.name): \(package.names). Add the version that "
                    + "wrote it to the model.", [NSFilePathErrorKey: store.path])
        }
        /// Nothing tells a store of one version from one of another with the same hashes.
        func isEqual(_ version: ModelVersion) -> Bool {
            guard let draft = try? package.draft(of: version), let schema = try? Schema(checking: draft) else {
                return false
            }
            let (own, wanted) = (schema.versionHashes, source.schema.versionHashes)
            return recorded.keys.allSatisfy { own[$0] != nil && own[$0] == wanted[$0] }
        }
        guard let start = way.firstIndex(where: { $0.name == source.name }) ?? way.lastIndex(where: isEqual) else {
            throw CocoaError.coreData(
                134130,
                "The store at \(store.path) was written with the version \(source.name), which is not among those on the way: "
                    + "\(way.map(\.name).joined(separator: ", ")). Name the versions in the order in which the store is to pass them.",
                [NSFilePathErrorKey: store.path])
        }
        versions = try way[start...].map { version in
            do {
                let model = NSManagedObjectModel(draft: try package.draft(of: version))
                return Version(name: version.name, model: model, schema: try model.schema())
            } catch { throw CocoaError.presenting(error) }
        }
    }

    private static func usual(_ package: ModelPackage) -> [ModelVersion] {
        let end = package.versions.firstIndex { $0.name == package.current.name } ?? package.versions.endIndex - 1
        return Array(package.versions[...end])
    }

    private static func version(named name: String, in package: ModelPackage) throws -> ModelVersion {
        guard let version = package.versions.first(where: { $0.name == name }) else {
            throw CocoaError.coreData(
                134020, "The model \(package.name) has no version \(name); it has \(package.names).")
        }
        return version
    }
}

extension ModelPackage {
    fileprivate var names: String { versions.map(\.name).joined(separator: ", ") }
}
