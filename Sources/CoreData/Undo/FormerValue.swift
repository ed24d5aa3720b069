// The value that a write replaced, kept without decoding it.

import CoreDataValues
import Foundation

/// The value that a write replaced, kept without decoding it.
enum FormerValue {
    case null
    /// A transient attribute with a default that was not set since its object was read.
    case unset
    case bits(UInt64)
    case text(String)
    case data(Data)
    case uuid(UUID)
    case reference(AnyObject)
    /// In a row: the chunk is kept instead of the value.
    case row(RowChunk, UnsafeMutablePointer<UInt64>)

    /// Whether this is the value that another was, not one that equals it.
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
