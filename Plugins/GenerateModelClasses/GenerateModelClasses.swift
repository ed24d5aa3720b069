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
            for model in Self.models(in: target.directoryURL) {
                let process = Process()
                process.executableURL = tool
                // Beside the model, so that hand-written files of other names stay as they are.
                process.arguments = [
                    model.path(percentEncoded: false), "--directory",
                    model.deletingLastPathComponent().path(percentEncoded: false),
                ]
                try process.run()
                process.waitUntilExit()
                if process.terminationStatus != 0 {
                    Diagnostics.error("no classes were made of \(model.lastPathComponent)")
                }
            }
        }
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
