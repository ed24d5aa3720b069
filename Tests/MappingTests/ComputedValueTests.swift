// Computed values of mappings: what goes straight from slot to slot against what is evaluated object by object.

import CoreDataFoundation
import CoreDataTestSupport
import Testing

@testable import CoreData

/// Answers for one key and takes another one in its own way.
final class Whisper: NSManagedObject {
    override func value(forKey key: String) -> Any? {
        key == "text" ? "whispered" : super.value(forKey: key)
    }
    override func setValue(_ value: Any?, forKey key: String) {
        super.setValue(key == "text" ? "kept \(value ?? "nothing")" : value, forKey: key)
    }
}

@Suite struct ComputedValueTests {
    private typealias Expression = CoreDataFoundation.NSExpression
    private let versions = Versions()

    private static func entity(_ name: String = "NSManagedObject") -> String {
        let types = [
            ("small", "Integer 16"), ("middle", "Integer 32"), ("large", "Integer 64"), ("real", "Double"),
            ("short", "Float"), ("flag", "Boolean"), ("text", "String"), ("day", "Date"), ("exact", "Decimal"),
            ("id", "UUID"), ("place", "URI"), ("data", "Binary"),
        ]
        let attributes = types.map {
            #"<attribute name="\#($0.0)" optional="YES" attributeType="\#($0.1)" usesScalarValueType="NO"/>"#
        }
        return """
            <entity name="Item" representedClassName="\(name)">\(attributes.joined())
            <attribute name="number" attributeType="Integer 64" defaultValueString="9"/>
            <attribute name="filled" optional="YES" attributeType="Integer 64" defaultValueString="8"/>
            <relationship name="next" optional="YES" maxCount="1" destinationEntity="Item"/></entity>
            """
    }

    /// One with all values, one with other ones behind it, one with none.
    private func fill(_ model: NSManagedObjectModel) throws {
        try versions.with(model, at: versions.file("old.sqlite")) { context in
            func make(_ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                for (key, value) in values { object.setPrimitiveValue(value, forKey: key) }
                return object
            }
            let first = make([
                "number": 1, "small": 7, "middle": 70_000, "large": Int64.max, "real": 2.5, "short": Float(0.1),
                "flag": true,
                "text": "one", "day": Date(timeIntervalSinceReferenceDate: 60), "exact": Decimal(string: "1.25") ?? 0,
                "id": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), "data": Data([1, 2]),
                "place": URL(string: "http://here.org") as Any,
            ])
            let second = make(["number": 2, "small": -1, "middle": 3, "real": 1e30, "flag": false, "text": ""])
            first.setValue(second, forKey: "next")
            _ = make(["number": 3])
            try context.save()
        }
    }

    /// A condition that is always true and that no translation sees through.
    private func asked(_ expression: Expression) -> Expression {
        let one = Expression(forConstantValue: 1)
        return Expression(
            forConditional: NSComparisonPredicate(
                leftExpression: Expression(block: { _, _, _ in 1 }), rightExpression: one, modifier: .direct,
                type: .equalTo),
            trueExpression: expression, falseExpression: one)
    }

    /// What a migration by one expression leaves in an attribute, or the sentence that it ends with.
    private func outcome(
        _ expression: Expression, _ name: String, _ from: NSManagedObjectModel, _ to: NSManagedObjectModel
    ) -> [String] {
        let property = NSPropertyMapping()
        (property.name, property.valueExpression) = (name, expression)
        let mapping = NSEntityMapping()
        (mapping.name, mapping.mappingType) = ("Items", .customEntityMappingType)
        (mapping.sourceEntityName, mapping.destinationEntityName) = ("Item", "Item")
        mapping.attributeMappings = [property]
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        let url = versions.file("new.sqlite")
        try? FileManager.default.removeItem(at: url)
        do {
            try NSMigrationManager(sourceModel: from, destinationModel: to).migrateStore(
                from: versions.file("old.sqlite"), type: .sqlite, mapping: model, to: url, type: .sqlite)
            return try versions.with(to, at: url) { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                return try context.fetch(request).sorted { $0._state.key.number < $1._state.key.number }.map {
                    $0.primitiveValue(forKey: name).map { "\(type(of: $0)) \($0)" } ?? "nil"
                }
            }
        } catch { return [(error as? CocoaError)?.sentence ?? "\(error)"] }
    }

    @Test(
        "A computed value is the one that an evaluation for each object comes to",
        arguments: [
            "$source.small + 1", "$source.small * 40000", "$source.middle * 65536", "$source.large + 1",
            "$source.real * 2",
            "$source.small / 0", "$source.short + 1", "$source.flag + 1", "$source.day + 5", "$source.exact + 1",
            "uppercase:($source.text)", "length:($source.text)", "$source.text + 1", "$source.id + 1",
            "$source.data + 1",
            "TERNARY($source.text == nil, 'none', $source.text)",
            "TERNARY($source.flag == YES, $source.small, $source.real)",
            "TERNARY($source.short == 0.1, 1, 2)", "TERNARY($source.id == nil, 1, 2)", "$source.next.small + 1",
            "$source.next.next.small + 1", "max:({$source.small, $source.middle})", "length:(text) + small",
            "TERNARY($source.number > 0, $destination.entity.name, nil)",
            "TERNARY($source.day == nil, nil, $source.day)",
        ])
    func agreement(text: String) throws {
        let (from, to) = (try versions.model("A", Self.entity()), try versions.model("B", Self.entity()))
        try fill(from)
        let expression = Expression(format: text)
        for name in ["small", "middle", "large", "real", "short", "text", "day", "exact", "number", "filled", "flag"] {
            let (once, each) = (outcome(expression, name, from, to), outcome(asked(expression), name, from, to))
            #expect(once == each, "\(name) = \(text)")
        }
    }

    @Test("A class that answers for keys itself is asked, and one that takes values itself is told")
    func ownKeys() throws {
        let plain = try versions.model("A", Self.entity())
        let own = try versions.model("B", Self.entity("Whisper"))
        try fill(plain)
        let expression = Expression(format: "uppercase:($source.text)")
        #expect(outcome(expression, "text", plain, plain) == ["String ONE", "String ", "nil"])
        #expect(outcome(expression, "text", own, plain) == Array(repeating: "String WHISPERED", count: 3))
        #expect(outcome(expression, "text", plain, own) == ["String kept ONE", "String kept ", "String kept nothing"])
    }

    @Test func overridesAreSeen() {
        #expect(ManagedObjectClasses.inheritsReading(NSManagedObject.self))
        #expect(ManagedObjectClasses.inheritsWriting(NSManagedObject.self))
        #expect(!ManagedObjectClasses.inheritsReading(Whisper.self))
        #expect(!ManagedObjectClasses.inheritsWriting(Whisper.self))
    }
}
