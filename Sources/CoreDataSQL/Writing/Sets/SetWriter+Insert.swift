// Insertions from a stream of rows: one chunk in memory at a time.

import CoreDataValues

extension SetWriter {
    /// *next chunk · check · number · move large values · insert, keep or update · record · derive*, until there is none.
    package func insert(_ next: () throws -> NewRows?, _ uniqueness: SetChange.Uniqueness) throws -> SetOutcome {
        let stream = StreamWriter(self, uniqueness)
        while let rows = try next() { if rows.chunk.count > 0 { try stream.write(rows) } }
        return stream.outcome
    }
}

/// Writes the chunks of one stream.
private final class StreamWriter {
    private let writer: SetWriter
    private let uniqueness: SetChange.Uniqueness
    private let rules: StreamRules
    private let inserts: SetInsertCompiler
    private var numbers: [EntityIndex: Range<Int64>] = [:]
    /// By tree: nobody else has had a number from here on.
    private var firstNumbers: [EntityIndex: Int64] = [:]
    private var blockSize: Int64 = 256
    private(set) var outcome = SetOutcome()
    private var session: any SQLSession { writer.session }
    private var texts: WriteCompiler { writer.plan.writes }
    private var schema: Schema { writer.schema }

    init(_ writer: SetWriter, _ uniqueness: SetChange.Uniqueness) {
        self.writer = writer
        self.uniqueness = uniqueness
        rules = StreamRules(uniqueness, in: writer.schema)
        inserts = SetInsertCompiler(writer.map)
    }

    func write(_ rows: NewRows) throws {
        let chunk = rows.chunk
        let entity = schema[chunk.layout.entity]
        try rules.check(chunk)
        let slots = try rules.updated(entity)
        try number(chunk, entity)
        try writer.files?.move(chunk)
        var new = Array(0..<chunk.count)
        var changed: [Int64: [Int]] = [:]
        if uniqueness == .fail || entity.constraints.isEmpty {
            try insertAll(chunk, entity)
        } else {
            (new, changed) = try insertOrMeet(rows, entity, slots)
        }
        outcome.count += new.count
        try record(chunk, entity, new, changed)
    }

    // MARK: Numbers

    private func number(_ chunk: RowChunk, _ entity: Entity) throws {
        var left = numbers[entity.root] ?? 0..<0
        for index in 0..<chunk.count {
            if left.isEmpty { left = try block(schema[entity.root], atLeast: chunk.count - index) }
            chunk.number(row: index, left.lowerBound, version: 1)
            left = (left.lowerBound + 1)..<left.upperBound
        }
        numbers[entity.root] = left
    }

    /// Numbers that nobody else gets; what is left of them at the end is lost.
    private func block(_ root: Entity, atLeast count: Int) throws -> Range<Int64> {
        let size = max(blockSize, Int64(count))
        blockSize = min(2 * blockSize, 4096)
        let numbers = try KeyBlocks.reserve(Int(size), of: root, session, texts)
        if firstNumbers[root.index] == nil { firstNumbers[root.index] = numbers.lowerBound }
        return numbers
    }

    // MARK: Rows

    private func insertAll(_ chunk: RowChunk, _ entity: Entity) throws {
        var conflicts: [Conflict] = []
        try RowWriter(plan: writer.plan, session: session).insert(chunk, &conflicts)
        if case .constraint(let names)? = conflicts.first?.kind { throw StoreError.notUnique(entity, names) }
        guard writer.answer != .count else { return }
        for index in 0..<chunk.count { note(key(chunk, index), .inserted) }
    }

    /// Inserts rows whose unique values are free, and does with the others what the rule says.
    ///
    /// - Returns: the places of the new rows, and the numbers of rows that were there and changed, with the slots that did.
    private func insertOrMeet(_ rows: NewRows, _ entity: Entity, _ slots: [Int]) throws -> (
        new: [Int], changed: [Int64: [Int]]
    ) {
        let chunk = rows.chunk
        var (new, changed): ([Int], [Int64: [Int]]) = ([], [:])
        var start = 0
        while start < chunk.count {
            // With one constraint an update frees no value that a row beside it waits for; without updates nothing is freed.
            let count =
                entity.constraints.count == 1 || uniqueness == .keep
                ? WriteCompiler.rowsOfInsert(left: chunk.count - start, parameters: entity.slots.count + 2) : 1
            let written = try insert(start..<(start + count), of: chunk, entity)
            for index in start..<(start + count) {
                let taken = rules.taken(slots, from: rows, row: index)
                if written.contains(key(chunk, index).number) {
                    new.append(index)
                    note(key(chunk, index), .inserted)
                } else if let met = try meet(chunk, index, entity, taken) {
                    changed[met] = changed[met].map { $0 == taken ? taken : Set($0 + taken).sorted() } ?? taken
                }
            }
            start += count
        }
        return (new, changed)
    }

