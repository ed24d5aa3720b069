// Generated classes that were made for another version of the model: they go by name, or end with a sentence, and corrupt nothing.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// A patient as it was before it had anything but a name, an age, a text for a code, a scale and visits.
final class FormerPatient: NSManagedObject {
    override class var _managedKeys: [String]? {
        ["age:int", "code:text", "name:text", "scale:double", "ward:toOne", "visits:toMany", "guests:toMany"]
    }
    var age: Int64 {
        get { _int(0) }
        set { _setInt(0, newValue) }
    }
    var code: String? {
        get { _text(1) }
        set { _setText(1, newValue) }
    }
    var name: String? {
        get { _text(2) }
        set { _setText(2, newValue) }
    }
    var scale: Double { _double(3) }
    var ward: NSManagedObject? {
        get { _toOne(4) }
        set { _setToOne(4, newValue) }
    }
    var visits: [NSManagedObject] {
        get { _orderedToMany(0) }
        set { _setToMany(0, newValue) }
    }
    var guests: Set<NSManagedObject> { _toMany(1) }
}

@Suite struct StaleClassTests {
    /// - Parameter isNamed: whether the model names the class; otherwise the program makes objects of it on its own.
    private static func stack(_ isNamed: Bool) throws -> Stack {
        var draft = Clinic.draft()
        if isNamed { draft.entities[0].className = "LifeCycleTests.FormerPatient" }
        return try Stack(NSInMemoryStoreType, model: NSManagedObjectModel(draft: draft))
    }

    private static func patient(_ context: NSManagedObjectContext) throws -> FormerPatient {
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Patient", in: context))
        return FormerPatient(entity: entity, insertInto: context)
    }

    @Test(
        "New objects of a stale class have every value where the entity has it, before and after their save",
        arguments: [false, true])
    func new(_ isNamed: Bool) throws {
        let stack = try Self.stack(isNamed)
        let context = stack.context
        let patient = try Self.patient(context)
        let ward = context.make("Ward", ["name": "East"]), visit = context.make("Visit", ["note": "1"])
        patient.name = "Ada"
        patient.age = 41
        patient.ward = ward
        patient.visits = [visit]
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            #expect(patient.value(forKey: "name") as? String == "Ada" && patient.name == "Ada")
            #expect(patient.value(forKey: "age") as? Int == 41 && patient.age == 41)
            #expect(patient.value(forKey: "ward") as? NSManagedObject === ward && patient.ward === ward)
            #expect(visit.value(forKey: "patient") as? NSManagedObject === patient && patient.visits == [visit])
            #expect((patient.value(forKey: "doctors") as? NSSet)?.count == 0)
        }
        let reader = stack.another()
        let found = try #require(try reader.all("Patient").first)
        #expect(found.value(forKey: "name") as? String == "Ada" && found.value(forKey: "age") as? Int == 41)
        #expect((found is FormerPatient) == isNamed)
        if let found = found as? FormerPatient { #expect(found.name == "Ada" && found.visits.count == 1) }
    }

    @Test("An object of a stale class that has no context yet is written by name as well")
    func loose() throws {
        let stack = try Self.stack(false)
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Patient", in: stack.context))
        let patient = FormerPatient(entity: entity, insertInto: nil)
        patient.name = "Ada"
        patient.age = 3
        stack.context.insert(patient)
        #expect(patient.value(forKey: "name") as? String == "Ada" && patient.value(forKey: "age") as? Int == 3)
    }

    @Test(
        "What a stale class has and the entity lacks, or has with another type, ends the process with a sentence",
        arguments: [0, 1, 2, 3])
    func missing(_ kind: Int) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kind] in
            let stack = try Self.stack(true)
            let patient = try Self.patient(stack.context)
            switch kind {
            case 0: _ = patient.scale
            case 1: patient.code = "a text for what is a number now"
            case 2: _ = patient.code
            default: _ = patient.guests
            }
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("FormerPatient has a property that the entity Patient lacks or has with another type"))
    }
}
