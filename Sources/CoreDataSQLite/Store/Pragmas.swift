// How connections are set up.

import CoreDataValues

/// Core Data's defaults (pages of 4096 bytes, incremental vacuum, a write-ahead log, synchronous NORMAL) and
/// the caller's own.
struct Pragmas {
    let options: SQLiteOptions

    /// Settings of the file, which only have meaning while it is made or for the connection that writes.
    private static let ofFile: Set<String> = [
        "page_size", "auto_vacuum", "journal_mode", "encoding", "wal_checkpoint", "incremental_vacuum",
        "application_id",
        "user_version", "optimize",
    ]
    private static let ofNewFile: Set<String> = ["page_size", "auto_vacuum", "encoding"]

    /// - Throws: for a name that SQLite does not know, which it would ignore, and for anything that is no
    /// plain word.
    func check(_ connection: Connection) throws {
        for (name, value) in options.pragmas.sorted(by: { $0.key < $1.key }) {
            let isPlain = (name + value).utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0 & 0xdf)
                    || [0x5f, 0x2e, 0x2d].contains($0)
            }
            guard isPlain, !value.isEmpty, isMode(value, of: name), try isKnown(name, connection) else {
                throw StoreError(
                    134060,
                    "The store option \(name) = \(value) is no setting of SQLite's. Correct or remove it "
                        + "(NSSQLitePragmasOption).",
                    path: connection.path)
            }
            // The connection that writes would lock out the readers of its own store.
            guard name.lowercased() != "locking_mode" || value.lowercased() != "exclusive" else {
                throw StoreError(
                    134060,
                    "unsupported: the store option \(name) = \(value). A store has several connections; leave the option out "
                        + "(NSSQLitePragmasOption).",
                    path: connection.path)
            }
        }
    }

    /// SQLite takes any word for a mode, and means another one than was meant.
    private func isMode(_ value: String, of name: String) -> Bool {
        name.lowercased() != "journal_mode"
            || ["wal", "delete", "truncate", "persist", "memory", "off"].contains(value.lowercased())
    }

    private func isKnown(_ name: String, _ connection: Connection) throws -> Bool {
        let statement = try Statement("SELECT 1 FROM pragma_pragma_list WHERE name = ?", on: connection)
        defer { statement.finish() }
        try statement.bind(1, .text(name.lowercased()))
        return try statement.step()
    }

    /// Before the first table.
    func configureNewFile(_ connection: Connection) throws {
        try set("page_size", default: "4096", connection)
        try set("auto_vacuum", default: "2", connection)
        if let encoding = value("encoding") { try set("encoding", default: encoding, connection) }
        try set("journal_mode", default: "WAL", connection)
    }

    /// The connection that writes, after the store was recognised.
    func configure(_ connection: Connection) throws {
        if options.isReadOnly { return try configureReader(connection) }
        try set("journal_mode", default: "WAL", connection)
        try set("synchronous", default: "NORMAL", connection)
        for name in options.pragmas.keys.sorted() where !Self.ofNewFile.contains(name.lowercased()) {
            if !["journal_mode", "synchronous"].contains(name.lowercased()) {
                try set(name, default: "", connection)
            }
        }
    }

    func configureReader(_ connection: Connection) throws {
        for name in options.pragmas.keys.sorted() where !Self.ofFile.contains(name.lowercased()) {
            try set(name, default: "", connection)
        }
    }

    private func value(_ name: String) -> String? {
        options.pragmas.first { $0.key.lowercased() == name.lowercased() }?.value
    }

    private func set(_ name: String, default standard: String, _ connection: Connection) throws {
        // Quoted for the encodings, whose names have a hyphen (`check` lets no quote in).
        try connection.run("PRAGMA \(name) = '\(value(name) ?? standard)'")
    }
}
