// Defaults, unmodeled properties, flags of descriptions.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Attribute descriptions") struct DefaultTests {
    private static let xml = """
        <model><entity name="E">
        <attribute name="i" attributeType="Integer 16" defaultValueString="-3"/>
        <attribute name="l" attributeType="Integer 64" defaultValueString="9007199254740993"/>
        <attribute name="d" attributeType="Double" defaultValueString="0.25"/>
        <attribute name="f" attributeType="Float" defaultValueString="1.5"/>
        <attribute name="m" attributeType="Decimal" defaultValueString="12.75"/>
        <attribute name="s" attributeType="String" defaultValueString=" x "/>
        <attribute name="b" attributeType="Boolean" defaultValueString="YES"/>
        <attribute name="t" attributeType="Date" defaultDateTimeInterval="-978285600"/>
        <attribute name="u" attributeType="UUID" defaultValueString="6E7D3C5A-0001-4002-8003-0123456789AB"/>
        <attribute name="r" attributeType="URI" defaultValueString="https://a.example/b"/>
        <attribute name="none" attributeType="String" optional="YES"/>
        <attribute name="c" attributeType="Composite" composite="P"/>
        </entity><composite name="P"><attribute name="lat" attributeType="Double" defaultValueString="0.5"/></composite></model>
        """

    private func values(_ object: NSManagedObject) -> [String] {
        ["i", "l", "d", "f", "m", "s", "b", "u", "r", "none", "c.lat"].map { key in
            object.value(forKeyPath: key).map { "\($0)" } ?? "nil"
        } + [(object.value(forKey: "t") as? Date).map { "\($0.timeIntervalSinceReferenceDate)" } ?? "nil"]
    }

    @Test("Defaults of every type in a model file are the values of a new object, and are saved", arguments: Lab.types)
    func fromFile(_ type: String) throws {
        let folder = Folder()
        let package = folder.file("Model.xcdatamodel")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        try Data(Self.xml.utf8).write(to: package.appendingPathComponent("contents"))
        let stack = try Stack(type, model: NSManagedObjectModel(loading: package))
        let object = stack.context.make("E")
        let expected = [
            "-3", "9007199254740993", "0.25", "1.5", "12.75", " x ", "1", "6E7D3C5A-0001-4002-8003-0123456789AB",
            "https://a.example/b", "nil", "0.5", "-978285600.0",
        ]
        #expect(values(object).map { $0 == "true" ? "1" : $0 } == expected)
        try stack.context.save()
        let read = try stack.another().existingObject(with: object.objectID)
        #expect(values(read).map { $0 == "true" ? "1" : $0 } == expected)
        object.setValue(nil, forKey: "none")
        #expect(object.value(forKey: "none") == nil)
    }

    @Test("Defaults set by a program are converted to the attribute's type; what does not fit is an error of the model")
    func inCode() throws {
        func model(_ type: NSAttributeDescription.AttributeType, _ value: Any?) -> NSManagedObjectModel {
            let attribute = NSAttributeDescription()
            attribute.name = "a"
            attribute.type = type
            attribute.defaultValue = value
            let entity = NSEntityDescription()
            entity.name = "E"
            entity.properties = [attribute]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            return model
        }
        let fine: [(NSAttributeDescription.AttributeType, Any)] = [
            (.integer16, 5), (.double, 5.5), (.decimal, 2.5), (.boolean, true), (.string, NSString(string: "x")),
            (.date, NSDate(timeIntervalSinceReferenceDate: 4)), (.binaryData, Data([1])), (.uuid, UUID()),
            (.uri, URL(string: "a:b")!), (.transformable, ["a"]),
        ]
        for (type, value) in fine {
            let stack = try Stack(model: model(type, value))
            let read = stack.context.make("E").value(forKey: "a")
            #expect(
                "\(read ?? "nil")" == "\(value)" || type == .boolean || type == .transformable,
                "\(type) \(String(describing: read))")
            #expect(read != nil)
        }
        for (type, value) in [(.integer16, 70_000), (.string, 1), (.uuid, "no")]
            as [(NSAttributeDescription.AttributeType, Any)]
        {
            #expect(throws: SchemaError.self) { try model(type, value).freeze() }
        }
    }

    @Test("1.12 contexts ignore changes of properties that the model does not know")
    func unmodeled() throws {
        #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
        #expect(Unmodeled.contextShouldIgnoreUnmodeledPropertyChanges)
        var draft = Lab.draft()
        draft.entities[1].className = "AttributeTests.Unmodeled"
        let stack = try Stack(model: NSManagedObjectModel(draft: draft))
        let probe = try #require(stack.context.make("Probe") as? Unmodeled)
        try stack.context.save()
        probe.unmodeled = 5
        stack.context.processPendingChanges()
        #expect(!probe.hasChanges && !stack.context.hasChanges)
        #expect(probe.changedValues().isEmpty && stack.context.updatedObjects.isEmpty)
    }

    @Test("Flags of attributes are kept, also by copies, and frozen with the model")
    func flags() async throws {
        let attribute = NSAttributeDescription()
        attribute.name = "a"
        #expect(
            !attribute.isIndexedBySpotlight && !attribute.isStoredInExternalRecord && !attribute.allowsCloudEncryption)
        attribute.isIndexedBySpotlight = true
        attribute.isStoredInExternalRecord = true
        attribute.allowsCloudEncryption = true
        let copy = try #require(attribute.copy() as? NSAttributeDescription)
        #expect(copy.isIndexedBySpotlight && copy.isStoredInExternalRecord && copy.allowsCloudEncryption)
        await #expect(processExitsWith: .failure) {
            let stack = try Lab.stack()
            stack.coordinator.managedObjectModel.entitiesByName["Site"]?.attributesByName["name"]?
                .isIndexedBySpotlight = true
        }
    }
}

final class Unmodeled: NSManagedObject {
    var unmodeled = 0
}
