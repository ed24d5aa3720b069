// The ways a store refuses: a code, a sentence, and a file as it was before.

import CCoreDataSQLite
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("Refusals", .serialized)
struct RefusalTests {
    let folder = Folder()

    /// Expects a refusal with this code and sentence that leaves the bytes of every file in the folder alone.
    private func refused(
        _ code: Int, _ sentence: String, at file: URL? = nil, schema: Schema = Triage.schema,
        _ change: @escaping (inout SQLiteOptions) -> Void = { _ in }, use: (SQLiteStore) throws -> Void = { _ in },
        location: SourceLocation = #_sourceLocation
    ) throws {
        let file = file ?? folder.file
        let before = Bytes(file)
        var options = SQLiteOptions()
        change(&options)
        let error = #expect(throws: StoreError.self, sourceLocation: location) {
            let store = try SQLiteStore(url: file, schema: schema, configuration: nil, options: options)
            defer { try? store.close() }
            try use(store)
        }
        #expect(error?.code == code, "\(error?.sentence ?? "")", sourceLocation: location)
        #expect(error?.sentence == sentence, sourceLocation: location)
        #expect(Bytes(file).differing(from: before) == [], sourceLocation: location)
    }

    private typealias SourceLocation = Testing.SourceLocation

    @Test("A store refuses with a code and a sentence, and changes no byte of any file", arguments: Refusal.all)
    func refusal(_ refusal: Refusal) throws {
        let file = folder.url.appendingPathComponent(refusal.file)
        let held = try refusal.prepare(folder)
        let sentence = refusal.sentence.replacingOccurrences(of: "PATH", with: file.path)
            .replacingOccurrences(of: "FOLDER", with: file.deletingLastPathComponent().path)
        let names = FileManager.default.subpaths(atPath: folder.url.path)?.sorted()
        try refused(refusal.code, sentence, at: file, schema: refusal.schema(), refusal.change, use: refusal.use)
        let left = FileManager.default.subpaths(atPath: folder.url.path)?.sorted()
        #expect((refusal.leavesLog ? left?.filter { !$0.contains("-") } : left) == names)
        _ = held
    }

    @Test("Read-only: nothing is created, and nothing is saved")
    func readOnly() throws {
        try refused(
            134080,
            "There is no store at \(folder.file.path), and a store that is opened read-only is not created."
        ) { $0.isReadOnly = true }
        #expect(try folder.names().isEmpty)
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

    @Test(
        "A read-only file system: the store opens read-only, and refuses to be opened for writing",
        .enabled(if: Mount.isPermitted, Mount.whySkipped))
    func readOnlyFileSystem() throws {
        let store = try folder.store()
        try store.insert("Injury", [(1, [:])])
        try store.close()
        let mount = try #require(
            Mount(["--bind", folder.url.path, folder.url.path], then: "remount,ro,bind", at: folder.url))
        defer { mount.undo() }
        let new = folder.url.appendingPathComponent("New.sqlite")
        for (file, deed) in [(folder.file, "Preparing a statement"), (new, "Opening the file")] {
            try refused(
                134080,
                "\(deed) failed for the store at \(file.path): the file cannot be opened or created. "
                    + "Check that its folder exists and may be written.", at: file)
        }
        let reader = try folder.store { $0.isReadOnly = true }
        #expect(try reader.keys("Injury") == [1])
        try reader.close()
    }

    @Test(
        "A full disk: nothing is left of a creation, and a save that does not fit leaves the rows as they were",
        .enabled(if: Mount.isPermitted, Mount.whySkipped))
    func fullDisk() throws {
        let small = folder.url.appendingPathComponent("small")
        try FileManager.default.createDirectory(at: small, withIntermediateDirectories: false)
        let mount = try #require(Mount(["-t", "tmpfs", "-o", "size=64k", "tmpfs", small.path], at: small))
        let file = small.appendingPathComponent("Model.sqlite")
        let full =
            "Running a statement failed for the store at \(file.path): the disk or the database is full. "
            + "Make room; nothing of this change was written."
        try refused(134180, full, at: file)
        #expect(try FileManager.default.contentsOfDirectory(atPath: small.path).isEmpty)
        mount.undo()

        let larger = try #require(Mount(["-t", "tmpfs", "-o", "size=600k", "tmpfs", small.path], at: small))
        defer { larger.undo() }
        let store = try SQLiteStore(
            url: file, schema: Triage.schema, configuration: nil, options: SQLiteOptions())
        try store.insert("Injury", [(1, [:])])
        let before = try Data(contentsOf: file)
        let text = String(repeating: "x", count: 10_000)
        let error = #expect(throws: StoreError.self) {
            try store.insert("Injury", (2...200).map { (Int64($0), ["kind": .text(text)]) })
        }
        #expect(error?.code == 134180 && error?.sqliteCode.map { $0 & 0xff } == SQLITE_FULL)
        #expect(error?.sentence == full)
        // The log may have grown by pages that were never committed; the file itself is as it was.
        #expect(try Data(contentsOf: file) == before)
        #expect(try store.keys("Injury") == [1])
        #expect(try store.insert("Injury", [(2, [:])]).conflicts.isEmpty)
        try store.close()
    }

    @Test("A lock held by another connection: opening and saving give up after the timeout")
    func locked() throws {
        let raw = try SQLiteFile(folder.file, for: .making)
        try raw.run("CREATE TABLE other (id INTEGER PRIMARY KEY); BEGIN EXCLUSIVE")
        try refused(
            134090,
            "Preparing a statement failed for the store at \(folder.file.path): another connection holds the lock. "
                + "Try again, or wait longer with a larger timeout."
        ) { $0.timeout = 0.05 }
        try raw.run("ROLLBACK; DROP TABLE other")
        let store = try folder.store { $0.timeout = 0.05 }
        try raw.run("BEGIN IMMEDIATE")
        let error = #expect(throws: StoreError.self) { try store.insert("Injury", [(1, [:])]) }
        #expect(error?.code == 134090)
        #expect(try store.keys("Injury").isEmpty)
        try raw.run("ROLLBACK")
        #expect(try store.insert("Injury", [(1, [:])]).conflicts.isEmpty)
    }

    @Test("Another model of which no version is at hand: the entities that differ are named")
    func otherModel() throws {
        try folder.store().close()
        var draft = Triage.draft
        draft.entities[2].attributes.append(Triage.attribute("depth", .double))
        draft.entities[2].attributes[0].type = .double
        draft.entities[0].attributes.removeFirst()
        draft.entities.append(EntityDraft(name: "Zone"))
        let schema = try Schema(checking: draft)
        try refused(
            134100,
            "The model does not fit the store at \(folder.file.path). Entities that differ: Assessment, Injury. "
                + "Only in the model: Zone. Open the store with the model that wrote it, or migrate it.",
            schema: schema)
        let store = try folder.store(schema) { $0.ignoresVersionHashes = true }
        #expect(try store.metadata().versionHashes.keys.contains("Zone"))
    }

    @Test("Settings that SQLite knows are applied")
    func settings() throws {
        let store = try folder.store { $0.pragmas = ["journal_mode": "DELETE", "page_size": "8192"] }
        #expect(try store.scalar("PRAGMA page_size") == "8192")
        #expect(try store.scalar("PRAGMA journal_mode") == "delete")
    }

    @Test("A file is made with the encoding that is asked for", arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func encoding(_ name: String) throws {
        let store = try folder.store { $0.pragmas = ["encoding": name] }
        #expect(try store.scalar("PRAGMA encoding") == name)
        try store.insert("Injury", [(1, ["kind": .text("Schürfwunde 🩹")])])
        #expect(try store.fetch("Injury").count == 1)
        #expect(try store.scalar("SELECT ZKIND FROM ZINJURY") == "Schürfwunde 🩹")
    }

    @Test("A closed store")
    func closed() throws {
        let store = try folder.store()
        try store.close()
        #expect(throws: StoreError.self) { try store.keys("Injury") }
        #expect(throws: StoreError.self) { try store.insert("Injury", [(1, [:])]) }
    }
}
