// What is wrong in models, or tolerated, for tools that tell people.

import CoreDataGeneration
import CoreDataModelFile
import CoreDataValues
import Foundation

/// Something in a model that its author should know of.
public struct ModelFinding: Sendable, Hashable, Encodable, CustomStringConvertible {
    public enum Severity: String, Sendable, Encodable {
        /// The model, or this version of it, cannot be loaded.
        case error
        /// The model can be loaded, and may not mean what its author thinks.
        case warning
    }
    public let severity: Severity
    public let entity: String?
    public let property: String?
    public let message: String
    public let file: String
    /// Lines and columns count from 1; nil where the trouble is the file itself.
    public let line: Int?
    public let column: Int?

    /// `FILE:LINE:COLUMN: error: MESSAGE`, as compilers say it.
    public var description: String {
        let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(file)\(place): \(severity.rawValue): \(message)"
    }
}

/// Looks at all versions of a model.
public enum ModelFindings {
    /// The models in a folder, at any depth; a model is the only one in itself.
    ///
    /// - Returns: in the order of their paths; none where there is no model, or nothing.
    public static func models(at url: URL) -> [URL] {
        if kinds.contains(url.pathExtension) { return [url] }
        var models: [URL] = []
        let walk = FileManager.default.enumerator(
            at: url, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        while let file = walk?.nextObject() as? URL {
            guard kinds.contains(file.pathExtension) else { continue }
            walk?.skipDescendants()
            models.append(file)
        }
        return models.sorted { $0.path < $1.path }
    }

    private static let kinds = ["xcdatamodeld", "xcdatamodel"]

    /// What is found in a model, version by version, and what keeps its current version from having classes. Each once.
    public static func check(_ url: URL) -> [ModelFinding] {
        let package: ModelPackage
        do { package = try ModelPackage(at: url) } catch { return [finding(error, url)] }
        var findings: [ModelFinding] = []
        var seen: Set<ModelFinding> = []
        func add(_ found: [ModelFinding]) { findings += found.filter { seen.insert($0).inserted } }
        for version in package.versions {
            do {
                let draft = version == package.current ? try ModelFile.draft(at: url) : try package.draft(of: version)
                add(try Schema(checking: draft).warnings.map { finding($0, version.contents) })
            } catch { add([finding(error, version.contents)]) }
        }
        if !findings.contains(where: { $0.severity == .error }) {
            do { _ = try ModelClasses(at: url) } catch { add([finding(error, url, .warning)]) }
        }
        return findings
    }

    private static func finding(_ warning: SchemaWarning, _ file: URL) -> ModelFinding {
        ModelFinding(
            severity: .warning, entity: warning.entity, property: warning.property, message: warning.message,
            file: warning.location?.path ?? file.path, line: warning.location?.line, column: warning.location?.column)
    }

    private static func finding(_ error: any Error, _ file: URL, _ severity: ModelFinding.Severity = .error)
        -> ModelFinding
    {
        switch error {
        case let error as SchemaError:
            ModelFinding(
                severity: severity, entity: error.entity, property: error.property, message: error.message,
                file: error.location?.path ?? file.path, line: error.location?.line, column: error.location?.column)
        case let error as ModelFileError:
            ModelFinding(
                severity: severity, entity: nil, property: nil, message: error.message, file: error.path,
                line: error.line,
                column: error.column)
        default:
            ModelFinding(
                severity: severity, entity: nil, property: nil, message: String(describing: error), file: file.path,
                line: nil, column: nil)
        }
    }
}
