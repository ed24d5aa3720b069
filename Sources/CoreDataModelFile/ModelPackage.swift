// What a URL of a model means: a package of versions, one version, or its file.

import CoreDataValues
import Foundation

/// One version of a model.
package struct ModelVersion: Sendable, Equatable {
    /// The folder's name without extension.
    package let name: String
    /// The XML file.
    package let contents: URL
    package let isCurrent: Bool

    var isCompiled: Bool { contents.pathExtension.lowercased() == "mom" }
}

/// The versions found at a URL, one of them current.
package struct ModelPackage: Sendable {
    package let url: URL
    /// By name, compared as numbers are read: `Model 2` before `Model 10`.
    package let versions: [ModelVersion]
    package let current: ModelVersion
    /// Whether the package says which version is current, or has only one; else it is the last.
    let saysCurrent: Bool
    /// The version whose model asks for the others. A store that it asks about does not fit it, unless the program has edited the model.
    var asking: String?

    /// Models in use have less than a megabyte.
    static let sizeLimit = 64 << 20

    /// - Parameter given: a compiled model that is not there stands for the model of its name.
    /// - Throws: `ModelFileError` when nothing is there, or when it is of another kind.
    package init(at given: URL) throws {
        let url = Self.source(of: given)
        self.url = url
        let path = url.path
        guard let isFolder = Self.isFolder(path) else {
            throw ModelFileError(
                "there is no model here. Correct the path or build the model first", path: path)
        }
        switch url.pathExtension.lowercased() {
        case "xcdatamodeld" where isFolder:
            (versions, saysCurrent) = try Self.versions(in: url)
        case "momd" where isFolder:
            (versions, saysCurrent) = try Self.compiledVersions(in: url)
        case "omo":
            throw ModelFileError(
                "a model in the form that Core Data maps into memory is not read. Give the .mom beside it", path: path)
        default:
            saysCurrent = true
            let name = isFolder || url.lastPathComponent != "contents" ? url : url.deletingLastPathComponent()
            let contents = isFolder ? try Self.contents(in: url) : url
            versions = [
                ModelVersion(
                    name: name.deletingPathExtension().lastPathComponent, contents: contents, isCurrent: true)
            ]
        }
        guard let current = versions.first(where: \.isCurrent) else {
            throw ModelFileError("none of the versions is current", path: path)
        }
        self.current = current
    }

    /// What a compiled model that was not built would have been compiled from.
    private static func source(of url: URL) -> URL {
        guard ["mom", "momd"].contains(url.pathExtension.lowercased()), isFolder(url.path) == nil else { return url }
        let sources = ["xcdatamodeld", "xcdatamodel"].map { url.deletingPathExtension().appendingPathExtension($0) }
        return sources.first { isFolder($0.path) != nil } ?? url
    }

    /// The bytes of a version's file.
    ///
    /// - Throws: `ModelFileError` when it cannot be read, is larger than 64 MB, or has the binary form of
    ///   Xcode 3.
    func contents(of version: ModelVersion) throws -> [UInt8] {
        let path = version.contents.path
        if let size = Self.size(of: path), size > Self.sizeLimit {
            throw ModelFileError(
                "the file has \(size) bytes; \(Self.sizeLimit) are the most for a model", path: path)
        }
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: version.contents))
        } catch {
            throw ModelFileError("the file cannot be read: \(error.localizedDescription)", path: path)
        }
        if !version.isCompiled, bytes.starts(with: Array("bplist".utf8)) { throw Self.oldFormat(path) }
        return bytes
    }
}

/// How the folders of versions end.
private let ending = ".xcdatamodel"

// MARK: - Looking into folders

