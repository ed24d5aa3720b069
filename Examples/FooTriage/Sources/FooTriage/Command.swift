// The command line of the example: what may be asked for, and the exit status that answers.

import ArgumentParser
import CoreData

@main
enum Program {
    /// Exit status 0: done. 1: failed. 2: the command line was wrong (ArgumentParser's own number is 64).
    static func main() {
        do {
            let command = try Command.parse()
            do { try command.run() } catch { fail(error) }
        } catch {
            let isUsageError = Command.exitCode(for: error) != .success
            leave(isUsageError ? 2 : 0, Command.fullMessage(for: error))
        }
    }

    /// Ends the process after an error of the run; an `ExitCode` has been reported where it was thrown.
    private static func fail(_ error: any Error) -> Never {
        if let code = error as? ExitCode { exit(code.rawValue) }
        leave(1, Command.sentence(for: error))
    }

    /// Prints to standard output what was asked for, to standard error what went wrong, and ends the process.
    private static func leave(_ status: Int32, _ text: String) -> Never {
        if status == 0 { print(text) } else { printError(text) }
        exit(status)
    }
}

struct Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "FooTriage",
        abstract: "Keeps a constant table of injuries in a Core Data store.",
        discussion: """
            The first run inserts the table, undoes and redoes that, and saves. Each run prints the table as a second \
            coordinator reads it from the file.
            """)

    @Option(help: ArgumentHelp("The SQLite store.", valueName: "path"))
    var store = "FooTriage.sqlite"

    @Option(help: ArgumentHelp("The model (default: the project's Models/FooTriage.xcdatamodeld).", valueName: "path"))
    var model: String?

    @Flag(help: "Print each SQL statement with its bindings, rows and time on standard error.")
    var sql = false

    @Flag(help: "Remove the store with its -wal and -shm first.")
    var reset = false

    func validate() throws {
        if store.isEmpty { throw ValidationError("--store needs a path.") }
    }

    func run() throws {
        // That the model has more than the classes were made of is what this example shows, and no reason to warn.
        CoreDataWarning.handler = { _ in }
        let storeURL = URL(fileURLWithPath: store)
        // A model that cannot be read must not cost the store.
        let model = try Triage.prepModel(model.map(URL.init(fileURLWithPath:)) ?? ModelFile.find())
        if reset { try StoreFile(storeURL).remove() }
        let triage = try Triage(model: model, store: storeURL, sql: sql)
        try triage.fillTable()
        try printTable(model: model, store: storeURL, sql: sql)
    }

    /// A model error reads `PATH:LINE:COLUMN: error: TEXT` already; other errors get the word in front.
    static func sentence(for error: any Error) -> String {
        let text = error.localizedDescription
        return text.contains(": error: ") ? text : "error: \(text)"
    }
}
