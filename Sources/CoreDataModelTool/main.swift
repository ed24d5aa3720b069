// What the plugins run: makes the classes of one model.
//
//     CoreDataModelTool MODEL --output FILE        everything in one file
//     CoreDataModelTool MODEL --directory FOLDER   a file for each class, as Xcode lays them out
//
// Exit status 0 good, 1 for a model of which no classes can be made, 2 for another use.

import CoreDataGeneration
import Foundation

private func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// Writes a file unless it has that text already.
private func write(_ text: String, to file: URL) throws {
    if let present = try? Data(contentsOf: file), present == Data(text.utf8) { return }
    try Data(text.utf8).write(to: file, options: .atomic)
    print(file.path)
}

private func writeSources(_ classes: ModelClasses, into folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for source in classes.sources {
        let file = folder.appendingPathComponent(source.name)
        // A class is the user's once it is there.
        if source.isOwned, FileManager.default.fileExists(atPath: file.path) { continue }
        try write(source.text, to: file)
    }
}

private func run(_ arguments: [String]) -> Int32 {
    guard arguments.count == 3, ["--output", "--directory"].contains(arguments[1]) else {
        say("usage: CoreDataModelTool MODEL (--output FILE | --directory FOLDER)")
        return 2
    }
    do {
        let classes = try ModelClasses(at: URL(fileURLWithPath: arguments[0]))
        let place = URL(fileURLWithPath: arguments[2])
        if arguments[1] == "--directory" {
            try writeSources(classes, into: place)
        } else {
            // Written even if it is the same: the build compares the time.
            try Data(classes.source.utf8).write(to: place, options: .atomic)
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
