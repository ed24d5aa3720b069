// One value that was read.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One value that was read.
enum EncodedCell: Sendable {
    case null
    /// A container that is there; the cells of its values follow.
    case present
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case float(Float)
    case text(String)
    case date(Date)
    case decimal(Decimal)
    case data(Data)
    case uuid(UUID)
    case url(URL)
    case other(EncodedOther)
    case members(EncodedRows)

    var isNull: Bool { if case .null = self { true } else { false } }
}
