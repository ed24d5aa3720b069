// Models and their parts in archives, computed columns and the older forms of indexes.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct ModelArchiveTests {
    private func copy<Coded: NSObject & NSCoding>(_ object: Coded) throws -> Coded? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Coded.self, from: data)
    }

    /// All that a model declares, as text.
    private func text(_ model: NSManagedObjectModel) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return String(decoding: try encoder.encode(try model.draft()), as: UTF8.self)
    }

    private static let triage = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Models/FooTriage.xcdatamodeld").standardizedFileURL

    @Test("A model from its archive declares the same, hashes the same and opens the store of the original")
    func models() throws {
        for model in [Clinic.model(), Rig.divided(), try NSManagedObjectModel(loading: Self.triage)] {
            let read = try #require(try copy(model))
            #expect(try text(read) == text(model))
            #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
            #expect(!model.entityVersionHashesByName.isEmpty && read.configurations == model.configurations)
        }
        let rig = Rig()
        try rig.coordinator.remove(try rig.add())
        let frozen = rig.coordinator.managedObjectModel
        let read = try #require(try copy(frozen))
        read.localizationDictionary = ["Entity/Patient": "Person"]
        let again = Rig(read, in: rig.folder)
        try again.add()
        try again.filled()
        #expect(try #require(try copy(read)).localizationDictionary == ["Entity/Patient": "Person"])
    }

    @Test(
        "Templates, fetched properties and predicates that a program set are archived with their predicates and orders")
    func requests() throws {
        let model = Clinic.model()
        let template = NSFetchRequest<any NSFetchRequestResult>("Patient", "age > $age AND ward.name BEGINSWITH[c] 'n'")
        template.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        template.fetchLimit = 3
        template.fetchOffset = 1
        template.relationshipKeyPathsForPrefetching = ["ward"]
        model.setFetchRequestTemplate(template, forName: "old")
        let fetched = NSFetchedPropertyDescription()
        fetched.name = "neighbours"
        let neighbours = NSFetchRequest<any NSFetchRequestResult>("Patient", "ward == $FETCH_SOURCE.ward")
        fetched.fetchRequest = neighbours
        let patient = try #require(model.entitiesByName["Patient"])
        patient.properties.append(fetched)
        let name = try #require(patient.attributesByName["name"])
        name.setValidationPredicates([NSPredicate(format: "SELF != ''")], withValidationWarnings: ["empty"])

        let read = try #require(try copy(model))
        let request = try #require(read.fetchRequestTemplate(forName: "old"))
        #expect(try request.predicate?.tree() == template.predicate?.tree())
        #expect(request.sortDescriptors?.map(\.key) == ["name"] && request.sortDescriptors?.first?.ascending == false)
        #expect(
            request.fetchLimit == 3 && request.fetchOffset == 1
                && request.relationshipKeyPathsForPrefetching == ["ward"])
        let property = read.entitiesByName["Patient"]?.propertiesByName["neighbours"] as? NSFetchedPropertyDescription
        #expect(try property?.fetchRequest?.predicate?.tree() == neighbours.predicate?.tree())
        let rule = try #require(read.entitiesByName["Patient"]?.attributesByName["name"])
        #expect(rule.validationPredicates.first?.evaluate(with: "Ada") == true)
        #expect(rule.validationPredicates.first?.evaluate(with: "") == false)
        #expect(rule.validationWarnings as? [String] == ["empty"])
    }

    @Test("An entity alone, a property alone and an index alone come back without owner")
    func parts() throws {
        let model = try NSManagedObjectModel(loading: Self.triage)
        let casualty = try #require(model.entitiesByName["Casualty"])
        let entity = try #require(try copy(casualty))
        #expect(entity.name == "Casualty" && entity.managedObjectClassName == casualty.managedObjectClassName)
        #expect(entity.properties.map(\.name).sorted() == casualty.properties.map(\.name).sorted())
        #expect(
            entity.superentity == nil && entity.relationshipsByName.values.allSatisfy { $0.destinationEntity == nil })
        for attribute in casualty.attributesByName.values {
            let read = try #require(try copy(attribute))
            #expect(read.name == attribute.name && read.attributeType == attribute.attributeType)
            #expect(read.versionHash == attribute.versionHash && read.isOptional == attribute.isOptional)
        }
        let relationship = try #require(casualty.relationshipsByName["injuries"])
        let link = try #require(try copy(relationship))
        #expect(link.name == "injuries" && link.isToMany && link.deleteRule == relationship.deleteRule)
        let title = NSAttributeDescription()
        title.name = "title"
        let element = NSFetchIndexElementDescription(property: title, collationType: .binary)
        element.isAscending = false
        let index = NSFetchIndexDescription(name: "byTitle", elements: [element])
        index.partialIndexPredicate = NSPredicate(format: "title != nil")
        let read = try #require(try copy(index))
        #expect(read.name == "byTitle" && read.elements.map(\.propertyName) == ["title"])
        #expect(read.elements.first?.isAscending == false && read.elements.first?.indexDescription === read)
        #expect(try read.partialIndexPredicate?.tree() == index.partialIndexPredicate?.tree())
        #expect(try #require(try copy(element)).propertyName == "title")
    }

    @Test("A damaged archive, and one of a model that contradicts itself, throw when they are read")
    func damaged() throws {
        let wrong = NSManagedObjectModel()
        wrong.entities = [NSEntityDescription()]
        #expect(throws: (any Error).self) { try copy(wrong) }
        let data = try NSKeyedArchiver.archivedData(withRootObject: Clinic.model(), requiringSecureCoding: true)
        var archive = try #require(
            try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        var objects = try #require(archive["$objects"] as? [Any])
        for (place, object) in objects.enumerated() where object is Data { objects[place] = Data([1, 2, 3]) }
        archive["$objects"] = objects
        let spoilt = try PropertyListSerialization.data(fromPropertyList: archive, format: .binary, options: 0)
        #expect(throws: (any Error).self) {
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: spoilt)
        }
    }

    // MARK: Computed columns

    @Test("A computed column keeps its expression and type in copies and archives, and no entity may have it")
    func computed() throws {
        let column = NSExpressionDescription()
        #expect(column.expressionResultType == .undefinedAttributeType && column.expression == nil)
        column.name = "eldest"
        column.expression = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "age")])
        column.resultType = .integer16
        #expect(column.expressionResultType == .integer16AttributeType && column.resultType == .integer16)
        for other in [try #require(column.copy() as? NSExpressionDescription), try #require(try copy(column))] {
            #expect(other.name == "eldest" && other.expression == column.expression)
            #expect(other.expressionResultType == .integer16AttributeType)
        }
        let model = Clinic.model()
        model.entitiesByName["Patient"]?.properties.append(column)
        let error = #expect(throws: SchemaError.self) { try model.schema() }
        #expect(error?.message.contains("Patient.eldest") == true)
    }

    // MARK: Older forms of indexes

    @Test("Compound indexes become indexes of the store, beside those of the newer form, and no part of the hash")
    func compound() throws {
        let model = Clinic.model()
        let patient = try #require(model.entitiesByName["Patient"])
        let hash = patient.versionHash
        let name = try #require(patient.attributesByName["name"])
        patient.indexes = [
            NSFetchIndexDescription(
                name: "compoundIndex",
                elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        ]
        patient.compoundIndexes = [[name, "age"], ["code", "age"]]
        #expect(patient.versionHash == hash)
        let read = try #require((model.copy() as? NSManagedObjectModel)?.entitiesByName["Patient"])
        #expect(read.compoundIndexes as? [[String]] == [["name", "age"], ["code", "age"]])
        let rig = Rig(model)
        try rig.coordinator.remove(try rig.add())
        let found = try SQLiteFile(rig.folder.file("store")).rows(
            "SELECT sql FROM sqlite_master WHERE type = 'index' AND name LIKE 'Z_Patient_compound%' ORDER BY name")
        #expect(found.count == 3)
        let columns = found.map { sql in ["ZNAME", "ZCODE", "ZAGE"].filter { sql.contains($0) } }
        #expect(columns == [["ZNAME"], ["ZNAME", "ZAGE"], ["ZCODE", "ZAGE"]])
    }

    @Test("The condition of an index is kept as text and is the index's in the store")
    func partial() throws {
        let model = Clinic.model()
        let patient = try #require(model.entitiesByName["Patient"])
        let name = try #require(patient.attributesByName["name"])
        let index = NSFetchIndexDescription(
            name: "named", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        index.partialIndexPredicate = NSPredicate(format: "name != nil")
        patient.indexes = [index]
        #expect(index.partialIndexPredicate?.evaluate(with: ["name": "Ada"]) == true)
        let rig = Rig(model)
        try rig.add()
        let found = try SQLiteFile(rig.folder.file("store")).rows(
            "SELECT sql FROM sqlite_master WHERE name = 'Z_Patient_named'")
        let sql = found.first ?? ""
        #expect(sql.contains("WHERE") && sql.contains("ZNAME"), "\(sql)")
        let plain = NSFetchIndexDescription(name: "plain", elements: nil)
        plain.partialIndexPredicate = nil
        #expect(plain.partialIndexPredicate == nil)
    }
}
