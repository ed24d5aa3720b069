// Inserts, updates and deletes of rows.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Writes the groups of a batch inside a transaction and answers the rows that were not as expected.
struct RowWriter {
    let plan: StorePlan
    let connection: Connection
    private var map: StoreMap { plan.map }
    private var compiler: WriteCompiler { plan.writes }
    private var constraints: ConstraintNames { plan.constraints }

    // MARK: Insert

    func insert(_ chunk: RowChunk, _ conflicts: inout [Conflict]) throws {
        let entity = map.schema[chunk.layout.entity]
        let binder = try connection.binder(of: entity) { try compiler.storedSlots(of: entity) }
        var start = 0
        while start < chunk.count {
            let rows = WriteCompiler.rowsOfInsert(left: chunk.count - start, parameters: binder.slots.count + 2)
            let range = start..<(start + rows)
            if let broken = try insert(range, of: chunk, binder) {
                conflicts += try rows == 1 ? [broken] : insertSingly(range, of: chunk, binder)
            }
            start += rows
        }
    }

    /// Several rows at once do not say which of them broke the constraint.
    private func insertSingly(_ range: Range<Int>, of chunk: RowChunk, _ binder: RowBinder) throws
        -> [Conflict]
    {
        try range.compactMap { try insert($0..<($0 + 1), of: chunk, binder) }
    }

    private func insert(_ range: Range<Int>, of chunk: RowChunk, _ binder: RowBinder) throws -> Conflict? {
        let layout = chunk.layout
        let statement = try connection.statement(.insert(layout.entity, rows: range.count)) {
            try compiler.insert(binder.entity, rows: range.count)
        }
        // Each run binds all parameters, so none needs to be cleared.
        defer { statement.finish(clears: false) }
        var parameter = 1
        for index in range {
            let row = chunk.row(index)
            try binder.bindWhole(row, of: chunk, to: statement, from: parameter)
            parameter += 2 + binder.slots.count
        }
        let row = chunk.row(range.lowerBound)
        return try run(
            statement, key: RowKey(entity: row.entity(layout), number: row.key(layout)), expected: 0)
    }

    // MARK: Update

    func update(_ group: UpdateGroup, _ conflicts: inout [Conflict]) throws {
        let entity = map.schema[group.entity]
        let slots = group.slots.isEmpty ? [] : try storedSlots(of: group)
        let binder = slots.isEmpty ? nil : RowBinder(entity: entity, slots: slots)
        let statement = try connection.statement(.update(group.entity, slots: slots)) {
            try compiler.update(entity, slots: slots)
        }
        let layout = group.chunk.layout
        for (index, expected) in group.expected.enumerated() {
            let row = group.chunk.row(index)
            let key = RowKey(entity: group.entity, number: row.key(layout))
            // Each run binds all parameters, so none needs to be cleared.
            defer { statement.finish(clears: false) }
            try statement.bind(1, version: row.version(layout))
            try binder?.bind(row, of: group.chunk, to: statement, from: 2)
            try statement.bind(2 + slots.count, key.number)
            try statement.bind(3 + slots.count, version: expected)
            if let broken = try run(statement, key: key, expected: expected) {
                conflicts.append(broken)
            } else if sqlite3_changes(connection.handle) != 1 {
                conflicts.append(try conflict(key, expected))
            }
        }
    }

    private func storedSlots(of group: UpdateGroup) throws -> [Int] {
        let table = try map.table(of: group.entity)
        return group.slots.filter { table.column(of: $0, in: group.entity) != nil }
    }

    // MARK: Delete

    /// - Parameter singly: one row a statement, which tells the rows that were not as expected; several at once only tell that
    ///   some were not, by `SplitNeeded`.
    func delete(_ group: DeleteGroup, singly: Bool, _ conflicts: inout [Conflict]) throws {
        let entity = map.schema[group.entity]
        var start = 0
        while start < group.numbers.count {
            let rows = singly ? 1 : WriteCompiler.rowsOfDelete(left: endOfRun(group, from: start) - start)
            if let found = try delete(start..<(start + rows), of: group, entity) { conflicts.append(found) }
            start += rows
        }
        for sql in compiler.unlink(entity) { try run(sql, keys: group.numbers) }
    }

    /// Rows deleted together were not all as expected.
    struct SplitNeeded: Error {}

    /// Where the rows that were read with the same version end.
    private func endOfRun(_ group: DeleteGroup, from start: Int) -> Int {
        var end = start + 1
        let limit = min(start + 32, group.numbers.count)
        while end < limit, group.expected[end] == group.expected[start] { end += 1 }
        return end
    }

    private func delete(_ range: Range<Int>, of group: DeleteGroup, _ entity: Entity) throws -> Conflict? {
        let expected = group.expected[range.lowerBound]
        let statement = try connection.statement(.delete(group.entity, rows: range.count)) {
            try compiler.delete(entity, rows: range.count)
        }
        defer { statement.finish() }
        try statement.bind(1, version: expected)
        var parameter = 2
        for index in range {
            try statement.bind(parameter, group.numbers[index])
            parameter += 1
        }
        _ = try statement.step()
        if Int(sqlite3_changes(connection.handle)) == range.count { return nil }
        guard range.count == 1 else { throw SplitNeeded() }
        return try conflict(RowKey(entity: group.entity, number: group.numbers[range.lowerBound]), expected)
    }

    /// Runs a statement over keys given as one JSON list.
    func run(_ sql: String, keys: [Int64]) throws {
        let statement = try connection.statement(sql)
        defer { statement.finish() }
        try statement.bind(1, map.dialect.list(keys))
        _ = try statement.step()
    }

    // MARK: Conflicts

    /// Runs a statement over keys and answers the constraint that it breaks.
    func conflict(in sql: String, keys: [Int64]) throws -> [String]? {
        do {
            try run(sql, keys: keys)
            return nil
        } catch let error as StoreError where SQLiteError.isUniqueness(error) {
            guard let attributes = constraints[error.engine?.message ?? ""] else { throw error }
            return attributes
        }
    }

    private func run(_ statement: Statement, key: RowKey, expected: Int32) throws -> Conflict? {
        do {
            _ = try statement.step()
            return nil
        } catch let error as StoreError where SQLiteError.isUniqueness(error) {
            guard let attributes = constraints[error.engine?.message ?? ""] else { throw error }
            return Conflict(key: key, expected: expected, kind: .constraint(attributes))
        }
    }

    /// Rows that are not written but must be as they were read.
    func check(_ check: VersionCheck) throws -> [Conflict] {
        try zip(check.numbers, check.expected).compactMap { number, expected in
            let found = try conflict(RowKey(entity: check.entity, number: number), expected)
            if case .changed(let version) = found.kind, version == expected { return nil }
            return found
        }
    }

    /// A row that must not be there.
    func checkAbsence(of key: RowKey) throws -> Conflict? {
        let found = try conflict(key, 0)
        if case .deleted = found.kind { return nil }
        return found
    }

    /// Why no row matched: it has another version, or it is gone.
    private func conflict(_ key: RowKey, _ expected: Int32) throws -> Conflict {
        let statement = try connection.statement(.version(key.entity)) {
            try compiler.version(map.schema[key.entity])
        }
        defer { statement.finish() }
        try statement.bind(1, key.number)
        let kind: Conflict.Kind = try statement.step() ? .changed(version: statement.version(0)) : .deleted
        return Conflict(key: key, expected: expected, kind: kind)
    }
}
