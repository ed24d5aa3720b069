// JSON without an encoder's containers: cells are written as they lie.

import CoreDataValues
import Foundation

extension EncodedObject {
    /// The JSON that an encoder makes of the object, in less time.
    ///
    /// Values follow the encoder's strategies. Keys stand in the order in which they were named. An encoder that sorts keys, indents, changes keys or has
    /// a strategy of the program's own is asked itself.
    /// - Throws: what the encoder throws, for a number that is not finite for one.
    public func json(by encoder: JSONEncoder) throws -> Data {
        guard var writer = JSONWriter(encoder) else { return try encoder.encode(self) }
        try writer.write(rows, at: place)
        return writer.data
    }
}

extension EncodedObjects {
    /// The JSON that an encoder makes of the list, in less time. See `EncodedObject.json(by:)`.
    public func json(by encoder: JSONEncoder) throws -> Data {
        guard var writer = JSONWriter(encoder) else { return try encoder.encode(self) }
        try writer.write(rows)
        return writer.data
    }

    /// The JSON of an object with the values of another one and, behind them, the list under a key of its own.
    ///
    ///     // {"page":1,"total":42,"items":[…]}
    ///     try casualties.encoded(\.name).json(by: encoder, as: "items", beside: ["page": 1, "total": 42])
    /// - Parameters:
    ///   - encoder: whose settings count.
    ///   - key: that of the list.
    ///   - values: encoded as an object, without a value for the key.
    /// - Throws: what the encoder throws; `EncodingError` when the values are no object.
    public func json(by encoder: JSONEncoder, as key: String, beside values: some Encodable) throws -> Data {
        guard var writer = JSONWriter(encoder) else {
            return try encoder.encode(Beside(values: values, list: self, key: EncodedKey(key)))
        }
        try writer.write(self, as: key, beside: try encoder.encode(values), values)
        return writer.data
    }

    private struct Beside<Values: Encodable>: Encodable {
        let values: Values
        let list: EncodedObjects
        let key: EncodedKey

        func encode(to encoder: any Encoder) throws {
            try values.encode(to: encoder)
            var container = encoder.container(keyedBy: EncodedKey.self)
            try container.encode(list, forKey: key)
        }
    }
}

/// Writes cells as JSON, by the strategies of an encoder.
private struct JSONWriter {
    private enum Dates { case iso8601, secondsSince1970, millisecondsSince1970, secondsSinceReferenceDate }

    private let encoder: JSONEncoder
    private let dates: Dates
    private let escapesSlashes: Bool
    private var bytes: [UInt8] = []

    var data: Data { Data(bytes) }

    /// nil for an encoder with a strategy that is not written here.
    init?(_ encoder: JSONEncoder) {
        guard encoder.outputFormatting.isSubset(of: .withoutEscapingSlashes),
            case .useDefaultKeys = encoder.keyEncodingStrategy,
            case .base64 = encoder.dataEncodingStrategy, case .throw = encoder.nonConformingFloatEncodingStrategy
        else { return nil }
        switch encoder.dateEncodingStrategy {
        case .iso8601: dates = .iso8601
        case .secondsSince1970: dates = .secondsSince1970
        case .millisecondsSince1970: dates = .millisecondsSince1970
        case .deferredToDate: dates = .secondsSinceReferenceDate
        default: return nil
        }
        self.encoder = encoder
        escapesSlashes = !encoder.outputFormatting.contains(.withoutEscapingSlashes)
        bytes.reserveCapacity(4096)
    }

    // MARK: Containers

    mutating func write(_ rows: EncodedRows) throws {
        byte("[")
        if case .values = rows.plan.shape {
            try writeValues(rows)
        } else {
            for place in 0..<rows.count {
                if place > 0 { byte(",") }
                try write(rows, at: place)
            }
        }
        byte("]")
    }

    private mutating func writeValues(_ rows: EncodedRows) throws {
        var isFirst = true
        for cell in rows.cells where !cell.isNull {
            if !isFirst { byte(",") }
            isFirst = false
            try write(cell, rows.plan, rows.plan.fields[0].key)
        }
    }

    mutating func write(_ rows: EncodedRows, at place: Int) throws {
        var cell = place * rows.plan.width
        try write(rows.plan, rows.cells, &cell)
    }

    mutating func write(_ list: EncodedObjects, as key: String, beside object: Data, _ values: some Encodable) throws {
        guard object.first == UInt8(ascii: "{") else {
            throw EncodingError.invalidValue(
                values,
                .init(codingPath: [], debugDescription: "The values beside “\(key)” are no object. Give them names."))
        }
        bytes.append(contentsOf: object.dropLast())
        if object.count > 2 { byte(",") }
        write(key)
        byte(":")
        try write(list.rows)
        byte("}")
    }

    private mutating func write(_ plan: EncodingPlan, _ cells: ContiguousArray<EncodedCell>, _ place: inout Int) throws
    {
        byte("{")
        var isFirst = true
        for field in plan.fields {
            let cell = cells[place]
            place += 1
            let inner = field.source.inner
            if case .null = cell {
                place += inner?.width ?? 0
                if !plan.writesNulls { continue }
            }
            if !isFirst { byte(",") }
            isFirst = false
            write(field.key.stringValue)
            byte(":")
            if case .present = cell, let inner {
                try write(inner, cells, &place)
            } else {
                try write(cell, plan, field.key)
            }
        }
        byte("}")
    }

