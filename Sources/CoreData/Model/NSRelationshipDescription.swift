// A relationship of an entity.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One relationship: to one object or to many.
///
/// Destination and inverse are held weakly: the model owns the entities, and inverses would own each other.
open class NSRelationshipDescription: NSPropertyDescription {
    open var destinationEntity: NSEntityDescription? {
        get { destination }
        set {
            requireEditable("destinationEntity")
            destination = newValue
        }
    }
    @Unretained private var destination: NSEntityDescription?
    open weak var inverseRelationship: NSRelationshipDescription? {
        willSet { requireEditable("inverseRelationship") }
    }
    /// 1 for a to-one, 0 for a to-many without bound.
    open var maxCount: Int = 1 { willSet { requireEditable("maxCount") } }
    open var minCount: Int = 0 { willSet { requireEditable("minCount") } }
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { requireEditable("deleteRule") } }
    open var isOrdered: Bool = false { willSet { requireEditable("isOrdered") } }
    /// See `Relationship`.
    private var isLoose: Bool?

    public override init() { super.init() }

    open var isToMany: Bool { maxCount != 1 }

    open override var versionHash: Data {
        guard let entity = owner?.name, let relationship = try? declaration(in: entity) else { return Data() }
        return VersionHash.propertyHash(relationship, owner: entity)
    }

    override func emptyCopy() -> NSPropertyDescription { NSRelationshipDescription() }

    override func copyProperties(of other: NSPropertyDescription) {
        super.copyProperties(of: other)
        guard let other = other as? NSRelationshipDescription else { return }
        destinationEntity = other.destinationEntity
        inverseRelationship = other.inverseRelationship
        maxCount = other.maxCount
        minCount = other.minCount
        deleteRule = other.deleteRule
        isOrdered = other.isOrdered
        isLoose = other.isLoose
    }

    /// Fills the description from a declaration; destination and inverse are linked by the bridge.
    func read(_ relationship: Relationship) {
        name = relationship.name
        isOptional = relationship.isOptional
        isTransient = relationship.isTransient
        isIndexed = relationship.isIndexed
        isOrdered = relationship.isOrdered
        minCount = relationship.minCount
        maxCount = relationship.maxCount
        isLoose = relationship.isLoose
        deleteRule = NSDeleteRule(relationship.deleteRule)
        versionHashModifier = relationship.versionHashModifier
        declaredRenamingIdentifier = relationship.renamingIdentifier
        userInfo = relationship.userInfo
        location = relationship.location
    }

    /// The declaration that the description stands for.
    ///
    /// - Throws: `SchemaError` when there is no destination.
    func declaration(in entity: String) throws(SchemaError) -> Relationship {
        guard let destination = destinationEntity?.name else {
            throw SchemaError(
                "The relationship \(entity).\(name) has no destination entity. Set `destinationEntity` to an "
                    + "entity of the same model; entities that nothing else holds are gone by now.",
                entity: entity, property: name, location: location)
        }
        var relationship = Relationship(name: name, destinationName: destination)
        relationship.inverseName = inverseRelationship?.name
        relationship.inverseEntityName = inverseRelationship?.owner?.name
        relationship.isOptional = isOptional
        relationship.isTransient = isTransient
        relationship.isIndexed = isIndexed
        relationship.isOrdered = isOrdered
        relationship.minCount = minCount
        relationship.maxCount = maxCount
        relationship.isLoose = isLoose
        relationship.deleteRule = deleteRule.schemaRule
        relationship.versionHashModifier = versionHashModifier
        relationship.renamingIdentifier = declaredRenamingIdentifier
        relationship.userInfo = textEntries(userInfo)
        relationship.location = location
        return relationship
    }
}
