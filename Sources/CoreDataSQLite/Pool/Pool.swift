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
/// A block of `write` reads a few rows over the writer's connection when nobody else writes: that has pages in its cache which every
/// reader has to read again after each commit.
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
    deinit { dismiss(state.withLock { $0.removeConnections() }) }

    /// Work on a connection, which ends early when a task waits for it and is cancelled.
    static func run<R>(_ body: (Connection) throws -> R, on connection: Connection) throws -> R {
        guard let cancellation = Cancellation.current else { return try body(connection) }
        return try connection.cancellable(by: cancellation) { try body(connection) }
    }

    // MARK: Writing

    func write<R>(_ body: (Connection) throws -> R) throws -> R {
        let writer = try checkOutWriter()
        if isSingle { return try writeInMemory(writer, body) }
        defer { checkInWriter() }
        let result = try Pool.run(body, on: writer)
        if writer.log.pages >= LogGauge.leastPages { restartLogIfLong(writer) }
        return result
    }

    private func checkOutWriter() throws -> Connection {
        switch state.withLock({ $0.reserveWriter(isSingle ? pthread_self() : nil) }) {
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
            let writer = try state.withLock { $0.removeWritable() } ?? further.writer()
            try further.prepareWriter(writer)
            state.withLock { $0.writer = writer }
            return writer
        } catch {
            checkInWriter()
            throw error
        }
    }

    func checkInWriter() {
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
            return (nil, state.removeConnectionsIfDone(), state.admitClosers())
        }
        if let emptying {
            restartLogIfLong(emptying, isLastReader: true)
            return checkInWriter()
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
            checkInWriter()
        }
        return try Pool.run(body, on: connection)
    }

    // MARK: Reading

    /// - Parameter isBrief: whether `body` reads few rows for a writer, and calls nobody else.
    func read<R>(isBrief: Bool = false, _ body: (Connection) throws -> R) throws -> R {
        if isSingle { return try write(body) }
        if isBrief, let writer = state.withLock({ $0.lendWriter() }) {
            defer { checkInWriter() }
            return try Pool.run(body, on: writer)
        }
        let reader = try checkOutReader()
        defer { checkIn(reader) }
        return try Pool.run(body, on: reader)
    }

    func checkOutReader() throws -> Connection {
        switch state.withLock({ $0.reserveReader(pthread_self(), limit: options.readerLimit) }) {
        case .connection(let reader): return reader
        case .free: return try openReader()
        case .closed: throw SQLiteError.closed(path)
        case .inLine(let waiter):
            try wait(for: waiter, in: \.readersInLine) {
                SQLiteError.noConnection(path, "read", options.connectionTimeout)
            }
            if let reader = state.withLock({ $0.checkOutIdle(pthread_self()) }) { return reader }
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
            checkIn(nil)
            throw error
        }
    }

    struct Departure {
        var woken: [Waiter] = []
        var dismissed: [Connection] = []
        var restartsLog = false
    }

    func checkIn(_ reader: Connection?) {
        if let reader, state.withLock({ $0.checkIn(reader, limit: options.idleReaders) }) { return }
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
        carryOut(departure)
    }

    func carryOut(_ departure: Departure) {
        dismiss(departure.dismissed)
        for waiter in departure.woken { waiter.wake() }
        if departure.restartsLog {
            if let writer = state.withLock({ $0.writer }) { restartLogIfLong(writer, isLastReader: true) }
            checkInWriter()
        }
    }
}

// MARK: - Who has which connection, and who waits for one

extension Pool {
    /// Under the pool's lock.
    struct State {
        /// Readers that nobody uses.
        var idle: [Connection] = []
        /// Readers in use, each with its thread.
        var busy: [Connection] = []
        /// Reading places given away; a connection may still be opening.
        var reading = 0
        var isWriting = false
        /// In ticks.
        var writingSince: UInt64 = 0
        /// The thread that writes. Only a store in memory asks for it.
        var writingThread: pthread_t = 0
        /// Places of pinned views given away.
        var views = 0
        /// Cursors' readers and views' connections.
        var leases: [ObjectIdentifier: KnownLease] = [:]
        var readersInLine: [Waiter] = []
        var viewsInLine: [Waiter] = []
        var writersInLine: [Waiter] = []
        /// Readers are held back for a moment, so that the log can start anew.
        var isHeldBack = false
        /// A read or a pinned view stood in the way of the log's new start: the last reader sees to it.
        var isLogLong = false
        /// Who waits until nobody reads.
        var quiet: Waiter?
        var isClosed = false
        /// Closed for one use alone, which opens it again if it fails and nobody closed it meanwhile.
        var reopens = false
        /// Somebody closes the connections, which takes a while: the last one moves the log into the file.
        var isDismissing = false
        /// Who waits until nobody uses a connection, and all are closed.
        var closing: [Waiter] = []
        /// nil until the first write, and once the store is closed. Used by whoever has the writing place.
        var writer: Connection?
    }

    enum Reservation {
        case connection(Connection)
        /// The place is taken; its connection is still to be opened.
        case free
        case closed
        case inLine(Waiter)
    }
}

extension Pool.State {
    init(first: Connection) {
        if first.isMemory { writer = first } else { idle = [first] }
    }

    var isIdle: Bool { reading == 0 && !isWriting && views == 0 }

    func isUsed(by thread: pthread_t) -> Bool {
        busy.contains { $0.thread == thread } || (isWriting && writingThread == thread)
    }

