// Validation and custom accessors of composite attributes.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Validates property by property, and refuses the label "wrong".
final class CheckedSite: NSManagedObject {
    override func validateProperty(_ key: String, value: UnsafeMutablePointer<AnyObject?>) throws {
        guard key == "location" || key == "needed", var place = value.pointee as? [String: Any] else { return }
        if place["label"] as? String == "wrong" { throw CocoaError(CocoaError.Code(rawValue: 1999)) }
        if place["label"] as? String == "shout" {
            place["label"] = "SHOUT"
            value.pointee = place as AnyObject
        }
    }
}

@Suite("Rules of composite attributes") struct CompositeRuleTests {
    /// Sites of the class above; `needed` is a composite that must have a value.
    private func stack(_ type: String) throws -> Stack {
        var draft = Lab.draft()
        draft.entities[0].className = "AttributeTests.CheckedSite"
        draft.entities[0].attributes.append(Clinic.composite("needed", "Place", optional: false))
        return try Stack(type, model: NSManagedObjectModel(draft: draft))
    }

    private func check(_ object: NSManagedObject, _ value: Any?, _ key: String = "location") -> CocoaError? {
        var value = value.map { $0 as AnyObject }
        do { try object.validateValue(&value, forKey: key) } catch { return error as? CocoaError }
        return nil
    }

    @Test(
        "A class that validates by key is asked for composites as a whole, and the model's rules hold",
        arguments: Lab.types)
    func byKey(_ type: String) throws {
        let stack = try stack(type)
        let context = stack.context
        let site = context.make("Site", ["location": ["area": ["country": "X"]], "needed": ["label": "x"]])
        #expect(site is CheckedSite)
        func error() -> CocoaError? { #expect(throws: CocoaError.self) { try context.save() } }
        var refused = error()
        #expect(refused?.code.rawValue == 1570 && refused?.validationKey == "location.area.code")
        site.setValue(1, forKeyPath: "location.area.code")
        site.setValue(nil, forKey: "needed")
        refused = error()
        #expect(refused?.code.rawValue == 1570 && refused?.validationKey == "needed")
        site.setValue(["label": "wrong"], forKey: "needed")
        #expect(error()?.code.rawValue == 1999)
        site.setValue(["label": "shout"], forKey: "needed")
        try context.save()
        #expect(site.value(forKeyPath: "needed.label") as? String == "SHOUT")
        #expect(
            try stack.another().existingObject(with: site.objectID).value(forKeyPath: "needed.label") as? String
                == "SHOUT")
    }

    @Test("validateValue of a composite checks its elements, names their keys and converts them")
    func value() throws {
        let site = try stack(NSInMemoryStoreType).context.make("Site")
        #expect(check(site, nil) == nil)
        #expect(check(site, ["latitude": 1.0]) == nil)
        #expect(check(site, nil, "needed")?.code.rawValue == 1570)
        let missing = check(site, ["area": ["country": "X"]])
        #expect(missing?.code.rawValue == 1570 && missing?.validationKey == "location.area.code")
        let text = check(site, ["latitude": "north"])
        #expect(text?.code.rawValue == 1550 && text?.validationKey == "location.latitude")
        let foreign = check(site, ["altitude": 3])
        #expect(foreign?.code.rawValue == 1550 && sentence(foreign).contains("altitude"))
        let plain = check(site, "here")
        #expect(plain?.code.rawValue == 1550 && plain?.validationKey == "location")
        var whole: AnyObject? = ["latitude": 3] as AnyObject
        try site.validateValue(&whole, forKey: "location")
        #expect((whole as? [String: Any])?["latitude"] as? Double == 3)
    }

    @Test("Validation predicates of a composite see its dictionary", arguments: Lab.types)
    func predicates(_ type: String) throws {
        _ = Lab.registered
        let model = NSManagedObjectModel(draft: Lab.draft())
        let location = try #require(model.entitiesByName["Site"]?.attributesByName["location"])
        location.setValidationPredicates(
            [NSPredicate(format: "latitude <= 90")], withValidationWarnings: ["no such latitude"])
        let stack = try Stack(type, model: model)
        let context = stack.context
        let site = context.make("Site", ["location": ["latitude": 91.0]])
        let refused = #expect(throws: CocoaError.self) { try context.save() }
        #expect(refused?.code.rawValue == 1550 && refused?.validationKey == "location")
        #expect(sentence(refused).contains("no such latitude"))
        site.setValue(90.0, forKeyPath: "location.latitude")
        try context.save()
    }

    @Test("A custom accessor of a composite marks the object, and an undo takes the change back", arguments: Lab.types)
    func accessor(_ type: String) throws {
        let stack = try Lab.stack(type)
        let context = stack.context
        let site = context.make("Site", ["location": ["latitude": 1.0, "label": "old"]])
        try context.save()
        site.willChangeValue(forKey: "location")
        site.setPrimitiveValue(["latitude": 2.0], forKey: "location")
        site.didChangeValue(forKey: "location")
        #expect(site.isUpdated && site.changedValues().keys.sorted() == ["location"])
        context.processPendingChanges()
        context.undo()
        #expect((site.value(forKey: "location") as? [String: Any])?["label"] as? String == "old")
        context.redo()
        try context.save()
        let stored =
            try stack.another().existingObject(with: site.objectID).value(forKey: "location") as? [String: Double]
        #expect(stored == ["latitude": 2])
    }
}
