// `coredata model check`: what is wrong in models, or tolerated.

import ArgumentParser
import CoreDataModelTools
import Foundation

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Says what is wrong in models, or tolerated, with file, line and column.",
        discussion:
            "Looks at all versions of each model. Exit status 0 if nothing was found, 1 otherwise, 2 for another use.")

    @Flag(help: "Prints {\"findings\": […]} for other programs.")
    var json = false

    @Argument(help: "Models, or folders in which to look for them.")
    var paths: [String]

    func validate() throws {
        if paths.isEmpty { throw ValidationError("Name at least one model or folder.") }
    }

    func run() throws {
        let findings = paths.flatMap { path -> [ModelFinding] in
            let url = URL(fileURLWithPath: path)
            let models = ModelFindings.models(at: url)
            // A place without a model says so itself.
            return (models.isEmpty ? [url] : models).flatMap(ModelFindings.check)
        }
        if json { try printJSON(findings) } else { for finding in findings { print(finding) } }
        if !findings.isEmpty { throw ExitCode.failure }
    }

    private struct Report: Encodable { let findings: [ModelFinding] }

    private func printJSON(_ findings: [ModelFinding]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(Report(findings: findings)), as: UTF8.self))
    }
}
