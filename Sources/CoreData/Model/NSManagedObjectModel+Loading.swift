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
    public convenience init(loading url: URL) throws {
        do {
            let draft = try ModelFile.draft(at: url)
            _ = try Schema(checking: draft)
            self.init(draft: draft)
        } catch {
            throw CocoaError.presenting(error)
        }
    }

    /// All models of the bundles in one; of the main bundle for nil. nil when there is none or they
    /// contradict each other.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = models(in: bundles)
        return models.isEmpty ? nil : NSManagedObjectModel(byMerging: models)
    }

    /// The entities of the bundles' models that fit a store; nil when one is missing.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        NSManagedObjectModel(byMerging: models(in: bundles), forStoreMetadata: metadata)
    }

    private static let kinds = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

    private static func models(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        let known = bundles ?? ([Bundle.main] + Bundle.allBundles)
        var seen = Set<URL>()
        var models: [NSManagedObjectModel] = []
        for bundle in known {
            for kind in kinds {
                let urls = bundle.urls(forResourcesWithExtension: kind, subdirectory: nil) ?? []
                for url in urls.map({ $0 as URL }).sorted(by: { $0.path < $1.path }) {
                    guard seen.insert(url.standardizedFileURL).inserted else { continue }
                    if let model = NSManagedObjectModel(contentsOf: url) { models.append(model) }
                }
            }
        }
        return models
    }
}
