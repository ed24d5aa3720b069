// Relationships that are filled when objects are made against those that the second pass fills.

import CoreDataFoundation
import CoreDataTestSupport
import Testing

@testable import CoreData

/// Does what every policy does. That it is a program's own has everything wait for the second pass.
final class DullPolicy: NSEntityMigrationPolicy {}

@Suite struct EarlyLinkTests {
    private let versions = Versions()

    /// Wards with patients; a child is a patient. `extra` is said of the wards' side.
    private static func entities(_ extra: String = "") -> String {
        """
        <entity name="Ward"><attribute name="name" attributeType="String"/>
        <relationship name="patients" optional="YES" toMany="YES" \(extra) destinationEntity="Patient" inverseName="ward" inverseEntity="Patient"/>
        </entity>
        <entity name="Patient"><attribute name="name" attributeType="String"/>
        <relationship name="ward" optional="YES" maxCount="1" destinationEntity="Ward" inverseName="patients" inverseEntity="Ward"/>
        <relationship name="doctor" optional="YES" maxCount="1" destinationEntity="Doctor"/>
        </entity>
        <entity name="Child" parentEntity="Patient"/>
        <entity name="Doctor"><attribute name="name" attributeType="String"/></entity>
        """
    }

    private func fill(_ model: NSManagedObjectModel) throws {
        try versions.with(model, at: versions.file("old.sqlite")) { context in
            let wards = (0..<3).map { context.make("Ward", ["name": "ward \($0)"]) }
            let doctor = context.make("Doctor", ["name": "doctor"])
            for number in 0..<9 {
                let patient = context.make(number % 4 == 3 ? "Child" : "Patient", ["name": "patient \(number)"])
                patient.setValue(number % 3 == 2 ? nil : wards[number % 3], forKey: "ward")
                if number.isMultiple(of: 2) { patient.setValue(doctor, forKey: "doctor") }
            }
            try context.save()
        }
    }

    private static let function = "destinationInstancesForEntityMappingNamed:sourceInstances:"

    private func property(_ name: String, _ mapping: String, _ path: String) -> NSPropertyMapping {
        let property = NSPropertyMapping()
        (property.name, property.valueExpression) = (
            name, NSExpression(format: "FUNCTION($manager, '\(Self.function)', '\(mapping)', \(path))")
        )
        return property
    }

    private func mapping(
        _ name: String, _ entity: String, _ relationships: [NSPropertyMapping] = [], where condition: String? = nil
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        (mapping.name, mapping.mappingType) = (name, .customEntityMappingType)
        (mapping.sourceEntityName, mapping.destinationEntityName) = (entity, entity)
        let text = NSPropertyMapping()
        (text.name, text.valueExpression) = ("name", NSExpression(format: "$source.name"))
        mapping.attributeMappings = [text]
        mapping.relationshipMappings = relationships
        if let condition { mapping.sourceExpression = SourceExpression.all(of: entity, condition) }
        return mapping
    }

    private var wards: NSEntityMapping { mapping("W", "Ward", [property("patients", "P", "$source.patients")]) }
    private var bareWards: NSEntityMapping { mapping("W", "Ward") }
    private var patients: NSEntityMapping { mapping("P", "Patient", [property("ward", "W", "$source.ward")]) }
    private var children: NSEntityMapping { mapping("C", "Child", [property("ward", "W", "$source.ward")]) }
    private var doctors: NSEntityMapping { mapping("D", "Doctor") }

    private func models() -> [(name: String, mappings: [NSEntityMapping])] {
        let seen = mapping(
            "P", "Patient", [property("ward", "W", "$source.ward"), property("doctor", "D", "$source.doctor")])
        let some = mapping("P", "Patient", [property("ward", "W", "$source.ward")], where: "name < 'patient 5'")
        let rest = mapping("Q", "Patient", [property("ward", "W", "$source.ward")], where: "name >= 'patient 5'")
        let first = mapping("W", "Ward", [property("patients", "P", "$source.patients")], where: "name == 'ward 0'")
        let bare = mapping("P", "Patient")
        return [
            ("both sides", [wards, patients]), ("the other order", [patients, wards]),
            ("one side", [bareWards, patients]),
            ("many side", [wards, bare]), ("with children", [wards, patients, children]),
            ("children on one side", [bareWards, patients, children]), ("two relationships", [doctors, wards, seen]),
            ("doctors last", [wards, seen, doctors]), ("two mappings of an entity", [wards, some, rest]),
            ("two and the other order", [some, rest, wards]), ("some wards", [first, patients]),
            ("some patients", [wards, some]),
        ]
    }

