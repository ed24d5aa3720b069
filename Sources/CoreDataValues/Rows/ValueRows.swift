// Rows of typed values without an entity, by the batch.

import Foundation

/// A column of a result, and what each of its values is.
package struct ValueColumn: Sendable, Hashable {
    package let name: String
    package let type: ValueType
    package init(name: String, type: ValueType) {
        self.name = name
        self.type = type
    }
}

/// Up to 1,024 rows, column by column.
///
/// Numbers, booleans, dates and keys lie as words side by side; of texts, bytes, UUIDs and decimals (their text) the word is
/// `offset << 32 | length` in the column's bytes. The word of a null means nothing.
package struct ValueRows: Sendable {
    fileprivate struct Cells: Sendable {
        var words: ContiguousArray<UInt64> = []
        /// One bit a row.
        var isPresent: ContiguousArray<UInt64> = []
        var bytes: ContiguousArray<UInt8> = []
        /// Of keys, the entities beside the numbers.
        var entities: ContiguousArray<EntityIndex> = []
        /// Of whole numbers those that 64 bits do not hold, by row. They have no word.
        var reals: [Int: Double] = [:]
    }
    package let columns: [ValueColumn]
    package private(set) var count = 0
    fileprivate var cells: [Cells]

    package static var maximumCount: Int { 1024 }
    /// A batch takes no further row once a column has this many bytes.
    package static var byteLimit: Int { 256 * 1024 }

    package init(_ columns: [ValueColumn]) {
        self.columns = columns
        cells = Array(repeating: Cells(), count: columns.count)
    }

    // MARK: Reading

    package func isNull(row: Int, column: Int) -> Bool { !hasWord(row, column) && cells[column].reals[row] == nil }

    private func hasWord(_ row: Int, _ column: Int) -> Bool {
        cells[column].isPresent[row >> 6] >> UInt64(row & 63) & 1 == 1
    }

    /// The number in a column of whole numbers, booleans or keys; nil for null, and for one that 64 bits do not hold.
    package func int(row: Int, column: Int) -> Int64? {
        hasWord(row, column) ? Int64(bitPattern: cells[column].words[row]) : nil
    }

    /// The number in a column of doubles, floats or dates; nil for null.
    package func double(row: Int, column: Int) -> Double? {
        hasWord(row, column) ? Double(bitPattern: cells[column].words[row]) : nil
    }

    /// Calls `body` with the bytes in a column of texts, URIs, decimals, UUIDs or data; nil for null.
    package func withBytes<R>(row: Int, column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        guard hasWord(row, column) else { return nil }
        let word = cells[column].words[row]
        let start = Int(word >> 32)
        let end = start + Int(word & 0xffff_ffff)
        return try cells[column].bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
    }

    /// One value; slower than reading its bits. Keys have no store; a whole number that 64 bits do not hold is a double.
    package func value(row: Int, column: Int) -> Value {
        guard hasWord(row, column) else { return cells[column].reals[row].map(Value.double) ?? .null }
        let word = cells[column].words[row]
        switch columns[column].type {
        case .int: return .int(Int64(bitPattern: word))
        case .bool: return .bool(word != 0)
        case .double, .float: return .double(Double(bitPattern: word))
        case .date: return .date(Double(bitPattern: word))
        case .text: return .text(text(row, column))
        case .uri: return .uri(text(row, column))
        case .decimal: return Decimal(cell: text(row, column)).map(Value.decimal) ?? .null
        case .data: return withBytes(row: row, column: column) { .data(Data($0)) } ?? .null
        case .uuid:
            return withBytes(row: row, column: column) { bytes in
                bytes.count == 16 ? .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))) : .null
            } ?? .null
        case .key:
            return .key(ObjectKey(number: Int64(bitPattern: word), entity: cells[column].entities[row], store: 0))
        }
    }

    private func text(_ row: Int, _ column: Int) -> String {
        withBytes(row: row, column: column) { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    // MARK: Writing

    /// Whether another row may be added.
    package var isFull: Bool {
        count >= ValueRows.maximumCount || cells.contains { $0.bytes.count >= ValueRows.byteLimit }
    }

    /// Ends a row, to which each column has been given one value.
    package mutating func endRow() { count += 1 }

    package mutating func appendNull(_ column: Int) { append(0, isPresent: false, column) }

    package mutating func append(_ number: Int64, _ column: Int) {
        append(UInt64(bitPattern: number), isPresent: true, column)
    }

    package mutating func append(_ number: Double, _ column: Int) { append(number.bitPattern, isPresent: true, column) }

    /// Adds to a column of whole numbers one that 64 bits do not hold.
    package mutating func append(beyondWhole number: Double, _ column: Int) {
        appendNull(column)
        cells[column].reals[count] = number
    }

    package mutating func append(_ key: RowKey, _ column: Int) {
        cells[column].entities += repeatElement(key.entity, count: count + 1 - cells[column].entities.count)
        append(key.number, column)
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer, _ column: Int) {
        let word = UInt64(cells[column].bytes.count) << 32 | UInt64(bytes.count)
        cells[column].bytes.append(contentsOf: bytes)
        append(word, isPresent: true, column)
    }

    private mutating func append(_ word: UInt64, isPresent: Bool, _ column: Int) {
        cells[column].words.append(word)
        if count & 63 == 0 { cells[column].isPresent.append(0) }
        if isPresent { cells[column].isPresent[count >> 6] |= 1 << UInt64(count & 63) }
    }

    /// Adds a value of the column's type; any other one is null.
    package mutating func append(_ value: Value, _ column: Int) {
        switch (columns[column].type, value) {
        case (.int, .int(let number)): append(number, column)
        case (.int, .double(let number)): append(beyondWhole: number, column)
        case (.bool, .bool(let flag)): append(flag ? 1 : 0 as Int64, column)
        case (.double, .double(let number)), (.float, .double(let number)), (.date, .date(let number)):
            append(number, column)
        case (.text, .text(let text)), (.uri, .uri(let text)): append(text, column)
        case (.decimal, .decimal(let number)): append(number.description, column)
        case (.data, .data(let data)): data.withUnsafeBytes { append($0, column) }
        case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { append($0, column) }
        case (.key, .key(let key)): append(key.row, column)
        case (_, _): appendNull(column)
        }
    }

    package mutating func append(_ text: String, _ column: Int) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0), column) }
    }
}
