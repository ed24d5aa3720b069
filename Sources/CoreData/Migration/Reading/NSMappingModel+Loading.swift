// Mapping models from files and from bundles.

import CoreDataValues
import Foundation

extension NSMappingModel {
    /// Reads a mapping model, `.cdm` or `.xcmappingmodel`. Answers nil when it cannot be read; `init(loading:)` says why.
    public convenience init?(contentsOf url: URL?) {
        guard let url else { return nil }
        do { try self.init(loading: url) } catch { return nil }
    }

    /// Reads a mapping model, compiled (`.cdm`) or as Xcode keeps it (`.xcmappingmodel`). Ours.
    ///
    /// Of the latter, what is not said is generated as Xcode's compiler does: an attribute from the source's attribute of its name, a
    /// relationship from what became of the members of the source's relationship of its name.
    /// - Throws: 260 where no file is, 259 for one that cannot be read, with the path.
    public convenience init(loading url: URL) throws {
        self.init()
        do {
            guard FileManager.default.fileExists(atPath: url.path) else {
                throw CocoaError.coreData(260, "There is no mapping model at \(url.path).", [NSFilePathErrorKey: url.path])
            }
            let isCompiled = url.pathExtension.lowercased() == "cdm"
            let read = try isCompiled ? CompiledMappingReader(url).read() : MappingReader(url).read()
            entityMappings = read.entityMappings
        } catch { throw CocoaError.presenting(error) }
    }

    /// The mapping model of the bundles that was made for these versions of both models; nil where there is none.
    ///
    /// For nil it is looked for in all places where `NSPersistentContainer(name:)` looks for models. Of several that fit, the one with the
    /// most entity mappings is taken.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?, destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel else { return nil }
        let folders = bundles?.compactMap(\.resourceURL) ?? ModelSearch.usualFolders()
        guard let found = NSMappingModel.fitting(sourceModel, destinationModel, in: folders) else { return nil }
        self.init()
        entityMappings = found.entityMappings
    }

    /// The mapping model in some folders that fits two models.
    class func fitting(
        _ sourceModel: NSManagedObjectModel, _ destinationModel: NSManagedObjectModel, in folders: [URL]
    ) -> NSMappingModel? {
        let (from, to) = (sourceModel.entityVersionHashesByName, destinationModel.entityVersionHashesByName)
        var best: NSMappingModel?
        for folder in folders {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            for name in names.sorted() where ["cdm", "xcmappingmodel"].contains((name as NSString).pathExtension) {
                guard let model = NSMappingModel(contentsOf: folder.appendingPathComponent(name)), model.fits(from, to),
                    model.entityMappings.count > best?.entityMappings.count ?? 0
                else { continue }
                best = model
            }
        }
        return best
    }
}
