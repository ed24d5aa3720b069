// One column of a result, as an array of Swift values.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Reads one column of every batch.
class ColumnConsumer {
    /// - Parameter id: makes an ID of a key.
    func consume(_ rows: ValueRows, _ id: (Value) -> NSManagedObjectID?) throws {}
}

/// Reads a column of any type by the objects that key-value coding would answer.
class ColumnReader<V>: ColumnConsumer {
    final var values: [V] = []
    final let column: Int
    /// The property, for errors.
    final let name: String
    /// What the property's getter makes of nil; asked once, at the first null.
    final var getterOfNil: () -> V? = { nil }

    fileprivate init(at column: Int, named name: String) {
        self.column = column
        self.name = name
    }

    /// A faster one for the types that most properties are of.
    static func made(at column: Int, named name: String) -> ColumnReader<V> {
        let direct = (V.self as? any ColumnValue.Type)?.reader(at: column, named: name)
        return direct as? ColumnReader<V> ?? ColumnReader<V>(at: column, named: name)
    }

    override func consume(_ rows: ValueRows, _ id: (Value) -> NSManagedObjectID?) throws {
        for row in 0..<rows.count { values.append(try value(rows, row, id)) }
    }

    fileprivate final func value(_ rows: ValueRows, _ row: Int, _ id: (Value) -> NSManagedObjectID?) throws -> V {
        let found = rows.value(row: row, column: column)
        let object = if case .key = found { id(found) as Any? } else { found.object }
        let value = if let object { typed(object, as: V.self) } else { ofNull }
        guard let value else { throw mismatch(object) }
        return value
    }

    /// An optional is nil; any other type what an object would answer, else what scalar accessors make of nil.
    private lazy var ofNull: V? = Optional<Any>.none as? V ?? getterOfNil() ?? NSNumber(value: 0) as? V

    private func mismatch(_ object: Any?) -> CocoaError {
        let found = object.map { "\($0)" } ?? "nil"
        var advice = "Ask by a property of the stored type."
        if KeyValue.unwrappedType(V.self) is NSManagedObject.Type {
            advice = "A column makes no objects: ask for IDs (\\.\(name)?.objectID)."
        } else if object == nil {
            advice = "Ask by a property of an optional type."
        } else if object is NSNumber, KeyValue.unwrappedType(V.self) is any FixedWidthInteger.Type {
            advice =
                "Ask by a property of a wider type, or for an average, or fetch a dictionary, which holds real numbers too."
        }
        return CocoaError.coreData(
            134060, "Values of the property \(name) were asked for as \(V.self), and one is \(found). \(advice)")
    }
}

/// An object of key-value coding as a value of a type: a number of any width, an enumeration by its raw value; nil for none.
private func typed<T>(_ object: Any, as type: T.Type) -> T? {
    // Opened first: a cast to an optional may give its nil.
    if let optional = type as? any OptionalColumn.Type {
        guard let wrapped = optional.wrapped(object) else { return nil }
        return wrapped as? T
    }
    if let value = object as? T { return value }
    if let decimal = object as? NSDecimalNumber, let value = decimal.decimalValue as? T { return value }
    return (type as? any RawRepresentable.Type).flatMap { made($0, of: object) as? T }
}

private func made<T: RawRepresentable>(_ type: T.Type, of object: Any) -> Any? {
    typed(object, as: T.RawValue.self).flatMap { T(rawValue: $0) }
}

private protocol OptionalColumn {
    static func wrapped(_ object: Any) -> Any?
}

extension Optional: OptionalColumn {
    fileprivate static func wrapped(_ object: Any) -> Any? {
        guard let value = typed(object, as: Wrapped.self) else { return nil }
        return value
    }
}

/// A type whose values are read from a column as they lie there.
private protocol ColumnValue {
    /// nil for null, and for a column of another type.
    static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Self?
    /// nil for an optional; other types ask what a getter makes of null.
    static var ofNull: Self? { get }
    /// Appends a column. Each type has one of its own, which the compiler makes for the type: one for all would cost three times as much.
    static func consume(_ rows: ValueRows, _ column: Int, into values: inout [Self], or other: (Int) throws -> Self)
        throws
}

