// The connections of one store.

import CoreDataValues
import Foundation
import Synchronization

/// One writer and up to `SQLiteOptions.readerLimit` readers. A reader does not wait for the writer; who reads inside a
/// read gets a connection of his own, whatever the limit, since he would wait for himself.
///
/// Places are given in the order in which they are asked for; who gets none in time is told so (134090). A store in
/// memory has one connection for all, which reads and writes in turn.
final class Pool: @unchecked Sendable {
    let path: String
    let options: SQLiteOptions
    let counter: StatementCounter
    private let readerAccess: Connection.Access
    private let prepareReader: (Connection) throws -> Void
    private let isSingle: Bool

    struct State {
        /// Readers that nobody uses.
        var idle: [Connection] = []
        /// Readers in use, each with its thread.
        var busy: [Connection] = []
        /// Reading places given away; a connection may still be opening.
        var reading = 0
        var isWriting = false
        /// The thread that writes. Only a store in memory asks for it.
        var writingThread: pthread_t = 0
        var readersInLine: [Waiter] = []
        var writersInLine: [Waiter] = []
        /// Readers are held back for a moment, so that the log can start anew.
        var isHeldBack = false
        /// A read stood in the way of the log's new start: the last reader sees to it.
        var isLogLong = false
        /// Who waits until nobody reads.
        var quiet: Waiter?
        var isClosed = false
        /// Who waits until nobody uses a connection.
        var closing: [Waiter] = []
        /// nil once the store is closed. Used by whoever has the writing place.
        var writer: Connection?
    }
    let state: Mutex<State>

    init(
        writer: Connection, readerAccess: Connection.Access, counter: StatementCounter,
        prepareReader: @escaping (Connection) throws -> Void
    ) {
        path = writer.path
        options = writer.options
        isSingle = writer.isMemory
        self.counter = counter
        self.readerAccess = readerAccess
        self.prepareReader = prepareReader
        state = Mutex(State(writer: writer))
    }

    /// Connections close with their pool: readers first, so that the writer is the last and moves the log into the file.
    deinit { dismiss(state.withLock { $0.takeConnections() }) }

    // MARK: Writing

    func write<R>(_ body: (Connection) throws -> R) throws -> R {
        let writer = try enterWriting()
        if isSingle { return try writeInMemory(writer, body) }
        defer { leaveWriting() }
        let result = try writer.cancellable { try body(writer) }
        if writer.log.pages >= LogGauge.leastPages { restartLogIfLong(writer) }
        return result
    }

    private func enterWriting() throws -> Connection {
        switch state.withLock({ $0.writingPlace(isSingle ? pthread_self() : nil) }) {
        case .connection(let writer): return writer
        case .inLine(let waiter):
            try wait(for: waiter, in: \.writersInLine, "write")
            if let writer = state.withLock({ $0.writer }) { return writer }
            throw SQLiteError.closed(path)
        case .free, .closed: throw SQLiteError.closed(path)
        }
    }

    func leaveWriting() {
        let next: (Waiter?, [Connection], [Waiter]) = state.withLock { state in
            if !state.writersInLine.isEmpty { return (state.writersInLine.removeFirst().admit(), [], []) }
            state.isWriting = false
            return (nil, state.takeConnectionsIfDone(), state.takeClosers())
        }
        next.0?.wake()
        dismiss(next.1)
        for waiter in next.2 { waiter.wake() }
    }

    /// The one connection of a store in memory is given again to the thread that has it.
    private func writeInMemory<R>(_ connection: Connection, _ body: (Connection) throws -> R) throws -> R {
        let me = pthread_self()
        let isFirst = state.withLock { state in
            if state.writingThread == me { return false }
            state.writingThread = me
            return true
        }
        guard isFirst else { return try body(connection) }
        defer {
            state.withLock { $0.writingThread = 0 }
            leaveWriting()
        }
        return try connection.cancellable { try body(connection) }
    }

    // MARK: Reading

    func read<R>(_ body: (Connection) throws -> R) throws -> R {
        if isSingle { return try write(body) }
        let reader = try takeReader()
        defer { giveBack(reader) }
        return try reader.cancellable { try body(reader) }
    }

    fileprivate enum Place {
        case connection(Connection)
        case free, closed
        case inLine(Waiter)
    }

    private func takeReader() throws -> Connection {
        switch state.withLock({ $0.place(pthread_self(), limit: options.readerLimit) }) {
        case .connection(let reader): return reader
        case .free: return try openReader()
        case .closed: throw SQLiteError.closed(path)
        case .inLine(let waiter):
            try wait(for: waiter, in: \.readersInLine, "read")
            if let reader = state.withLock({ $0.takeIdle(pthread_self()) }) { return reader }
            return try openReader()
        }
    }

    /// A place is taken already.
    private func openReader() throws -> Connection {
        do {
            let reader = try Connection(path: path, access: readerAccess, options: options, counter: counter)
            try prepareReader(reader)
            reader.thread = pthread_self()
            state.withLock { $0.busy.append(reader) }
            return reader
        } catch {
            giveBack(nil)
            throw error
        }
    }

    private struct Departure {
        var woken: [Waiter] = []
        var dismissed: [Connection] = []
        var restartsLog = false
    }

