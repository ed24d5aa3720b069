// `coredata migrate` as people and other programs run it.

import CoreData
import Foundation
import Testing

@Suite("coredata migrate")
struct MigrateTests {
    private let program: CommandProgram
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
    private var model: URL { root.appendingPathComponent("Models/FooTriage.xcdatamodeld") }
    private var store: URL { program.folder.appendingPathComponent("Triage.sqlite") }

    init() throws { program = try CommandProgram() }

    /// Eight injuries, a station and three casualties, written with the first version.
    private func makeStore(_ options: [String: Any]? = nil) throws {
        let first = try NSManagedObjectModel(loading: model.appendingPathComponent("FooTriage.xcdatamodel"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: first)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let names = "Blunt Trauma%Burn%C-Spine%Cardiac%Crushing%Fracture%Laceration%Penetration".split(
                separator: "%")
            let injuries = names.enumerated().map { make("Injury", ["id": $0, "name": String($1)]) }
            let station = make("Station", ["name": "North Gate"])
            for number in 1...3 {
                let casualty = make(
                    "Casualty", ["name": "Casualty \(number)", "age": 20 + number, "arrivedAt": Date(), "tag": UUID()])
                casualty.setValue(station, forKey: "station")
                casualty.setValue(NSSet(array: Array(injuries.prefix(number))), forKey: "injuries")
            }
            try context.save()
        }
        try coordinator.close()
    }

