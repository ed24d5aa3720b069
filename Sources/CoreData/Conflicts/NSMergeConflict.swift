// A conflict between two writers over one row.

import CoreDataValues
import Foundation

/// A row that another writer changed or deleted since this context read it.
///
/// It is detected in two places (6.1). If the coordinator has a later row than the context, `objectSnapshot` and
/// `cachedSnapshot` are set; if only the store has, `cachedSnapshot` and `persistedSnapshot`. Snapshots have all stored
/// attributes and to-ones by name, nil as `NSNull` and related objects as their IDs, but no to-manys.
open class NSMergeConflict: NSObject {
    /// The object whose save met the conflict.
    public final let sourceObject: NSManagedObject
    /// The row that the changes are based on: the one last read by the context, or by the child that made them.
    public final let objectSnapshot: [String: Any]?
    /// The row in the coordinator's cache, or the last one read.
    public final let cachedSnapshot: [String: Any]?
    /// What the store has; nil if the row is gone.
    public final let persistedSnapshot: [String: Any]?
    /// The row's version now; 0 if it is gone.
    public final let newVersionNumber: Int
    /// The version that the changes are based on.
    public final let oldVersionNumber: Int
    /// The row as the save found it; nil for a conflict that a program made, whose row is read by the resolution.
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
