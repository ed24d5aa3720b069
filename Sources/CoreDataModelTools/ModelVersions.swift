// The versions of a model, for tools.

import CoreDataModelFile
import Foundation

/// What a model package calls its versions.
public enum ModelVersions {
    /// By name, with numbers as numbers. Costs a look into the folder.
    ///
    /// - Throws: what says why there is no model at the place.
    public static func names(at url: URL) throws -> [String] { try ModelPackage(at: url).versions.map(\.name) }

    /// The one that a package says is current, else the last.
    ///
    /// - Throws: what says why there is no model at the place.
    public static func current(at url: URL) throws -> String { try ModelPackage(at: url).current.name }
}
