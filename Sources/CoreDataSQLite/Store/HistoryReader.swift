// Reads the history of a store back, and shortens it.

import CoreDataSQL
import CoreDataValues
import Foundation

/// Transactions of a statement by `HistoryReading.transactions`.
struct HistorySteps: StatementSteps {
    private let schema: Schema
    /// By entity, made when it first occurs.
    private var masks: [EntityIndex: ChangeMask] = [:]
    private let tombstones: Int
    /// Whether the statement stands at a row that was not taken yet.
    private var hasRow = false
    private var isDone = false
    private(set) var total = 0

    init(schema: Schema, tombstones: Int) {
        self.schema = schema
        self.tombstones = tombstones
    }

    mutating func next(_ statement: Statement) throws -> HistoryTransaction? {
        guard try hasRow || step(statement) else { return nil }
        var transaction = HistoryTransaction(
            number: statement.int(0), time: statement.double(1), author: statement.text(2), contextName: statement.text(3),
            bundle: statement.text(4), process: statement.text(5))
        while transaction.changes.count < HistoryTransaction.maximumCount {
            if let change = change(statement) { transaction.changes.append(change) }
            guard try step(statement), statement.int(0) == transaction.number else { return transaction }
        }
        transaction.isContinued = true
        return transaction
    }

    private mutating func step(_ statement: Statement) throws -> Bool {
        if isDone { return false }
        hasRow = try statement.step()
        isDone = !hasRow
        if hasRow { total += 1 }
        return hasRow
    }

    /// nil for a row of an entity that the model does not have.
    private mutating func change(_ statement: Statement) -> HistoryChange? {
        let first = HistoryReading.firstOfChange
        let entity = Int(statement.int(first + 2)) - 1
        guard schema.entities.indices.contains(entity), !statement.isNull(first),
            let kind = HistoryChange.Kind(rawValue: statement.int(first + 1))
        else { return nil }
        let index = EntityIndex(entity)
        let mask = masks[index] ?? ChangeMask(schema[index], schema)
        masks[index] = mask
        let changed = mask.changed(in: statement.data(first + 4) ?? Data())
        return HistoryChange(
            number: statement.int(first), kind: kind, key: RowKey(entity: index, number: statement.int(first + 3)),
            slots: changed.slots, relationships: changed.relationships,
            tombstone: kind == .delete ? tombstone(mask, schema[index], statement) : [:])
    }

    private func tombstone(_ mask: ChangeMask, _ entity: Entity, _ statement: Statement) -> [Int: Value] {
        var values: [Int: Value] = [:]
        for (place, slot) in mask.tombstones.enumerated() where place < tombstones {
            let value = statement.value(HistoryReading.firstTombstone + place, entity.slots[slot].kind)
            if !value.isNull { values[slot] = value }
        }
        return values
    }
}

extension SQLiteStore {
    package func openHistory(after number: Int64) throws -> any ReadCursor<HistoryTransaction> {
        guard history == .recorded else { return StepCursor([]) }
        let columns = try pool.read { connection in
            try connection.run("SELECT COUNT(*) FROM pragma_table_info('ACHANGE') WHERE name LIKE 'ZTOMBSTONE%'")
        }
        let tombstones = columns.flatMap(Int.init) ?? 0
        return try cursor(.latest, HistorySteps(schema: schema, tombstones: tombstones)) { connection in
            let statement = try connection.statement(HistoryReading(plan.map.dialect).transactions(tombstones: tombstones))
            try statement.bind(1, number)
            return statement
        }
    }

    package func deleteHistory(upTo number: Int64) throws -> Int {
        guard history == .recorded else { return 0 }
        try refuseIfReadOnly("Its history cannot be shortened")
        return try pool.write { connection in
            var removed = 0
            try connection.transaction {
                for (place, sql) in HistoryReading(plan.map.dialect).shortening.enumerated() {
                    let statement = try connection.statement(sql)
                    defer { statement.finish() }
                    if place < 2 { try statement.bind(1, number) }
                    _ = try statement.step()
                    if place == 1 { removed = connection.changes }
                }
                return true
            }
            return removed
        }
    }
}
