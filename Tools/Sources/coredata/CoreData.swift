// The command-line tool `coredata`. Exit status 0 good, 1 findings or failure, 2 usage.

import ArgumentParser
import Foundation

@main
struct CoreDataTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coredata", abstract: "Works with Core Data models and stores.",
        subcommands: [ModelCommand.self, MigrateCommand.self])

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
            // What a full disk or a closed pipe has swallowed is no answer.
            guard fflush(nil) == 0 else {
                FileHandle.standardError.write(Data("coredata: error: the answer could not be written.\n".utf8))
                throw ExitCode.failure
            }
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            FileHandle.standardError.write(Data((fullMessage(for: error) + "\n").utf8))
            Foundation.exit(2)
        }
    }
}

struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Checks models, and makes classes of them.",
        subcommands: [CheckCommand.self, GenerateCommand.self])
}
