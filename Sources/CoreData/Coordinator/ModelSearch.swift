// Looks for a model by its name where programs have their resources.

import Foundation

/// The places and names that a container tries.
struct ModelSearch {
    let name: String
    private let folders: [URL]
    private static let kinds = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]

    init(name: String) { self.init(name: name, folders: ModelSearch.usualFolders()) }

    init(name: String, folders: [URL]) {
        self.name = name
        self.folders = folders
    }

    /// The main bundle's resources, those of all loaded bundles, the executable's folder and the resource bundles in it.
    private static func usualFolders() -> [URL] {
        var folders: [URL] = []
        var seen: Set<String> = []
        func add(_ url: URL?) {
            if let url, seen.insert(url.standardizedFileURL.path).inserted { folders.append(url) }
        }
        for bundle in [Bundle.main] + Bundle.allBundles { add(bundle.resourceURL) }
        let executable = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments.first ?? "/")
        let beside = executable.resolvingSymlinksInPath().deletingLastPathComponent()
        add(beside)
        for url in contents(beside) where ["resources", "bundle"].contains(url.pathExtension) {
            add(url)
            add(url.appendingPathComponent("Contents/Resources"))
        }
        return folders
    }

    private static func contents(_ folder: URL) -> [URL] {
        let found = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (found ?? []).sorted { $0.path < $1.path }
    }

    /// The model of the name, else the only model there is.
    func find() -> URL? {
        for folder in folders {
            for kind in ModelSearch.kinds {
                let url = folder.appendingPathComponent(name + "." + kind)
                if FileManager.default.fileExists(atPath: url.path) { return url }
            }
        }
        let all = folders.flatMap { ModelSearch.contents($0) }.filter { ModelSearch.kinds.contains($0.pathExtension) }
        let distinct = Dictionary(grouping: all, by: \.lastPathComponent)
        return distinct.count == 1 ? all.first : nil
    }

    var complaint: String {
        let names = ModelSearch.kinds.map { "\(name).\($0)" }.joined(separator: ", ")
        return "There is no model named \(name). Looked for \(names) in: \(folders.map(\.path).joined(separator: ", ")). "
            + "Add the model to the target's resources, or use NSPersistentContainer(name:managedObjectModel:)."
    }
}
