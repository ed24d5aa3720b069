// Classes in a program of their own, also with its symbols stripped.

import CoreDataTestSupport
import Foundation
import Testing

@Suite struct ClassProgramTests {
    /// What a program says when it is run.
    private func run(_ program: URL, _ arguments: [String]) throws -> (lines: [String], errors: String) {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let lines = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(complaint)")
        return (lines.split(separator: "\n").map(String.init), complaint)
    }

    private var executable: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("CoreDataClassesProgram")
    }

    private static let expected = [
        // Of three, the main program's own.
        "Pilot CoreDataClassesProgram.Pilot Pilot", ".Pilot CoreDataClassesProgram.Pilot Pilot",
        "CoreDataClassesSouth.Pilot CoreDataClassesSouth.Pilot Pilot",
        "Captain CoreDataClassesProgram.Bridge.Captain Captain", "Harbor CoreDataClassesNorth.Harbor Harbor",
        "Sloop CoreDataClassesNorth.Fleet.Reserve.Sloop Sloop", "Buoy CoreDataClassesNorth.Buoy Buoy",
        "Fleet.Tug CoreDataClassesNorth.Fleet.Tug Tug", "Gull Gull NSManagedObject",
    ]
    private static let names = expected.map { String($0.prefix { $0 != " " }) }

    @Test("The main program's class comes before those of its libraries, and nothing is said")
    func program() throws {
        let run = try run(executable, Self.names)
        #expect(run.lines == Self.expected && run.errors == "")
    }

    @Test("A stripped program finds the same classes")
    func stripped() throws {
        let folder = Folder()
        // Under the program's name, which is its module's.
        let copy = folder.file("CoreDataClassesProgram")
        let strip = Process()
        strip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        strip.arguments = ["strip", "--strip-all", "-o", copy.path, executable.path]
        try strip.run()
        strip.waitUntilExit()
        try #require(strip.terminationStatus == 0)
        #expect(try run(copy, Self.names).lines == Self.expected)
    }

    @Test("A warning goes to standard error, once for each name")
    func warning() throws {
        let run = try run(executable, ["Crane", "Crane", "Yard.Crane"])
        #expect(
            run.lines.last == "Yard.Crane CoreDataClassesSouth.Yard.Crane Crane"
                && run.lines.first == "Crane Crane NSManagedObject")
        let told = run.errors.split(separator: "\n")
        #expect(
            told.count == 1
                && told[0].hasPrefix("warning: The class Crane of a model can be CoreDataClassesNorth.Dock.Crane or "))
    }
}
