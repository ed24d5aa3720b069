// What a context does when another writer was there first.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The five ways to settle conflicts that come ready made.
public enum NSMergePolicyType: UInt, Sendable {
    /// The save fails with the list of conflicts.
    case errorMergePolicyType = 0
    /// Property by property; where both sides changed one, the store's value stays.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Property by property; where both sides changed one, the object's value is written.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// The whole object is written, unchanged values that are out of date included.
    case overwriteMergePolicyType = 3
    /// The object's changes are dropped.
    case rollbackMergePolicyType = 4
}

/// Settles the conflicts of a save, or refuses to.
///
/// A save that meets conflicts hands them to its context's `mergePolicy`, takes up what the policy did to the objects, and writes
/// again. A subclass overrides a `resolve` method, changes the objects of the conflicts and calls `super`, which settles the rest as
/// its `mergeType` says. If a policy throws, the save throws that error, and everything is as before the save. What is changed is told
/// by comparison with what the context last read (6.3); to-manys are merged as what was added and removed.
open class NSMergePolicy: NSObject {
    private let type: NSMergePolicyType

    public init(merge ty: NSMergePolicyType) {
        type = ty
        super.init()
    }

    open var mergeType: NSMergePolicyType { type }

    /// The save fails: 133020 or 133021. What a context does unless told otherwise.
    open class var error: NSMergePolicy { SharedPolicies.error }
    open class var rollback: NSMergePolicy { SharedPolicies.rollback }
    open class var overwrite: NSMergePolicy { SharedPolicies.overwrite }
    open class var mergeByPropertyObjectTrump: NSMergePolicy { SharedPolicies.objectTrump }
    open class var mergeByPropertyStoreTrump: NSMergePolicy { SharedPolicies.storeTrump }

    /// Settles conflicts of either kind, `NSMergeConflict` and `NSConstraintConflict`.
    ///
    /// - Throws: 133020 or 133021 with the conflicts, if the type is `errorMergePolicyType`.
    open func resolve(mergeConflicts list: [Any]) throws {
        var merges: [NSMergeConflict] = []
        var constraints: [NSConstraintConflict] = []
        for item in list {
            switch item {
            case let conflict as NSMergeConflict: merges.append(conflict)
            case let conflict as NSConstraintConflict: constraints.append(conflict)
            default: misuse("resolve(mergeConflicts:) was given \(Swift.type(of: item)); give it conflicts.")
            }
        }
        if !merges.isEmpty { try MergeResolution(mergeType).resolve(merges) }
        if !constraints.isEmpty { try ConstraintResolution(mergeType).resolve(constraints) }
    }

    /// Settles conflicts with other writers of the same rows; by default through `resolve(mergeConflicts:)`.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try resolve(mergeConflicts: list)
    }

    /// Settles broken uniqueness constraints.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        try ConstraintResolution(mergeType).resolve(list)
    }

    /// Whether the policy can do nothing but throw.
    final var onlyThrows: Bool {
        Swift.type(of: self) == NSMergePolicy.self && type == .errorMergePolicyType
    }
}

/// One of each; they have no state that changes.
private enum SharedPolicies {
    nonisolated(unsafe) static let error = NSMergePolicy(merge: .errorMergePolicyType)
    nonisolated(unsafe) static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
    nonisolated(unsafe) static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    nonisolated(unsafe) static let objectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    nonisolated(unsafe) static let storeTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
}

public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyStoreTrump }
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyObjectTrump }
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }

extension NSManagedObjectContext {
    /// How saves of this context settle conflicts: an `NSMergePolicy`; `NSMergePolicy.error` unless set.
    ///
    /// Asked only by a save into stores; a child context's values overwrite its parent's.
    public final var mergePolicy: Any {
        get { chosenPolicy ?? NSMergePolicy.error }
        set {
            guard let policy = newValue as? NSMergePolicy else {
                misuse("mergePolicy was set to \(Swift.type(of: newValue)); set an NSMergePolicy.")
            }
            chosenPolicy = policy
        }
    }

    /// Makes the next save fail, or its policy settle it, if another writer has changed this object's row, although nothing is
    /// changed here.
    ///
    /// A save checks changed and deleted objects by itself. Reads the row if the object is a fault.
    public final func detectConflicts(for object: NSManagedObject) {
        checkQueue()
        let state = object._state
        guard state.identityMap === requiredIdentityMap else {
            misuse("detectConflicts(for:) was given an object of another context; use object(with: objectID) here.")
        }
        guard state.has(.persistent), !state.has(.gone) else { return }
        if state.isFault { object.fire() }
        if !checkedObjects.contains(where: { $0 === object }) { checkedObjects.append(object) }
    }
}
