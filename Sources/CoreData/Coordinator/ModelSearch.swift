// Finds a model by its name in the places where programs have resources.

import CCoreDataRuntime
import CoreDataModelFile
import CoreDataValues
import Foundation

/// The folders and file names that a container tries.
struct ModelSearch {
    let name: String
    private let folders: [URL]
    static let kinds = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]

    /// The reason why no single model was found, described for the programmer.
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// - Parameter name: the model's name, with or without an extension.
    init(name: String, folders: [URL] = ModelSearch.usualFolders()) {
        let url = URL(fileURLWithPath: name)
        self.name = ModelSearch.kinds.contains(url.pathExtension) ? url.deletingPathExtension().lastPathComponent : name
        self.folders = folders
    }

    // MARK: Places

    /// The resources of the main bundle and of all loaded bundles, the folders of the executable and of the library or
    /// test bundle with this code, and the resource bundles in these folders.
    static func usualFolders() -> [URL] {
        var folders: [URL] = []
        var seen: Set<String> = []
        func add(_ url: URL?) {
            if let url, seen.insert(url.path).inserted { folders.append(url) }
        }
        for bundle in [Bundle.main] + Bundle.allBundles { add(bundle.resourceURL) }
        for file in [Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments.first ?? "/"), ownFile] {
            guard let path = file.flatMap({ realpath($0.path, nil) }) else { continue }
            defer { free(path) }
            let beside = URL(fileURLWithPath: String(cString: dirname(path)), isDirectory: true)
            add(beside)
            for url in entries(of: beside, kinds: ["resources", "bundle"]) {
                add(url)
                add(url.appendingPathComponent("Contents/Resources"))
            }
        }
        return folders
    }

    /// The file that this code was loaded from: the executable, or a test bundle that another program loaded.
    private static var ownFile: URL? { coredata_own_file().map { URL(fileURLWithPath: String(cString: $0)) } }

    /// What is in a folder of some kinds, by name. Of the others, which may be many, only the names are looked at.
    static func entries(of folder: URL, kinds: [String]) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { name in kinds.contains { isOf($0, name) } }.sorted().map(folder.appendingPathComponent)
    }

    private static func isOf(_ kind: String, _ name: String) -> Bool {
        let (kind, name) = (kind.utf8, name.utf8)
        return name.count > kind.count + 1 && name.suffix(kind.count).elementsEqual(kind)
            && name.dropLast(kind.count).last == UInt8(ascii: ".")
    }

    /// All models in folders, each file once.
    static func models(in folders: [URL]) -> [URL] {
        var seen: Set<String> = []
        return folders.flatMap { entries(of: $0, kinds: kinds) }.filter {
            seen.insert($0.resolvingSymlinksInPath().path).inserted
        }
    }

    // MARK: The model

    /// Returns the model of the name, else the only model.
    ///
    /// - Throws: `Failure` if there is none, or if several of the name differ.
    func find() throws -> URL {
        let all = ModelSearch.models(in: folders)
        let named = ModelSearch.kinds.flatMap { kind in
            distinct(all.filter { $0.lastPathComponent == name + "." + kind })
        }
        if let found = named.first {
            let others = named.dropFirst().filter { differs($0, from: found) }
            if !others.isEmpty { throw Failure(description: severalModels([found] + others)) }
            return found
        }
        let others = Dictionary(grouping: all, by: \.lastPathComponent)
        if others.count == 1, let group = others.first?.value, distinct(group).count == 1 { return group[0] }
        throw Failure(description: noModel)
    }

    /// Counts identical copies as one model.
    private func distinct(_ urls: [URL]) -> [URL] {
        urls.reduce(into: []) { kept, url in
            if !kept.contains(where: { FileManager.default.contentsEqual(atPath: $0.path, andPath: url.path) }) {
                kept.append(url)
            }
        }
    }

    /// Whether one of the models of the name, no copy of the first, is another model. One of another kind is, if its entities hash
    /// otherwise: what was compiled from a source may lie beside it. One that cannot be read is left alone there.
    private func differs(_ url: URL, from first: URL) -> Bool {
        guard url.pathExtension != first.pathExtension else { return true }
        guard let hashes = try? ModelFile.load(url).versionHashes,
            let found = try? Schema(checking: ModelFile.draft(at: first) { hashes })
        else { return false }
        return found.versionHashes != hashes
    }

    private func severalModels(_ urls: [URL]) -> String {
        "There are \(urls.count) different models named \(name): \(urls.map(\.path).joined(separator: ", ")). Give them names of their own, "
            + "or use NSPersistentContainer(name:managedObjectModel:) with the one that is meant."
    }

    private var noModel: String {
        let names = ModelSearch.kinds.map { "\(name).\($0)" }.joined(separator: ", ")
        return
            "There is no model named \(name). Looked for \(names) in: \(folders.map(\.path).joined(separator: ", ")). "
            + "Add the model to the target's resources, or use NSPersistentContainer(name:managedObjectModel:)."
    }
}
