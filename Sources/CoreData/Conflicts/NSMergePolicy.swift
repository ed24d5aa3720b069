// How a context resolves conflicts with other writers.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The five built-in ways to resolve conflicts.
public enum NSMergePolicyType: UInt, Sendable {
    /// The save fails with the list of conflicts.
    case errorMergePolicyType = 0
    /// Merges by property; where both sides changed one, the store's value stays.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Merges by property; where both sides changed one, the object's value is written.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// Writes the whole object, including unchanged values that are out of date.
    case overwriteMergePolicyType = 3
    /// Drops the object's changes.
    case rollbackMergePolicyType = 4
}

/// Resolves the conflicts of a save, or refuses to.
///
/// A save hands its conflicts to the context's `mergePolicy`, collects what the policy changed, and writes again. A
/// subclass overrides a `resolve` method, changes the objects of the conflicts and calls `super`, which resolves the
/// rest by its `mergeType`. If a policy throws, the save throws that error and restores the state before it. Changes
/// are found by comparison with what the context last read (6.3); to-manys are merged by added and removed members.
open class NSMergePolicy: NSObject {
    private let type: NSMergePolicyType

    public init(merge ty: NSMergePolicyType) {
        type = ty
        super.init()
    }

    open var mergeType: NSMergePolicyType { type }

    /// The save fails with 133020 or 133021. The default policy of a context.
    open class var error: NSMergePolicy { SharedPolicies.error }
    open class var rollback: NSMergePolicy { SharedPolicies.rollback }
    open class var overwrite: NSMergePolicy { SharedPolicies.overwrite }
    open class var mergeByPropertyObjectTrump: NSMergePolicy { SharedPolicies.objectTrump }
    open class var mergeByPropertyStoreTrump: NSMergePolicy { SharedPolicies.storeTrump }

    /// Resolves conflicts of either kind, `NSMergeConflict` and `NSConstraintConflict`.
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

    /// Resolves conflicts with other writers of the same rows; by default through `resolve(mergeConflicts:)`.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try resolve(mergeConflicts: list)
    }

    /// Resolves broken uniqueness constraints.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        try ConstraintResolution(mergeType).resolve(list)
    }

    /// Whether the policy can do nothing but throw.
    final var onlyThrows: Bool {
        Swift.type(of: self) == NSMergePolicy.self && type == .errorMergePolicyType
    }
}

/// The shared instances; they have no mutable state.
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
    /// How saves of this context resolve conflicts: an `NSMergePolicy`; `NSMergePolicy.error` unless set.
    ///
    /// Only a save into stores asks it; a child context's values overwrite its parent's.
    public final var mergePolicy: Any {
        get { chosenPolicy ?? NSMergePolicy.error }
        set {
            guard let policy = newValue as? NSMergePolicy else {
                misuse("mergePolicy was set to \(Swift.type(of: newValue)); set an NSMergePolicy.")
            }
            chosenPolicy = policy
        }
    }
}
