// Who has which connection of a pool, and who waits for one.

import CCoreDataRuntime
import CoreDataValues
import Foundation

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

    enum Place {
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
    mutating func writingPlace(_ holder: pthread_t?) -> Pool.Place {
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

    /// An idle connection that may write leaves the readers.
    mutating func takeWritable() -> Connection? {
        idle.firstIndex { $0.isWritable }.map { idle.remove(at: $0) }
    }

    mutating func place(_ thread: pthread_t, limit: Int) -> Pool.Place {
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

    mutating func viewPlace(limit: Int) -> Pool.Place {
        if isClosed { return .closed }
        guard views < limit, viewsInLine.isEmpty else {
            let waiter = Waiter()
            viewsInLine.append(waiter)
            return .inLine(waiter)
        }
        views += 1
        return takeIdleReader().map { .connection($0) } ?? .free
    }

    /// One that only reads: the other may become the writer's.
    mutating func takeIdleReader() -> Connection? {
        idle.lastIndex { !$0.isWritable }.map { idle.remove(at: $0) }
    }

    mutating func takeIdle(_ thread: pthread_t) -> Connection? {
        guard let reader = idle.popLast() else { return nil }
        reader.thread = thread
        reader.usedSince = coredata_ticks()
        busy.append(reader)
        return reader
    }

    /// Takes a reader back if nobody waits for anything: false, and nothing is done, where there is more to see to.
    mutating func takeBack(_ reader: Connection, limit: Int) -> Bool {
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
            departure.dismissed += takeConnectionsIfDone()
            departure.woken += takeClosers()
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

    /// All connections of a closed store once nobody uses one.
    mutating func takeConnectionsIfDone() -> [Connection] {
        guard isClosed, isIdle else { return [] }
        let all = takeConnections()
        if !all.isEmpty { isDismissing = true }
        return all
    }

    /// Those that only read first.
    mutating func takeConnections() -> [Connection] {
        let all = idle.filter { !$0.isWritable } + idle.filter { $0.isWritable } + (writer.map { [$0] } ?? [])
        (idle, writer) = ([], nil)
        return all
    }

    mutating func takeClosers() -> [Waiter] {
        guard isClosed, isIdle, !isDismissing else { return [] }
        defer { closing = [] }
        return closing.map { $0.admit() }
    }
}
