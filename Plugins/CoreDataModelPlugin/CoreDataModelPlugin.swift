// Makes the classes of a target's models on every build: one command a model, run again when a file of that model changes; and one
// that looks through the target's own sources, run again when one of them changes.

import Foundation
import PackagePlugin

@main
struct CoreDataModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else { return [] }
        let tool = try context.tool(named: "CoreDataModelTool").url
        let all = Self.models(of: target)
        let models = all.filter { !Self.isOwned($0, among: all, of: target) }
        try Self.checkNames(of: models, in: target)
        let names = Dictionary(grouping: models) { $0.deletingPathExtension().lastPathComponent.lowercased() }
        let classes: [Command] = models.map { model in
            let name = model.deletingPathExtension().lastPathComponent
            // Two models whose names differ by capitals alone need two files where a disk does not tell these.
            let peers = names[name.lowercased()] ?? []
            let number = peers.count > 1 ? peers.firstIndex(of: model).map { "\($0 + 1)" } ?? "" : ""
            let output = context.pluginWorkDirectoryURL.appending(path: "\(name)\(number)+CoreDataClasses.swift")
            return .buildCommand(
                displayName: "Generating the classes of \(model.lastPathComponent)", executable: tool,
                arguments: [model.path(percentEncoded: false), "--output", output.path(percentEncoded: false)],
                inputFiles: Self.inputs(of: model), outputFiles: [output])
        }
        return classes + Self.check(of: target, tool, context.pluginWorkDirectoryURL)
    }

    /// What is wrong with a target.
    private struct Refusal: Error, CustomStringConvertible { let description: String }

    /// Two models of one name, as Swift can write it, would have two lists of classes of one name in a module.
    private static func checkNames(of models: [URL], in target: SwiftSourceModuleTarget) throws {
        let names = Dictionary(grouping: models) { model in
            String(
                model.deletingPathExtension().lastPathComponent.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        }
        let complaints = names.filter { $0.value.count > 1 }.map { name, same in
            let paths = same.map(\.path).joined(separator: " and ")
            return
                "The target \(target.name) has \(same.count) models whose classes would stand under the one name \(name): \(paths). "
                + "Give each a name of its own, or a target of its own."
        }
        guard complaints.isEmpty else { throw Refusal(description: complaints.sorted().joined(separator: "\n")) }
    }

    /// The language's attribute `@NSManaged` cannot be declared anew, so that only the build can say what to write instead.
    private static func check(of target: SwiftSourceModuleTarget, _ tool: URL, _ folder: URL) -> [Command] {
        let sources = target.sourceFiles.map(\.url).filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
        guard !sources.isEmpty else { return [] }
        let output = folder.appending(path: "CoreDataCheckedSources.swift")
        return [
            .buildCommand(
                displayName: "Looking for @NSManaged in \(target.name)", executable: tool,
                arguments: ["--sources", output.path(percentEncoded: false)]
                    + sources.map { $0.path(percentEncoded: false) },
                inputFiles: sources, outputFiles: [output])
        ]
    }

    /// Whether the classes of a model stand in the sources: beside it, where `swift package generate-model-classes` writes them, or
    /// elsewhere in the target, if no other model of the target has its name.
    private static func isOwned(_ model: URL, among models: [URL], of target: SwiftSourceModuleTarget) -> Bool {
        let name = model.deletingPathExtension().lastPathComponent
        let list = name + "+CoreDataClasses.swift"
        let beside = model.deletingLastPathComponent().appending(path: list)
        if FileManager.default.fileExists(atPath: beside.path(percentEncoded: false)) { return true }
        let peers = models.filter { $0.deletingPathExtension().lastPathComponent == name }
        return peers.count == 1 && target.sourceFiles.contains { $0.url.lastPathComponent == list }
    }

    /// The models of a target: resources of its manifest, and those that the manifest excludes or says nothing of.
    private static func models(of target: SwiftSourceModuleTarget) -> [URL] {
        var models = Set(
            target.sourceFiles.map(\.url).filter { $0.pathExtension == "xcdatamodeld" }.map(\.standardizedFileURL.path))
        let walk = FileManager.default.enumerator(
            at: target.directoryURL, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        while let file = walk?.nextObject() as? URL {
            switch file.pathExtension {
            case "xcdatamodeld":
                walk?.skipDescendants()
                models.insert(file.standardizedFileURL.path)
            case "xcdatamodel" where !models.contains(file.deletingLastPathComponent().standardizedFileURL.path):
                walk?.skipDescendants()
                models.insert(file.standardizedFileURL.path)
            default: break
            }
        }
        return models.sorted().map { URL(fileURLWithPath: $0) }
    }

    /// Every file of a model, and the one beside it that says how its classes are made.
    private static func inputs(of model: URL) -> [URL] {
        var inputs: [URL] = []
        // A link to a model elsewhere in the package is a model too.
        let walk = FileManager.default.enumerator(
            at: model.resolvingSymlinksInPath(), includingPropertiesForKeys: [.isRegularFileKey])
        while let file = walk?.nextObject() as? URL {
            if (try? file.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true { inputs.append(file) }
        }
        let options = model.deletingLastPathComponent().appending(path: ".coredata.json")
        if FileManager.default.fileExists(atPath: options.path(percentEncoded: false)) { inputs.append(options) }
        for file in inputs where file.lastPathComponent == ".coredata.json" && file != options {
            Diagnostics.warning(
                "\(file.path(percentEncoded: false)) is not read: it belongs beside \(model.lastPathComponent), not into it."
            )
        }
        return inputs.sorted { $0.path < $1.path }
    }
}
