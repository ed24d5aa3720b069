// Models from files and from bundles.

import CoreDataModelFile
import CoreDataValues
import Foundation

extension NSManagedObjectModel {
    /// Reads a model file or package. Answers nil when it cannot be read; `init(loading:)` says why.
    public convenience init?(contentsOf url: URL) {
        do { try self.init(loading: url) } catch { return nil }
    }

    /// Reads a model file or package: `.xcdatamodeld` (its current version), `.xcdatamodel`, and what else
    /// the reader knows.
    ///
    /// - Throws: `CocoaError` 134020 (`persistentStoreIncompatibleSchema`) whose description has the file,
    ///   line and column, with the entity and property in its userInfo; 260 where no file is, 259 where it is
    ///   no model.
    ///
    /// Of a package with several versions and no file that says which is current the last by name is taken, with a warning.
    public convenience init(loading url: URL) throws {
        try self.init { try ModelFile.draft(at: url) }
    }

    /// The same, but of a package with several versions and no file that says which is current the version is taken that a store was
    /// written with, if there is one. Ours.
    ///
    /// - Parameters:
    ///   - url: of the model file or package.
    ///   - metadata: that of the store (`NSPersistentStoreCoordinator.metadataForPersistentStore`).
    public convenience init(loading url: URL, forStoreMetadata metadata: [String: Any]) throws {
        try self.init(loading: url, forStore: { metadata })
    }

    /// - Parameter metadata: asked for only if the package leaves the version open.
    convenience init(loading url: URL, forStore metadata: () -> [String: Any]?) throws {
        try self.init {
            try ModelFile.draft(at: url) { metadata()?[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:] }
        }
    }

    private convenience init(_ read: () throws -> SchemaDraft) throws {
        do {
            let draft = try read()
            let warnings = try Schema(checking: draft).warnings
            self.init(draft: draft)
            for warning in warnings where warning.isTold { warn(warning.description) }
        } catch {
            throw CocoaError.presenting(error)
        }
    }

    /// What is tolerated in the model, a line each, `FILE:LINE:COLUMN: warning: TEXT` with entity and property in the text. Ours.
    ///
    /// What a program should know of it was also told when the model was loaded (`CoreDataWarning`). Costs a check of the model until
    /// the model is in use.
    public final var warnings: [String] { ((try? schema())?.warnings ?? declared.warnings).map(\.description) }

    /// All models of the bundles in one; for nil of all places where `NSPersistentContainer(name:)` looks. nil when there is none or
    /// they contradict each other, which a warning (`CoreDataWarning`) says of the files by name. So it does of one that cannot be read,
    /// which is left out.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = models(in: bundles)
        guard !models.isEmpty else { return nil }
        do { return try NSManagedObjectModel(merging: models) } catch {
            warn("There is no merged model. \(error.localizedDescription)")
            return nil
        }
    }

    /// The entities of the bundles' models that fit a store; nil when one is missing.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        NSManagedObjectModel(byMerging: models(in: bundles, metadata), forStoreMetadata: metadata)
    }

    private static func models(in bundles: [Bundle]?, _ metadata: [String: Any]? = nil) -> [NSManagedObjectModel] {
        let folders = bundles?.compactMap(\.resourceURL) ?? ModelSearch.usualFolders()
        return ModelSearch.models(in: folders).compactMap { url in
            do {
                return try metadata.map { try NSManagedObjectModel(loading: url, forStoreMetadata: $0) }
                    ?? NSManagedObjectModel(loading: url)
            } catch {
                warn("A model is left out of the merged one. \(error.localizedDescription)")
                return nil
            }
        }
    }
}
