// The value that a write replaced, kept without decoding it.

import CoreDataValues
import Foundation

/// The value that a write replaced, kept without decoding it.
enum FormerValue {
    case null
    /// A transient attribute that has its default: it was not set since its object was read.
    case unset
    case bits(UInt64)
    case text(String)
    case data(Data)
    case uuid(UUID)
    case reference(AnyObject)
    /// The value in a row, whose chunk is kept.
    case row(RowChunk, UnsafeMutablePointer<UInt64>)

    /// Whether two values are known to be the same: objects by identity, values in rows never.
    func isSame(as other: FormerValue) -> Bool {
        switch (self, other) {
        case (.null, .null), (.unset, .unset): true
        case (.bits(let a), .bits(let b)): a == b
        case (.text(let a), .text(let b)): a == b
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.reference(let a), .reference(let b)): a === b
        default: false
        }
    }
}
