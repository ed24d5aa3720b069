// The outcomes of one context's saves.

import CoreDataValues
import Foundation

/// The outcomes of one context's saves.
struct SaveRecord: OptionSet {
    let rawValue: UInt8
    /// A store has committed changes.
    static let committed = SaveRecord(rawValue: 1)
    /// A save met a conflict.
    static let refused = SaveRecord(rawValue: 2)
}
