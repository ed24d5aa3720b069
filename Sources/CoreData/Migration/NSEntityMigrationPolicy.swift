// How one entity mapping is carried out, step by step.

import CoreDataValues
import Foundation

/// `$manager` in value expressions: the migration manager.
public let NSMigrationManagerKey: String = "manager"
/// `$source`: the object as it was.
public let NSMigrationSourceObjectKey: String = "source"
/// `$destination`: the new object.
public let NSMigrationDestinationObjectKey: String = "destination"
/// `$entityMapping`
public let NSMigrationEntityMappingKey: String = "entityMapping"
/// `$propertyMapping`
public let NSMigrationPropertyMappingKey: String = "propertyMapping"
/// `$entityPolicy`: the policy object of the entity mapping.
public let NSMigrationEntityPolicyKey: String = "entityPolicy"

/// Carries out an entity mapping; subclasses do it their own way.
///
/// One object is made for each mapping and lives through the three passes, each of which goes through all mappings in order: first
/// `begin`, `createDestinationInstances` for every source object and `endInstanceCreation`; then `createRelationships` for every object
/// made and `endRelationshipCreation`; last `performCustomValidation` and `end`. What is thrown ends the migration. The
/// destination is saved every thousand objects, so that memory stays bounded, and may be saved by a policy. No save validates: the third
/// pass does, `validateForInsert` for what the migration made, `validateForUpdate` for what was at the destination before.
open class NSEntityMigrationPolicy: NSObject {
    /// What `FUNCTION($entityPolicy, 'name:', …)` in a value expression runs: the policy and the values of the arguments are given.
    public typealias Function = (_ policy: NSEntityMigrationPolicy, _ arguments: [Any?]) throws -> Any?

    public required override init() { super.init() }

    /// The functions of the class by their names in value expressions, `authorSortForAuthors:`. Ours: Swift on Linux finds no method by name.
    ///
    /// A name that a mapping asks for and that is not here ends the migration before anything is written (134170).
    open class var functions: [String: Function] { [:] }

    /// A function of a subclass's method, for `functions`: `["authorSortForAuthors:": function(BookPolicy.authorSort)]`. Ours.
    public final class func function<Policy: NSEntityMigrationPolicy>(
        _ method: @escaping (Policy) -> (_ arguments: [Any?]) throws -> Any?
    ) -> Function {
        { policy, arguments in
            guard let policy = policy as? Policy else {
                misuse("A function of \(Policy.self) stands in the table of \(type(of: policy)).")
            }
            return try method(policy)(arguments)
        }
    }

    /// Comes first of all.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes what becomes of one source object: one object, its attributes by the mapping, associated with the source.
    ///
    /// One that does not call this one inserts into `manager.destinationContext` and calls `manager.associate` itself, for as many
    /// objects as it makes; none for a source object that is left behind.
    /// - Throws: 134110 for a value that the attribute cannot hold, with the mapping, the property and the source object.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.requiredRun(for: "createDestinationInstances").create(from: sInstance, mapping)
    }

    /// Comes after the last source object.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Fills the relationships of one object by the mapping.
    ///
    /// - Throws: 134110 for objects that the relationship cannot hold.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.requiredRun(for: "createRelationships").relate(dInstance, mapping)
    }

    /// Comes after the last object.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Comes before the model's own rules are checked.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Comes last of all.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}
