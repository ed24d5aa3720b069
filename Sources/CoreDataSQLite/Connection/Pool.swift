// The connections of one store.

import CoreDataValues
import Foundation
import Synchronization

/// One writer, used under a lock, and as many readers as are reading at once. A reader never waits for the
/// writer nor for another reader; who reads inside a read gets a connection of his own.
final class Pool: @unchecked Sendable {
    private let path: String
    private let options: SQLiteOptions
    private let counter: StatementCounter
    private let readerAccess: Connection.Access
    private let prepareReader: (Connection) throws -> Void

    private let writerLine = WaitingLine()
    private var writer: Connection?
    /// Readers that nobody uses; nil once the store is closed.
    private let idle = Mutex<[Connection]?>([])

    init(
        writer: Connection, readerAccess: Connection.Access, counter: StatementCounter,
        prepareReader: @escaping (Connection) throws -> Void
    ) {
        self.writer = writer
        path = writer.path
        options = writer.options
        self.counter = counter
        self.readerAccess = readerAccess
        self.prepareReader = prepareReader
    }

    func write<R>(_ body: (Connection) throws -> R) throws -> R {
        try writerLine.withTurn {
            guard let writer else { throw SQLiteError.closed(path) }
            return try writer.cancellable { try body(writer) }
        }
    }

    func read<R>(_ body: (Connection) throws -> R) throws -> R {
        let reader = try takeReader()
        defer { giveBack(reader) }
        return try reader.cancellable { try body(reader) }
    }

    private func takeReader() throws -> Connection {
        var isClosed = false
        let known = idle.withLock { idle in
            isClosed = idle == nil
            return idle?.popLast()
        }
        if isClosed { throw SQLiteError.closed(path) }
        if let known { return known }
        let reader = try Connection(path: path, access: readerAccess, options: options, counter: counter)
        try prepareReader(reader)
        return reader
    }

    private func giveBack(_ reader: Connection) {
        idle.withLock { idle in
            if let count = idle?.count, count < options.idleReaders { idle?.append(reader) }
        }
    }

    /// A store that is let go leaves one file, as one that is closed does.
    deinit { close() }

    /// Readers first, so that the writer is the last to close and moves the log into the file.
    func close() {
        idle.withLock { $0 = nil }
        writerLine.withLastTurn { writer = nil }
    }
}
