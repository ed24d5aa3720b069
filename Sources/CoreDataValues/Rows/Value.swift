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

    package var isNull: Bool { self == .null }
}
