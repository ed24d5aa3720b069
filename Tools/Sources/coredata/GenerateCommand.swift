// `coredata model generate`: the classes of a model as sources.

import ArgumentParser
import CoreDataModelTools
import Foundation

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Writes the classes of a model.",
        discussion: """
            One file for the properties of each class, which is written anew and goes with the class, one for each class, which is yours \
            once it is there, and one by which Core Data finds them. Exit status 0 good, 1 for a model of which none can be made, and with --check for files that \
            differ, 2 for another use.
            """)

    enum Language: String, ExpressibleByArgument, CaseIterable { case swift }

    @Option(help: "The language of the classes.")
    var language: Language

    @Option(help: "The folder to write into.")
    var output: String

    @Flag(help: "Writes nothing; names the files that are missing, differ, or are left of a class that went.")
    var check = false

    @Argument(help: "The model.")
    var path: String

    func run() throws {
        let folder = URL(fileURLWithPath: output)
        let sources: ModelSources
        do { sources = try ModelSources(model: URL(fileURLWithPath: path)) } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            throw ExitCode.failure
        }
        if check {
            let (differences, leftovers) = (sources.differences(in: folder), sources.leftovers(in: folder))
            for path in differences { print("\(path) differs from what the model says.") }
            for path in leftovers { print("\(path) is left of a class that the model has no more.") }
            if !(differences + leftovers).isEmpty { throw ExitCode.failure }
        } else {
            let changes = try sources.write(into: folder)
            for path in changes.written { print(path) }
            for path in changes.removed { print("\(path) was removed: the model has no such class any more.") }
        }
    }
}
