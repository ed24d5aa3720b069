// Delete rules, and values that a save refuses.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Delete rules and what a save refuses.
@Suite struct RuleTests {
    static let stores = StoreMaker.types

    @Test("Cascade deletes the members, nullify clears the other side, both when changes are processed")
    func cascade() throws {
        let stack = try Stack()
        let context = stack.context
        let ward = context.make("Ward")
        let patient = context.make("Patient", ["name": "Ada", "ward": ward])
        let visits = (0..<2).map { _ in context.make("Visit", ["patient": patient]) }
        try context.save()
        context.delete(patient)
        #expect(!visits[0].isDeleted)
        #expect((ward.value(forKey: "patients") as? NSSet)?.count == 1)
        context.processPendingChanges()
        #expect(visits.filter(\.isDeleted).count == 2)
        #expect((ward.value(forKey: "patients") as? NSSet)?.count == 0)
        try context.save()
        let reader = stack.another()
        #expect(try reader.all("Visit").isEmpty)
        #expect(try reader.all("Ward").count == 1)
    }

    @Test("With propagatesDeletesAtEndOfEvent off, delete rules wait for the save")
    func late() throws {
        let stack = try Stack()
        let context = stack.context
        context.propagatesDeletesAtEndOfEvent = false
        let patient = context.make("Patient", ["name": "Ada"])
        let visit = context.make("Visit", ["patient": patient])
        try context.save()
        context.delete(patient)
        context.processPendingChanges()
        #expect(!visit.isDeleted)
        try context.save()
        #expect(try stack.another().all("Visit").isEmpty)
    }

    @Test("Deny is refused with 1600 at the save, and passes once the members are gone", arguments: stores)
    func deny(_ type: String) throws {
        let stack = try Stack(type)
        let context = stack.context
        let doctor = context.make("Doctor")
        let badge = context.make("Badge", ["doctor": doctor])
        try context.save()
        context.delete(doctor)
        context.processPendingChanges()
        let refused = caught { try context.save() }
        #expect(refused?.code.rawValue == 1600)
        #expect(refused?.validationKey == "badges")
        #expect(refused?.validationObject as? NSManagedObject === doctor)
        #expect(doctor.isDeleted)
        context.delete(badge)
        try context.save()
        #expect(try stack.another().all("Doctor").isEmpty)
    }

    @Test(
        "A missing required value is 1570 with object and key; several are 1560 with all of them", arguments: stores)
    func required(_ type: String) throws {
        let stack = try Stack(type)
        let first = stack.context.make("Patient")
        let single = caught { try stack.context.save() }
        #expect(single?.code.rawValue == 1570)
        #expect(single?.validationKey == "name")
        #expect(single?.validationObject as? NSManagedObject === first)
        #expect(single?.localizedDescription.contains("Patient.name") == true)
        _ = stack.context.make("Patient")
        let several = caught { try stack.context.save() }
        #expect(several?.code.rawValue == 1560)
        #expect((several?.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
        #expect(try stack.another().all("Patient").isEmpty)
    }

    @Test("NaN is refused at the save in every store, by entity and property", arguments: stores)
    func notANumber(_ type: String) throws {
        let stack = try Stack(type)
        let patient = stack.context.make("Patient", ["name": "Ada", "weight": Double.nan])
        let refused = caught { try stack.context.save() }
        #expect(refused?.validationKey == "weight")
        #expect(refused?.localizedDescription.contains("Patient.weight") == true)
        patient.setValue(1.5, forKey: "weight")
        patient.setValue(NSDecimalNumber.notANumber, forKey: "fee")
        #expect(caught { try stack.context.save() }?.validationKey == "fee")
        // No decimal holds these.
        for number in [Double.infinity, 1e300, -1e200] {
            patient.setValue(number, forKey: "fee")
            #expect(caught { try stack.context.save() }?.validationKey == "fee")
        }
        patient.setValue(nil, forKey: "fee")
        try stack.context.save()
    }

    @Test("A number that its attribute's width cannot hold is refused")
    func width() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        let age = try #require(patient._state.info.entity.slots.firstIndex { $0.name == "age" })
        patient._setInt(age, 40000)
        #expect(caught { try stack.context.save() }?.code.rawValue == 1610)
        patient._setInt(age, -40000)
        #expect(caught { try stack.context.save() }?.code.rawValue == 1620)
        patient._setInt(age, 32767)
        try stack.context.save()
        let reader = stack.another()
        #expect(try reader.all("Patient").first?.value(forKey: "age") as? Int == 32767)
    }
}
