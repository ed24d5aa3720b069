// The example, run from end to end.

import CoreDataTestSupport
import Foundation
import Testing

@Suite("The example FooTriage", .enabled(if: Place.programs != nil, Place.whySkipped))
struct FooTriageTests {
    private let folder = Folder()

    private static let names = [
        "Blunt Trauma", "Burn", "C-Spine", "Cardiac", "Crushing", "Fracture", "Laceration", "Penetration",
    ]

    /// Checks what each run ends with. A save may number new rows in any order, so object IDs only have to differ.
    private func checkTable(_ lines: ArraySlice<Substring>) throws {
        #expect(lines.first.map(String.init) == "id  name          object ID")
        var keys: Set<Substring> = []
        for (index, line) in lines.dropFirst().enumerated() {
            let name = Self.names[index].padding(toLength: 12, withPad: " ", startingAt: 0)
            #expect(line.hasPrefix(" \(index)  \(name)  x-coredata://"))
            keys.insert(try #require(line.firstMatch(of: /\/Injury\/p[1-9][0-9]*$/)).output)
        }
        #expect(keys.count == Self.names.count)
        #expect(lines.count == Self.names.count + 1)
    }

    @Test("A first run inserts, undoes, redoes, saves and prints the table")
    func firstRun() throws {
        let run = try folder.run("FooTriage")
        #expect(run.status == 0)
        #expect(run.errors == "")
        let lines = run.output.split(separator: "\n")
        #expect(lines.prefix(4) == ["pending inserts: 8", "undo: 8 -> 0", "redo: 0 -> 8", "successful save"])
        try checkTable(lines.dropFirst(4))
        #expect(try folder.names() == ["FooTriage.sqlite"])
        #expect(try folder.column("SELECT count(*) FROM ZINJURY", of: "FooTriage.sqlite") == ["8"])
    }

    @Test("A second run says that the table is there and adds nothing")
    func secondRun() throws {
        let first = try folder.run("FooTriage")
        let second = try folder.run("FooTriage")
        #expect(second.status == 0)
        let lines = second.output.split(separator: "\n")
        #expect(lines.first == "The constant table is there already: 8 injuries. Nothing is added.")
        try checkTable(lines.dropFirst())
        #expect(lines.dropFirst() == first.output.split(separator: "\n").dropFirst(4))
        #expect(try folder.column("SELECT count(*) FROM ZINJURY", of: "FooTriage.sqlite") == ["8"])
    }

    @Test("--reset removes the store and the files beside it, whatever they hold")
    func reset() throws {
        for name in ["mine.sqlite", "mine.sqlite-wal", "mine.sqlite-shm"] {
            try Data("rubbish".utf8).write(to: folder.file(name))
        }
        #expect(try folder.run("FooTriage", "--store", "mine.sqlite").status == 1)
        let run = try folder.run("FooTriage", "--store", "mine.sqlite", "--reset")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("pending inserts: 8\n"))
        #expect(try folder.column("SELECT count(*) FROM ZINJURY", of: "mine.sqlite") == ["8"])
        #expect(try folder.column("PRAGMA integrity_check", of: "mine.sqlite") == ["ok"])
    }

    @Test("--reset leaves a folder alone")
    func resetFolder() throws {
        try FileManager.default.createDirectory(at: folder.file("mine"), withIntermediateDirectories: true)
        try Data("kept".utf8).write(to: folder.file("mine/file"))
        let run = try folder.run("FooTriage", "--store", "mine", "--reset")
        #expect(run.status == 1)
        #expect(run.errors.hasSuffix("/mine is a folder, not a store: it was left as it is.\n"))
        #expect(folder.exists("mine/file"))
    }

    @Test("A truncated model ends with its place and leaves no store", arguments: [0.25, 0.5, 0.9])
    func truncatedModel(part: Double) throws {
        let contents = try folder.copyModel { xml in
            xml = String(xml.prefix(Int(Double(xml.count) * part)))
        }
        let before = try folder.names()
        let run = try folder.run("FooTriage", "--model", "Changed.xcdatamodeld")
        #expect(run.status == 1)
        #expect(run.output == "")
        let last = try #require(run.errors.split(separator: "\n").last)
        let match = try #require(last.wholeMatch(of: /(.*):([1-9][0-9]*):([1-9][0-9]*): error: (.+)/))
        #expect(match.output.1.hasSuffix(contents.path))
        let lines = try String(contentsOf: contents, encoding: .utf8).count { $0 == "\n" } + 1
        #expect(try #require(Int(match.output.2)) <= lines)
        #expect(try folder.names() == before)
    }

    private func copyModelWithSeverity(_ rest: String = #"optional="YES""#) throws {
        _ = try folder.copyModel { xml in
            let injury = try #require(xml.firstMatch(of: /<entity name="Injury"[^>]*>/))
            xml.insert(
                contentsOf: #"<attribute name="severity" attributeType="Integer 16" \#(rest)/>"#,
                at: injury.range.upperBound)
        }
    }

