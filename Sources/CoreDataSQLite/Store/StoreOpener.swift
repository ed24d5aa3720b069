// Opens a store's file, or creates it, or refuses and leaves everything as it was.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// A store whose file is open.
struct OpenedStore {
    let pool: Pool
    /// For the names that the file has.
    let plan: StorePlan
    let metadata: StoreMetadata
    /// What was asked for, and read-only where a history forbids changes.
    let options: SQLiteOptions
    fileprivate(set) var history: HistoryKeeping
    /// nil unless commits are recorded.
    let historyWriter: HistoryWriter?
}

/// Opens in two steps: *look at the path · connect · inspect*, which compares and changes nothing, and *create or refuse ·
/// configure*.
struct StoreOpener {
    let place: FilePlace
    let plan: StorePlan
    private(set) var options: SQLiteOptions
    let counter: StatementCounter

    private var path: String { place.path }
    private var map: StoreMap { plan.map }
    /// Whether changes are written of which no history is kept.
    private var recordsNothing: Bool {
        !options.recordsHistory && !options.isMigrating && !options.isReadOnly && !place.isMemory
    }

    func open() throws -> OpenedStore {
        let exists = try place.check(mustExist: options.isReadOnly)
        if place.isMemory, options.isReadOnly { throw notAStore("is no file (/dev/null means memory)") }
        let pragmas = Pragmas(options: options)
        let hasLog = place.hasLog
        do {
            let (connection, readerAccess) = try connect(exists: exists)
            // A refusal closes the connection: a log that it found stays as it is, one that it made goes.
            if hasLog { connection.checkpointsOnClose(false) }
            try pragmas.check(connection)
            let (content, joins, rTrees) = try content(connection)
            let records = options.recordsHistory || options.isMigrating && content == .history
            if content == .history, !records, !options.isReadOnly { return try openClosed() }
            // Of a store that is made here nobody else knows yet, and making it changes the schema again and again.
            connection.modelWatch.expectsNoHistory = content == .store && recordsNothing
            let metadata = try adoptOrCreate(try inspect(connection, content), connection, pragmas)
            var fitting = try fittingPlan(content == .none ? nil : joins, connection)
            if content != .none, !map.rTrees.isEmpty { fitting = try fitting.plan(rTrees: rTrees) }
            let hasRTrees = !map.rTrees.isEmpty || !rTrees.isEmpty
            try pragmas.configure(connection)
            let writer =
                records && !options.isReadOnly
                ? try HistoryWriter(map, keepsFormerValues: options.keepsFormerValues) : nil
            if options.recordsHistory { try writer?.prepare(connection) }
            try connection.limitsLog()
            connection.checkpointsOnClose(true)
            if connection.isMemory { try prepareWriter(connection, hasRTrees: hasRTrees) }
            connection.modelWatch.expect(metadata.versionHashes)
            connection.modelWatch.expectsNoHistory = recordsNothing
            let pool = Pool(
                first: connection, counter: counter, further: further(readerAccess, pragmas, metadata, hasRTrees))
            let isRecorded = records && (content == .history || writer != nil)
            return OpenedStore(
                pool: pool, plan: fitting, metadata: metadata, options: options,
                history: isRecorded ? .recorded : .none,
                historyWriter: writer)
        } catch {
            if !exists { place.removeIfNotStore() }
            throw error
        }
    }

    private func further(
        _ readerAccess: Connection.Access, _ pragmas: Pragmas, _ metadata: StoreMetadata, _ hasRTrees: Bool
    ) -> Pool.Further {
        Pool.Further(
            reader: {
                let reader = try connection(readerAccess)
                try pragmas.configureReader(reader)
                try reader.require(plan, metadata)
                return reader
            },
            writer: {
                let writer = try connection(options.isReadOnly ? readerAccess : .write)
                try pragmas.configure(writer)
                try writer.limitsLog()
                try writer.require(plan, metadata, recordsNothing: recordsNothing)
                return writer
            },
            prepareWriter: { try prepareWriter($0, hasRTrees: hasRTrees) })
    }

    /// What only a connection that writes needs: the functions that triggers call, and the length of its log.
    ///
    /// - Parameter hasRTrees: whether the file or the model has some. A model may have lost an index whose triggers the file still has: no
    ///   hash tells.
    private func prepareWriter(_ connection: Connection, hasRTrees: Bool) throws {
        DerivedFunctions.register(on: connection.handle, touched: connection.touched)
        if !options.isReadOnly { try ForeignTextTriggers(map: map).register(on: connection) }
        if hasRTrees { connection.trustsTriggers() }
        connection.watchesLog()
    }

