// A uniqueness constraint that objects of a save break.

import CoreDataValues
import Foundation

/// Objects of one save that claim values which another row has, or which several of them claim.
///
/// `databaseObject` is the object of the row that has the values; it is nil if the conflict is among the objects of one save.
open class NSConstraintConflict: NSObject {
    /// The names of the attributes that must be unique together.
    public final let constraint: [String]
    /// The values that are claimed twice.
    public final let constraintValues: [String: Any]
    public final let databaseObject: NSManagedObject?
    /// The stored row of `databaseObject`.
    public final let databaseSnapshot: [String: Any]?
    /// In the order in which they were changed or inserted.
    public final let conflictingObjects: [NSManagedObject]
    /// What the context last read of each, or what a new object started with.
    public final let conflictingSnapshots: [[AnyHashable: Any]]

    /// An empty conflict.
    public convenience override init() {
        self.init(constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
    }

    public init(
        constraint contraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        constraint = contraint
        self.databaseObject = databaseObject
        self.databaseSnapshot = databaseSnapshot.map { snapshot in
            var named: [String: Any] = [:]
            for (key, value) in snapshot { if let key = key as? String { named[key] = value } }
            return named
        }
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots.map { $0 as? [AnyHashable: Any] ?? [:] }
        constraintValues = NSConstraintConflict.values(contraint, of: conflictingObjects.first ?? databaseObject)
        super.init()
    }

    /// Whether an object still has the values: a policy may have given it others.
    final func isClaimed(by object: NSManagedObject) -> Bool {
        let present = NSConstraintConflict.values(constraint, of: object)
        return constraint.allSatisfy { name in
            (present[name] as? NSObject).map { $0.isEqual(constraintValues[name]) } ?? true
        }
    }

    private static func values(_ names: [String], of object: NSManagedObject?) -> [String: Any] {
        var values: [String: Any] = [:]
        for name in names { values[name] = object?.value(forKey: name) ?? NSNull() }
        return values
    }

    open override var description: String {
        "<NSConstraintConflict of \(constraint.joined(separator: ", ")): \(conflictingObjects.map(\.objectID)) "
            + "against \(databaseObject.map { "\($0.objectID)" } ?? "each other")>"
    }
}
