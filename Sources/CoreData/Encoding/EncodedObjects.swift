// What was read of objects, to be encoded.

import CoreDataValues
import Foundation

/// The chosen properties of one managed object as they were when it was asked, for any encoder.
///
/// It is a value that may leave the context's block. Dates, data and numbers that are not finite follow the encoder's strategies.
public struct EncodedObject: Encodable, Sendable {
    let rows: EncodedRows
    let place: Int

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: EncodedKey.self)
        var cell = place * rows.plan.width
        try rows.plan.write(rows.cells, &cell, into: &container)
    }
}

/// The same of several objects: a list for encoders, a collection for programs.
public struct EncodedObjects: Encodable, Sendable, RandomAccessCollection {
    let rows: EncodedRows

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }
    public subscript(position: Int) -> EncodedObject {
        precondition(position >= 0 && position < rows.count, "EncodedObjects has no element at this place.")
        return EncodedObject(rows: rows, place: position)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        if case .values = rows.plan.shape {
            for cell in rows.cells where !cell.isNull { try container.encode(EncodedPlain(cell: cell)) }
            return
        }
        for place in 0..<rows.count { try container.encode(EncodedObject(rows: rows, place: place)) }
    }
}

extension EncodingPlan {
    /// Writes the values of one container, whose cells begin at a place, and leaves the place behind them.
    fileprivate func write(
        _ cells: ContiguousArray<EncodedCell>, _ place: inout Int,
        into container: inout KeyedEncodingContainer<EncodedKey>
    ) throws {
        for field in fields {
            let cell = cells[place]
            place += 1
            switch cell {
            case .null:
                if writesNulls { try container.encodeNil(forKey: field.key) }
                if let inner = field.source.inner { place += inner.width }
            case .present:
                guard let inner = field.source.inner else { continue }
                var nested = container.nestedContainer(keyedBy: EncodedKey.self, forKey: field.key)
                try inner.write(cells, &place, into: &nested)
            case .bool(let value): try container.encode(value, forKey: field.key)
            case .int(let value): try container.encode(value, forKey: field.key)
            case .double(let value): try container.encode(value, forKey: field.key)
            case .float(let value): try container.encode(value, forKey: field.key)
            case .text(let value): try container.encode(value, forKey: field.key)
            case .date(let value): try container.encode(value, forKey: field.key)
            case .decimal(let value): try container.encode(value, forKey: field.key)
            case .data(let value): try container.encode(value, forKey: field.key)
            case .uuid(let value): try container.encode(value, forKey: field.key)
            case .url(let value): try container.encode(value, forKey: field.key)
            case .other(let value): try container.encode(value.value, forKey: field.key)
            case .members(let rows): try container.encode(EncodedObjects(rows: rows), forKey: field.key)
            }
        }
    }
}

extension EncodingPlan.Source {
    /// The values of a container.
    var inner: EncodingPlan? {
        switch self {
        case .target(_, let plan), .composite(let plan): plan
        case .slot, .objectID, .count, .getter, .members, .beyond: nil
        }
    }
}

/// A value that stands in a list or dictionary of Foundation's.
struct EncodedPlain: Encodable {
    let cell: EncodedCell

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch cell {
        case .null, .present: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .uuid(let value): try container.encode(value)
        case .url(let value): try container.encode(value)
        case .other(let value): try container.encode(value.value)
        case .members(let rows): try container.encode(EncodedObjects(rows: rows))
        }
    }
}