    /// A log in a folder that may not be written cannot be opened; without a log the file can be read as it
    /// lies there.
    private func connect(exists: Bool) throws -> (Connection, Connection.Access) {
        if place.isMemory { return (try connection(.memory), .memory) }
        guard options.isReadOnly else {
            return (try connection(exists ? .write : .create), .read)
        }
        do {
            let connection = try connection(.read)
            try connection.run("SELECT COUNT(*) FROM sqlite_master")
            return (connection, .read)
        } catch let error as StoreError where place.mayBeReadAsItIs(error) {
            return (try connection(.immutable), .immutable)
        }
    }

    private func connection(_ access: Connection.Access) throws -> Connection {
        try Connection(path: path, access: access, options: options, counter: counter)
    }

    /// A store with a history that nobody asked for, opened without the right to write.
    private func openClosed() throws -> OpenedStore {
        var opener = self
        opener.options.isReadOnly = true
        var opened = try opener.open()
        opened.history = .closed
        return opened
    }

    /// What a file holds: no tables, others' tables, a store, or a store with a history.
    private enum Content { case none, other, store, history }

    /// Whether there are tables, Z_METADATA and a history's among them, how join tables are defined if the model needs some, and the names
    /// of R-trees, in one statement. It only lists: SQLite takes longer to compile what counts and compares than to answer it.
    private func content(_ connection: Connection) throws -> (Content, joins: String?, rTrees: Set<String>) {
        let definition = map.joins.isEmpty ? "" : ", \(SQLiteDialect.joinDefinition)"
        let statement = try Statement(
            "SELECT name\(definition) FROM sqlite_master WHERE type = 'table'", on: connection)
        defer { statement.finish() }
        var (content, hasMetadata, joins, rTrees) = (Content.none, false, [String](), Set<String>())
        while try statement.step() {
            if content == .none { content = .store }
            if statement.holds("Z_METADATA", at: 0) { hasMetadata = true }
            if statement.holds("ATRANSACTION", at: 0) { content = .history }
            if !map.joins.isEmpty, let join = statement.text(1) { joins.append(join) }
            if statement.begins(with: "Z_RT_", at: 0), let tree = statement.text(0) { rTrees.insert(tree) }
        }
        if content != .none, !hasMetadata { content = .other }
        return (content, map.joins.isEmpty ? nil : joins.joined(separator: "\n"), rTrees)
    }

    /// The plan for the names that the file gives its join tables.
    ///
    /// - Parameter joins: their definitions, nil where these were not read yet.
    private func fittingPlan(_ joins: String?, _ connection: Connection) throws -> StorePlan {
        if map.joins.isEmpty { return plan }
        let definitions =
            try joins
            ?? connection.run("SELECT \(SQLiteDialect.joinDefinitions) FROM sqlite_master WHERE type = 'table'")
        return try setup(connection).fittingPlan(definitions ?? "")
    }

    private func setup(_ connection: Connection) -> StoreSetup {
        StoreSetup(plan, connection, ignoresVersionHashes: options.ignoresVersionHashes)
    }

    /// A store that the model fits, or a new one.
    private func adoptOrCreate(_ found: StoreInspection, _ connection: Connection, _ pragmas: Pragmas) throws
        -> StoreMetadata
    {
        guard let metadata = found.metadata else {
            if options.isReadOnly { throw notAStore("holds no tables") }
            return try create(connection, pragmas)
        }
        try found.requireFit()
        return options.ignoresVersionHashes
            ? try setup(connection).adopt(metadata, isReadOnly: options.isReadOnly) : metadata
    }

    private func create(_ connection: Connection, _ pragmas: Pragmas) throws -> StoreMetadata {
        let definitions = try Definitions(map).statements(withoutSpatial: connection.missingRTrees(of: map))
        try pragmas.configureNewFile(connection)
        return try setup(connection).create(definitions)
    }

    private func notAStore(_ what: String) -> StoreError {
        StoreError(
            134080,
            "The file at \(path) \(what), so it is not a Core Data store. Check the path; nothing was changed.",
            path: path)
    }
}

// MARK: - Inspecting

extension StoreOpener {
    /// What lies at the path, and whether the plan's model fits it. A model that does not fit is an answer; nothing is changed.
    ///
    /// - Throws: what opening throws for a file that cannot be read, or is no store.
    func inspect() throws -> StoreInspection {
        guard !place.isMemory, try place.check(mustExist: false) else { return StoreInspection(nothingAt: path) }
        var reader = self
        reader.options.isReadOnly = true
        let hasLog = place.hasLog
        let (connection, _) = try reader.connect(exists: true)
        if hasLog { connection.checkpointsOnClose(false) }
        return try reader.inspect(connection, reader.content(connection).0)
    }

    private func inspect(_ connection: Connection, _ content: Content) throws -> StoreInspection {
        if content == .none { return StoreInspection(nothingAt: path) }
        guard content != .other, let found = try setup(connection).inspect() else {
            throw notAStore("is a SQLite database without Core Data's metadata")
        }
        return found
    }
}
