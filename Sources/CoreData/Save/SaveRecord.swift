// What the saves of one context have come to.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// What the saves of one context have come to.
struct SaveRecord: OptionSet {
    let rawValue: UInt8
    /// A store has taken changes.
    static let committed = SaveRecord(rawValue: 1)
    /// A save met a conflict.
    static let refused = SaveRecord(rawValue: 2)
}
