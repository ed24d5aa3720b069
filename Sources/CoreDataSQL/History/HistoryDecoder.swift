// From rows of a history to what they mean.

import CoreDataValues
import Foundation

/// Reads masks and tombstones by the properties of a schema.
final class HistoryDecoder {
    private let schema: Schema
    /// By entity, made when it first occurs.
    private var masks: [EntityIndex: ChangeMask] = [:]
    /// What the last mask said: updates of one save are alike.
    private var last: (entity: EntityIndex, mask: [UInt8], slots: [Int], relationships: [RelationshipIndex])?

    init(_ schema: Schema) { self.schema = schema }

    /// A transaction without its changes, of a row of `HistoryReading.transactions`.
    static func transaction(_ row: [Value]) -> HistoryTransaction {
        HistoryTransaction(
            number: row[0].wholeNumber ?? 0, time: row[1].real ?? 0, author: row[2].plainText,
            contextName: row[3].plainText,
            bundle: row[4].plainText, process: row[5].plainText)
    }

    /// nil for a row of an entity that the model does not have.
    func change(_ row: HistoryRow) -> HistoryChange? {
        let place = Int(truncatingIfNeeded: row.entity) &- 1
        guard schema.entities.indices.contains(place), let kind = HistoryChange.Kind(rawValue: row.kind) else {
            return nil
        }
        let entity = EntityIndex(place)
        let changed = row.mask.isEmpty ? ([], []) : changed(entity, row.mask)
        return HistoryChange(
            number: row.number, kind: kind, key: RowKey(entity: entity, number: row.row), slots: changed.0,
            relationships: changed.1,
            tombstone: row.tombstones.isEmpty || kind != .delete ? [:] : tombstone(entity, row.tombstones))
    }

    private func changed(_ entity: EntityIndex, _ mask: [UInt8]) -> ([Int], [RelationshipIndex]) {
        if let last, last.entity == entity, last.mask == mask { return (last.slots, last.relationships) }
        let changed = self.mask(entity).changed(in: Data(mask))
        last = (entity, mask, changed.slots, changed.relationships)
        return changed
    }

    private func tombstone(_ entity: EntityIndex, _ kept: [Value]) -> [Int: Value] {
        let slots = schema[entity].slots
        var values: [Int: Value] = [:]
        for (slot, value) in zip(mask(entity).tombstones, kept) {
            let value = value.kept(as: slots[slot].kind)
            if slots[slot].kind == .externalData, case .data(let cell) = value {
                values[slot] = content(cell)
            } else if !value.isNull {
                values[slot] = value
            }
        }
        return values
    }

    /// The value in a cell that may refer to a file; nil where it does: the file has gone with its row.
    private func content(_ cell: Data) -> Value? {
        cell.first == ExternalReference.inlineTag || cell.first == ExternalReference.fileTag
            ? ExternalReference.content(cell).map { .data($0) } : .data(cell)
    }

    private func mask(_ entity: EntityIndex) -> ChangeMask {
        if let known = masks[entity] { return known }
        let made = ChangeMask(schema[entity], schema)
        masks[entity] = made
        return made
    }
}

// MARK: - Values as they are kept

extension Value {
    /// A value by what its property is, whatever the database keeps it as.
    package func kept(as kind: SlotKind) -> Value {
        switch kind {
        case .int, .toOne, .entityTag: wholeNumber.map { .int($0) } ?? .null
        case .bool: wholeNumber.map { .bool($0 != 0) } ?? .null
        case .double, .float: real.map { .double($0) } ?? .null
        case .date: real.map { .date($0) } ?? .null
        case .decimal: plainText.flatMap { Decimal(cell: $0) }.map { .decimal($0) } ?? .null
        case .text: plainText.map { .text($0) } ?? .null
        case .uri: plainText.map { .uri($0) } ?? .null
        case .data, .externalData, .transformable: bytes.map { .data($0) } ?? .null
        case .uuid:
            if let bytes, bytes.count == 16 {
                .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
            } else {
                .null
            }
        }
    }

    fileprivate var wholeNumber: Int64? {
        switch self {
        case .int(let number): number
        case .double(let number): ValueType.whole(number)
        case .null, .bool, .decimal, .text, .date, .data, .uuid, .uri, .key: plainText.flatMap { Int64($0) }
        }
    }

    fileprivate var real: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        case .null, .bool, .decimal, .text, .date, .data, .uuid, .uri, .key: plainText.flatMap { Double($0) }
        }
    }

    fileprivate var plainText: String? {
        switch self {
        case .text(let text): text
        case .int(let number): String(number)
        case .double(let number): "\(number)"
        case .data(let bytes): String(decoding: bytes, as: UTF8.self)
        case .null, .bool, .decimal, .date, .uuid, .uri, .key: nil
        }
    }

    private var bytes: Data? {
        switch self {
        case .data(let bytes): bytes
        case .text(let text): Data(text.utf8)
        case .null, .bool, .int, .double, .decimal, .date, .uuid, .uri, .key: nil
        }
    }
}
