// A version of a model with the checksums that it is known by: the computed one, and one that its package records.

import CoreDataModelFile
import CoreDataValues
import Foundation

/// A version of a model with the checksums that it is known by: the computed one, and one that its package records.
struct VersionCandidate {
    let model: NSManagedObjectModel
    /// The version's in its package; nil for a model that was given.
    var name: String?
    let checksums: [String]

    /// The versions of models and packages, as far as they can be read.
    ///
    /// - Parameter isWanted: asked for the name of each.
    static func all(at urls: [URL], _ isWanted: (String) -> Bool = { _ in true }) -> [VersionCandidate] {
        urls.flatMap { url -> [VersionCandidate] in
            guard let package = try? ModelPackage(at: url) else { return [] }
            let recorded = (try? CompiledVersions(in: package.url))?.checksums ?? [:]
            let named = package.versions.filter {
                isWanted($0.name) || isWanted(package.url.deletingPathExtension().lastPathComponent) && $0.isCurrent
            }
            return named.sorted { $0.isCurrent && !$1.isCurrent }.compactMap { version in
                guard let draft = try? package.draft(of: version), (try? Schema(checking: draft)) != nil else {
                    return nil
                }
                let model = NSManagedObjectModel(draft: draft)
                return VersionCandidate(
                    model: model, name: version.name,
                    checksums: [model.versionChecksum] + [recorded[version.name]].compactMap { $0 })
            }
        }
    }
}
