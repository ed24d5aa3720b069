// One column of a result, as an array of Swift values.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Reads a column of any type by the objects that key-value coding would answer.
class ColumnReader<V> {
    final var values: [V] = []
    final let column: Int
    /// The property, for errors.
    final let name: String

    fileprivate init(at column: Int, named name: String) {
        self.column = column
        self.name = name
    }

    /// A faster one for the types that most properties are of.
    static func made(at column: Int, named name: String) -> ColumnReader<V> {
        let direct = (V.self as? any ColumnValue.Type)?.reader(at: column, named: name)
        return direct as? ColumnReader<V> ?? ColumnReader<V>(at: column, named: name)
    }

    /// - Parameter id: makes an ID of a key.
    func take(_ rows: ValueRows, _ row: Int, _ id: (Value) -> NSManagedObjectID?) throws {
        let found = rows.value(row: row, column: column)
        let object = if case .key = found { id(found) as Any? } else { found.object }
        let value = if let object { typed(object, as: V.self) } else { ofNull }
        guard let value else { throw mismatch(object) }
        values.append(value)
    }

    /// An optional is nil, a number or Boolean what scalar accessors make of nil.
    private var ofNull: V? { Optional<Any>.none as? V ?? NSNumber(value: 0) as? V }

    fileprivate final func mismatch(_ object: Any?) -> CocoaError {
        let found = object.map { "\($0)" } ?? "nil"
        return CocoaError.coreData(
            134060,
            "Values of the property \(name) were asked for as \(V.self), and one is \(found). Ask by a property of the stored type.")
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
    /// What scalar accessors make of null.
    static var ofNull: Self? { get }
}

extension ColumnValue {
    static var ofNull: Self? { nil }
    static func reader(at column: Int, named name: String) -> AnyObject { DirectReader<Self>(at: column, named: name) }
}

private final class DirectReader<V: ColumnValue>: ColumnReader<V> {
    override func take(_ rows: ValueRows, _ row: Int, _ id: (Value) -> NSManagedObjectID?) throws {
        guard let value = V.value(rows, row, column) ?? (rows.isNull(row: row, column: column) ? V.ofNull : nil) else {
            return try super.take(rows, row, id)
        }
        values.append(value)
    }
}

extension Int: ColumnValue {
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Int? {
        rows.columns[column].type == .int ? rows.int(row: row, column: column).map { Int($0) } : nil
    }
    fileprivate static var ofNull: Int? { 0 }
}

extension Double: ColumnValue {
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Double? {
        let type = rows.columns[column].type
        return type == .double || type == .float ? rows.double(row: row, column: column) : nil
    }
    fileprivate static var ofNull: Double? { 0 }
}

extension String: ColumnValue {
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> String? {
        guard rows.columns[column].type == .text else { return nil }
        return rows.withBytes(row: row, column: column) { String(decoding: $0, as: UTF8.self) }
    }
}

extension Date: ColumnValue {
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Date? {
        guard rows.columns[column].type == .date else { return nil }
        return rows.double(row: row, column: column).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    fileprivate static func value(_ rows: ValueRows, _ row: Int, _ column: Int) -> Wrapped?? {
        Wrapped.value(rows, row, column).map { .some($0) }
    }
    fileprivate static var ofNull: Wrapped?? { .some(nil) }
}
