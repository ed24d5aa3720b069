// Two writers, one row.

import CoreDataValues
import Foundation

/// A row that another writer changed or deleted since this context read it.
///
/// Two places can tell (6.1). If the coordinator knows a later row than the context, `objectSnapshot` and `cachedSnapshot` are set and
/// `persistedSnapshot` is nil. If only the store does, `cachedSnapshot` and `persistedSnapshot` are set. Snapshots have all stored
/// attributes and to-one relationships by name, nil as `NSNull` and related objects as their IDs; to-manys are not in them.
open class NSMergeConflict: NSObject {
    /// The object whose save met the conflict.
    public final let sourceObject: NSManagedObject
    /// What the changes were made on: the row that the context, or the child that made them, last read.
    public final let objectSnapshot: [String: Any]?
    /// What the coordinator knew of the row.
    public final let cachedSnapshot: [String: Any]?
    /// What the store has; nil if the row is gone.
    public final let persistedSnapshot: [String: Any]?
    /// The row's version now; 0 if it is gone.
    public final let newVersionNumber: Int
    /// The version that the changes were made on.
    public final let oldVersionNumber: Int
    /// The row as the save found it; nil for a conflict that a program made, whose row is read when it is settled.
    final let found: StoredRow?

    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
        cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
    ) {
        sourceObject = srcObject
        newVersionNumber = newvers
        oldVersionNumber = oldvers
        objectSnapshot = persnap == nil ? srcObject.standing.map { srcObject.dictionary(of: $0.snapshot) } : nil
        cachedSnapshot = cachesnap
        persistedSnapshot = persnap
        found = nil
        super.init()
    }

    /// - Parameters:
    ///   - cached: the coordinator's row, nil if it has none.
    ///   - stored: what the store has.
    init(_ object: NSManagedObject, cached: RowSnapshot?, stored: StoredRow) {
        sourceObject = object
        found = stored
        let read = object.standing
        oldVersionNumber = read == nil ? 0 : Int(object.comparedVersion)
        if let cached, cached.version != read?.version {
            newVersionNumber = Int(cached.version)
            objectSnapshot = read.map { object.dictionary(of: $0.snapshot) }
            cachedSnapshot = object.dictionary(of: cached)
            persistedSnapshot = nil
        } else {
            newVersionNumber = Int(stored.row?.version ?? 0)
            objectSnapshot = nil
            cachedSnapshot = (cached ?? read?.snapshot).map { object.dictionary(of: $0) }
            persistedSnapshot = stored.row.map { object.dictionary(of: $0) }
        }
        super.init()
    }

    open override var description: String {
        "<NSMergeConflict for \(sourceObject.objectID): version \(oldVersionNumber) was read, "
            + (newVersionNumber == 0 ? "the row is gone>" : "the row has version \(newVersionNumber)>")
    }
}
