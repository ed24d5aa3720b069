// A connection as those see it who read and write any database.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

extension Connection: SQLSession {
    var dialect: any SQLDialect { SQLiteDialect() }

    func foreignChanges() throws -> Int64 {
        let statement = try statement(.dataVersion) { "PRAGMA data_version" }
        defer { statement.finish() }
        return try statement.step() ? statement.int(0) : 0
    }

    // MARK: Rows

    func insert(_ rows: Range<Int>, of chunk: RowChunk, each count: Int, _ texts: WriteCompiler) throws -> SQLRefusal? {
        let entity = chunk.layout.entity
        let binder = cache.binder(of: texts.map.schema[entity]) { texts.stored(of: entity) }
        let statement = try statement(.insert(entity, rows: count), texts)
        var start = rows.lowerBound
        while start < rows.upperBound {
            // Each run binds all parameters, so none needs to be cleared.
            defer { statement.finish(clears: false) }
            try binder.bindWhole(start..<(start + count), of: chunk, to: statement)
            if let error = try refused(statement) { return SQLRefusal(row: start, error: error) }
            start += count
        }
        return nil
    }

    func update(_ rows: Range<Int>, of group: UpdateGroup, slots: [Int], _ texts: WriteCompiler) throws -> SQLRefusal? {
        let binder = slots.isEmpty ? nil : RowBinder(entity: texts.map.schema[group.entity], slots: slots)
        let statement = try statement(.update(group.entity, slots: slots), texts)
        let layout = group.chunk.layout
        for index in rows {
            let row = group.chunk.row(index)
            // Each run binds all parameters, so none needs to be cleared.
            defer { statement.finish(clears: false) }
            try statement.bind(1, version: row.version(layout))
            try binder?.bind(row, of: group.chunk, to: statement, from: 2)
            try statement.bind(2 + slots.count, row.key(layout))
            try statement.bind(3 + slots.count, version: group.expected[index])
            if let error = try refused(statement) { return SQLRefusal(row: index, error: error) }
            if sqlite3_changes(handle) != 1 { return SQLRefusal(row: index) }
        }
        return nil
    }

    func delete(_ rows: Range<Int>, of group: DeleteGroup, each count: Int, _ texts: WriteCompiler) throws
        -> SQLRefusal?
    {
        let statement = try statement(.delete(group.entity, rows: count), texts)
        var start = rows.lowerBound
        while start < rows.upperBound {
            defer { statement.finish(clears: false) }
            try statement.bind(1, version: group.expected[start])
            for index in 0..<count { try statement.bind(2 + index, group.numbers[start + index]) }
            _ = try statement.step()
            if Int(sqlite3_changes(handle)) != count { return SQLRefusal(row: start) }
            start += count
        }
        return nil
    }

    func insertNew(_ rows: Range<Int>, of chunk: RowChunk, _ shape: SQLShape, _ texts: WriteCompiler) throws -> [Int64]
    {
        let entity = chunk.layout.entity
        let binder = cache.binder(of: texts.map.schema[entity]) { texts.stored(of: entity) }
        let statement = try statement(shape, texts)
        defer { statement.finish() }
        try binder.bindWhole(rows, of: chunk, to: statement)
        var written: [Int64] = []
        while try statement.step() { written.append(statement.int(0)) }
        return written
    }

    func assign(
        _ slots: [Int], of chunk: RowChunk, row: Int, to key: Int64, _ shape: SQLShape, _ texts: WriteCompiler
    ) throws {
        let binder = RowBinder(entity: texts.map.schema[chunk.layout.entity], slots: slots)
        let statement = try statement(shape, texts)
        defer { statement.finish() }
        try binder.bind(chunk.row(row), of: chunk, to: statement, from: 1)
        try statement.bind(1 + slots.count, key)
        _ = try statement.step()
    }

    /// Runs a statement to its end, which answers nothing; the error of a uniqueness constraint that it breaks.
    private func refused(_ statement: Statement) throws -> StoreError? {
        do {
            _ = try statement.step()
            return nil
        } catch let error as StoreError where SQLiteError.isUniqueness(error) {
            return error
        }
    }

    // MARK: Statements

    /// A statement kept for the next use of the same text.
    func statement(_ sql: String) throws -> Statement {
        if let known = cache[sql], !(isNested && known.isRunning) { return known }
        let statement = try Statement(sql, on: self)
        cache.insert(statement, for: sql)
        return statement
    }

    /// A statement kept under a small key, so that its text is neither built nor hashed again.
    private func statement(_ key: SQLShape, _ sql: () throws -> String) throws -> Statement {
        if let known = cache.kept(key), !(isNested && known.isRunning) { return known }
        let statement = try Statement(sql(), on: self)
        cache.insert(statement, for: key)
        return statement
    }

    /// The statement that reads one row of a tree, found without a look at the others.
    private func rowStatement(_ root: EntityIndex, _ sql: () throws -> String) throws -> Statement {
        if root.value < rowStatements.count, let known = rowStatements[root.value], !(isNested && known.isRunning) {
            return known
        }
        let statement = try Statement(sql(), on: self)
        while rowStatements.count <= root.value { rowStatements.append(nil) }
        rowStatements[root.value] = statement
        return statement
    }

