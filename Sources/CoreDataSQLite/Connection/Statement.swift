// One prepared statement.

import CCoreDataRuntime
import CCoreDataSQLite
import CoreDataValues
import Foundation
import Synchronization

/// A statement and its current run: bind, step until done, finish. `finish` resets it, lets go of bound
/// memory and reports the run.
///
/// Whoever holds the connection uses its statements, one call at a time; what changes here is not checked for exclusivity, which
/// took 90 instructions an access, six accesses a run.
final class Statement {
    let handle: OpaquePointer
    let sql: String
    /// Whoever uses the statement holds its connection.
    unowned(unsafe) let connection: Connection
    private let counter: StatementCounter
    private let running: RunningStatement
    /// Whether runs are observed, of this store or another.
    private var isObserved: Bool { coredata_is_observed() }
    @exclusivity(unchecked) private(set) var isRunning = false
    @exclusivity(unchecked) private var trace: Trace?

    private struct Trace {
        var bindings: [String] = []
        /// Whether its run has begun: what is bound after that is the next one's, whose observer came in between.
        var isBegun = false
        var start = DispatchTime.now().uptimeNanoseconds
        var rows = 0
        /// Rows that the connection had changed before.
        var changed: Int32 = 0
    }

    init(_ sql: String, on connection: Connection) throws {
        var prepared: OpaquePointer?
        connection.modelWatch.isPreparing = true
        let code = sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        connection.modelWatch.isPreparing = false
        guard code == SQLITE_OK, let prepared else {
            throw connection.error(code, doing: "Preparing a statement", sql: sql)
        }
        handle = prepared
        self.sql = sql
        rowsLieStill = sql.withCString { strstr($0, "UNION") == nil }
        self.connection = connection
        counter = connection.counter
        running = connection.running
        notesBindings = connection.options.observesBindings && connection.options.observer != nil
        counter.prepared()
    }

    deinit {
        running.forget(self)
        heldNulls?.deallocate()
        texts.drop()
        sqlite3_finalize(handle)
    }

    /// The version of all rows that it inserted last, which is bound still; nil where they had several.
    @exclusivity(unchecked) var versions: Int32?

    /// Which parameters hold NULL, by their numbers, for whoever binds all of them himself: at first all do.
    var nulls: UnsafeMutablePointer<Bool> { heldNulls ?? makeNulls() }
    @exclusivity(unchecked) private var heldNulls: UnsafeMutablePointer<Bool>?
    private var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

    @inline(never)
    private func makeNulls() -> UnsafeMutablePointer<Bool> {
        let nulls = UnsafeMutablePointer<Bool>.allocate(capacity: parameterCount + 1)
        nulls.initialize(repeating: true, count: parameterCount + 1)
        heldNulls = nulls
        return nulls
    }

    /// Whether all rows of a run lie in the same place: it is one SELECT. Debug builds look at each row.
    let rowsLieStill: Bool
    // Of a run whose rows are read by the chunk, which whoever reads them says.
    @exclusivity(unchecked) var isReading = false
    /// Whether the last row was read: another step would begin anew.
    @exclusivity(unchecked) var isDone = false
    @exclusivity(unchecked) var rowsRead = 0
    @exclusivity(unchecked) var mixed: MixedRows?

    /// How the values of its rows are found. Asked for when a row is there.
    var values: RowValues {
        if let known = measured { return known }
        let values = RowValues(measuring: handle)
        measured = values
        return values
    }
    @exclusivity(unchecked) private var measured: RowValues?

    // MARK: Running

    /// Whether a row is there.
    func step() throws -> Bool {
        begin()
        switch sqlite3_step(handle) {
        case SQLITE_ROW:
            if isObserved { trace?.rows += 1 }
            return true
        case SQLITE_DONE:
            return false
        case let code:
            throw connection.error(code, doing: "Running a statement", sql: sql)
        }
    }

