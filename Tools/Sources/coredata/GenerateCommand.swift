// `coredata model generate`: the classes of a model as sources.

import ArgumentParser
import CoreDataModelTools
import Foundation

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Writes the classes of a model.",
        discussion: """
            One file for the properties of each class, which is written anew and goes with the class, one for each class, which is yours \
            once it is there, and one by which Core Data finds them. A file in their places that was not made of a model is not written over. \
            Exit status 0 good, 1 for a model of which none can be made or a file in the way, and with --check for files that differ, \
            2 for another use.
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
        let sources = try telling { try ModelSources(model: URL(fileURLWithPath: path)) }
        if check { return try compare(sources, with: folder) }
        let changes = try telling { try sources.write(into: folder) }
        for path in changes.written { print(path) }
        for path in changes.removed { print("\(path) was removed: the model has no such class any more.") }
    }

    private func compare(_ sources: ModelSources, with folder: URL) throws {
        let (differences, leftovers) = (sources.differences(in: folder), sources.leftovers(in: folder))
        let obstacles = sources.obstacles(in: folder)
        for path in differences where !obstacles.contains(path) { print("\(path) differs from what the model says.") }
        for path in obstacles { print("\(path) was not made of a model, and would not be written over.") }
        for path in leftovers { print("\(path) is left of a class that the model has no more.") }
        if !(differences + leftovers).isEmpty { throw ExitCode.failure }
    }

    /// What goes wrong describes itself as compilers do.
    private func telling<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            throw ExitCode.failure
        }
    }
}