    /// Answers the numbers of those that were inserted.
    private func insert(_ range: Range<Int>, of chunk: RowChunk, _ entity: Entity) throws -> Set<Int64> {
        try Set(session.insertNew(range, of: chunk, .text(inserts.insert(entity, rows: range.count)), texts))
    }

    /// A row whose unique values are taken: answers the number of the row that took its values, if one did.
    private func meet(_ chunk: RowChunk, _ index: Int, _ entity: Entity, _ slots: [Int]) throws -> Int64? {
        guard let holder = try holder(chunk, index, entity) else {
            throw StoreError.notUnique(entity, entity.constraints.first?.names ?? [])
        }
        guard case .update = uniqueness else {
            writer.files?.giveUp(chunk, row: index)
            note(holder, .kept)
            return nil
        }
        guard holder.entity == entity.index else { throw rules.otherEntity(entity, holder.entity) }
        try writer.files?.replace(holder, slots: slots, session)
        writer.files?.giveUp(chunk, row: index, except: slots)
        try writer.unique(entity) {
            try session.assign(
                slots, of: chunk, row: index, to: holder.number, .text(inserts.update(entity, slots: slots)), texts)
        }
        outcome.count += 1
        note(holder, .updated)
        if holder.number < firstNumbers[entity.root, default: 0] { touch(holder) }
        return holder.number
    }

    private func touch(_ holder: RowKey) {
        if writer.answer == .count {
            outcome.touched.entities.insert(holder.entity)
        } else {
            outcome.touched.changed.append(holder)
        }
    }

    private func holder(_ chunk: RowChunk, _ index: Int, _ entity: Entity) throws -> RowKey? {
        for constraint in entity.constraints {
            let values = constraint.slots.map { chunk.value(row: index, slot: $0) }
            if values.contains(.null) { continue }
            let found = try session.numbers(.text(inserts.find(constraint, of: entity)), each: 2, values, texts)
            guard found.count >= 2, let number = found[0] else { continue }
            return RowKey(entity: found[1].flatMap { writer.entity($0) } ?? entity.index, number: number)
        }
        return nil
    }

    // MARK: What follows

    private func record(_ chunk: RowChunk, _ entity: Entity, _ new: [Int], _ changed: [Int64: [Int]]) throws {
        let groups = Dictionary(grouping: changed.keys.sorted()) { changed[$0] ?? [] }.sorted {
            $0.value[0] < $1.value[0]
        }
        if let history = writer.history {
            try history.add(.insert, entity.index, new.map { key(chunk, $0).number })
            for (slots, numbers) in groups {
                // What this stream has inserted is new to whoever reads the history, with the values that it has in the end.
                let former = numbers.filter { $0 < firstNumbers[entity.root, default: 0] }
                try history.add(.update, entity.index, mask: history.mask(entity.index, slots), former)
            }
        }
        guard !writer.plan.derivedTexts.isEmpty else { return }
        try derive(entity, new.map { key(chunk, $0).number }, slots: nil)
        for (slots, numbers) in groups { try derive(entity, numbers, slots: slots) }
    }

    private func derive(_ entity: Entity, _ numbers: [Int64], slots: [Int]?) throws {
        if numbers.isEmpty { return }
        let rows = RowWriter(plan: writer.plan, session: session)
        for sql in writer.plan.derivedTexts.statements(for: entity.index, slots: slots) {
            if let names = try rows.conflict(in: sql, keys: numbers) { throw StoreError.notUnique(entity, names) }
        }
    }

    private func key(_ chunk: RowChunk, _ index: Int) -> RowKey {
        RowKey(entity: chunk.layout.entity, number: chunk.row(index).key(chunk.layout))
    }

    private func note(_ key: RowKey, _ effect: SetOutcome.Effect) {
        if writer.answer == .count { return }
        outcome.keys.append(key)
        if writer.answer == .effects { outcome.effects.append(effect) }
    }
}
