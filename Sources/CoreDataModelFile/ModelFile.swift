// The door of this module: a URL in, a model out.

import CoreDataValues
import Foundation

/// Reads models as Xcode keeps them, `.xcdatamodeld`, `.xcdatamodel`, or a `contents` file itself, and compiled ones, `.momd` and `.mom`.
///
/// Reading costs one pass over the bytes and memory for the largest entity beside the draft.
package enum ModelFile {
    /// The checked model: of a package with several versions, the current one.
    ///
    /// - Throws: `ModelFileError` where there is no such model; `SchemaError`, with line and column, for what
    ///   stands in it.
    package static func load(_ url: URL) throws -> Schema {
        try Schema(checking: draft(at: url))
    }

    /// The model as declared, with what was tolerated in `warnings`.
    ///
    /// - Throws: as `load(_:)`; contradictions between declarations are left to the checks.
    package static func draft(at url: URL) throws -> SchemaDraft {
        let package = try ModelPackage(at: url)
        var draft = try package.draft(of: package.current)
        if !package.saysCurrent { draft.warnings.append(package.guess(package.current, because: "the last by name")) }
        return draft
    }

    /// The same, but of a package that does not say which version is current the one that a store was written with.
    ///
    /// - Parameter recorded: asked, only if it matters, for the hashes that the store records.
    package static func draft(at url: URL, fitting recorded: () -> [String: Data]) throws -> SchemaDraft {
        let package = try ModelPackage(at: url)
        if package.saysCurrent { return try draft(at: url) }
        var search = VersionSearch(package, recorded: recorded())
        guard let found = search.run() else { return try draft(at: url) }
        var draft = found.draft
        draft.warnings.append(package.guess(found.version, because: "with which the store was written"))
        return draft
    }

    /// The versions of a package by name; a single model is its only version.
    ///
    /// - Throws: `ModelFileError` where there is no such model.
    package static func versions(at url: URL) throws -> [ModelVersion] {
        try ModelPackage(at: url).versions
    }

    /// Reads the copy of its model that Core Data keeps in a store: a compressed compiled model.
    ///
    /// - Throws: `ModelFileError` for what is none; `SchemaError` for what cannot be said here.
    package static func draft(modelCache data: Data, path: String) throws -> SchemaDraft {
        let archive: Data
        do { archive = try Deflate.inflated(data, limit: ModelPackage.sizeLimit) } catch {
            throw ModelFileError("the model beside the rows cannot be read: \(error.sentence)", path: path)
        }
        return try CompiledModelReader(archive, path: path).read()
    }

    /// Reads the model that a mapping model was made for, as it lies inside it: Xcode's own form, or a compiled one.
    ///
    /// - Throws: as `draft(modelCache:path:)`.
    package static func draft(embedded data: Data, path: String) throws -> SchemaDraft {
        if let compiled = try? CompiledModelReader(data, path: path) { return try compiled.read() }
        return try XcodeModelReader(data, path: path).read()
    }

    /// Reads the bytes of a `contents` file; the path is for messages.
    package static func draft(contents: [UInt8], path: String) throws(SchemaError) -> SchemaDraft {
        try ModelReader(contents: contents, path: path).read()
    }
}

extension ModelPackage {
    package func draft(of version: ModelVersion) throws -> SchemaDraft {
        let (bytes, path) = (try contents(of: version), version.contents.path)
        var draft =
            try version.isCompiled
            ? CompiledModelReader(Data(bytes), path: path).read() : ModelFile.draft(contents: bytes, path: path)
        var versions = siblings
        versions?.asking = version.name
        draft.versions = versions
        return draft
    }
}