    private func giveBack(_ reader: Connection?) {
        let departure: Departure = state.withLock { state in
            var departure = Departure()
            state.reading -= 1
            if let reader, let place = state.busy.firstIndex(where: { $0 === reader }) {
                state.busy.swapAt(place, state.busy.count - 1)
                state.busy.removeLast()
                if !state.isClosed, state.idle.count < options.idleReaders {
                    state.idle.append(reader)
                } else {
                    departure.dismissed.append(reader)
                }
            }
            if !state.readersInLine.isEmpty { departure.woken = state.admitReaders(limit: options.readerLimit) }
            guard state.reading == 0 else { return departure }
            if let quiet = state.quiet { departure.woken.append(quiet.admit()) }
            state.quiet = nil
            if state.isClosed {
                departure.dismissed += state.takeConnectionsIfDone()
                departure.woken += state.takeClosers()
            } else if state.isLogLong, !state.isWriting {
                state.isWriting = true
                departure.restartsLog = true
            }
            return departure
        }
        dismiss(departure.dismissed)
        for waiter in departure.woken { waiter.wake() }
        if departure.restartsLog {
            if let writer = state.withLock({ $0.writer }) { restartLogIfLong(writer, isLastReader: true) }
            leaveWriting()
        }
    }

    // MARK: Waiting and closing

    /// - Throws: 134090 when the place was not given in time, 134070 when the store was closed meanwhile, `CancellationError`
    ///   when the task that waits was cancelled.
    private func wait(
        for waiter: Waiter, in line: WritableKeyPath<State, [Waiter]>, _ purpose: String
    ) throws {
        counter.waited()
        if !waiter.wait(seconds: options.connectionTimeout) {
            let isLate = state.withLock { state in
                guard !waiter.isAdmitted else { return false }
                state[keyPath: line].removeAll { $0 === waiter }
                return true
            }
            if isLate, Cancellation.current?.isCancelled == true { throw CancellationError() }
            if isLate { throw SQLiteError.noConnection(path, purpose, options.connectionTimeout) }
        }
        if !waiter.isAdmitted { throw SQLiteError.closed(path) }
    }

    /// Refuses new work, waits until the work that has begun is done, and closes the file.
    ///
    /// - Throws: 134090 when work did not end in time. The store stays closed to new work; its file is closed when that
    ///   work ends.
    func close() throws {
        let waiter = Waiter()
        let (refused, dismissed, isDone) = state.withLock { state in
            state.isClosed = true
            let refused = state.readersInLine + state.writersInLine
            (state.readersInLine, state.writersInLine) = ([], [])
            let dismissed = state.takeConnectionsIfDone()
            let isDone = state.isIdle || state.isUsed(by: pthread_self())
            if !isDone { state.closing.append(waiter) }
            return (refused, dismissed, isDone)
        }
        for waiter in refused { waiter.wake() }
        dismiss(dismissed)
        if isDone || waiter.wait(seconds: options.connectionTimeout) { return }
        state.withLock { $0.closing.removeAll { $0 === waiter } }
        throw SQLiteError.stillUsed(path, options.connectionTimeout)
    }

    /// Closes connections in their order, the writer last, so that it moves the log into the file.
    private func dismiss(_ connections: [Connection]) {
        for connection in connections { connection.close() }
    }
}

extension Pool.State {
    fileprivate init(writer: Connection) { self.writer = writer }

    fileprivate var isIdle: Bool { reading == 0 && !isWriting }

    fileprivate func isUsed(by thread: pthread_t) -> Bool {
        busy.contains { $0.thread == thread } || (isWriting && writingThread == thread)
    }

    /// - Parameter holder: the thread that may write inside its own use; nil when none may.
    fileprivate mutating func writingPlace(_ holder: pthread_t?) -> Pool.Place {
        guard !isClosed, let writer else { return .closed }
        if isWriting, holder == nil || holder != writingThread {
            let waiter = Waiter()
            writersInLine.append(waiter)
            return .inLine(waiter)
        }
        isWriting = true
        return .connection(writer)
    }

    fileprivate mutating func place(_ thread: pthread_t, limit: Int) -> Pool.Place {
        if isClosed { return .closed }
        let isFree = reading < limit && readersInLine.isEmpty && !isHeldBack
        guard isFree || isUsed(by: thread) else {
            let waiter = Waiter()
            readersInLine.append(waiter)
            return .inLine(waiter)
        }
        reading += 1
        return takeIdle(thread).map { .connection($0) } ?? .free
    }

    fileprivate mutating func takeIdle(_ thread: pthread_t) -> Connection? {
        guard let reader = idle.popLast() else { return nil }
        reader.thread = thread
        busy.append(reader)
        return reader
    }

    /// Who may go on now; places are given.
    mutating func admitReaders(limit: Int) -> [Waiter] {
        guard !isHeldBack else { return [] }
        let count = min(max(limit - reading, 0), readersInLine.count)
        let admitted = readersInLine.prefix(count).map { $0.admit() }
        readersInLine.removeFirst(count)
        reading += count
        return admitted
    }

    /// All connections of a closed store once nobody uses one.
    fileprivate mutating func takeConnectionsIfDone() -> [Connection] {
        isClosed && isIdle ? takeConnections() : []
    }

    /// Readers first.
    fileprivate mutating func takeConnections() -> [Connection] {
        let all = idle + (writer.map { [$0] } ?? [])
        (idle, writer) = ([], nil)
        return all
    }

    fileprivate mutating func takeClosers() -> [Waiter] {
        guard isClosed, isIdle else { return [] }
        defer { closing = [] }
        return closing.map { $0.admit() }
    }
}
