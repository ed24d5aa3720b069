// What becomes of the objects of one entity.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// What an entity mapping does.
public enum NSEntityMappingType: UInt, Sendable {
    /// Decided by the entities that are named.
    case undefinedEntityMappingType = 0
    /// A policy of the program's own does it.
    case customEntityMappingType
    /// A new entity: it begins without objects.
    case addEntityMappingType
    /// An entity that goes with its objects.
    case removeEntityMappingType
    /// The entity is the same in both models.
    case copyEntityMappingType
    /// The entity differs.
    case transformEntityMappingType
}

/// Says which objects of the source model become which of the destination model, and how their properties are filled.
open class NSEntityMapping: NSObject, KeyValueCoding {
    /// Under what name others refer to the mapping; `Source->Destination` unless it was set.
    open var name: String! {
        get { givenName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { givenName = newValue }
    }
    private final var givenName: String?
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
    open var sourceEntityName: String?
    /// The hash of the source entity that the mapping was made for; nil fits any.
    open var sourceEntityVersionHash: Data?
    open var destinationEntityName: String?
    /// The hash of the destination entity that the mapping was made for; nil fits any.
    open var destinationEntityVersionHash: Data?
    /// Attributes that none is for keep their default values. nil in a copy: all attributes, from those of the same name.
    open var attributeMappings: [NSPropertyMapping]?
    /// Relationships that none is for stay empty. nil in a copy: all relationships, from those of the same name.
    open var relationshipMappings: [NSPropertyMapping]?
    /// The source objects: a `FETCH`, or what else comes to objects. nil for all of the source entity, without those of its subentities.
    open var sourceExpression: NSExpression?
    open var userInfo: [AnyHashable: Any]?
    /// The name of a subclass of `NSEntityMigrationPolicy`; nil for that class itself.
    open var entityMigrationPolicyClassName: String?

    public override init() { super.init() }

    /// Its own properties by name, as value expressions ask for them; nil for another key.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "mappingType": NSNumber(value: mappingType.rawValue)
        case "sourceEntityName": sourceEntityName
        case "sourceEntityVersionHash": sourceEntityVersionHash
        case "destinationEntityName": destinationEntityName
        case "destinationEntityVersionHash": destinationEntityVersionHash
        case "attributeMappings": attributeMappings
        case "relationshipMappings": relationshipMappings
        case "sourceExpression": sourceExpression
        case "userInfo": userInfo.map { NSDictionary(dictionary: $0) }
        case "entityMigrationPolicyClassName": entityMigrationPolicyClassName
        default: nil
        }
    }

    open func setValue(_ value: Any?, forKey key: String) {
        misuse("The \(key) of an entity mapping is set by its property, not by key.")
    }

    /// All that it says, as texts that can be compared.
    final var summary: [String] {
        func words(_ property: NSPropertyMapping) -> String {
            "\(property.name ?? "") = \(property.valueExpression?.description ?? "")"
        }
        return [
            name, "\(mappingType)", sourceEntityName, sourceEntityVersionHash?.base64EncodedString(),
            destinationEntityName,
            destinationEntityVersionHash?.base64EncodedString(), sourceExpression?.description,
            entityMigrationPolicyClassName,
            attributeMappings?.map(words).sorted().joined(separator: "\n"),
            relationshipMappings?.map(words).sorted().joined(separator: "\n"),
        ].map { $0 ?? "nil" }
    }
}
