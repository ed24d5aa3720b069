// The connections of one store.

import CCoreDataRuntime
import CoreDataSQL
import CoreDataValues
import Foundation
import Synchronization

/// One writer and up to `SQLiteOptions.readerLimit` readers. A reader does not wait for the writer; who reads inside a
/// read gets a connection of his own, whatever the limit, since he would wait for himself.
///
/// A cursor has a reader until its end, also while it is paused; pinned views have connections of their own, up to
/// `SQLiteOptions.pinnedViewLimit` (`Lease`).
///
/// Places are given in the order in which they are asked for; who gets none in time is told so (134090). A store in
/// memory has one connection for all, which reads and writes in turn.
final class Pool: @unchecked Sendable {
    let path: String
    let options: SQLiteOptions
    let counter: StatementCounter
    /// Whether there is one connection for all, of a store in memory.
    let isSingle: Bool
    let further: Further

    /// How connections beyond the first one are made.
    struct Further {
        let reader: () throws -> Connection
        let writer: () throws -> Connection
        /// Called once for the connection that is to write, before it does.
        let prepareWriter: (Connection) throws -> Void
    }

    /// The files that views may ask for; nil for a store without such files. Set before the first use.
    var keptFiles: KeptFiles?

    let state: Mutex<State>

    /// - Parameter first: serves reads until somebody writes: opening a file costs as much as forty look-ups, and many
    ///   processes only read. A store in memory has no other one.
    init(first: Connection, counter: StatementCounter, further: Further) {
        path = first.path
        options = first.options
        isSingle = first.isMemory
        self.counter = counter
        self.further = further
        state = Mutex(State(first: first))
        Ticks.begin()
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
            try wait(for: waiter, in: \.writersInLine) {
                SQLiteError.noConnection(path, "write", options.connectionTimeout)
            }
            return try state.withLock({ $0.writer }) ?? makeWriter()
        case .free: return try makeWriter()
        case .closed: throw SQLiteError.closed(path)
        }
    }

    /// For the first write: the first connection, or another one if somebody reads with it. The place is taken already.
    private func makeWriter() throws -> Connection {
        do {
            let writer = try state.withLock { $0.takeWritable() } ?? further.writer()
            try further.prepareWriter(writer)
            state.withLock { $0.writer = writer }
            return writer
        } catch {
            leaveWriting()
            throw error
        }
    }

    func leaveWriting() {
        var emptying: Connection?
        let next: (Waiter?, [Connection], [Waiter]) = state.withLock { state in
            if !state.writersInLine.isEmpty {
                state.writingSince = coredata_ticks()
                return (state.writersInLine.removeFirst().admit(), [], [])
            }
            if state.isLogLong, state.isEmptiedByWriter {
                emptying = state.writer
                return (nil, [], [])
            }
            state.isWriting = false
            return (nil, state.takeConnectionsIfDone(), state.takeClosers())
        }
        if let emptying {
            restartLogIfLong(emptying, isLastReader: true)
            return leaveWriting()
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

    func takeReader() throws -> Connection {
        switch state.withLock({ $0.place(pthread_self(), limit: options.readerLimit) }) {
        case .connection(let reader): return reader
        case .free: return try openReader()
        case .closed: throw SQLiteError.closed(path)
        case .inLine(let waiter):
            try wait(for: waiter, in: \.readersInLine) {
                SQLiteError.noConnection(path, "read", options.connectionTimeout)
            }
            if let reader = state.withLock({ $0.takeIdle(pthread_self()) }) { return reader }
            return try openReader()
        }
    }

    /// A place is taken already.
    private func openReader() throws -> Connection {
        do {
            let reader = try further.reader()
            reader.thread = pthread_self()
            reader.usedSince = coredata_ticks()
            state.withLock { $0.busy.append(reader) }
            return reader
        } catch {
            giveBack(nil)
            throw error
        }
    }

    struct Departure {
        var woken: [Waiter] = []
        var dismissed: [Connection] = []
        var restartsLog = false
    }

    func giveBack(_ reader: Connection?) {
        if let reader, state.withLock({ $0.takeBack(reader, limit: options.idleReaders) }) { return }
        let departure: Departure = state.withLock { state in
            var departure = Departure()
            state.reading -= 1
            if let reader, let place = state.busy.firstIndex(where: { $0 === reader }) {
                state.busy.swapAt(place, state.busy.count - 1)
                state.busy.removeLast()
                state.keep(reader, limit: options.idleReaders)
            }
            if !state.readersInLine.isEmpty { departure.woken = state.admitReaders(limit: options.readerLimit) }
            if state.reading == 0 { state.end(of: &departure) }
            return departure
        }
        settle(departure)
    }

    func settle(_ departure: Departure) {
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
    func wait(
        for waiter: Waiter, in line: WritableKeyPath<State, [Waiter]>, _ tooLate: () -> StoreError
    ) throws {
        counter.waited()
        let start = DispatchTime.now().uptimeNanoseconds
        defer { tellWait(for: waiter, in: line, since: start) }
        if !waiter.wait(seconds: options.connectionTimeout) {
            let isLate = state.withLock { state in
                guard !waiter.isAdmitted else { return false }
                state[keyPath: line].removeAll { $0 === waiter }
                return true
            }
            if isLate, Cancellation.current?.isCancelled == true { throw CancellationError() }
            if isLate { throw tooLate() }
        }
        if !waiter.isAdmitted { throw SQLiteError.closed(path) }
    }

    private func tellWait(for waiter: Waiter, in line: WritableKeyPath<State, [Waiter]>, since start: UInt64) {
        guard let listener = options.listener, listener.isListening else { return }
        let purpose: ConnectionPurpose =
            line == \.writersInLine ? .write : line == \.readersInLine ? .read : .pinnedView
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        listener.hear(StoreWait(purpose: purpose, seconds: seconds, isAdmitted: waiter.isAdmitted), path: path)
    }

    /// Refuses new work, ends cursors that are paused and views that nobody reads, waits until the work that has begun is done, and
    /// closes the file.
    ///
    /// - Throws: 134090 when work did not end in time. The store stays closed to new work; its file is closed when that
    ///   work ends.
    func close() throws {
        state.withLock { $0.reopens = false }
        try end()
    }

    func end() throws {
        let (refused, leases) = state.withLock { state in
            state.isClosed = true
            let refused = state.readersInLine + state.writersInLine + state.viewsInLine
            (state.readersInLine, state.writersInLine, state.viewsInLine) = ([], [], [])
            return (refused, state.leases.values.compactMap(\.lease))
        }
        for waiter in refused { waiter.wake() }
        for lease in leases { lease.end() }
        let waiter = Waiter()
        let isUsedHere = leases.contains { $0.isUsed(by: pthread_self()) }
        let (dismissed, isDone) = state.withLock { state in
            let dismissed = state.takeConnectionsIfDone()
            let isDone =
                state.isIdle && (!dismissed.isEmpty || !state.isDismissing) || isUsedHere
                || state.isUsed(by: pthread_self())
            if !isDone { state.closing.append(waiter) }
            return (dismissed, isDone)
        }
        dismiss(dismissed)
        if isDone || waiter.wait(seconds: options.connectionTimeout) { return }
        state.withLock { $0.closing.removeAll { $0 === waiter } }
        throw SQLiteError.stillUsed(path, options.connectionTimeout)
    }

    /// Closes connections in their order, the writer last, so that it moves the log into the file.
    private func dismiss(_ connections: [Connection]) {
        guard !connections.isEmpty else { return }
        for connection in connections { connection.close() }
        let woken = state.withLock { state in
            state.isDismissing = false
            return state.takeClosers()
        }
        for waiter in woken { waiter.wake() }
    }
}