    @Test("A save that fails is reported once, with the reason, and leaves no rows")
    func failedSave() throws {
        try copyModelWithSeverity("")
        let run = try folder.run("FooTriage", "--model", "Changed.xcdatamodeld")
        #expect(run.status == 1)
        #expect(run.output == "pending inserts: 8\nundo: 8 -> 0\nredo: 0 -> 8\n")
        #expect(run.errors.hasPrefix("failed save: "))
        #expect(run.errors.contains("Injury.severity must have a value"))
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(try folder.column("SELECT count(*) FROM ZINJURY", of: "FooTriage.sqlite") == ["0"])
    }

    @Test("A model that is missing, or has no place for the table, is named")
    func unfitModel() throws {
        let missing = try folder.run("FooTriage", "--model", "missing.xcdatamodeld")
        #expect(missing.errors.contains(/\/missing\.xcdatamodeld: error: ./))
        let unfit: [(String, String)] = [
            (#""Injury""#, #""Wound""#),
            (#"name="Injury" representedClassName"#, #"name="Injury" isAbstract="YES" representedClassName"#),
            (#"name="id" attributeType="Integer 32""#, #"name="id" attributeType="String""#),
            (#"name="name" attributeType="String""#, #"name="name" attributeType="Integer 16""#),
        ]
        for (text, other) in unfit {
            let folder = Folder()
            _ = try folder.copyModel { contents in
                #expect(contents.contains(text))
                contents = contents.replacing(text, with: other)
            }
            let run = try folder.run("FooTriage", "--model", "Changed.xcdatamodeld")
            #expect(run.status == 1, "\(other)")
            #expect(run.errors.contains("Changed.xcdatamodeld needs an entity Injury"), "\(run.errors)")
            #expect(!folder.exists("FooTriage.sqlite"))
        }
    }

    @Test("An attribute added to the XML is a column of the next new store and of the table")
    func addedAttribute() throws {
        try copyModelWithSeverity()
        let run = try folder.run("FooTriage", "--model", "Changed.xcdatamodeld")
        #expect(run.status == 0)
        #expect(run.output.contains("\nid  name          severity  object ID\n"))
        let columns = try folder.column("SELECT name FROM pragma_table_info('ZINJURY')", of: "FooTriage.sqlite")
        #expect(columns.contains("ZSEVERITY"))
        let plain = Folder()
        #expect(try plain.run("FooTriage").status == 0)
        let plainColumns = try plain.column("SELECT name FROM pragma_table_info('ZINJURY')", of: "FooTriage.sqlite")
        #expect(!plainColumns.contains("ZSEVERITY"))
        #expect(plainColumns.contains("ZNAME"))
    }

    @Test("A store of another model is refused and left as it is")
    func otherModel() throws {
        #expect(try folder.run("FooTriage").status == 0)
        let before = try Data(contentsOf: folder.file("FooTriage.sqlite"))
        try copyModelWithSeverity()
        let run = try folder.run("FooTriage", "--model", "Changed.xcdatamodeld")
        #expect(run.status == 1)
        #expect(run.errors.contains("Injury"))
        #expect(try Data(contentsOf: folder.file("FooTriage.sqlite")) == before)
    }

    @Test("--sql prints each statement with bindings, rows and time on standard error only")
    func sql() throws {
        let quiet = try folder.run("FooTriage")
        let run = try folder.run("FooTriage", "--reset", "--sql")
        #expect(run.status == 0)
        #expect(run.comparable == quiet.comparable)
        let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("sql: ") }
        let insert = try #require(lines.first { $0.hasPrefix(#"sql: INSERT INTO "ZINJURY""#) })
        #expect(insert.contains("Blunt Trauma"))
        #expect(lines.contains { $0.contains(#"FROM "ZINJURY""#) && $0.contains("-- 8 rows, ") })
        for line in lines { #expect(line.contains(/\ -- [0-9]+ rows, [0-9]+\.[0-9]{3} ms$/)) }
    }

    @Test(
        "The exit status tells done, failed and misused apart",
        arguments: [
            (["--help"], 0), (["--bogus"], 2), (["extra"], 2), (["--store"], 2), (["--store", ""], 2),
            (["--model", "missing.xcdatamodeld"], 1), (["--store", "no/such/folder/a.sqlite"], 1),
        ] as [([String], Int32)])
    func exitStatus(arguments: [String], status: Int32) throws {
        let run = try folder.run("FooTriage", arguments: arguments)
        #expect(run.status == status)
        #expect(run.errors.isEmpty == (status == 0))
        #expect(run.output.isEmpty == (status != 0))
        #expect(try folder.names() == [])
    }
}