    /// - Parameter holder: the thread that may write inside its own use; nil when none may.
    mutating func reserveWriter(_ holder: pthread_t?) -> Pool.Reservation {
        if isClosed { return .closed }
        if isWriting, holder == nil || holder != writingThread {
            let waiter = Waiter()
            writersInLine.append(waiter)
            return .inLine(waiter)
        }
        isWriting = true
        writingSince = coredata_ticks()
        return writer.map { .connection($0) } ?? .free
    }

    /// The writer's connection, for a brief read; nil while somebody writes or waits to.
    mutating func lendWriter() -> Connection? {
        guard !isClosed, !isWriting, !isHeldBack, writersInLine.isEmpty, let writer else { return nil }
        (isWriting, writingSince) = (true, coredata_ticks())
        return writer
    }

    /// An idle connection that may write leaves the readers.
    mutating func removeWritable() -> Connection? {
        idle.firstIndex { $0.isWritable }.map { idle.remove(at: $0) }
    }

    mutating func reserveReader(_ thread: pthread_t, limit: Int) -> Pool.Reservation {
        if isClosed { return .closed }
        let isFree = reading < limit && readersInLine.isEmpty && !isHeldBack
        guard isFree || isUsed(by: thread) else {
            let waiter = Waiter()
            readersInLine.append(waiter)
            return .inLine(waiter)
        }
        reading += 1
        return checkOutIdle(thread).map { .connection($0) } ?? .free
    }

    mutating func reserveView(limit: Int) -> Pool.Reservation {
        if isClosed { return .closed }
        guard views < limit, viewsInLine.isEmpty else {
            let waiter = Waiter()
            viewsInLine.append(waiter)
            return .inLine(waiter)
        }
        views += 1
        return removeIdleReader().map { .connection($0) } ?? .free
    }

    /// One that only reads: the other may become the writer's.
    mutating func removeIdleReader() -> Connection? {
        idle.lastIndex { !$0.isWritable }.map { idle.remove(at: $0) }
    }

    mutating func checkOutIdle(_ thread: pthread_t) -> Connection? {
        guard let reader = idle.popLast() else { return nil }
        reader.thread = thread
        reader.usedSince = coredata_ticks()
        busy.append(reader)
        return reader
    }

    /// Checks a reader in if nobody waits for anything: false, and nothing is done, where there is more to see to.
    mutating func checkIn(_ reader: Connection, limit: Int) -> Bool {
        guard readersInLine.isEmpty, !isClosed, quiet == nil, !isLogLong, idle.count < limit, let last = busy.last
        else {
            return false
        }
        if last === reader {
            busy.removeLast()
        } else {
            guard let place = busy.firstIndex(where: { $0 === reader }) else { return false }
            busy[place] = last
            busy.removeLast()
        }
        reading -= 1
        idle.append(reader)
        return true
    }

    /// Keeps a reader for others, or closes it, here under the lock: outside, the closing of the store could be done before, and a
    /// reader that goes last leaves the log's files behind. A closed store closes all together, the writer last.
    mutating func keep(_ reader: Connection, limit: Int) {
        if isClosed || idle.count < limit || reader.isWritable { idle.append(reader) } else { reader.close() }
    }

    /// Nobody reads any more.
    mutating func end(of departure: inout Pool.Departure) {
        if let quiet { departure.woken.append(quiet.admit()) }
        quiet = nil
        if isClosed {
            departure.dismissed += removeConnectionsIfDone()
            departure.woken += admitClosers()
        } else if isLogLong, !isWriting, views == 0 {
            isWriting = true
            departure.restartsLog = true
        }
    }

    /// Whether the last reader or view went while somebody wrote: the writer empties the log then, before it leaves.
    var isEmptiedByWriter: Bool { reading == 0 && views == 0 && !isClosed && writer != nil }

    /// Who may go on now; places are given.
    mutating func admitReaders(limit: Int) -> [Waiter] {
        guard !isHeldBack else { return [] }
        let count = min(max(limit - reading, 0), readersInLine.count)
        let admitted = readersInLine.prefix(count).map { $0.admit() }
        readersInLine.removeFirst(count)
        reading += count
        return admitted
    }
}

// MARK: - As those see it who read and write any database

extension Pool: SQLSource {
    func read(_ view: ReadView, isBrief: Bool, _ body: (any SQLReading) throws -> Void) throws {
        switch view {
        case .latest: try read(isBrief: isBrief) { try body($0) }
        case .pinned(let view): try read(pinned: view, body)
        }
    }

    @inline(never)
    private func read(pinned view: any PinnedView, _ body: (any SQLReading) throws -> Void) throws {
        try lease(of: view).use { try body($0) }
    }

    /// The only connection of a store in memory is lent to nobody who might keep it, and without a log readers that stay would keep
    /// writers out.
    func hold(_ view: ReadView, _ ready: (any SQLReading) throws -> any SQLResult) throws -> (any HeldResult)? {
        switch view {
        case .pinned(let view): return try HeldStatement(lease(of: view), ownsLease: false, ready)
        case .latest where !pinsViews: return nil
        case .latest: return try HeldStatement(leaseReader(), ownsLease: true, ready)
        }
    }

    func writing(_ body: (any SQLSession) throws -> Void) throws { try write { try body($0) } }

    private func lease(of view: any PinnedView) throws -> Lease {
        guard let own = view as? SQLiteView, own.lease.pool === self else { throw ReadView.foreign }
        return own.lease
    }
}
