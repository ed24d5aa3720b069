// What a property list is written of: a tree.

import Foundation

/// One thing of a property list that is to be written.
package indirect enum ArchiveNode {
    case bool(Bool)
    case integer(Int64)
    /// Beyond `Int64.max`.
    case large(UInt64)
    case real(Double)
    /// Seconds since 2001.
    case date(Double)
    case data(Data)
    case text(String)
    /// The place of an object in a keyed archive's list.
    case reference(Int)
    case array([ArchiveNode])
    case dictionary([String: ArchiveNode])
}
