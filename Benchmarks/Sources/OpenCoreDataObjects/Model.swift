// The model in code, and its classes as the generator would write them.

import CoreData

/// One patient, with typed accessors over the entity's slots.
final class Patient: NSManagedObject {
    override class var _managedKeys: [String]? {
        ["admitted", "age", "injury", "name", "note", "photo", "weight"]
    }

    var admitted: Date {
        get { _date(0) ?? .distantPast }
        set { _setDate(0, newValue) }
    }
    var age: Int64 {
        get { _int(1) }
        set { _setInt(1, newValue) }
    }
    var injury: Injury? {
        get { _toOne(2) as? Injury }
        set { _setToOne(2, newValue) }
    }
    var name: String {
        get { _text(3) ?? "" }
        set { _setText(3, newValue) }
    }
    var note: String? {
        get { _text(4) }
        set { _setText(4, newValue) }
    }
    var photo: Data? {
        get { _data(5) }
        set { _setData(5, newValue) }
    }
    var weight: Double {
        get { _double(6) }
        set { _setDouble(6, newValue) }
    }
}

/// One injury and its patients.
final class Injury: NSManagedObject {
    override class var _managedKeys: [String]? { ["name"] }

    var name: String {
        get { _text(0) ?? "" }
        set { _setText(0, newValue) }
    }
    var patients: Set<NSManagedObject> { _toMany(0) }
}

enum Clinic {
    /// Patient and Injury, inverse to each other, nullifying.
    static func model() -> NSManagedObjectModel {
        let patient = entity(
            "Patient",
            [
                attribute("admitted", .dateAttributeType), attribute("age", .integer64AttributeType),
                attribute("name", .stringAttributeType),
                attribute("note", .stringAttributeType, isOptional: true),
                attribute("photo", .binaryDataAttributeType, isOptional: true),
                attribute("weight", .doubleAttributeType),
            ])
        let injury = entity("Injury", [attribute("name", .stringAttributeType)])
        let toOne = relationship("injury", to: injury, maxCount: 1)
        let toMany = relationship("patients", to: patient, maxCount: 0)
        toOne.inverseRelationship = toMany
        toMany.inverseRelationship = toOne
        patient.properties.append(toOne)
        injury.properties.append(toMany)
        let model = NSManagedObjectModel()
        model.entities = [patient, injury]
        return model
    }

    static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "OpenCoreDataObjects.\(name)"
        entity.properties = properties
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType, isOptional: Bool = false
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = isOptional
        return attribute
    }

    static func relationship(
        _ name: String, to destination: NSEntityDescription, maxCount: Int
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.isOptional = true
        relationship.minCount = 0
        relationship.maxCount = maxCount
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }
}
