// The state of an object, as bits.

import CoreDataValues
import Foundation

/// The state of an object, as bits. The sets of a context are computed from these (I-2).
struct ObjectFlags: OptionSet {
    let rawValue: UInt32
    static let inserted = ObjectFlags(rawValue: 1 << 0)
    static let updated = ObjectFlags(rawValue: 1 << 1)
    static let deleted = ObjectFlags(rawValue: 1 << 2)
    /// Its delete rules were applied.
    static let rulesApplied = ObjectFlags(rawValue: 1 << 3)
    /// Part of the event that the next `processPendingChanges` reports.
    static let eventInserted = ObjectFlags(rawValue: 1 << 4)
    static let eventUpdated = ObjectFlags(rawValue: 1 << 5)
    static let eventDeleted = ObjectFlags(rawValue: 1 << 6)
    static let eventRefreshed = ObjectFlags(rawValue: 1 << 7)
    /// Is in the context's list of dirty objects.
    static let inDirtyList = ObjectFlags(rawValue: 1 << 8)
    /// Inserted in the open event: undoing the insertion undoes all that follows, so only the insertion is logged.
    static let skipsLog = ObjectFlags(rawValue: 1 << 9)
    /// Is in the identity map.
    static let registered = ObjectFlags(rawValue: 1 << 10)
    /// Has a row in a store (or had one, if `detached`).
    static let persistent = ObjectFlags(rawValue: 1 << 11)
    /// No longer belongs to its context: deleted and saved, rolled back, or the context was reset.
    static let detached = ObjectFlags(rawValue: 1 << 12)
    /// Was written by the running undo or redo, which checks at its end whether it is still changed.
    static let replayed = ObjectFlags(rawValue: 1 << 13)
    /// A fault whose row was looked for and is gone.
    static let inaccessible = ObjectFlags(rawValue: 1 << 14)
    /// In its `awakeFromFetch`: what it writes to relationships stays on this side (1.4).
    static let waking = ObjectFlags(rawValue: 1 << 15)
    /// While lists of members are compared: is in the present or in the wanted one.
    static let present = ObjectFlags(rawValue: 1 << 16)
    static let wanted = ObjectFlags(rawValue: 1 << 17)
    /// Its faults are unexpected (`NSFetchRequest.refusesFaults`).
    static let watched = ObjectFlags(rawValue: 1 << 18)
    /// Was registered, fetched or reached while fault reporting was on: what is reached from it is noted, even if its
    /// row is in memory.
    static let traced = ObjectFlags(rawValue: 1 << 19)
    /// `FaultWatch` knows the path to it from what the program fetched. It may be empty: the object was fetched itself,
    /// or it was read before any noted relationship led to it.
    static let pathKnown = ObjectFlags(rawValue: 1 << 20)
    /// Is being read for a predicate or a sort order: an unknown key is nil.
    static let predicated = ObjectFlags(rawValue: 1 << 21)
    /// Has changes of a child, whose base the context keeps (`PushBase`).
    static let childBase = ObjectFlags(rawValue: 1 << 22)
    /// Its row was read without a request of the program: beside another row, or for a delete rule, a write or a save.
    static let readIncidentally = ObjectFlags(rawValue: 1 << 24)
    /// Such a row was used for that, not by the program: a save compares the version that the program last read.
    static let unseen = ObjectFlags(rawValue: 1 << 25)
    /// Has changes that a save must write.
    static let dirty: ObjectFlags = [.inserted, .updated, .deleted]
    /// A write skips tracking if exactly `skipsLog` of these is set.
    static let quietMask = ObjectFlags([.skipsLog, .detached, .deleted]).rawValue
    /// A write changes no list if exactly `updated` and `eventUpdated` of these are set.
    static let knownMask = ObjectFlags([.updated, .eventUpdated, .detached, .deleted]).rawValue
    static let event: ObjectFlags = [.eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed]
}
