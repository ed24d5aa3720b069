// Why a read must leave the inlined path.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// Why a read must leave the inlined path. Zero means: loaded, unchanged, slots as the class expects.
@usableFromInline
enum SlowReason {
    /// The row has not been read.
    static let fault: UInt32 = 1
    /// Values were changed or never saved: look into the overlay first.
    static let overlay: UInt32 = 2
    /// The class was made for other slots than the entity has: go by name.
    static let foreignSlots: UInt32 = 4
    /// A fault whose row is here and whose class does nothing when it wakes: the first read only clears this.
    @usableFromInline static let dormant: UInt32 = 8
    /// Touches are checked for the right queue (`Confinement`).
    static let checked: UInt32 = 16
    /// It has no context and answers with stand-ins, so that a key path shows its keys (`KeyPathReading`).
    static let standsIn: UInt32 = 32
    static let anyFault: UInt32 = fault | dormant
}
