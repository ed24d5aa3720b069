// What the plugins run: makes the classes of one model, and looks for what does not link.
//
//     CoreDataModelTool MODEL --output FILE              everything in one file
//     CoreDataModelTool MODEL --directory FOLDER         a file for each class, as Xcode lays them out
//     CoreDataModelTool --sources FILE SOURCE…           an empty file, unless a source has `@NSManaged`
//
// Exit status 0 good, 1 for a model of which no classes can be made, for files of others in their places and for a source with `@NSManaged`,
// 2 for another use.

import CoreDataGeneration
import Foundation

private func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// Writes a file unless it has that text already: what is made of it need not be made again then.
private func write(_ text: String, to file: URL) throws {
    if let present = try? Data(contentsOf: file), present == Data(text.utf8) { return }
    try Data(text.utf8).write(to: file, options: .atomic)
}

/// Looks through Swift sources; the file written is for the build, which wants to see that this was done.
private func check(_ sources: ArraySlice<String>, writing file: URL) throws -> Int32 {
    let findings = try sources.flatMap { path in
        ManagedAttributes.findings(
            in: String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self), path: path)
    }
    guard findings.isEmpty else {
        findings.forEach { say($0.description) }
        return 1
    }
    try write("// No source of this target has `@NSManaged`.\n", to: file)
    return 0
}

private func run(_ arguments: [String]) -> Int32 {
    do {
        if arguments.count >= 2, arguments[0] == "--sources" {
            return try check(arguments.dropFirst(2), writing: URL(fileURLWithPath: arguments[1]))
        }
        guard arguments.count == 3, ["--output", "--directory"].contains(arguments[1]) else {
            say("usage: CoreDataModelTool (MODEL (--output FILE | --directory FOLDER) | --sources FILE SOURCE…)")
            return 2
        }
        let classes = try ModelClasses(at: URL(fileURLWithPath: arguments[0]))
        let place = URL(fileURLWithPath: arguments[2])
        if arguments[1] == "--directory" {
            let changes = try ClassFolder(classes, in: place).update()
            for file in changes.written { print(file.path) }
            for file in changes.removed { print("\(file.path) was removed: the model has no such class any more.") }
        } else {
            try write(classes.source, to: place)
        }
        return 0
    } catch {
        // Model errors describe themselves as compilers do: file, line, column.
        let text = String(describing: error)
        say(text.contains(": error: ") ? text : "\(arguments[0]): error: \(text)")
        return 1
    }
}

exit(run(Array(CommandLine.arguments.dropFirst())))
