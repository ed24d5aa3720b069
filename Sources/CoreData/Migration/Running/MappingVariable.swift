// A variable of value expressions.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A variable of value expressions.
enum MappingVariable: String, CaseIterable {
    case manager, source, destination, entityMapping, propertyMapping, entityPolicy

    /// The keys that a mapping may ask of it; nil for those of an object of the model.
    var keys: [String]? {
        switch self {
        case .manager:
            [
                "sourceContext", "destinationContext", "sourceModel", "destinationModel", "mappingModel",
                "currentEntityMapping",
                "migrationProgress", "userInfo", "usesStoreSpecificMigrationManager",
            ]
        case .entityMapping:
            [
                "name", "mappingType", "sourceEntityName", "sourceEntityVersionHash", "destinationEntityName",
                "destinationEntityVersionHash",
                "attributeMappings", "relationshipMappings", "sourceExpression", "userInfo",
                "entityMigrationPolicyClassName",
            ]
        case .propertyMapping: ["name", "valueExpression", "userInfo"]
        case .source, .destination, .entityPolicy: nil
        }
    }
}
