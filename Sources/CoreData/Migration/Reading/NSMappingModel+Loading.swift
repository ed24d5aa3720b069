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
                throw CocoaError.coreData(
                    260, "There is no mapping model at \(url.path).", [NSFilePathErrorKey: url.path])
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
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel else { return nil }
        let folders = bundles?.compactMap(\.resourceURL) ?? ModelSearch.usualFolders()
        guard
            let found = try? NSMappingModel.fitting(sourceModel.schema(), destinationModel.schema(), in: folders)
        else { return nil }
        self.init()
        entityMappings = found.entityMappings
    }

    /// The mapping model in some folders that fits two models.
    ///
    /// - Throws: 134110 where none does and one cannot be read, which may be the one.
    class func fitting(_ from: Schema, _ to: Schema, in folders: [URL]) throws -> NSMappingModel? {
        var best: (model: NSMappingModel, equal: Int)?
        var unreadable: (url: URL, error: any Error)?
        for url in folders.flatMap({ ModelSearch.entries(of: $0, kinds: ["cdm", "xcmappingmodel"]) }) {
            let model: NSMappingModel
            do { model = try NSMappingModel(loading: url) } catch {
                unreadable = unreadable ?? (url, error)
                continue
            }
            guard let equal = model.fit(from, to), let count = model.entityMappings?.count,
                best.map({ (equal, count) > ($0.equal, $0.model.entityMappings.count) }) ?? true
            else { continue }
            best = (model, equal)
        }
        if best == nil, let unreadable {
            throw CocoaError.coreData(
                134110,
                "The mapping model at \(unreadable.url.path) cannot be read, and no other one is for these models. Repair it, or remove it. "
                    + unreadable.error.localizedDescription,
                [NSFilePathErrorKey: unreadable.url.path, NSUnderlyingErrorKey: unreadable.error])
        }
        return best?.model
    }
}