    /// Whether a row is there, of a run that nobody is told of and that counts as none.
    func stepUntold() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw connection.error(code, doing: "Explaining a statement", sql: sql)
        }
    }

    /// Marks the start of a run; whoever steps the handle by himself calls it first.
    func begin() {
        guard !isRunning else { return }
        isRunning = true
        counter.ran()
        running.current.store(Unmanaged.passUnretained(self).toOpaque(), ordering: .releasing)
        if isObserved { beginTrace() }
    }

    @inline(never)
    private func beginTrace() {
        if trace?.isBegun ?? true { trace = Trace() }
        trace?.isBegun = true
        trace?.changed = sqlite3_total_changes(connection.handle)
        trace?.start = DispatchTime.now().uptimeNanoseconds
    }

    /// - Parameter clears: whether bound values are let go; false for a caller who binds every parameter before each run.
    func finish(clears: Bool = true) {
        let end = isObserved ? DispatchTime.now().uptimeNanoseconds : 0
        sqlite3_reset(handle)
        if clears {
            sqlite3_clear_bindings(handle)
            texts.used = 0
            versions = nil
            heldNulls?.update(repeating: true, count: parameterCount + 1)
        }
        isRunning = false
        let rows = isReading ? endReading() : 0
        if isObserved, end > 0 { endTrace(end, rows) }
    }

    @inline(never)
    private func endTrace(_ end: UInt64, _ rows: Int) {
        guard let trace, trace.isBegun else { return }
        self.trace = nil
        let observer = connection.options.observer
        let listener = connection.options.listener.flatMap { $0.isListening ? $0 : nil }
        guard observer != nil || listener != nil else { return }
        let changes = Int(sqlite3_total_changes(connection.handle) - trace.changed)
        let asker = PlanAsker(connection, sql)
        defer { asker.close() }
        let event = StatementEvent(
            // A statement that changes rows and returns them touches each once.
            sql: sql, bindings: trace.bindings, bindingCount: parameterCount, rows: max(trace.rows + rows, changes),
            seconds: Double(end - trace.start) / 1e9, plan: { asker.steps() })
        observer?(event)
        listener?.hear(event, path: connection.path)
    }

    /// Answers how many rows were read.
    private func endReading() -> Int {
        let rows = rowsRead
        (isReading, isDone, rowsRead, mixed) = (false, false, 0, nil)
        if rows > 0 { counter.moved(rows) }
        return rows
    }

    // MARK: Binding

    /// Binds one value; numbers of parameters start at 1.
    func bind(_ index: Int, _ value: Value) throws {
        note { value }
        switch value {
        case .null: try check(sqlite3_bind_null(handle, Int32(index)))
        case .bool(let flag): try check(sqlite3_bind_int64(handle, Int32(index), flag ? 1 : 0))
        case .int(let number): try check(sqlite3_bind_int64(handle, Int32(index), number))
        case .double(let number), .date(let number):
            try check(sqlite3_bind_double(handle, Int32(index), number))
        case .decimal(let number):
            try check(sqlite3_bind_double(handle, Int32(index), Double(number.description) ?? .nan))
        case .text(let text), .uri(let text): try bind(index, text: text)
        case .data(let data): try data.withUnsafeBytes { try bind(index, blob: $0) }
        case .uuid(let uuid):
            try withUnsafeBytes(of: uuid.uuid) { try bind(index, blob: $0) }
        case .key(let key): try check(sqlite3_bind_int64(handle, Int32(index), key.number))
        }
    }

    func bind(_ values: [Value]) throws {
        for index in values.indices { try bind(index + 1, values[index]) }
    }

    func bind(_ index: Int, _ number: Int64) throws {
        if notesBindings { note { .int(number) } }
        let code = sqlite3_bind_int64(handle, Int32(truncatingIfNeeded: index), number)
        if code != SQLITE_OK { try check(code) }
    }

    /// A version, -1 for NULL.
    func bind(_ index: Int, version: Int32) throws {
        if version < 0 { try bind(index, Value.null) } else { try bind(index, Int64(version)) }
    }

    /// Where short texts lie that are bound.
    @exclusivity(unchecked) private var texts = BoundTexts()

    private func bind(_ index: Int, text: String) throws {
        var text = text
        try text.withUTF8 { bytes in
            guard let size = Int32(exactly: bytes.count) else { throw tooLarge(bytes.count) }
            if let kept = texts.keep(bytes) {
                return try check(coredata_sqlite_bind_text_static(handle, Int32(index), kept, size))
            }
            let code = (bytes.baseAddress ?? UnsafePointer(emptyByte)).withMemoryRebound(
                to: CChar.self, capacity: bytes.count
            ) {
                coredata_sqlite_bind_text_transient(handle, Int32(index), $0, size)
            }
            try check(code)
        }
    }

    private func bind(_ index: Int, blob: UnsafeRawBufferPointer) throws {
        guard let size = Int32(exactly: blob.count) else { throw tooLarge(blob.count) }
        let base = blob.baseAddress ?? UnsafeRawPointer(emptyByte)
        try check(coredata_sqlite_bind_blob_transient(handle, Int32(index), base, size))
    }

    func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw connection.error(code, doing: "Binding a value", sql: sql) }
    }

    func tooLarge(_ count: Int) -> StoreError {
        StoreError(
            134180,
            "A value of \(count) bytes is larger than SQLite can store. Keep it in a file of its own.",
            path: connection.path, sql: sql)
    }

    /// Whether somebody wants to see what is bound.
    let notesBindings: Bool

    func note(_ value: () -> Value) {
        guard notesBindings else { return }
        if trace?.isBegun ?? true { trace = Trace() }
        trace?.bindings.append(value().bindingText)
    }

    // MARK: Reading

    func int(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

    func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }

    /// A value by what its property is, whatever SQLite keeps it as.
    func value(_ column: Int, _ kind: SlotKind) -> Value {
        if isNull(column) { return .null }
        switch kind {
        case .int, .toOne, .entityTag: return .int(int(column))
        case .bool: return .bool(int(column) != 0)
        case .double, .float: return .double(double(column))
        case .date: return .date(double(column))
        case .decimal: return text(column).flatMap { Decimal(cell: $0) }.map { .decimal($0) } ?? .null
        case .text: return text(column).map { .text($0) } ?? .null
        case .uri: return text(column).map { .uri($0) } ?? .null
        case .data, .externalData, .transformable: return .data(data(column) ?? Data())
        case .uuid:
            guard let bytes = data(column), bytes.count == 16 else { return .null }
            return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        }
    }

    /// Whether a column holds just this text.
    func holds(_ text: StaticString, at column: Int) -> Bool {
        guard let bytes = sqlite3_column_text(handle, Int32(column)) else { return false }
        return text.withUTF8Buffer {
            Int(sqlite3_column_bytes(handle, Int32(column))) == $0.count
                && $0.elementsEqual(UnsafeBufferPointer(start: bytes, count: $0.count))
        }
    }

    /// Whether a column holds a text that begins with this one.
    func begins(with text: StaticString, at column: Int) -> Bool {
        guard let bytes = sqlite3_column_text(handle, Int32(column)) else { return false }
        return text.withUTF8Buffer {
            Int(sqlite3_column_bytes(handle, Int32(column))) >= $0.count
                && $0.elementsEqual(UnsafeBufferPointer(start: bytes, count: $0.count))
        }
    }

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    func text(_ column: Int) -> String? {
        guard let bytes = sqlite3_column_text(handle, Int32(column)) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func data(_ column: Int) -> Data? {
        guard let bytes = sqlite3_column_blob(handle, Int32(column)) else { return nil }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }

    /// A version, -1 for NULL.
    func version(_ column: Int) -> Int32 { isNull(column) ? -1 : Int32(truncatingIfNeeded: int(column)) }
}

