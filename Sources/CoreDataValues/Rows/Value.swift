// One value of an attribute, as predicates, defaults and slow paths see it.

import Foundation

/// A value that crosses modules one at a time. Hot paths use cells and slots instead (see `RowChunk`).
package enum Value: Hashable, Sendable, Codable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case decimal(Decimal)
    case text(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data(Data)
    case uuid(UUID)
    case uri(String)
    /// A to-one target, or an object named in a predicate.
    case key(ObjectKey)

    package var isNull: Bool { if case .null = self { true } else { false } }

    /// Texts are the same by their scalars, as stores and predicates see them.
    package static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int(let a), .int(let b)): a == b
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)): a == b
        case (.decimal(let a), .decimal(let b)): a == b
        case (.text(let a), .text(let b)), (.uri(let a), .uri(let b)): a.hasSameBytes(b)
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.key(let a), .key(let b)): a == b
        case (.null, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.text, _), (.date, _), (.data, _),
            (.uuid, _), (.uri, _),
            (.key, _):
            false
        }
    }
}
