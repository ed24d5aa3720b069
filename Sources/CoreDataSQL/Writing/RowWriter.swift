// Inserts, updates and deletes of rows.

import CoreDataValues

/// Writes the groups of a batch inside a transaction and answers the rows that were not as expected.
package struct RowWriter {
    let plan: StorePlan
    let session: any SQLSession
    private var map: StoreMap { plan.map }

    package init(plan: StorePlan, session: any SQLSession) {
        self.plan = plan
        self.session = session
    }

    // MARK: Insert

    package func insert(_ chunk: RowChunk, _ conflicts: inout [Conflict]) throws {
        let width = plan.writes.stored(of: chunk.layout.entity).count + 2
        var start = 0
        while start < chunk.count {
            let left = chunk.count - start
            let rows = WriteCompiler.rowsOfInsert(left: left, parameters: width)
            // As many statements of this length as there are.
            let end = start + left / rows * rows
            try insert(start..<end, of: chunk, each: rows, &conflicts)
            start = end
        }
    }

    /// Several rows at once do not say which of them broke the constraint: they are inserted one by one then.
    private func insert(_ range: Range<Int>, of chunk: RowChunk, each count: Int, _ conflicts: inout [Conflict]) throws
    {
        var left = range
        while !left.isEmpty, let refusal = try session.insert(left, of: chunk, each: count, plan.writes) {
            if count > 1 {
                try insert(refusal.row..<(refusal.row + count), of: chunk, each: 1, &conflicts)
            } else if let error = refusal.error {
                let row = chunk.row(refusal.row)
                let key = RowKey(entity: row.entity(chunk.layout), number: row.key(chunk.layout))
                conflicts.append(Conflict(key: key, expected: 0, kind: .constraint(try broken(error))))
            }
            left = (refusal.row + count)..<range.upperBound
        }
    }

    // MARK: Update

    func update(_ group: UpdateGroup, _ conflicts: inout [Conflict]) throws {
        let slots = group.slots.isEmpty ? [] : try storedSlots(of: group)
        var left = group.expected.indices
        while !left.isEmpty, let refusal = try session.update(left, of: group, slots: slots, plan.writes) {
            let key = RowKey(entity: group.entity, number: group.chunk.row(refusal.row).key(group.chunk.layout))
            let expected = group.expected[refusal.row]
            if let error = refusal.error {
                conflicts.append(Conflict(key: key, expected: expected, kind: .constraint(try broken(error))))
            } else {
                conflicts.append(try conflict(key, expected))
            }
            left = (refusal.row + 1)..<group.expected.count
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
        var start = 0
        while start < group.numbers.count {
            let end = endOfRun(group, from: start)
            // As many statements of this length as there are.
            let count = singly ? 1 : WriteCompiler.rowsOfDelete(left: end - start)
            var left = start..<(start + (end - start) / count * count)
            start = left.upperBound
            while !left.isEmpty, let refusal = try session.delete(left, of: group, each: count, plan.writes) {
                guard count == 1 else { throw SplitNeeded() }
                let key = RowKey(entity: group.entity, number: group.numbers[refusal.row])
                conflicts.append(try conflict(key, group.expected[refusal.row]))
                left = (refusal.row + 1)..<left.upperBound
            }
        }
        for sql in plan.writes.unlink(map.schema[group.entity]) { try run(sql, keys: group.numbers) }
    }

    /// Rows deleted together were not all as expected.
    struct SplitNeeded: Error {}

    /// Where the rows that were read with the same version end.
    private func endOfRun(_ group: DeleteGroup, from start: Int) -> Int {
        var end = start + 1
        while end < group.numbers.count, group.expected[end] == group.expected[start] { end += 1 }
        return end
    }

    /// Runs a statement over a list of keys.
    func run(_ sql: String, keys: [Int64]) throws { try session.run(.text(sql), [map.dialect.list(keys)], plan.writes) }

    // MARK: Conflicts

    /// Runs a statement over keys and answers the constraint that it breaks.
    package func conflict(in sql: String, keys: [Int64]) throws -> [String]? {
        do {
            try run(sql, keys: keys)
            return nil
        } catch let error as StoreError {
            return try broken(error)
        }
    }

    /// The attributes of the constraint that an error speaks of.
    ///
    /// - Throws: an error that speaks of none.
    private func broken(_ error: StoreError) throws -> [String] {
        guard let columns = session.duplicate(error), let attributes = plan.constraints[columns] else { throw error }
        return attributes
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
        let row = try session.numbers(.version(key.entity), each: 1, [.int(key.number)], plan.writes)
        let kind: Conflict.Kind = row.isEmpty ? .deleted : .changed(version: Self.version(row[0]))
        return Conflict(key: key, expected: expected, kind: kind)
    }

    /// -1 for NULL.
    static func version(_ number: Int64?) -> Int32 { number.map { Int32(truncatingIfNeeded: $0) } ?? -1 }
}