extension ModelPackage {
    static func isFolder(_ path: String) -> Bool? {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) ? isFolder.boolValue : nil
    }

    /// In bytes, at the end of all links; nil where it cannot be asked.
    static func size(of path: String) -> Int? {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : nil
    }

    private static func oldFormat(_ path: String) -> ModelFileError {
        ModelFileError(
            "this model has the binary form of Xcode 3, which is not read. Open it in Xcode 4 or later and save it, "
                + "which writes it as XML", path: path)
    }

    /// The XML file of a version's folder.
    private static func contents(in folder: URL) throws -> URL {
        let contents = folder.appendingPathComponent("contents")
        if isFolder(contents.path) == false { return contents }
        if isFolder(folder.appendingPathComponent("elements").path) == false { throw oldFormat(folder.path) }
        if folder.pathExtension.lowercased() == "xcdatamodel" {
            throw ModelFileError("the model has no file “contents”. Restore it", path: folder.path)
        }
        throw ModelFileError("this folder is no model: it has no file “contents”", path: folder.path)
    }

    /// Also whether the package says which one is current.
    private static func versions(in package: URL) throws -> ([ModelVersion], saysCurrent: Bool) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: package.path)
                .filter { $0.hasSuffix(ending) }
                .sorted {
                    $0.dropLast(ending.count).compare($1.dropLast(ending.count), options: [.numeric])
                        == .orderedAscending
                }
        } catch {
            throw ModelFileError(
                "the model package cannot be read: \(error.localizedDescription)", path: package.path)
        }
        guard let last = names.last else {
            throw ModelFileError("the model package holds no version (.xcdatamodel)", path: package.path)
        }
        let said = try currentName(in: package, of: names)
        let current = said ?? last
        let versions = try names.map { name in
            let folder = package.appendingPathComponent(name)
            // Older versions may be binary: they are listed, and refused when they are read.
            let contents =
                try name == current ? contents(in: folder) : folder.appendingPathComponent("contents")
            return ModelVersion(
                name: String(name.dropLast(ending.count)), contents: contents, isCurrent: name == current)
        }
        return (versions, said != nil || names.count == 1)
    }

    /// The compiled versions of a package, as its `VersionInfo.plist` names the current one.
    private static func compiledVersions(in package: URL) throws -> ([ModelVersion], saysCurrent: Bool) {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: package.path)) ?? [])
            .filter { $0.lowercased().hasSuffix(".mom") }.map { String($0.dropLast(4)) }
            .sorted { $0.compare($1, options: [.numeric]) == .orderedAscending }
        guard let last = names.last else {
            throw ModelFileError("the compiled model package holds no version (.mom)", path: package.path)
        }
        let info = try? CompiledVersions(in: package)
        if let named = info?.current, !names.contains(named) {
            throw ModelFileError(
                "the current version is “\(named)”, which the package does not hold", path: package.path)
        }
        let current = info?.current ?? last
        let versions = names.map {
            ModelVersion(name: $0, contents: package.appendingPathComponent($0 + ".mom"), isCurrent: $0 == current)
        }
        return (versions, info?.current != nil || names.count == 1)
    }

    /// What to tell of a version that was taken as the package does not say which.
    func guess(_ version: ModelVersion, because: String) -> SchemaWarning {
        var warning = SchemaWarning(
            "the model package has \(versions.count) versions and no .xccurrentversion that says which is current: "
                + "“\(version.name)” is taken, \(because). Choose the current version in Xcode",
            location: SourceLocation(path: version.contents.path, line: 1, column: 1))
        warning.isTold = true
        return warning
    }

    /// What `.xccurrentversion` names; nil when there is no such file or it holds an empty list, as Xcode
    /// writes for a package of one. Only a name among the versions is taken, so that none leads out of the
    /// package.
    private static func currentName(in package: URL, of names: [String]) throws -> String? {
        let url = package.appendingPathComponent(".xccurrentversion")
        guard isFolder(url.path) == false else { return nil }
        // Asked before it is read: it may be a sparse file of any size.
        guard let size = Self.size(of: url.path), size < 1 << 20, let data = try? Data(contentsOf: url),
            let list = try? PropertyList(data, .document(bytes: data.count)), list.top.entries != nil
        else {
            throw ModelFileError(
                "this file is no property list. Choose the current version again in Xcode", path: url.path)
        }
        guard let entry = list.top["_XCCurrentVersionName"] else { return nil }
        guard let name = entry.text else {
            throw ModelFileError("this file names no version under _XCCurrentVersionName", path: url.path)
        }
        if names.contains(name) { return name }
        // Made where file names do not tell capital letters.
        let alike = names.filter { $0.lowercased() == name.lowercased() }
        guard alike.count == 1 else {
            throw ModelFileError(
                "the current version is “\(name)”, which the package does not hold. It holds: "
                    + names.joined(separator: ", "), path: url.path)
        }
        return alike[0]
    }
}
