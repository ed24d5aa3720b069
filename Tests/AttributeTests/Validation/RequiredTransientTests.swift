// Transient attributes that must have a value.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct RequiredTransientTests {
    private func stack(default value: Value = .null) throws -> Stack {
        var draft = Clinic.draft()
        draft.entities[0].attributes.append(
            Clinic.attribute("mood", .string, optional: false, default: value, transient: true))
        return try Stack(model: NSManagedObjectModel(draft: draft))
    }

    private func complaint(_ body: () throws -> Void) -> (code: Int, key: String?)? {
        do {
            try body()
            return nil
        } catch let error as CocoaError {
            return (error.code.rawValue, error.userInfo[NSValidationKeyErrorKey] as? String)
        } catch { return (0, nil) }
    }

    @Test("A required transient attribute that is nil is refused with 1570, at an insertion and at an update")
    func saving() throws {
        let stack = try stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        let inserting = complaint { try stack.context.save() }
        #expect(inserting?.code == 1570 && inserting?.key == "mood")
        patient.setValue("glad", forKey: "mood")
        try stack.context.save()
        patient.setValue(nil, forKey: "mood")
        let updating = complaint { try stack.context.save() }
        #expect(updating?.code == 1570 && updating?.key == "mood")
        patient.setValue("sad", forKey: "mood")
        try stack.context.save()
    }

    @Test("validateValue refuses nil for a required transient attribute")
    func value() throws {
        let patient = try stack().context.make("Patient", ["name": "Ada"])
        var value: AnyObject?
        #expect(complaint { try patient.validateValue(&value, forKey: "mood") }?.code == 1570)
        value = "glad" as AnyObject
        try patient.validateValue(&value, forKey: "mood")
    }

    @Test("1.13 The default of a required transient attribute is its value, after a refresh too")
    func defaults() throws {
        let stack = try stack(default: .text("calm"))
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        stack.context.refresh(patient, mergeChanges: false)
        patient.setValue("Bo", forKey: "name")
        try stack.context.save()
        #expect(patient.text("mood") == "calm")
    }
}
