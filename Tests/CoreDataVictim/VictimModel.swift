// The model of the durability tests, built through the public API.

import CoreData

/// Person ⇄ Group (many to many), Person ⇄ City (one to many), with texts long enough to spread over several pages.
enum VictimModel {
    static func make() -> NSManagedObjectModel {
        let (person, group, city) = (entity("Person"), entity("Group"), entity("City"))
        person.properties = [
            attribute("name", .stringAttributeType), attribute("age", .integer64AttributeType),
            attribute("photo", .binaryDataAttributeType),
        ]
        group.properties = [attribute("name", .stringAttributeType)]
        city.properties = [attribute("name", .stringAttributeType)]
        connect(person, "groups", group, "members", isToMany: true)
        connect(person, "city", city, "people", isToMany: false)
        let model = NSManagedObjectModel()
        model.entities = [person, group, city]
        return model
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    private static func connect(
        _ a: NSEntityDescription, _ aName: String, _ b: NSEntityDescription, _ bName: String, isToMany: Bool
    ) {
        let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        (there.name, there.destinationEntity, there.maxCount) = (aName, b, isToMany ? 0 : 1)
        (back.name, back.destinationEntity, back.maxCount) = (bName, a, 0)
        there.inverseRelationship = back
        back.inverseRelationship = there
        a.properties.append(there)
        b.properties.append(back)
    }
}
