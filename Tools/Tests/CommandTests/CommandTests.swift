// The tool as people and other programs run it.

import Foundation
import Testing

@Suite("coredata")
struct CommandTests {
    private let program: CommandProgram
    private var folder: URL { program.folder }

    init() throws { program = try CommandProgram() }

    private typealias Answer = CommandProgram.Answer
    private func coredata(_ arguments: String...) throws -> Answer { try program.run(arguments) }
    private func run(_ arguments: [String]) throws -> Answer { try program.run(arguments) }

    private func model(_ name: String, _ contents: String) throws -> URL {
        let package = folder.appendingPathComponent("\(name).xcdatamodeld")
        let version = package.appendingPathComponent("\(name).xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        let text =
            "<?xml version=\"1.0\"?>\n<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">\n\(contents)\n</model>"
        try Data(text.utf8).write(to: version.appendingPathComponent("contents"))
        return package
    }

    private func good() throws -> URL {
        try model(
            "Zoo",
            """
            <entity name="Animal" representedClassName="Animal" codeGenerationType="class">
                <attribute name="name" attributeType="String"/>
            </entity>
            """)
    }

    private func bad() throws -> URL {
        try model(
            "Bad",
            """
            <entity name="Animal">
                <attribute name="name" attributeType="Strong"/>
            </entity>
            """)
    }

    @Test("A good model has no findings and status 0, also in a folder")
    func checksGood() throws {
        for path in try [good().path, folder.path] {
            let answer = try coredata("model", "check", path)
            #expect(answer.status == 0 && answer.output.isEmpty && answer.errors.isEmpty)
            let json = try coredata("model", "check", "--json", path)
            let report = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: [Any]]
            #expect(json.status == 0 && report?["findings"]?.isEmpty == true)
        }
    }

    @Test("A wrong model is told by file, line and column, as JSON too, with status 1")
    func checksBad() throws {
        let contents = try bad().appendingPathComponent("Bad.xcdatamodel/contents").path
        let answer = try coredata("model", "check", folder.path)
        #expect(answer.status == 1 && answer.output.hasPrefix("\(contents):4:"))
        #expect(answer.output.contains(": error: "))
        let json = try coredata("model", "check", "--json", folder.path)
        #expect(json.status == 1)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: [[String: Any]]])
        let finding = try #require(report["findings"]?.first)
        #expect(finding["severity"] as? String == "error" && finding["entity"] as? String == "Animal")
        #expect(
            finding["property"] as? String == "name" && finding["file"] as? String == contents
                && finding["line"] as? Int == 4)
        #expect((finding["message"] as? String)?.contains("Strong") == true)
    }

    @Test("A place without a model is a finding")
    func checksNothing() throws {
        let answer = try coredata("model", "check", folder.appendingPathComponent("None.xcdatamodeld").path)
        #expect(answer.status == 1 && answer.output.contains("None.xcdatamodeld"))
    }

    @Test("Classes are written, compared, and left to their owner")
    func generates() throws {
        let (path, output) = (try good().path, folder.appendingPathComponent("Classes"))
        func generate(_ options: String...) throws -> Answer {
            try run(["model", "generate", path, "--language", "swift", "--output", output.path] + options)
        }
        #expect(try generate("--check").status == 1)
        #expect(!FileManager.default.fileExists(atPath: output.path))
        #expect(try generate().status == 0)
        #expect(try generate("--check").status == 0)
        let (own, properties) = (
            output.appendingPathComponent("Animal+CoreDataClass.swift"),
            output.appendingPathComponent("Animal+CoreDataProperties.swift")
        )
        try Data("// mine".utf8).write(to: own)
        #expect(try generate("--check").status == 0)
        let made = try String(contentsOf: properties, encoding: .utf8)
        try Data((made + "// stale\n").utf8).write(to: properties)
        let stale = try generate("--check")
        #expect(stale.status == 1 && stale.output.contains(properties.path))
        #expect(try generate().output == properties.path + "\n")
        #expect(try String(contentsOf: own, encoding: .utf8) == "// mine")
        #expect(try String(contentsOf: properties, encoding: .utf8) == made)
    }

    @Test(
        "A file in the place of a made one that was not made of a model is told, and survives; nothing is written then")
    func handWritten() throws {
        let (path, output) = (try good().path, folder.appendingPathComponent("Classes"))
        func generate(_ options: String...) throws -> Answer {
            try run(["model", "generate", path, "--language", "swift", "--output", output.path] + options)
        }
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let properties = output.appendingPathComponent("Animal+CoreDataProperties.swift")
        let text = "extension Animal {\n    @NSManaged public var name: String?\n}\n"
        try Data(text.utf8).write(to: properties)
        let check = try generate("--check")
        #expect(check.status == 1 && check.output.contains("\(properties.path) was not made of a model"))
        let refused = try generate()
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.errors.hasPrefix("\(properties.path): error: ") && refused.errors.contains("delete it"))
        #expect(try String(contentsOf: properties, encoding: .utf8) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: output.path) == [properties.lastPathComponent])
        try FileManager.default.moveItem(at: properties, to: output.appendingPathComponent("Animal+Mine.swift"))
        #expect(try generate().status == 0)
        #expect(try generate("--check").status == 0)
    }

    @Test(
        "What is left of a class that the model has no more is told, and removed; other files and the class itself stay"
    )
    func leftovers() throws {
        let (path, output) = (try good().path, folder.appendingPathComponent("Classes"))
        func generate(_ options: String...) throws -> Answer {
            try run(["model", "generate", path, "--language", "swift", "--output", output.path] + options)
        }
        #expect(try generate().status == 0)
        try Data("// Made from the model Zoo by hand.\n".utf8).write(
            to: output.appendingPathComponent("Animal+Own.swift"))
        _ = try model("Zoo", "<entity name=\"Keeper\" representedClassName=\"Keeper\" codeGenerationType=\"class\"/>")
        #expect(try generate("--check").output.contains("Animal+CoreDataProperties.swift is left of a class"))
        // All else is written, so that the rest alone is what differs.
        let properties = output.appendingPathComponent("Animal+CoreDataProperties.swift")
        let left = try Data(contentsOf: properties)
        #expect(try generate().output.contains("\(properties.path) was removed"))
        try left.write(to: properties)
        #expect(try generate("--check").status == 1)
        #expect(try generate().status == 0)
        #expect(try generate("--check").status == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: output.path).sorted() == [
                "Animal+CoreDataClass.swift", "Animal+Own.swift", "Keeper+CoreDataClass.swift",
                "Keeper+CoreDataProperties.swift",
                "Zoo+CoreDataClasses.swift",
            ])
    }

    @Test("Another use has status 2, a model without classes 1")
    func otherUses() throws {
        #expect(try coredata("model", "check").status == 2)
        #expect(try coredata("model", "generate", "x").status == 2)
        #expect(try coredata("model", "generate", "x", "--language", "cobol", "--output", "y").status == 2)
        #expect(try coredata("nonsense").status == 2)
        let failed = try coredata("model", "generate", bad().path, "--language", "swift", "--output", folder.path)
        #expect(failed.status == 1 && failed.errors.contains("contents:4:"))
        #expect(try coredata("--help").status == 0)
    }
}
