// The refusals of stores, as a table, and what their tests need.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

/// One way in which opening or saving refuses. PATH and FOLDER in the sentence stand for the file and the folder it is in.
struct Refusal: Sendable, CustomTestStringConvertible {
    let name: String
    let code: Int
    let sentence: String
    var file = "Model.sqlite"
    var leavesLog = false
    var change: @Sendable (inout SQLiteOptions) -> Void = { _ in }
    /// Makes what lies at the path; what it returns is kept until the refusal is checked.
    var prepare: @Sendable (Folder) throws -> SQLiteFile? = { _ in nil }
    var schema: @Sendable () throws -> Schema = { Triage.schema }
    /// What is done with the store once it is open, if opening is not refused.
    var use: @Sendable (SQLiteStore) throws -> Void = { _ in }

    var testDescription: String { name }

    static let all = [
        Refusal(
            name: "no database", code: 134080,
            sentence: "Preparing a statement failed for the store at PATH: the file is not a SQLite database. "
                + "Check the path; nothing in the file was changed.",
            prepare: {
                try Data(repeating: 0x41, count: 5000).write(to: $0.file)
                return nil
            }),
        Refusal(
            name: "a database that is no store, with rows in its log", code: 134080,
            sentence: "The file at PATH is a SQLite database without Core Data's metadata, so it is not a Core "
                + "Data store. Check the path; nothing was changed.",
            prepare: {
                let raw = try SQLiteFile($0.file, for: .making)
                try raw.run("PRAGMA journal_mode = WAL; CREATE TABLE notes (id INTEGER PRIMARY KEY)")
                return raw
            }),
        Refusal(
            name: "a folder", code: 134080,
            sentence: "The store's path PATH is a folder. Name a file in it, for example Model.sqlite.",
            prepare: {
                try FileManager.default.createDirectory(at: $0.file, withIntermediateDirectories: false)
                return nil
            }),
        Refusal(
            name: "a missing folder", code: 134080,
            sentence: "The folder FOLDER of the store Model.sqlite does not exist. Create it first.",
            file: "absent/Model.sqlite"),
        Refusal(
            name: "no store to read", code: 134080,
            sentence: "There is no store at PATH, and a store that is opened read-only is not created.",
            change: { $0.isReadOnly = true }),
        Refusal(
            name: "a save to a store that was opened read-only", code: 134030,
            sentence: "Changes cannot be saved: the store at PATH was opened read-only. Open it without that option.",
            // Whoever may not write cannot take the empty log away that reading makes.
            leavesLog: true, change: { $0.isReadOnly = true }, prepare: oneRow,
            use: { try $0.insert("Injury", [(2, [:])]) }),
        Refusal(
            name: "a full disk", code: 134180,
            sentence:
                "Running a statement failed for the store at PATH: the disk or the database is full. Make room; nothing "
                + "of this change was written.",
            // SQLite may not take another page: what a full disk tells it.
            change: { $0.pragmas = ["max_page_count": "1"] }, prepare: oneRow,
            use: {
                let text = String(repeating: "x", count: 10_000)
                try $0.insert("Injury", (2...200).map { (Int64($0), ["kind": .text(text)]) })
            }),
        Refusal(
            name: "a lock that another connection holds", code: 134090,
            sentence:
                "Preparing a statement failed for the store at PATH: another connection holds the lock. Try again, or wait "
                + "longer with a larger timeout.",
            change: { $0.timeout = 0.05 },
            prepare: {
                let raw = try SQLiteFile($0.file, for: .making)
                try raw.run("CREATE TABLE other (id INTEGER PRIMARY KEY); BEGIN EXCLUSIVE")
                return raw
            }),
        Refusal(
            name: "another model", code: 134100,
            sentence:
                "The model does not fit the store at PATH. Entities that differ: Injury. Open the store with the model "
                + "that wrote it, or migrate it.",
            prepare: oneRow,
            schema: {
                var draft = Triage.draft
                draft.entities[2].attributes[0].type = .double
                return try Schema(checking: draft)
            }),
        Refusal(
            name: "an unknown setting", code: 134060,
            sentence: "The store option no_such_setting = 1 is no setting of SQLite's. Correct or remove it "
                + "(NSSQLitePragmasOption).",
            change: { $0.pragmas = ["no_such_setting": "1"] }),
        Refusal(
            name: "a malformed setting", code: 134060,
            sentence: "The store option synchronous = 1; DROP TABLE x is no setting of SQLite's. Correct or "
                + "remove it (NSSQLitePragmasOption).",
            change: { $0.pragmas = ["synchronous": "1; DROP TABLE x"] }),
        Refusal(
            name: "a journal that SQLite does not have", code: 134060,
            sentence: "The store option journal_mode = walrus is no setting of SQLite's. Correct or remove it "
                + "(NSSQLitePragmasOption).",
            change: { $0.pragmas = ["journal_mode": "walrus"] }),
        Refusal(
            name: "a setting that locks the store's own readers out", code: 134060,
            sentence:
                "unsupported: the store option locking_mode = EXCLUSIVE. A store has several connections; leave the option "
                + "out (NSSQLitePragmasOption).",
            change: { $0.pragmas = ["locking_mode": "EXCLUSIVE"] }),
    ]

    /// A store with one row.
    private static let oneRow: @Sendable (Folder) throws -> SQLiteFile? = { folder in
        let store = try folder.store()
        try store.insert("Injury", [(1, [:])])
        try store.close()
        return nil
    }
}

/// The bytes of a store's file and side files, of those that exist.
struct Bytes {
    private var files: [String: Data] = [:]

    init(_ file: URL) {
        for suffix in ["", "-wal", "-shm"] {
            files[suffix] = try? Data(contentsOf: URL(fileURLWithPath: file.path + suffix))
        }
        // Whoever reads a log notes in the shared index how far: five marks of four bytes each.
        if let index = files["-shm"], index.count >= 120 {
            files["-shm"]?.replaceSubrange(100..<120, with: Data(count: 20))
        }
    }

    /// The suffixes of the files that are not as they were, are gone or, for the store's own, new.
    func differing(from before: Bytes) -> [String] {
        ["", "-wal", "-shm"].filter { ($0.isEmpty || before.files[$0] != nil) && files[$0] != before.files[$0] }
    }
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

    /// Whether this process may mount, found by trying.
    static let isPermitted: Bool = {
        let folder = Folder()
        guard let mount = Mount(["-t", "tmpfs", "tmpfs", folder.url.path], at: folder.url)
        else { return false }
        mount.undo()
        return true
    }()
    static let whySkipped: Comment = "no file system can be mounted here"

    func undo() { _ = Self.run("umount", [url.path]) }

    private static func run(_ program: String, _ arguments: [String]) -> Bool {
        (try? ChildProgram("/usr/bin/env").run([program] + arguments))?.exitCode == 0
    }
}