    @Test("The guide's commands print what the guide says")
    func guide() throws {
        try makeStore()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", root.appendingPathComponent("Scripts/Layout/guide.py").path, root.path,
            "Documentation/Migration.md", program.folder.path,
        ]
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] =
            try CommandProgram.program().deletingLastPathComponent().path + ":"
            + (environment["PATH"] ?? "/usr/bin:/bin")
        process.environment = environment
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test("Plans, rehearsals and runs are told as JSON, in the shape that other programs expect")
    func json() throws {
        try makeStore()
        let before = try Data(contentsOf: store)
        for options in [["--plan"], ["--rehearse"]] {
            let answer = try program.run(["migrate", store.path, "--model", model.path, "--json"] + options)
            #expect(answer.status == 0, "\(answer)")
            let report = try #require(JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
            #expect(Set(report.keys) == ["steps", "lost", "findings"])
            let steps = try #require(report["steps"] as? [[String: Any]])
            #expect(steps.count == 1 && Set(steps[0].keys) == ["from", "to", "kind", "changes", "sql", "rows"])
            #expect(
                steps[0]["from"] as? String == "FooTriage" && steps[0]["to"] as? String == "FooTriage 2"
                    && steps[0]["kind"] as? String == "inferred")
            #expect((steps[0]["sql"] as? [String])?.isEmpty == false && (report["findings"] as? [Any])?.isEmpty == true)
        }
        #expect(try Data(contentsOf: store) == before, "neither changes the store")
        let backup = program.folder.appendingPathComponent("before.sqlite")
        #expect(
            try program.run(["migrate", store.path, "--model", model.path, "--json", "--backup", backup.path]).status
                == 0)
        #expect(FileManager.default.fileExists(atPath: backup.path))
        let again = try program.run(["migrate", store.path, "--model", model.path])
        #expect(again.status == 0 && again.output == "The store has the version already.\n")
    }

    @Test("A store with a history is planned, rehearsed and migrated with its history")
    func history() throws {
        let tracked = [NSPersistentHistoryTrackingKey: true]
        try makeStore(tracked)
        for arguments in [["--plan"], ["--rehearse"], []] {
            let run = try program.run(["migrate", store.path, "--model", model.path] + arguments)
            #expect(run.status == 0, "\(arguments): \(run)")
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel(loading: model))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: tracked)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let count = try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let found =
                (try context.execute(request) as? NSPersistentHistoryResult)?.result
                as? [NSPersistentHistoryTransaction]
            return found?.flatMap { $0.changes ?? [] }.count
        }
        #expect(count == 12)
        try coordinator.close()
    }

    @Test("What cannot be walked has status 1 and says why; another use has 2")
    func failures() throws {
        try makeStore()
        let unknown = try program.run(["migrate", store.path, "--model", model.path, "--version", "FooTriage 9"])
        #expect(unknown.status == 1 && unknown.errors.contains("FooTriage 9") && unknown.errors.contains("FooTriage 2"))
        let none = try program.run(["migrate", "/nowhere.sqlite", "--model", model.path, "--json", "--plan"])
        #expect(none.status == 1 && none.output.contains("\"findings\"") && none.output.contains("/nowhere.sqlite"))
        #expect(try program.run(["migrate", store.path]).status == 2)
        #expect(try program.run(["migrate", store.path, "--model", model.path, "--plan", "--rehearse"]).status == 2)
        #expect(try program.run(["migrate", store.path, "--model", model.path, "--plan", "--backup", "x"]).status == 2)
    }

    @Test("An answer that cannot be written has status 1")
    func full() throws {
        try makeStore()
        for options in [["--plan"], ["--json", "--plan"], ["--rehearse"]] {
            let process = Process()
            process.executableURL = try CommandProgram.program()
            process.arguments = ["migrate", store.path, "--model", model.path] + options
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 1, "\(options)")
        }
    }

    @Test("A rehearsal that is interrupted leaves no copy", arguments: [SIGINT, SIGTERM, SIGHUP, SIGPIPE])
    func interrupted(_ signal: Int32) throws {
        try makeStore()
        let temporary = program.folder.appendingPathComponent("tmp")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: temporary.path) }
        let process = Process()
        process.executableURL = try CommandProgram.program()
        process.arguments = ["migrate", store.path, "--model", model.path, "--rehearse"]
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary.path]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while process.isRunning, try left().isEmpty { usleep(1000) }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        // It may have been quicker.
        #expect([0, 128 + signal].contains(process.terminationStatus))
        #expect(try left() == [])
    }

    @Test("On a terminal the run shows its steps; into a file it does not")
    func progress() throws {
        try makeStore()
        let copy = program.folder.appendingPathComponent("copy.sqlite")
        try FileManager.default.copyItem(at: store, to: copy)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        let command = [try CommandProgram.program().path, "migrate", store.path, "--model", model.path].map {
            "'\($0)'"
        }.joined(separator: " ")
        let typescript = program.folder.appendingPathComponent("typescript")
        process.arguments = ["-q", "-e", "-c", command, typescript.path]
        (process.standardOutput, process.standardInput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let shown = try String(contentsOf: typescript, encoding: .utf8)
        #expect(shown.contains("\r\u{1B}[Kstep 1 of 1: FooTriage → FooTriage 2\r\u{1B}[K"), "\(shown)")
        let quiet = try program.run(["migrate", copy.path, "--model", model.path])
        #expect(quiet.status == 0 && quiet.errors.isEmpty && !quiet.output.contains("step 1"))
    }

    private func report(_ answer: CommandProgram.Answer) throws -> [[String: Any]] {
        let report = try #require(JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
        return try #require(report["findings"] as? [[String: Any]])
    }

    @Test("Findings have the keys that `coredata model check` gives them, and an object's ID where it is about one")
    func findings() throws {
        try makeStore()
        let broken = program.folder.appendingPathComponent("Broken.xcdatamodeld")
        let versions = try FileManager.default.contentsOfDirectory(atPath: model.path)
        try FileManager.default.copyItem(at: model, to: broken)
        for version in versions where version.hasSuffix(".xcdatamodel") {
            let file = broken.appendingPathComponent("\(version)/contents")
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(text.replacingOccurrences(of: "attributeType=\"UUID\"", with: "attributeType=\"Integer 65\"").utf8)
                .write(to: file)
        }
        let check = try report(program.run(["model", "check", "--json", broken.path])).filter {
            $0["severity"] as? String == "error"
        }
        let answer = try program.run(["migrate", store.path, "--model", broken.path, "--json", "--plan"])
        let found = try report(answer)
        #expect(answer.status == 1 && !check.isEmpty && found as NSArray == check as NSArray, "\(found)")
        #expect(Set(found[0].keys).isSuperset(of: ["severity", "message", "file", "line", "column"]))

        let strict = program.folder.appendingPathComponent("Strict.xcdatamodeld")
        try FileManager.default.copyItem(at: model, to: strict)
        let file = strict.appendingPathComponent("FooTriage 2.xcdatamodel/contents")
        let text = try String(contentsOf: file, encoding: .utf8)
        let limited = text.replacingOccurrences(
            of: "<attribute name=\"age\"", with: "<attribute name=\"age\" maxValueString=\"21\"")
        try #require(limited != text)
        try Data(limited.utf8).write(to: file)
        let rehearsed = try program.run(["migrate", store.path, "--model", strict.path, "--json", "--rehearse"])
        let objects = try report(rehearsed)
        #expect(
            rehearsed.status == 1 && objects.count == 2
                && objects.allSatisfy { ($0["id"] as? String)?.contains("/Casualty/p") == true }, "\(objects)")
        #expect(
            objects.allSatisfy {
                Set($0.keys) == ["severity", "entity", "property", "message", "file", "id"]
                    && $0["property"] as? String == "age"
            })
    }

    // MARK: Other models

    /// A package of two versions, and a store of the first.
    private func library(
        _ first: String, _ second: String, configuration: String? = nil,
        _ fill: @Sendable (NSManagedObjectContext) -> Void
    ) throws -> URL {
        let package = program.folder.appendingPathComponent("Library.xcdatamodeld")
        for (name, entities) in [("Library", first), ("Library 2", second)] {
            let place = package.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Data("<model>\n\(entities)\n</model>".utf8).write(to: place.appendingPathComponent("contents"))
        }
        let current =
            "<plist><dict><key>_XCCurrentVersionName</key><string>Library 2.xcdatamodel</string></dict></plist>"
        try Data(current.utf8).write(to: package.appendingPathComponent(".xccurrentversion"))
        let model = try NSManagedObjectModel(loading: package.appendingPathComponent("Library.xcdatamodel"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: configuration, at: store, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            fill(context)
            try context.save()
        }
        try coordinator.close()
        return package
    }

    private static func attribute(_ name: String) -> String {
        "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\"/>"
    }

    @Test("A store of one configuration is planned, rehearsed and migrated with that configuration")
    func configuration() throws {
        func entities(_ more: String) -> String {
            """
            <entity name="Book">\(Self.attribute("title"))\(more)</entity><entity name="Note">\(Self.attribute("text"))\(more)</entity>
            <configuration name="Local"><memberEntity name="Book"/></configuration>
            """
        }
        let package = try library(entities(""), entities(Self.attribute("more")), configuration: "Local") {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: $0).setValue("t", forKey: "title")
        }
        let use = ["migrate", store.path, "--model", package.path, "--configuration", "Local"]
        let plan = try program.run(use + ["--plan"])
        #expect(plan.status == 0 && plan.output.contains("Book.more was added"), "\(plan)")
        #expect(!plan.output.contains("Note") && !plan.output.contains("ZNOTE"), "\(plan.output)")
        for options in [["--rehearse"], []] {
            let answer = try program.run(use + options)
            #expect(answer.status == 0, "\(answer)")
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel(loading: package))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "Local", at: store)
        try coordinator.close()
        let unknown = try program.run([
            "migrate", store.path, "--model", package.path, "--configuration", "Nobody", "--plan",
        ])
        #expect(unknown.status == 1 && unknown.errors.contains("Nobody"), "\(unknown)")
        #expect(try program.run(["migrate", "--matrix", package.path, "--configuration", "Local"]).status == 2)
    }

    @Test("Steps that need a policy that the tool lacks are planned, and are neither rehearsed nor run, by name")
    func policy() throws {
        let package = try library(
            """
            <entity name="Author">\(Self.attribute("name"))</entity>
            <entity name="Book">\(Self.attribute("title"))<relationship name="author" optional="YES" maxCount="1" destinationEntity="Author"/></entity>
            """,
            """
            <entity name="Person">\(Self.attribute("fullName"))<attribute name="rank" optional="YES" attributeType="Integer 16"/></entity>
            <entity name="Book">\(Self.attribute("title"))<relationship name="author" optional="YES" maxCount="1" destinationEntity="Person"/></entity>
            """
        ) {
            NSEntityDescription.insertNewObject(forEntityName: "Author", into: $0).setValue("Ann", forKey: "name")
        }
        let hashes = try [("Library", "Author"), ("Library 2", "Person")].map { version, entity in
            try NSManagedObjectModel(loading: package.appendingPathComponent("\(version).xcdatamodel"))
                .entityVersionHashesByName[entity]?.base64EncodedString() ?? ""
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "python3", root.appendingPathComponent("Tests/MappingTests/make-cdm.py").path,
                program.folder.appendingPathComponent("Library.cdm").path,
            ] + hashes + ["AuthorsOwnPolicy"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let before = try Data(contentsOf: store)
        for options in [["--plan"], ["--rehearse"], []] {
            let use = ["migrate", store.path, "--model", package.path]
            let answer = try program.run(use + options)
            #expect(answer.status == 1 && answer.output.contains("Library → Library 2 (custom)"), "\(answer)")
            #expect(answer.output.contains("AuthorsOwnPolicy") && answer.output.contains("cannot run here"))
            let found = try report(program.run(use + options + ["--json"]))
            #expect(found.contains { ($0["message"] as? String)?.contains("AuthorsOwnPolicy") == true }, "\(found)")
        }
        #expect(try Data(contentsOf: store) == before)
    }
}