/// What an empty value points at: SQLite takes a null pointer for NULL.
nonisolated(unsafe) let emptyByte: UnsafeMutablePointer<UInt8> = {
    let byte = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    byte.initialize(to: 0)
    return byte
}()

/// Memory of a statement for its short texts, so that SQLite need not copy each into memory of its own (250 instructions). What does not
/// fit SQLite copies. What is bound stays until the bindings are cleared.
struct BoundTexts {
    private static let capacity = 256
    private var memory: UnsafeMutablePointer<CChar>?
    var used = 0

    /// Copies a text; nil where there is no room.
    @inline(__always)
    mutating func keep(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
        guard bytes.count <= BoundTexts.capacity - used else { return nil }
        let start = (memory ?? makeMemory()) + used
        if let base = bytes.baseAddress { memcpy(start, base, bytes.count) }
        used &+= bytes.count
        return UnsafePointer(start)
    }

    @inline(never)
    private mutating func makeMemory() -> UnsafeMutablePointer<CChar> {
        let made = UnsafeMutablePointer<CChar>.allocate(capacity: BoundTexts.capacity)
        memory = made
        return made
    }

    func drop() { memory?.deallocate() }
}

/// How many statements a store has prepared and run.
package struct StatementCounts: Sendable, Equatable {
    package var prepared = 0
    package var run = 0
    /// Rows read for objects, and rows of objects written.
    package var rows = 0
    /// How often somebody waited for a connection.
    package var waits = 0
    /// How often a long log was to start anew.
    package var logRestarts = 0
    /// Views that are pinned now.
    package var pinnedViews = 0
    package init() {}
}

/// Counts over all connections of a store.
final class StatementCounter: Sendable {
    private let preparedCount = Atomic<Int>(0)
    private let runCount = Atomic<Int>(0)
    private let rowCount = Atomic<Int>(0)
    private let waitCount = Atomic<Int>(0)
    private let restartCount = Atomic<Int>(0)
    private let commitCount = Atomic<Int>(0)

    var counts: StatementCounts {
        var counts = StatementCounts()
        counts.prepared = preparedCount.load(ordering: .relaxed)
        counts.run = runCount.load(ordering: .relaxed)
        counts.rows = rowCount.load(ordering: .relaxed)
        counts.waits = waitCount.load(ordering: .relaxed)
        counts.logRestarts = restartCount.load(ordering: .relaxed)
        return counts
    }
    func prepared() { preparedCount.wrappingAdd(1, ordering: .relaxed) }
    func moved(_ rows: Int) { rowCount.wrappingAdd(rows, ordering: .relaxed) }
    func waited() { waitCount.wrappingAdd(1, ordering: .relaxed) }
    func emptiedLog() { restartCount.wrappingAdd(1, ordering: .relaxed) }
    /// How often the log has had a commit of the connection that writes.
    var commits: Int { commitCount.load(ordering: .acquiring) }
    func committed() { commitCount.wrappingAdd(1, ordering: .releasing) }
    func ran() { runCount.wrappingAdd(1, ordering: .relaxed) }
}
