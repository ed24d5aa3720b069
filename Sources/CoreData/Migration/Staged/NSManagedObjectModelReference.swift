// A model that a stage of a migration names, found when it is needed.

import CoreDataModelFile
import CoreDataValues
import Foundation

/// Names a version of a model, with the checksum that says whether it is the one that was meant.
///
/// The checksum is that of `NSManagedObjectModel.versionChecksum`, as `VersionInfo.plist` and stores record it.
open class NSManagedObjectModelReference: NSObject {
    private enum Place {
        case model(NSManagedObjectModel)
        case file(URL)
        case named(String, Bundle?)
        case hashes([String: Data], Bundle?)
    }
    private let place: Place
    public final let versionChecksum: String

    public init(model: NSManagedObjectModel, versionChecksum: String) {
        place = .model(model)
        self.versionChecksum = versionChecksum
    }

    /// - Parameters:
    ///   - fileURL: of a model file, or of a package, in which the checksum chooses the version.
    ///   - versionChecksum: the `versionChecksum` that the model must have.
    public init(fileURL: URL, versionChecksum: String) {
        place = .file(fileURL)
        self.versionChecksum = versionChecksum
    }

    /// A version with these hashes, among the models of a bundle; for nil in all places where containers look.
    public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        var hashes: [String: Data] = [:]
        for (key, value) in versionHash { if let name = key as? String { hashes[name] = value as? Data } }
        place = .hashes(hashes, bundle)
        self.versionChecksum = versionChecksum
    }

    /// A version of this name, among the models of a bundle; for nil in all places where containers look.
    public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        place = .named(modelName, bundle)
        self.versionChecksum = versionChecksum
    }

    /// The model. One that is not found, or has another checksum, is a misuse here; a migration throws for it.
    open var resolvedModel: NSManagedObjectModel {
        do { return try resolve() } catch {
            misuse((error as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)")
        }
    }

    /// - Throws: 134504 for a model that is not found or cannot be read, 134505 for one with another checksum.
    final func resolve() throws -> NSManagedObjectModel {
        let (models, words) = candidates()
        // A checksum cannot be computed where hashes cannot; then the one that was recorded beside the version counts.
        if let found = models.first(where: { $0.checksums.contains(versionChecksum) }) { return found.model }
        guard let other = models.first else {
            throw CocoaError.coreData(
                134504, "The model of a migration stage is not found: \(words). Its checksum is \(versionChecksum).")
        }
        throw CocoaError.coreData(
            134505,
            "The model of a migration stage has another checksum than the stage says: \(words) has \(other.model.versionChecksum), and "
                + "\(versionChecksum) is asked for. Correct the stage, or the model.")
    }

    private func candidates() -> (models: [VersionCandidate], words: String) {
        switch place {
        case .model(let model):
            return ([VersionCandidate(model: model, checksums: [model.versionChecksum])], "the model that was given")
        case .file(let url): return (VersionCandidate.all(at: [url]), url.path)
        case .named(let name, let bundle):
            return (VersionCandidate.all(at: Self.models(in: bundle)) { $0 == name }, "a version named \(name)")
        case .hashes(let hashes, let bundle):
            let fitting = VersionCandidate.all(at: Self.models(in: bundle)).filter { candidate in
                (try? candidate.model.schema())?.fits(hashes) ?? false
            }
            return (fitting, "a version with the hashes of \(hashes.keys.sorted().joined(separator: ", "))")
        }
    }

    private static func models(in bundle: Bundle?) -> [URL] {
        ModelSearch.models(in: bundle.map { [$0.resourceURL].compactMap { $0 } } ?? ModelSearch.usualFolders())
    }
}

extension NSManagedObjectModel {
    /// The checksums of all versions of a model package by their names, those that `VersionInfo.plist` records before computed ones.
    ///
    /// - Throws: 260 and 259 for what is no model.
    public class func __checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        do {
            let package = try ModelPackage(at: modelURL)
            var checksums: [String: String] = [:]
            for version in package.versions {
                checksums[version.name] = try? Schema(checking: package.draft(of: version)).versionChecksum
            }
            return checksums.merging((try? CompiledVersions(in: package.url))?.checksums ?? [:]) { $1 }
        } catch { throw CocoaError.presenting(error) }
    }
}
