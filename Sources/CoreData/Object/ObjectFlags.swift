// Facts about an object's life, as bits.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// Facts about an object's life, as bits. The sets of a context are computed from these (I-2).
struct ObjectFlags: OptionSet {
    let rawValue: UInt32
    static let inserted = ObjectFlags(rawValue: 1 << 0)
    static let updated = ObjectFlags(rawValue: 1 << 1)
    static let deleted = ObjectFlags(rawValue: 1 << 2)
    /// The delete rules were applied.
    static let propagated = ObjectFlags(rawValue: 1 << 3)
    /// Part of the event that the next `processPendingChanges` reports.
    static let eventInserted = ObjectFlags(rawValue: 1 << 4)
    static let eventUpdated = ObjectFlags(rawValue: 1 << 5)
    static let eventDeleted = ObjectFlags(rawValue: 1 << 6)
    static let eventRefreshed = ObjectFlags(rawValue: 1 << 7)
    /// Stands in the context's list of dirty objects.
    static let listed = ObjectFlags(rawValue: 1 << 8)
    /// Inserted in the open event: undoing the insertion undoes all of it, so nothing is logged.
    static let fresh = ObjectFlags(rawValue: 1 << 9)
    /// Stands in the identity map.
    static let registered = ObjectFlags(rawValue: 1 << 10)
    /// Has a row in a store (or had one, if `gone`).
    static let persistent = ObjectFlags(rawValue: 1 << 11)
    /// No longer belongs to its context: deleted and saved, rolled back, or the context was reset.
    static let gone = ObjectFlags(rawValue: 1 << 12)
    /// An undo or redo wrote to it; it is looked at again when the undo ends.
    static let recheck = ObjectFlags(rawValue: 1 << 13)
    /// The row of this fault was looked for and is gone.
    static let inaccessible = ObjectFlags(rawValue: 1 << 14)
    /// Inside its `awakeFromFetch`: what it writes to its relationships stays on this side (1.4).
    static let waking = ObjectFlags(rawValue: 1 << 15)
    /// While lists of members are compared: stands in the one, or in the other.
    static let present = ObjectFlags(rawValue: 1 << 16)
    static let wanted = ObjectFlags(rawValue: 1 << 17)
    /// Its faults are unexpected (`NSFetchRequest.refusesFaults`).
    static let watched = ObjectFlags(rawValue: 1 << 18)
    /// Was here, found or reached while faults were told of: what is reached from it is noted, also what came with its row.
    static let traced = ObjectFlags(rawValue: 1 << 19)
    /// The program has it from a request, by a relationship that was noted, or from before anything led to it.
    static let placed = ObjectFlags(rawValue: 1 << 20)
    /// A predicate or a sort order asks it: a key that nobody answers for is nil.
    static let predicated = ObjectFlags(rawValue: 1 << 21)
    /// Has changes of a child whose base the context keeps (`PushBase`).
    static let based = ObjectFlags(rawValue: 1 << 22)
    /// Its row came without the program's asking for it: beside another's, or for a delete rule, a write or a save.
    static let unasked = ObjectFlags(rawValue: 1 << 24)
    /// Its row was used so: a save compares the version that the program has last read.
    static let unseen = ObjectFlags(rawValue: 1 << 25)
    /// Holds changes that the running save must write.
    static let dirty: ObjectFlags = [.inserted, .updated, .deleted]
    /// What must be looked at before a write may go unnoticed: `fresh` alone of these allows it.
    static let quietMask = ObjectFlags([.fresh, .gone, .deleted]).rawValue
    /// A write to an object with exactly `updated` and `eventUpdated` of these changes no list.
    static let knownMask = ObjectFlags([.updated, .eventUpdated, .gone, .deleted]).rawValue
    static let event: ObjectFlags = [.eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed]
}
