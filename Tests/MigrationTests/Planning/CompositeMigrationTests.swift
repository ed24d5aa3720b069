// Composite attributes whose elements change.

@testable import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite("Composite attributes that change") struct CompositeMigrationTests {
    private static let types = [NSSQLiteStoreType, NSXMLStoreType]
    private static let optional = "optional=\"YES\""

    /// One entity with a composite attribute of these elements.
    private func model(_ elements: String, inner: String = "", attribute: String = Self.optional) -> String {
        "<composite name=\"Place\">\(elements)</composite>"
            + (inner.isEmpty ? "" : "<composite name=\"Area\">\(inner)</composite>")
            + Versions.entity(
                "Item", "", Versions.attribute("n"),
                "<attribute name=\"place\" attributeType=\"Composite\" composite=\"Place\" \(attribute)/>")
    }

    private func element(_ name: String, _ type: String = "String", _ more: String = Self.optional) -> String {
        Versions.attribute(name, type, more)
    }

    /// Rows with these values in the first version, and what they are in the second.
    private func migrated(_ type: String, _ from: String, _ to: String, _ rows: [[String: Any]?]) throws -> [String] {
        let versions = try Versions(from, to)
        try versions.open(1, type) { context in
            for row in rows { context.make("Item", row.map { ["place": $0] } ?? [:]) }
            try context.save()
        }
        return try versions.open(2, type) { context in
            try context.all("Item").map { item in
                try item.validateForUpdate()
                guard let place = item.value(forKey: "place") as? [String: Any] else { return "nil" }
                return place.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            }
        }
    }

    @Test("An element that is renamed keeps its values, also inside another composite", arguments: types)
    func renamed(_ type: String) throws {
        let (x, y) = (element("x", "Double"), element("y"))
        let area = "<attribute name=\"area\" optional=\"YES\" attributeType=\"Composite\" composite=\"Area\"/>"
        let zone =
            "<attribute name=\"zone\" optional=\"YES\" attributeType=\"Composite\" composite=\"Area\" elementID=\"area\"/>"
        let found = try migrated(
            type, model(x + y + area, inner: element("code")),
            model(
                element("xx", "Double", "optional=\"YES\" elementID=\"x\"") + y + zone,
                inner: element("number", "String", "optional=\"YES\" elementID=\"code\"")),
            [["x": 1.5, "y": "why", "area": ["code": "c"]], nil])
        #expect(found == ["xx=1.5 y=why zone=[\"number\": \"c\"]", "nil"])
    }

    @Test(
        "What a removed element holds is lost, and the plan says how much; what a renamed one holds is not",
        arguments: types)
    func removed(_ type: String) throws {
        let area = "<attribute name=\"area\" optional=\"YES\" attributeType=\"Composite\" composite=\"Area\"/>"
        let versions = try Versions(
            model(element("x", "Double") + element("y") + area, inner: element("code") + element("street")),
            model(element("xx", "Double", "optional=\"YES\" elementID=\"x\"") + area, inner: element("code")))
        try versions.open(1, type) { context in
            for place: [String: Any] in [
                ["x": 1.5, "y": "a", "area": ["code": "c"]], ["y": "b", "area": ["street": "s"]], ["x": 2.5],
            ] {
                context.make("Item", ["place": place])
            }
            try context.save()
        }
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: versions.model(1)).migrationPlan(
            at: versions.store, toVersionsOf: versions.url, type: .init(rawValue: type))
        #expect(
            plan.lost == [
                .init(entity: "Item", property: "place.area.street", rows: 1),
                .init(entity: "Item", property: "place.y", rows: 2),
            ])
        #expect(try plan.rehearse() == [])
        try plan.run()
        #expect(try versions.open(2, type) { try $0.all("Item").count } == 3)
    }

    @Test("A new element has its default in every row", arguments: types)
    func added(_ type: String) throws {
        let (x, y) = (element("x", "Double"), element("y"))
        let z = element("z", "String", "optional=\"YES\" defaultValueString=\"dz\"")
        let optional = try migrated(type, model(x + y), model(x + y + z), [["y": "only"], ["x": 2.5], nil])
        #expect(optional == ["y=only z=dz", "x=2.5 z=dz", "z=dz"])
        let required = try migrated(
            type, model(x + y, attribute: ""),
            model(x + y + element("z", "String", "defaultValueString=\"dz\""), attribute: ""), [["y": "only"]])
        #expect(required == ["y=only z=dz"])
    }

    @Test(
        "Where nothing says which composites have a value, an element that must have one is not guessed",
        arguments: ["element", "default", "composite", "new"])
    func questions(_ what: String) throws {
        let (x, y) = (element("x", "Double"), element("y"))
        let later =
            switch what {
            case "element": model(element("x", "Double", "") + y)
            case "default": model(element("x", "Double", "defaultValueString=\"9\"") + y)
            case "composite": model(x + y, attribute: "")
            default: model(x + y + element("z", "String", ""))
            }
        let refusal = caught { _ = try migrated(NSSQLiteStoreType, model(x + y), later, [["y": "only"]]) }
        #expect(refusal?.code.rawValue == 134190)
        let name = what == "composite" ? "Item.place " : what == "new" ? "Item.place.z" : "Item.place.x"
        #expect(refusal?.localizedDescription.contains(name) == true, "\(refusal?.localizedDescription ?? "")")
    }
}
