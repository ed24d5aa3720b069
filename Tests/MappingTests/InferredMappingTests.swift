// Mapping models of differences.

import CoreDataTestSupport
import Testing

@testable import CoreData

@Suite struct InferredMappingTests {
    private let versions = Versions()

    @Test("An inferred mapping model has a mapping for every entity, with type, hashes and expressions")
    func kinds() throws {
        let (first, second) = (try versions.model("A", Versions.first), try versions.model("B", Self.optional))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
        let kinds = Dictionary(uniqueKeysWithValues: mapping.entityMappings.map { ($0.name ?? "", $0.mappingType) })
        #expect(
            kinds == [
                "IEM_Transform_Person": .transformEntityMappingType, "IEM_Transform_Book": .transformEntityMappingType,
                "IEM_Copy_Tag": .copyEntityMappingType, "IEM_Add_Shelf": .addEntityMappingType,
                "IEM_Remove_Note": .removeEntityMappingType,
            ])
        let person = try #require(mapping.entityMappingsByName["IEM_Transform_Person"])
        #expect(person.sourceEntityName == "Author")
        #expect(person.sourceEntityVersionHash == first.entityVersionHashesByName["Author"])
        #expect(person.destinationEntityVersionHash == second.entityVersionHashesByName["Person"])
        let name = try #require(person.attributeMappings?.first { $0.name == "fullName" })
        #expect(name.valueExpression?.description == "$source.name")
        #expect(person.attributeMappings?.first { $0.name == "rank" }?.valueExpression == nil)
        #expect(
            person.relationshipMappings?.first?.valueExpression?.description
                == #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:" , "books", $source.books)"#
                || person.relationshipMappings?.first?.valueExpression?.description.contains("SourceRelationshipNamed")
                    == true
        )
        #expect(try mapping.fit(first.schema(), second.schema()) != nil)
        #expect(try mapping.fit(second.schema(), first.schema()) == nil)
    }

    /// The second version with an author that may be missing, which can be inferred.
    static let optional = Versions.second.replacingOccurrences(
        of: "<relationship name=\"author\" maxCount", with: "<relationship name=\"author\" optional=\"YES\" maxCount")

    @Test("A change of type is refused with 134190, which names entity, property and both types")
    func refused() throws {
        let first = try versions.model("A", Versions.first)
        let other = try versions.model(
            "B",
            Versions.first.replacingOccurrences(
                of: "\"pages\" optional=\"YES\" attributeType=\"Integer 32\"",
                with: "\"pages\" optional=\"YES\" attributeType=\"Date\""))
        let error = thrown {
            _ = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: other)
        }
        #expect(error?.code == .inferredMappingModel)
        #expect(error?.userInfo[NSEntityNameErrorKey] as? String == "Book")
        #expect(error?.validationKey == "pages")
        #expect(error?.sentence.contains("Integer 32") == true && error?.sentence.contains("Date") == true)
    }

    @Test(
        "13.3: an inferred mapping model carries every value, order and pair over, with and without objects",
        arguments: [true, false])
    func carried(byStore: Bool) throws {
        let (first, second) = (try versions.model("A", Versions.first), try versions.model("B", Self.optional))
        try versions.library(first, at: versions.file("old.sqlite"))
        let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
        #expect(manager.usesStoreSpecificMigrationManager)
        manager.usesStoreSpecificMigrationManager = byStore
        try manager.migrateStore(
            from: versions.file("old.sqlite"), type: .sqlite,
            mapping: .inferredMappingModel(forSourceModel: first, destinationModel: second),
            to: versions.file("new.sqlite"), type: .sqlite)
        #expect(manager.migrationProgress == 1)
        try versions.with(second, at: versions.file("new.sqlite")) { context in
            let people = try context.all("Person", by: "fullName")
            #expect(people.map { $0.value(forKey: "fullName") as? String } == ["Ann", "Bob"])
            #expect(people.map { ($0.value(forKey: "born") as? NSNumber)?.intValue } == [1901, nil])
            #expect(people.map { ($0.value(forKey: "rank") as? NSNumber)?.intValue } == [7, 7])
            let books = try #require(people[0].value(forKey: "books") as? NSOrderedSet)
            #expect(
                books.array.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } == ["Zebras", "Apples"])
            let all = try context.all("Book", by: "title")
            #expect(all.map { ($0.value(forKey: "pages") as? NSNumber)?.intValue } == [120, -1, 300])
            #expect(all.map { ($0.value(forKey: "tags") as? NSSet)?.count } == [1, 0, 2])
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Shelf")) == 0)
        }
    }
}
