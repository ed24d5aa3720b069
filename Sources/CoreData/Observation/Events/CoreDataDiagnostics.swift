// What a coordinator is about, at this moment.

import Foundation

/// Who uses and awaits a coordinator's connections, which contexts are alive, and how large log and cache are: made by `diagnostics()` of
/// a container or a coordinator; its description is for people.
///
/// Ours, beside Core Data's API.
public struct CoreDataDiagnostics: Sendable, CustomStringConvertible {
    /// A connection in use, or somebody who waits for one.
    public struct Connection: Sendable {
        public let purpose: CoreDataEvent.Wait.Purpose
        /// How long it has been in use, or waited for.
        public let duration: Duration
        /// What it has run last; nil for who waits.
        public let sql: String?
    }

    public struct Store: Sendable {
        public let type: String
        /// nil for a store without a file.
        public let path: String?
        /// In use. Stores other than SQLite have none.
        public let connections: [Connection]
        public let waiting: [Connection]
        public let readerLimit: Int
        /// Bytes of the write-ahead log.
        public let logSize: Int
        /// How long the oldest read, cursor or pinned view has kept the log from being emptied; nil without one.
        public var oldestReader: Duration? { connections.filter { $0.purpose != .write }.map(\.duration).max() }
    }

    public struct Context: Sendable {
        /// `name`, or the address.
        public let name: String
        public let isMainQueue: Bool
        /// Whether a block has it, or waits for it.
        public let isBusy: Bool
        /// Objects with unsaved changes; of a busy context as its last event left them.
        public let changes: Int
    }

    public let name: String?
    /// When it was made.
    public let date: Date
    public let stores: [Store]
    /// Those that are alive, the youngest first; at most 1024 of them.
    public let contexts: [Context]
    public let contextCount: Int
    /// Callers of `write` that wait for their turn, and how long the first of them has; nil for none.
    public let writersInLine: Int
    public let longestWriterWait: Duration?
    /// Callers of `read` that wait for a connection, suspended, where the stores have few; those that have a thread stand among
    /// `waiting` of their store.
    public let readersInLine: Int
    public let longestReaderWait: Duration?
    /// Blocks of `await perform`, `read` and `write` that run in the process, and callers that wait for a place among them.
    public let activeBlocks: Int
    public let activeBlockLimit: Int
    public let blocksInLine: Int
    public let longestBlockWait: Duration?
    /// Bytes of rows in the row cache, and how many it may keep.
    public let cacheSize: Int
    public let cacheLimit: Int
    public let counters: NSPersistentStoreCoordinator.Counters
}

extension CoreDataDiagnostics {
    /// A few lines a store, and one for each context with changes.
    public var description: String {
        var lines = ["Core Data\(name.map { " \($0)" } ?? "") at \(date.formatted(.iso8601)):"]
        for store in stores { lines += text(of: store) }
        let changed = contexts.filter { $0.changes > 0 || $0.isBusy }
        lines.append(
            "  contexts: \(contextCount) alive, \(contexts.count { $0.isBusy }) busy, \(contexts.count { $0.changes > 0 }) with changes"
        )
        for context in changed.prefix(20) {
            lines.append(
                "    \(context.name)\(context.isMainQueue ? " (main queue)" : "")\(context.isBusy ? ", busy" : ""), \(context.changes) changed objects"
            )
        }
        lines.append(
            "  blocks: \(activeBlocks) of \(activeBlockLimit) run, \(blocksInLine) wait\(longest(longestBlockWait)); "
                + "\(writersInLine) writers wait for their turn\(longest(longestWriterWait)), "
                + "\(readersInLine) readers for a connection\(longest(longestReaderWait))"
        )
        lines.append(
            "  row cache: \(cacheSize) of \(cacheLimit) bytes, \(counters.cacheHits) hits, \(counters.cacheMisses) misses; \(counters.faults) faults"
        )
        return lines.joined(separator: "\n")
    }

    private func longest(_ wait: Duration?) -> String { wait.map { " (for \($0.inSeconds))" } ?? "" }

    private func text(of store: Store) -> [String] {
        let reading = store.connections.count { $0.purpose == .read }
        var lines = [
            "  \(store.type) store \(store.path ?? ""): \(store.connections.count) connections in use (\(reading) of \(store.readerLimit) read), "
                + "\(store.waiting.count) wait; log \(store.logSize) bytes"
                + (store.oldestReader.map { ", oldest reader \($0.inSeconds)" } ?? "")
        ]
        lines += store.connections.map { "    \($0.purpose.rawValue) for \($0.duration.inSeconds): \($0.sql ?? "")" }
        lines += store.waiting.map { "    waits to \($0.purpose.rawValue) for \($0.duration.inSeconds)" }
        return lines
    }
}

extension Duration {
    fileprivate var inSeconds: String { formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 3))) }
}
