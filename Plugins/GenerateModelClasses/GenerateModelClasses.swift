// `swift package generate-model-classes`: writes the classes of models into the source tree, for those who want to own them.

import Foundation
import PackagePlugin

@main
struct GenerateModelClasses: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let wanted = extractor.extractOption(named: "target")
        let tool = try context.tool(named: "CoreDataModelTool").url
        let targets = wanted.isEmpty ? context.package.targets : try context.package.targets(named: wanted)
        for target in targets.compactMap({ $0 as? SwiftSourceModuleTarget }) {
            let models = Self.models(in: target.directoryURL)
            for model in models {
                let folder = Self.folder(of: model, among: models, of: target)
                let process = Process()
                process.executableURL = tool
                process.arguments = [
                    model.path(percentEncoded: false), "--directory", folder.path(percentEncoded: false),
                ]
                try process.run()
                process.waitUntilExit()
                if process.terminationStatus != 0 {
                    Diagnostics.error("no classes were made of \(model.lastPathComponent)")
                }
            }
        }
    }

    /// Where the classes of a model stand in the sources: beside it, unless they were moved elsewhere in the target. They do where the
    /// build finds them (`CoreDataModelPlugin.isOwned`, which no file can be shared with: the sources of a plugin are its own).
    private static func folder(of model: URL, among models: [URL], of target: SwiftSourceModuleTarget) -> URL {
        let name = model.deletingPathExtension().lastPathComponent
        let list = name + "+CoreDataClasses.swift"
        let beside = model.deletingLastPathComponent()
        if FileManager.default.fileExists(atPath: beside.appending(path: list).path(percentEncoded: false)) {
            return beside
        }
        let peers = models.filter { $0.deletingPathExtension().lastPathComponent == name }
        guard peers.count == 1,
            let moved = target.sourceFiles.map(\.url).first(where: { $0.lastPathComponent == list })
        else { return beside }
        return moved.deletingLastPathComponent()
    }

    private static func models(in folder: URL) -> [URL] {
        var models: [URL] = []
        let walk = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        while let file = walk?.nextObject() as? URL {
            guard ["xcdatamodeld", "xcdatamodel"].contains(file.pathExtension) else { continue }
            walk?.skipDescendants()
            models.append(file)
        }
        return models.sorted { $0.path < $1.path }
    }
}