    private func statement(_ shape: SQLShape, _ texts: WriteCompiler) throws -> Statement {
        if case .text(let text) = shape { return try statement(text) }
        return try statement(shape) { try texts.text(of: shape) }
    }

    func run(_ shape: SQLShape, each width: Int, of numbers: [Int64], _ texts: WriteCompiler) throws {
        if numbers.isEmpty { return }
        let statement = try statement(shape, texts)
        for start in stride(from: 0, to: numbers.count, by: width) {
            defer { statement.finish(clears: false) }
            for place in 0..<width { try statement.bind(place + 1, numbers[start + place]) }
            _ = try statement.step()
        }
    }

    @discardableResult
    func run(_ shape: SQLShape, _ values: [Value], _ texts: WriteCompiler) throws -> Int {
        try changes(by: statement(shape, texts), values)
    }

    @discardableResult
    func run(_ text: String, _ values: [Value]) throws -> Int { try changes(by: Statement(text, on: self), values) }

    private func changes(by statement: Statement, _ values: [Value]) throws -> Int {
        defer { statement.finish() }
        try statement.bind(values)
        while try statement.step() {}
        return Int(sqlite3_changes(handle))
    }

    func numbers(_ shape: SQLShape, each width: Int, _ values: [Value], _ texts: WriteCompiler) throws -> [Int64?] {
        let statement = try statement(shape, texts)
        defer { statement.finish() }
        try statement.bind(values)
        var numbers: [Int64?] = []
        // To its end, as all statements that write.
        while try statement.step() {
            for column in 0..<width { numbers.append(statement.isNull(column) ? nil : statement.int(column)) }
        }
        return numbers
    }

    func numbers(_ text: String, each width: Int, _ values: [Value], _ receive: ([Int64?]) throws -> Void) throws {
        let statement = try Statement(text, on: self)
        defer { statement.finish() }
        try statement.bind(values)
        let limit = 1024 * width
        var numbers: [Int64?] = []
        while try statement.step() {
            for column in 0..<width { numbers.append(statement.isNull(column) ? nil : statement.int(column)) }
            if numbers.count >= limit {
                try receive(numbers)
                numbers.removeAll(keepingCapacity: true)
            }
        }
        if !numbers.isEmpty { try receive(numbers) }
    }

    func words(_ shape: SQLShape, each width: Int, _ values: [Value], _ texts: WriteCompiler) throws -> [String?] {
        let statement = try statement(shape, texts)
        defer { statement.finish() }
        try statement.bind(values)
        var words: [String?] = []
        while try statement.step() { for column in 0..<width { words.append(statement.text(column)) } }
        return words
    }

    func tuples(_ text: String, _ values: [Value]) throws -> [[Value]] {
        let statement = try Statement(text, on: self)
        defer { statement.finish() }
        try statement.bind(values)
        var rows: [[Value]] = []
        while try statement.step() { rows.append(statement.tuple) }
        return rows
    }

    // MARK: Results

    func open(_ selection: SelectionCache.Known) throws -> any SQLResult {
        let statement =
            if let number = selection.number { try statement(.select(number)) { selection.sql } } else {
                try statement(selection.sql)
            }
        try statement.bind(selection.bindings)
        return begun(statement)
    }

    func open(_ text: String, _ values: [Value]) throws -> any SQLResult {
        try addsDecimals(for: text)
        let statement = try statement(text)
        try statement.bind(values)
        return begun(statement)
    }

    func open(_ shape: SQLShape, key: Int64, _ rows: RowShape, _ texts: SelectCompiler) throws -> any SQLResult {
        let statement: Statement
        if case .row(let root) = shape {
            statement = try rowStatement(root) { try texts.text(of: shape, rows) }
        } else {
            statement = try self.statement(shape) { try texts.text(of: shape, rows) }
        }
        try statement.bind(1, key)
        return begun(statement)
    }

    func open(_ shape: SQLShape, keys: [Int64], _ rows: RowShape, _ texts: SelectCompiler) throws -> any SQLResult {
        let statement = try statement(shape) { try texts.text(of: shape, rows) }
        try statement.bind(1, texts.map.dialect.list(keys))
        return begun(statement)
    }

    private func begun(_ statement: Statement) -> Statement {
        statement.begin()
        statement.isReading = true
        return statement
    }

    func isMember(_ member: Int64, of owner: Int64, in relationship: RelationshipIndex, _ texts: SelectCompiler) throws
        -> Bool
    {
        let statement = try statement(.membership(relationship)) {
            try texts.membership(in: texts.map.schema[relationship])
        }
        defer { statement.finish(clears: false) }
        try statement.bind(1, owner)
        try statement.bind(2, member)
        return try statement.step()
    }

    func isOfStatement(_ error: StoreError) -> Bool {
        error.sqliteCode.map { [SQLITE_ERROR, SQLITE_CONSTRAINT].contains($0 & 0xff) } ?? false
    }

    func duplicate(_ error: StoreError) -> String? {
        let words = "UNIQUE constraint failed: "
        guard SQLiteError.isUniqueness(error), let message = error.engine?.message, message.hasPrefix(words) else {
            return nil
        }
        return String(message.dropFirst(words.count))
    }
}
