// Classes in a program of their own, also with its symbols stripped.

import CoreDataTestSupport
import Foundation
import Testing

@Suite struct ClassProgramTests {
    private let program = ChildProgram("CoreDataClassesProgram")

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
    func whole() throws {
        let run = try program.run(Self.names)
        #expect(run.exitCode == 0 && run.lines == Self.expected && run.errors == "")
    }

    @Test("A stripped program finds the same classes")
    func stripped() throws {
        let folder = Folder()
        // Under the program's name, which is its module's.
        let copy = folder.file("CoreDataClassesProgram")
        let strip = try ChildProgram("/usr/bin/env").run([
            "strip", "--strip-all", "-o", copy.path, try program.executable.path,
        ])
        try #require(strip.exitCode == 0)
        #expect(try ChildProgram(copy.path).run(Self.names).lines == Self.expected)
    }

    @Test("A program's merged model has the entities of the models beside it")
    func merged() throws {
        let folder = Folder()
        let copy = folder.file("CoreDataClassesProgram")
        try FileManager.default.copyItem(at: try program.executable, to: copy)
        #expect(try ChildProgram(copy.path).run(["--merged"]).lines == ["none"])
        for (module, entity) in [("North", "Pilot"), ("South", "Crane")] {
            let version = folder.file("Harbor_\(module).resources/\(module).xcdatamodeld/\(module).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try Data("<model documentVersion='1.0'><entity name='\(entity)'/></model>".utf8)
                .write(to: version.appendingPathComponent("contents"))
        }
        #expect(try ChildProgram(copy.path).run(["--merged"]).lines == ["Crane Pilot"])
    }

    @Test("A warning goes to standard error, once for each name")
    func warning() throws {
        let run = try program.run(["Crane", "Crane", "Yard.Crane"])
        #expect(
            run.lines.last == "Yard.Crane CoreDataClassesSouth.Yard.Crane Crane"
                && run.lines.first == "Crane Crane NSManagedObject")
        let told = run.errors.split(separator: "\n")
        #expect(
            told.count == 1
                && told[0].hasPrefix("warning: The class Crane of a model can be CoreDataClassesNorth.Dock.Crane or "))
    }
}
