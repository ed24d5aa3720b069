// The model of the stress run: items of a writer, linked to counters and tags that all writers share.

import CoreData

/// Which item: who made it, and its place among those that he made.
struct ItemName: Hashable, CustomStringConvertible {
    let owner: Int
    let serial: Int
    var description: String { "\(owner)/\(serial)" }
}

enum StressModel {
    /// How many counters, and how many tags, there are. All are made before the writers start.
    static let shared = 64

    static func make() -> NSManagedObjectModel {
        let item = entity(
            "Item",
            [
                ("owner", .integer64AttributeType), ("serial", .integer64AttributeType),
                ("amount", .integer64AttributeType), ("note", .stringAttributeType),
            ])
        let counter = entity("Counter", [("number", .integer64AttributeType), ("value", .integer64AttributeType)])
        let tag = entity("Tag", [("number", .integer64AttributeType)])
        relate(item, "counter", 1, counter, "items")
        relate(item, "tags", 0, tag, "items")
        let model = NSManagedObjectModel()
        model.entities = [item, counter, tag]
        return model
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = false
            return attribute
        }
        return entity
    }

    /// A relationship whose inverse is a to-many one.
    private static func relate(
        _ source: NSEntityDescription, _ name: String, _ maxCount: Int, _ target: NSEntityDescription, _ inverse: String
    ) {
        let forth = relationship(name, target, maxCount)
        let back = relationship(inverse, source, 0)
        forth.inverseRelationship = back
        back.inverseRelationship = forth
        source.properties.append(forth)
        target.properties.append(back)
    }

    private static func relationship(
        _ name: String, _ target: NSEntityDescription, _ maxCount: Int
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = target
        relationship.isOptional = true
        relationship.minCount = 0
        relationship.maxCount = maxCount
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }

    static func coordinator(_ file: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: make())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: nil)
        return coordinator
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Makes the counters and the tags.
    static func seed(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = context(coordinator)
        try context.performAndWait {
            for number in 0..<shared {
                let counter = NSEntityDescription.insertNewObject(forEntityName: "Counter", into: context)
                counter.setValue(number, forKey: "number")
                counter.setValue(0, forKey: "value")
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue(number, forKey: "number")
            }
            try context.save()
        }
    }
}