    /// What is in the new store, by name.
    private func outcome(
        _ mappings: [NSEntityMapping], _ from: NSManagedObjectModel, _ to: NSManagedObjectModel, policy: String?
    ) throws -> [String] {
        for mapping in mappings { mapping.entityMigrationPolicyClassName = policy }
        let model = NSMappingModel()
        model.entityMappings = mappings
        let url = versions.file("new.sqlite")
        try? FileManager.default.removeItem(at: url)
        let manager = NSMigrationManager(sourceModel: from, destinationModel: to)
        try manager.migrateStore(
            from: versions.file("old.sqlite"), type: .sqlite, mapping: model, to: url, type: .sqlite)
        #expect(manager.migrationProgress == 1)
        return try versions.with(to, at: url) { context in
            try ["Ward", "Patient"].flatMap { try context.all($0, by: "name") }.map { object in
                let names = object.entity.relationshipsByName.keys.sorted().map { key -> String in
                    let members = MappingValue.objects(object.value(forKey: key)) ?? []
                    return "\(key) \(members.map { $0.value(forKey: "name") as? String ?? "" }.sorted())"
                }
                return "\(object.entity.name ?? "") \(object.value(forKey: "name") ?? ""): \(names)"
            }
        }
    }

    @Test(
        "Filled early or by the second pass, relationships are the same",
        arguments: ["", #"ordered="YES""#, #"maxCount="20""#])
    func agreement(extra: String) throws {
        let (from, to) = (try versions.model("A", Self.entities()), try versions.model("B", Self.entities(extra)))
        try fill(from)
        for (name, mappings) in models() {
            let (early, late) = (
                try outcome(mappings, from, to, policy: nil), try outcome(mappings, from, to, policy: "DullPolicy")
            )
            #expect(early == late, "\(name)")
        }
    }

    /// The steps that have nothing to do in the second pass.
    private func settled(_ mappings: [NSEntityMapping], extra: String = "", policy: String? = nil) throws -> [String] {
        let (from, to) = (try versions.model("A", Self.entities()), try versions.model("B", Self.entities(extra)))
        try from.freeze()
        try to.freeze()
        for mapping in mappings { mapping.entityMigrationPolicyClassName = policy }
        let model = NSMappingModel()
        model.entityMappings = mappings
        let manager = NSMigrationManager(sourceModel: from, destinationModel: to)
        let steps = try mappings.map { try MappingStep($0, of: model, manager) }
        let early = EarlyLinks(steps)
        return steps.filter { early.leavesNothing(for: $0, []) }.map(\.name)
    }

    @Test("What is filled early, and what waits")
    func choice() throws {
        #expect(try settled([wards, patients]) == ["W", "P"])
        #expect(try settled([bareWards, patients, children]) == ["W", "P", "C"])
        #expect(try settled([patients, wards]) == [], "what they lead to is not there yet")
        #expect(try settled([wards, patients], policy: "DullPolicy") == [], "a policy may look")
        #expect(try settled([wards, patients], extra: #"ordered="YES""#) == [], "an order is told by the wards")
        #expect(try settled([wards, patients], extra: #"maxCount="20""#) == [], "a number of members is checked")
        #expect(try settled([wards, patients, children]) == [], "the wards' own members leave out the children")
        let loud = mapping(
            "P", "Patient", [property("ward", "W", "$source.ward"), property("doctor", "D", "$source.doctor")])
        #expect(try settled([wards, loud, doctors]) == ["W", "D"])
    }
}