extension ColumnValue {
    static var ofNull: Self? { nil }
    static func reader(at column: Int, named name: String) -> AnyObject { DirectReader<Self>(at: column, named: name) }

    @inline(__always)
    fileprivate static func consumeEach(
        _ rows: ValueRows, _ column: Int, into values: inout [Self], or other: (Int) throws -> Self
    ) throws {
        for row in 0..<rows.count {
            if let value = value(rows, row, column) ?? (rows.isNull(row: row, column: column) ? ofNull : nil) {
                values.append(value)
            } else {
                values.append(try other(row))
            }
        }
    }
}

private final class DirectReader<V: ColumnValue>: ColumnReader<V> {
    override func consume(_ rows: ValueRows, _ id: (Value) -> NSManagedObjectID?) throws {
        try V.consume(rows, column, into: &values) { try value(rows, $0, id) }
    }
}

extension Int: ColumnValue {
    @inline(__always)
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Int? {
        rows.columns[column].type == .int ? rows.int(row: row, column: column).map { Int($0) } : nil
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [Int], or other: (Int) throws -> Int
    ) throws {
        try consumeEach(rows, column, into: &values, or: other)
    }
}

extension Int64: ColumnValue {
    @inline(__always)
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Int64? {
        rows.columns[column].type == .int ? rows.int(row: row, column: column) : nil
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [Int64], or other: (Int) throws -> Int64
    ) throws {
        try consumeEach(rows, column, into: &values, or: other)
    }
}

extension Int32: ColumnValue {
    @inline(__always)
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Int32? {
        rows.columns[column].type == .int ? rows.int(row: row, column: column).flatMap { Int32(exactly: $0) } : nil
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [Int32], or other: (Int) throws -> Int32
    ) throws {
        try consumeEach(rows, column, into: &values, or: other)
    }
}

extension Int16: ColumnValue {
    @inline(__always)
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Int16? {
        rows.columns[column].type == .int ? rows.int(row: row, column: column).flatMap { Int16(exactly: $0) } : nil
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [Int16], or other: (Int) throws -> Int16
    ) throws {
        try consumeEach(rows, column, into: &values, or: other)
    }
}

extension Bool: ColumnValue {
    @inline(__always)
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Bool? {
        rows.columns[column].type == .bool ? rows.int(row: row, column: column).map { $0 != 0 } : nil
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [Bool], or other: (Int) throws -> Bool
    ) throws {
        try consumeEach(rows, column, into: &values, or: other)
    }
}

extension Double: ColumnValue {
    @inline(__always)
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Double? {
        let type = rows.columns[column].type
        return type == .double || type == .float ? rows.double(row: row, column: column) : nil
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [Double], or other: (Int) throws -> Double
    ) throws {
        try consumeEach(rows, column, into: &values, or: other)
    }
}

extension String: ColumnValue {
    @inline(__always)
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> String? {
        guard rows.columns[column].type == .text else { return nil }
        return rows.withBytes(row: row, column: column) { String(decoding: $0, as: UTF8.self) }
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [String], or other: (Int) throws -> String
    ) throws {
        try consumeEach(rows, column, into: &values, or: other)
    }
}

extension Date: ColumnValue {
    @inline(__always)
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Date? {
        guard rows.columns[column].type == .date else { return nil }
        return rows.double(row: row, column: column).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [Date], or other: (Int) throws -> Date
    ) throws {
        try consumeEach(rows, column, into: &values, or: other)
    }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Wrapped?? {
        Wrapped.value(rows, row, column).map { .some($0) }
    }
    fileprivate static func consume(
        _ rows: ValueRows, _ column: Int, into values: inout [Wrapped?], or other: (Int) throws -> Wrapped?
    ) throws { try consumeEach(rows, column, into: &values, or: other) }
    fileprivate static var ofNull: Wrapped?? { .some(nil) }
}
