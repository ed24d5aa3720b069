// Two processes, one store.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataVictim

@Suite("Two processes") struct RivalTests {
    private let folder = Folder()

    private func prepared() throws -> URL {
        let store = folder.file("shared.sqlite")
        try #require(try VictimProcess.run("prepare", store).exitCode == 0)
        return store
    }

    @Test("Processes that insert at the same time get different keys, and every row arrives")
    func allocation() throws {
        let url = try prepared()
        let rivals = try (0..<3).map { _ in try Rival("allocate", url) }
        let mine = try VictimStore(url)
        var keys: [String] = []
        for index in 0..<5 {
            let person = mine.context.make("Person", ["name": "mine \(index)"])
            try mine.context.save()
            keys.append(person.objectID.uriRepresentation().lastPathComponent)
        }
        for rival in rivals {
            let lines = try rival.end()
            #expect(lines.count == 5, "\(lines)")
            keys += lines
        }
        #expect(Set(keys).count == 20, "\(keys.sorted())")
        #expect(try mine.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 24 + 20)
        try mine.close()
        #expect(try SQLiteFile(url).isSound())
        _ = try SQLiteFile(url).contents()
    }

    @Test("Objects with relationships and changes may outlive their context, coordinator and model")
    func outliving() throws {
        // The C library overwrites what is freed, so that reading it afterwards shows.
        let run = try VictimProcess.run("outlive", try prepared(), environment: ["MALLOC_PERTURB_": "85"])
        #expect(run.exitCode == 0)
        #expect(run.lines == ["all gone"])
    }

    @Test("A row that another process changed since it was read is a conflict (133020) on both sides")
    func conflict() throws {
        let url = try prepared()
        let mine = try VictimStore(url)
        let request = NSFetchRequest<NSManagedObject>("Person", by: "name")
        let person = try #require(try mine.context.fetch(request).first)
        #expect(person.value(forKey: "age") as? Int == 0)

        // The other process read before this save and writes after it.
        let loser = try Rival("compete", url)
        #expect(try loser.line() == "ready")
        person.setValue(50, forKey: "age")
        try mine.context.save()
        loser.say("go")
        #expect(try loser.end() == ["refused 133020"])

        // The other way round.
        let winner = try Rival("compete", url)
        #expect(try winner.line() == "ready")
        winner.say("go")
        #expect(try winner.end() == ["saved"])
        person.setValue(99, forKey: "age")
        let error = #expect(throws: CocoaError.self) { try mine.context.save() }
        #expect(error?.code.rawValue == 133020)
        #expect(person.value(forKey: "age") as? Int == 99)
        mine.context.rollback()
        mine.context.refresh(person, mergeChanges: false)
        #expect(person.value(forKey: "age") as? Int == 51)
        person.setValue(99, forKey: "age")
        try mine.context.save()
        try mine.close()
        #expect(try SQLiteFile(url).rows("SELECT ZAGE FROM ZPERSON ORDER BY ZNAME LIMIT 1") == ["99"])
    }
}

/// Another process on the same store, spoken with line by line.
private final class Rival {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = ""

    init(_ deed: String, _ store: URL) throws {
        process.executableURL = try VictimProcess.program.executable
        process.arguments = [deed, store.path]
        process.standardInput = input
        process.standardOutput = output
        process.inheritEnvironment()
        try process.run()
    }

    func say(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    /// The next line; waits for it.
    func line() throws -> String {
        while !rest.contains("\n") {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "the process ended without a line")
            rest += String(decoding: data, as: UTF8.self)
        }
        let lines = rest.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        rest = lines.count > 1 ? String(lines[1]) : ""
        return String(lines[0])
    }

    /// The lines that are left once the process has ended well.
    func end() throws -> [String] {
        rest += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return rest.split(separator: "\n").map(String.init)
    }
}