    // MARK: Values

    private mutating func write(_ cell: EncodedCell, _ plan: EncodingPlan, _ key: EncodedKey) throws {
        switch cell {
        case .null, .present: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .int(let value): write(value)
        case .double(let value): try write(value, plan, key)
        case .float(let value): try write(value, plan, key)
        case .text(let value): write(value)
        case .date(let value): try write(value, plan, key)
        case .decimal(let value): append(value.description)
        case .data(let value): write(value.base64EncodedString())
        case .uuid(let value): write(value)
        case .url(let value): write(value.absoluteString)
        case .other: bytes.append(contentsOf: try encoder.encode(EncodedPlain(cell: cell)))
        case .members(let rows): try write(rows)
        }
    }

    private mutating func byte(_ character: Unicode.Scalar) { bytes.append(UInt8(ascii: character)) }
    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func write(_ number: Int64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, place) = (number.magnitude, 20)
            repeat {
                place -= 1
                digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 { byte("-") }
            bytes.append(contentsOf: digits[place...])
        }
    }

    private mutating func write<Number: BinaryFloatingPoint & CustomStringConvertible & Sendable>(
        _ number: Number, _ plan: EncodingPlan, _ key: EncodedKey
    ) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(
                number,
                .init(
                    codingPath: plan.path + [key],
                    debugDescription:
                        "\(plan.entityName).\(key.stringValue) is \(number), which JSON has no number for."))
        }
        let text = number.description
        append(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    private mutating func write(_ text: String) {
        byte("\"")
        var text = text
        text.withUTF8 { units in
            var rest = units[...]
            while let place = rest.firstIndex(where: {
                $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 == 0x2F && escapesSlashes
            }) {
                bytes.append(contentsOf: rest[..<place])
                escape(rest[place])
                rest = rest[(place + 1)...]
            }
            bytes.append(contentsOf: rest)
        }
        byte("\"")
    }

    private mutating func escape(_ unit: UInt8) {
        byte("\\")
        switch unit {
        case 0x08: byte("b")
        case 0x09: byte("t")
        case 0x0A: byte("n")
        case 0x0C: byte("f")
        case 0x0D: byte("r")
        case 0x22, 0x2F, 0x5C: bytes.append(unit)
        default:
            append("u00")
            bytes.append(JSONWriter.digit(unit >> 4, after9: UInt8(ascii: "a")))
            bytes.append(JSONWriter.digit(unit & 15, after9: UInt8(ascii: "a")))
        }
    }

    private static func digit(_ number: UInt8, after9 letter: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : letter + number - 10
    }

    private mutating func write(_ id: UUID) {
        byte("\"")
        withUnsafeBytes(of: id.uuid) { units in
            for (place, unit) in units.enumerated() {
                if place == 4 || place == 6 || place == 8 || place == 10 { byte("-") }
                bytes.append(JSONWriter.digit(unit >> 4, after9: UInt8(ascii: "A")))
                bytes.append(JSONWriter.digit(unit & 15, after9: UInt8(ascii: "A")))
            }
        }
        byte("\"")
    }

    private mutating func write(_ date: Date, _ plan: EncodingPlan, _ key: EncodedKey) throws {
        switch dates {
        case .secondsSinceReferenceDate: try write(date.timeIntervalSinceReferenceDate, plan, key)
        case .secondsSince1970: try write(date.timeIntervalSince1970, plan, key)
        case .millisecondsSince1970: try write(1000 * date.timeIntervalSince1970, plan, key)
        case .iso8601:
            guard let seconds = Int64(exactly: date.timeIntervalSince1970.rounded(.down)),
                let day = CivilDay(seconds: seconds)
            else {
                return bytes.append(contentsOf: try encoder.encode(date))
            }
            write(day, seconds)
        }
    }

    private mutating func write(_ day: CivilDay, _ seconds: Int64) {
        func pair(_ number: Int64) {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
        }
        let time = seconds - CivilDay.number(of: seconds) * 86400
        byte("\"")
        pair(day.year / 100)
        pair(day.year % 100)
        byte("-")
        pair(day.month)
        byte("-")
        pair(day.day)
        byte("T")
        pair(time / 3600)
        byte(":")
        pair(time / 60 % 60)
        byte(":")
        pair(time % 60)
        append("Z\"")
    }
}

/// A day of the Gregorian calendar, from the year 1583, when it began, to 9999.
private struct CivilDay {
    let year: Int64
    let month: Int64
    let day: Int64

    /// The days since the first of January 1970.
    static func number(of seconds: Int64) -> Int64 { seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400 }

    init?(seconds: Int64) {
        guard seconds >= -12_212_553_600, seconds < 253_402_300_800 else { return nil }
        // Years are counted from March, so that the leap day is their last, in rounds of 400 years.
        let days = CivilDay.number(of: seconds) + 719_468
        let round = days / 146_097
        let dayOfRound = days % 146_097
        let yearOfRound = (dayOfRound - dayOfRound / 1460 + dayOfRound / 36524 - dayOfRound / 146_096) / 365
        let dayOfYear = dayOfRound - (365 * yearOfRound + yearOfRound / 4 - yearOfRound / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = round * 400 + yearOfRound + (month <= 2 ? 1 : 0)
    }
}
