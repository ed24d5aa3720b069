// Reads the history of a store back.

import CoreDataValues
import Foundation

/// Transactions of a statement by `HistoryReading.transactions`.
struct HistorySteps: ResultSteps {
    private let schema: Schema
    /// By entity, made when it first occurs.
    private var masks: [EntityIndex: ChangeMask] = [:]
    private let tombstones: Int
    /// Rows that were read and not taken yet.
    private var rows: ArraySlice<[Value]> = []

    init(schema: Schema, tombstones: Int) {
        self.schema = schema
        self.tombstones = tombstones
    }

    mutating func next(_ result: any SQLResult) throws -> HistoryTransaction? {
        guard let first = try row(result) else { return nil }
        var transaction = HistoryTransaction(
            number: number(first[0]) ?? 0, time: real(first[1]) ?? 0, author: text(first[2]), contextName: text(first[3]),
            bundle: text(first[4]), process: text(first[5]))
        while transaction.changes.count < HistoryTransaction.maximumCount {
            guard let row = try row(result), row[0] == first[0] else { return transaction }
            rows.removeFirst()
            if let change = change(row) { transaction.changes.append(change) }
        }
        transaction.isContinued = try row(result)?[0] == first[0]
        return transaction
    }

    /// The next row; nil at the end.
    private mutating func row(_ result: any SQLResult) throws -> [Value]? {
        if rows.isEmpty { rows = try result.tuples(RowChunk.maximumCount)[...] }
        return rows.first
    }

    /// nil for a row of an entity that the model does not have.
    private mutating func change(_ row: [Value]) -> HistoryChange? {
        let first = HistoryReading.firstOfChange
        let entity = Int(number(row[first + 2]) ?? 0) - 1
        guard schema.entities.indices.contains(entity), let number = number(row[first]),
            let kind = self.number(row[first + 1]).flatMap(HistoryChange.Kind.init)
        else { return nil }
        let index = EntityIndex(entity)
        let mask = masks[index] ?? ChangeMask(schema[index], schema)
        masks[index] = mask
        let changed = mask.changed(in: data(row[first + 4]) ?? Data())
        return HistoryChange(
            number: number, kind: kind, key: RowKey(entity: index, number: self.number(row[first + 3]) ?? 0),
            slots: changed.slots, relationships: changed.relationships,
            tombstone: kind == .delete ? tombstone(mask, schema[index], row) : [:])
    }

    private func tombstone(_ mask: ChangeMask, _ entity: Entity, _ row: [Value]) -> [Int: Value] {
        var values: [Int: Value] = [:]
        for (place, slot) in mask.tombstones.enumerated() where place < tombstones {
            let value = value(row[HistoryReading.firstTombstone + place], entity.slots[slot].kind)
            if !value.isNull { values[slot] = value }
        }
        return values
    }
}

// MARK: - Values as they are kept

extension HistorySteps {
    /// A value by what its property is, whatever the database keeps it as.
    private func value(_ kept: Value, _ kind: SlotKind) -> Value {
        switch kind {
        case .int, .toOne, .entityTag: number(kept).map { .int($0) } ?? .null
        case .bool: number(kept).map { .bool($0 != 0) } ?? .null
        case .double, .float: real(kept).map { .double($0) } ?? .null
        case .date: real(kept).map { .date($0) } ?? .null
        case .decimal: text(kept).flatMap { Decimal(cell: $0) }.map { .decimal($0) } ?? .null
        case .text: text(kept).map { .text($0) } ?? .null
        case .uri: text(kept).map { .uri($0) } ?? .null
        case .data, .externalData, .transformable: data(kept).map { .data($0) } ?? .null
        case .uuid:
            if let bytes = data(kept), bytes.count == 16 {
                .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
            } else {
                .null
            }
        }
    }

    private func number(_ kept: Value) -> Int64? {
        switch kept {
        case .int(let number): number
        case .double(let number): ValueType.whole(number)
        case .null, .bool, .decimal, .text, .date, .data, .uuid, .uri, .key: text(kept).flatMap { Int64($0) }
        }
    }

    private func real(_ kept: Value) -> Double? {
        switch kept {
        case .int(let number): Double(number)
        case .double(let number): number
        case .null, .bool, .decimal, .text, .date, .data, .uuid, .uri, .key: text(kept).flatMap { Double($0) }
        }
    }

    private func text(_ kept: Value) -> String? {
        switch kept {
        case .text(let text): text
        case .int(let number): String(number)
        case .double(let number): "\(number)"
        case .data(let bytes): String(decoding: bytes, as: UTF8.self)
        case .null, .bool, .decimal, .date, .uuid, .uri, .key: nil
        }
    }

    private func data(_ kept: Value) -> Data? {
        switch kept {
        case .data(let bytes): bytes
        case .text(let text): Data(text.utf8)
        case .null, .bool, .int, .double, .decimal, .date, .uuid, .uri, .key: nil
        }
    }
}
