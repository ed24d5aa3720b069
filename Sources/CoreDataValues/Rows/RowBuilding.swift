// Cells as values and back: the slow path, for stores in memory, migrations and tests.

import Foundation

extension RowChunk {
    /// Reads one cell as a value; about a hundred times the cost of reading the cell's bits.
    ///
    /// A to-one answers the bare number of its target as `.int`, its entity tag `Z_ENT` as `.int`: a chunk does not know the
    /// schema. Bytes that do not spell a value of the cell's kind answer null.
    package func value(row index: Int, slot: Int) -> Value {
        let row = row(index)
        guard row.isPresent(slot) else { return .null }
        let cell = row[slot]
        switch layout.kinds[slot] {
        case .int, .toOne, .entityTag: return .int(Int64(bitPattern: cell))
        case .bool: return .bool(cell != 0)
        case .double, .float: return .double(Double(bitPattern: cell))
        case .date: return .date(Double(bitPattern: cell))
        case .text: return .text(text(cell))
        case .uri: return .uri(text(cell))
        case .data, .externalData, .transformable: return .data(withBytes(of: cell) { Data($0) })
        case .uuid: return withBytes(of: cell) { RowChunk.uuid($0).map(Value.uuid) ?? .null }
        case .decimal:
            return Decimal(cell: text(cell)).map(Value.decimal) ?? .null
        }
    }

    /// Reads a whole row, one value a slot.
    package func values(row index: Int) -> [Value] {
        (0..<layout.slotCount).map { value(row: index, slot: $0) }
    }

    /// Adds a row; as slow as `value(row:slot:)`.
    ///
    /// `values` has one value a slot. A to-one and its entity tag take `.int` or, both of them, the target's `.key`.
    /// - Throws: `StoreError` when a value does not fit its slot; the chunk is then as before but for its arena.
    package func append(key: Int64, version: Int32, values: [Value]) throws(StoreError) {
        guard values.count == layout.slotCount else {
            throw StoreError(
                134060, "A row of \(values.count) values was given for \(layout.slotCount) slots; give one a slot.")
        }
        var cells: [UInt64?] = []
        for (slot, value) in values.enumerated() { cells.append(try cell(value, slot: slot)) }
        let row = appendRow(key: key, version: version, entity: layout.entity)
        for (slot, cell) in cells.enumerated() {
            if let cell { row.setCell(slot, cell) }
        }
    }

    private func cell(_ value: Value, slot: Int) throws(StoreError) -> UInt64? {
        let kind = layout.kinds[slot]
        switch (kind, value) {
        case (_, .null): return nil
        case (.int, .int(let number)), (.toOne, .int(let number)), (.entityTag, .int(let number)):
            return UInt64(bitPattern: number)
        case (.toOne, .key(let key)): return UInt64(bitPattern: key.number)
        case (.entityTag, .key(let key)): return UInt64(key.entity.number)
        case (.bool, .bool(let flag)): return flag ? 1 : 0
        case (.float, .double(let number)): return Double(Float(number)).bitPattern
        case (.double, .double(let number)), (.date, .date(let number)):
            return number.bitPattern
        case (.text, .text(let text)), (.uri, .uri(let text)): return store(text)
        case (.decimal, .decimal(let number)): return store(number.description)
        case (.data, .data(let data)), (.externalData, .data(let data)), (.transformable, .data(let data)):
            return store(data)
        case (.uuid, .uuid(let uuid)): return withUnsafeBytes(of: uuid.uuid) { store($0) }
        default:
            throw StoreError(134060, "The value \(value) was given for slot \(slot), whose kind is \(kind).")
        }
    }

    private func store(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { store(UnsafeRawBufferPointer($0)) }
    }

    private func text(_ cell: UInt64) -> String { withBytes(of: cell) { String(decoding: $0, as: UTF8.self) } }

    private static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID? {
        guard bytes.count == 16 else { return nil }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

extension Decimal {
    /// Decimals in chunks are written with a point, whatever the user's locale.
    private static let plainLocale = Locale(identifier: "en_US_POSIX")

    /// The nearest double. Through text, because that rounds once; `NSDecimalNumber.doubleValue` rounds on its way, and makes
    /// 0.06999999999999999 of 0.07.
    package var nearestDouble: Double { Double(description) ?? .nan }

    /// The number that the text of a cell means, also `NaN`, as Core Data writes it.
    package init?(cell text: String) {
        if let number = Decimal(string: text, locale: Decimal.plainLocale) {
            self = number
        } else if text.lowercased() == "nan" {
            self = .nan
        } else {
            return nil
        }
    }
}
