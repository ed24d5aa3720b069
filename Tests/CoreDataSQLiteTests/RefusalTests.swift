// The ways a store refuses: a code, a sentence, and a file as it was before.

import CCoreDataSQLite
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("Refusals", .serialized)
struct RefusalTests {
    let folder: Folder
    init() throws { folder = try Folder() }

    /// Expects a refusal that leaves the file's bytes alone and makes no file.
    private func refused(
        _ code: Int, _ word: String, at file: URL? = nil, schema: Schema = Triage.schema,
        _ change: @escaping (inout SQLiteOptions) -> Void = { _ in },
        location: SourceLocation = #_sourceLocation
    ) throws {
        let file = file ?? folder.file
        let before = try? Data(contentsOf: file)
        var options = SQLiteOptions()
        change(&options)
        let error = #expect(throws: StoreError.self, sourceLocation: location) {
            try SQLiteStore(url: file, schema: schema, configuration: nil, options: options)
        }
        #expect(error?.code == code, "\(error?.sentence ?? "")", sourceLocation: location)
        #expect(error?.sentence.contains(word) == true, "\(error?.sentence ?? "")", sourceLocation: location)
        #expect((try? Data(contentsOf: file)) == before, sourceLocation: location)
    }

    private typealias SourceLocation = Testing.SourceLocation

    @Test("A file that is no database")
    func noDatabase() throws {
        try Data(repeating: 0x41, count: 5000).write(to: folder.file)
        try refused(134080, "not a SQLite database")
    }

    @Test("A database that is no store")
    func otherDatabase() throws {
        let raw = try Raw(folder.file)
        raw.run("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
        try refused(134080, "not a Core Data store")
    }

    @Test("A folder")
    func isFolder() throws { try refused(134080, "is a folder", at: folder.url) }

    @Test("A missing folder")
    func missingFolder() throws {
        let file = folder.url.appendingPathComponent("absent/Model.sqlite")
        try refused(134080, "does not exist", at: file)
        #expect(!FileManager.default.fileExists(atPath: file.deletingLastPathComponent().path))
    }

    @Test("Read-only: nothing is created, and nothing is saved")
    func readOnly() throws {
        try refused(134080, "read-only") { $0.isReadOnly = true }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        let writer = try folder.store()
        try writer.insert("Injury", [(1, [:])])
        try writer.close()
        let before = try Data(contentsOf: folder.file)
        let reader = try folder.store { $0.isReadOnly = true }
        let error = #expect(throws: StoreError.self) { try reader.insert("Injury", [(2, [:])]) }
        #expect(error?.code == 134030)
        #expect(throws: StoreError.self) { try reader.allocateKeys(1, in: reader.entity("Injury").index) }
        #expect(try reader.keys("Injury") == [1])
        try reader.close()
        #expect(try Data(contentsOf: folder.file) == before)
    }

    @Test("A read-only file system: the store opens read-only, and refuses to be opened for writing")
    func readOnlyFileSystem() throws {
        let store = try folder.store()
        try store.insert("Injury", [(1, [:])])
        try store.close()
        guard
            let mount = Mount(
                ["--bind", folder.url.path, folder.url.path], then: "remount,ro,bind", at: folder.url)
        else { return print("skipped: no file system can be mounted here") }
        defer { mount.undo() }
        try refused(134080, "cannot be opened or created")
        try refused(134080, "cannot be opened", at: folder.url.appendingPathComponent("New.sqlite"))
        let reader = try folder.store { $0.isReadOnly = true }
        #expect(try reader.keys("Injury") == [1])
        try reader.close()
    }

    @Test(
        "A full disk: nothing is left of a creation, and a save that does not fit leaves the rows as they were"
    )
    func fullDisk() throws {
        let small = folder.url.appendingPathComponent("small")
        try FileManager.default.createDirectory(at: small, withIntermediateDirectories: false)
        guard let mount = Mount(["-t", "tmpfs", "-o", "size=64k", "tmpfs", small.path], at: small) else {
            return print("skipped: no file system can be mounted here")
        }
        let file = small.appendingPathComponent("Model.sqlite")
        try refused(134180, "full", at: file)
        #expect(try FileManager.default.contentsOfDirectory(atPath: small.path).isEmpty)
        mount.undo()

        guard let larger = Mount(["-t", "tmpfs", "-o", "size=600k", "tmpfs", small.path], at: small) else {
            return
        }
        defer { larger.undo() }
        let store = try SQLiteStore(
            url: file, schema: Triage.schema, configuration: nil, options: SQLiteOptions())
        try store.insert("Injury", [(1, [:])])
        let text = String(repeating: "x", count: 10_000)
        let error = #expect(throws: StoreError.self) {
            try store.insert("Injury", (2...200).map { (Int64($0), ["kind": .text(text)]) })
        }
        #expect(error?.code == 134180 && error?.sqliteCode.map { $0 & 0xff } == SQLITE_FULL)
        #expect(try store.keys("Injury") == [1])
        #expect(try store.insert("Injury", [(2, [:])]).conflicts.isEmpty)
        try store.close()
    }

    @Test("A lock held by another connection: opening and saving give up after the timeout")
    func locked() throws {
        let raw = try Raw(folder.file)
        raw.run("CREATE TABLE other (id INTEGER PRIMARY KEY); BEGIN EXCLUSIVE")
        try refused(134090, "lock") { $0.timeout = 0.05 }
        raw.run("ROLLBACK; DROP TABLE other")
        let store = try folder.store { $0.timeout = 0.05 }
        raw.run("BEGIN IMMEDIATE")
        let error = #expect(throws: StoreError.self) { try store.insert("Injury", [(1, [:])]) }
        #expect(error?.code == 134090)
        #expect(try store.keys("Injury").isEmpty)
        raw.run("ROLLBACK")
        #expect(try store.insert("Injury", [(1, [:])]).conflicts.isEmpty)
    }

    @Test("Another model: the entities and properties that differ are named")
    func otherModel() throws {
        try folder.store().close()
        var draft = Triage.draft
        draft.entities[2].attributes.append(Triage.attribute("depth", .double))
        draft.entities[2].attributes[0].type = .double
        draft.entities[0].attributes.removeFirst()
        draft.entities.append(EntityDraft(name: "Zone"))
        let schema = try Schema(checking: draft)
        try refused(134100, "Injury.depth", schema: schema)
        try refused(134100, "Injury.severity is FLOAT in the model and INTEGER in the store", schema: schema)
        try refused(134100, "ZASSESSMENT.ZNOTE belongs to no property", schema: schema)
        try refused(134100, "Zone (not in the store)", schema: schema)
        let store = try folder.store(schema) { $0.ignoresVersionHashes = true }
        #expect(try store.metadata().versionHashes.keys.contains("Zone"))
    }

    @Test("Unknown and malformed settings")
    func settings() throws {
        try refused(134060, "no_such_setting") { $0.pragmas = ["no_such_setting": "1"] }
        try refused(134060, "synchronous") { $0.pragmas = ["synchronous": "1; DROP TABLE x"] }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        let store = try folder.store { $0.pragmas = ["journal_mode": "DELETE", "page_size": "8192"] }
        #expect(try store.scalar("PRAGMA page_size") == "8192")
        #expect(try store.scalar("PRAGMA journal_mode") == "delete")
    }

    @Test("A closed store")
    func closed() throws {
        let store = try folder.store()
        try store.close()
        #expect(throws: StoreError.self) { try store.keys("Injury") }
        #expect(throws: StoreError.self) { try store.insert("Injury", [(1, [:])]) }
    }
}

/// A connection past our own code.
final class Raw {
    private var handle: OpaquePointer?
    init(_ file: URL) throws {
        #expect(sqlite3_open(file.path, &handle) == SQLITE_OK)
    }
    deinit { sqlite3_close_v2(handle) }
    func run(_ sql: String) { #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql)") }
}

/// A mounted file system; nil where mounting is not allowed.
struct Mount {
    private let url: URL

    init?(_ arguments: [String], then options: String? = nil, at url: URL) {
        self.url = url
        guard Self.run("mount", arguments) else { return nil }
        if let options, !Self.run("mount", ["-o", options, url.path]) {
            undo()
            return nil
        }
    }

    func undo() { _ = Self.run("umount", [url.path]) }

    private static func run(_ program: String, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
