// The reasons for which a read leaves the inlined path.

import CoreDataValues
import Foundation

/// The reasons for which a read leaves the inlined path. Zero means: loaded, unchanged, slots as the class expects.
@usableFromInline
enum SlowReason {
    /// The row has not been read.
    static let fault: UInt32 = 1
    /// Values were changed or never saved: the overlay comes first.
    static let overlay: UInt32 = 2
    /// The class was generated for other slots than the entity has: its accessors go by name.
    static let foreignSlots: UInt32 = 4
    /// A fault whose row is in memory and whose class does nothing when it wakes: the first read only clears this.
    @usableFromInline static let dormant: UInt32 = 8
    /// Every use is checked for the right queue (`Confinement`).
    static let checked: UInt32 = 16
    /// It has no context and answers with stand-ins, so that a key path shows its keys (`KeyPathReading`).
    static let standsIn: UInt32 = 32
    static let anyFault: UInt32 = fault | dormant
}
