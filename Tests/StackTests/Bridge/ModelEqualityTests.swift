// Models and their parts that say the same.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct ModelEqualityTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Models/FooTriage.xcdatamodeld")

    private func pair() throws -> (NSManagedObjectModel, NSManagedObjectModel) {
        (try NSManagedObjectModel(loading: Self.file), try NSManagedObjectModel(loading: Self.file))
    }

    @Test("Two models of one file are equal with all their parts, also while one of them is in use, and so are copies")
    func equal() throws {
        let (one, two) = try pair()
        _ = NSPersistentStoreCoordinator(managedObjectModel: two)
        #expect(one == two && one.hash == two.hash && one !== two)
        #expect(one.copy() as? NSManagedObjectModel == two)
        for entity in one.entities {
            let other = try #require(two.entitiesByName[entity.name ?? ""])
            #expect(entity == other && entity.hash == other.hash)
            for (name, property) in entity.propertiesByName {
                let same = try #require(other.propertiesByName[name])
                #expect(property == same && property.hash == same.hash && Set([property]).contains(same))
            }
        }
        #expect(Set(one.entities) == Set(two.entities))
        #expect(one.entities[0] != one.entities[1])
    }

    @Test("What says something else is not equal")
    func different() throws {
        let changes: [(NSManagedObjectModel) throws -> Void] = [
            { $0.versionIdentifiers = ["other"] },
            { $0.entities[0].isAbstract.toggle() },
            { $0.entities[0].userInfo = ["a": "b"] },
            { $0.entities[0].properties[0].isOptional.toggle() },
            { $0.entities[0].properties[0].name += "x" },
            { $0.entities[0].properties.removeLast() },
            {
                $0.entities[0].attributesByName.values.first?.setValidationPredicates(
                    [NSPredicate(value: true)], withValidationWarnings: nil)
            },
            {
                try #require($0.entities.lazy.compactMap { $0.relationshipsByName.values.first }.first).deleteRule =
                    .denyDeleteRule;
                $0.entities[0].renamingIdentifier = "n"
            },
            { $0.setEntities([$0.entities[0]], forConfigurationName: "Some") },
            { $0.entities = Array($0.entities.prefix(1)) },
        ]
        for (place, change) in changes.enumerated() {
            let (one, two) = try pair()
            try change(two)
            #expect(one != two, "\(place)")
            #expect(two == two)
        }
        let (alone, other) = (NSAttributeDescription(), NSAttributeDescription())
        (alone.name, other.name) = ("a", "a")
        #expect(alone == other)
        let (first, second) = (NSEntityDescription(), NSEntityDescription())
        (first.name, second.name) = ("A", "B")
        (first.properties, second.properties) = ([alone], [other])
        #expect(alone != other && first != second)
        #expect(NSRelationshipDescription() != NSRelationshipDescription())
    }

    @Test("An element of an index keeps its property; small initialisers exist")
    func keeping() {
        func element() -> NSFetchIndexElementDescription {
            let property = NSAttributeDescription()
            property.name = "kept"
            return NSFetchIndexElementDescription(property: property, collationType: .binary)
        }
        #expect(element().property?.name == "kept")
        let index = NSFetchIndexDescription(name: "i", elements: [element()])
        #expect((index.copy() as? NSFetchIndexDescription)?.elements[0].property?.name == "kept")
        let description = NSPersistentStoreDescription()
        #expect(description.url == URL(fileURLWithPath: "/dev/null") && description == NSPersistentStoreDescription())
        #expect(NSConstraintConflict().constraint.isEmpty && NSConstraintConflict().conflictingObjects.isEmpty)
        #expect(NSPredicate().evaluate(with: "anything"))
    }
}
