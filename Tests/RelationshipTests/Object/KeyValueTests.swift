// Key-value coding on managed objects.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Answers for a key of its own, and counts what custom accessors are told.
final class Talkative: NSManagedObject {
    var nickname: String? = "Nick"
    var own: [String: Any] = [:]
    var told: [String] = []

    override func value(forUndefinedKey key: String) -> Any? {
        key.hasPrefix("own") ? own[key] : super.value(forUndefinedKey: key)
    }
    override func setValue(_ value: Any?, forUndefinedKey key: String) { own[key] = value }
    override func setNilValueForKey(_ key: String) {
        told.append("nil for \(key)")
        super.setNilValueForKey(key)
    }
    override func value(forKey key: String) -> Any? {
        told.append(key)
        return super.value(forKey: key)
    }

    /// As written for Core Data by hand.
    var name: String? {
        get {
            willAccessValue(forKey: "name")
            defer { didAccessValue(forKey: "name") }
            return primitiveValue(forKey: "name") as? String
        }
        set {
            willChangeValue(forKey: "name")
            setPrimitiveValue(newValue, forKey: "name")
            didChangeValue(forKey: "name")
        }
    }

    func addToDoctors(_ doctor: NSManagedObject) {
        let changed: Set<AnyHashable> = [doctor]
        willChangeValue(forKey: "doctors", withSetMutation: .union, using: changed)
        let present = primitiveValue(forKey: "doctors") as? NSSet ?? NSSet()
        setPrimitiveValue(present.adding(doctor), forKey: "doctors")
        didChangeValue(forKey: "doctors", withSetMutation: .union, using: changed)
    }
}

@Suite struct KeyValueTests {
    /// A ward with three patients, two doctors and visits.
    private func ward() throws -> (Stack, NSManagedObject) {
        let stack = try Stack(model: Watched.model("RelationshipTests.Talkative"))
        let context = stack.context
        let ward = context.make("Ward", ["name": "North"])
        let doctors = ["Grace", "Joan"].map { context.make("Doctor", ["name": $0]) }
        for (index, name) in ["Ada", "Bo", "Cy"].enumerated() {
            let patient = context.make("Patient", ["name": name, "ward": ward, "weight": Double(60 + index)])
            if index > 0 { patient.setValue(30 + index, forKey: "age") }
            patient.setValue(NSSet(array: index == 2 ? doctors : [doctors[0]]), forKey: "doctors")
            patient.setValue(Decimal(string: "1.5"), forKey: "fee")
            let visits = (0..<2).map { context.make("Visit", ["note": "\(name)\($0)"]) }
            patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
        }
        try context.save()
        return (stack, ward)
    }

    private func texts(_ value: Any?) -> [String] {
        let found = (value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array ?? value as? [Any] ?? []
        return found.compactMap { $0 as? String }.sorted()
    }

    @Test("Key paths go through to-ones and to-manys, and collections answer with collections of their kind")
    func keyPaths() throws {
        let (stack, ward) = try ward()
        let ada = try #require(try stack.context.all("Patient").first { $0["name"] as? String == "Ada" })
        #expect(ada.value(forKeyPath: "ward.name") as? String == "North")
        #expect(ada.value(forKeyPath: "self.ward.self.name") as? String == "North")
        #expect(ward.value(forKeyPath: "patients.name") is NSSet)
        #expect(texts(ward.value(forKeyPath: "patients.name")) == ["Ada", "Bo", "Cy"])
        #expect((ada.value(forKeyPath: "visits.note") as? NSOrderedSet)?.array as? [String] == ["Ada0", "Ada1"])
        #expect((ward.value(forKeyPath: "patients.age") as? NSSet)?.count == 2)
        #expect((ward.value(forKeyPath: "patients.doctors") as? NSSet)?.anyObject() is NSSet)
        #expect((ward.value(forKeyPath: "patients.fee") as? [Any])?.count == 3)
        ada.setValue("South", forKeyPath: "ward.name")
        #expect(ward["name"] as? String == "South")
        ada.setValue(nil, forKey: "ward")
        #expect(ada.value(forKeyPath: "ward.name") == nil)
        ada.setValue("West", forKeyPath: "ward.name")
        ward.setValue(7, forKeyPath: "patients.age")
        #expect(Set(ward.many("patients").map { $0["age"] as? Int }) == [7])
        ada["ward"] = ward
        #expect(ward.members("patients").contains(ada))
    }

    @Test("Collection operators count nil as documented: 0 for sum and average, left out by minimum and maximum")
    func operators() throws {
        let (stack, ward) = try ward()
        #expect(ward.value(forKeyPath: "patients.@count") as? Int == 3)
        #expect(ward.value(forKeyPath: "patients.@sum.age") as? Int == 63)
        #expect(ward.value(forKeyPath: "patients.@avg.age") as? Double == 21)
        #expect(ward.value(forKeyPath: "patients.@min.age") as? Int == 31)
        #expect(ward.value(forKeyPath: "patients.@max.age") as? Int == 32)
        #expect(ward.value(forKeyPath: "patients.@max.name") as? String == "Cy")
        #expect(ward.value(forKeyPath: "patients.@sum.weight") as? Double == 183)
        #expect(
            (ward.value(forKeyPath: "patients.@sum.fee") as? NSDecimalNumber)?.decimalValue == Decimal(string: "4.5"))
        #expect((ward.value(forKeyPath: "patients.@unionOfObjects.ward") as? [Any])?.count == 3)
        #expect((ward.value(forKeyPath: "patients.@distinctUnionOfObjects.ward") as? [Any])?.count == 1)
        #expect((ward.value(forKeyPath: "patients.@distinctUnionOfObjects.fee") as? [Any])?.count == 1)
        #expect((ward.value(forKeyPath: "patients.@distinctUnionOfSets.doctors") as? NSSet)?.count == 2)
        #expect((ward.value(forKeyPath: "patients.@unionOfArrays.doctors") as? [Any])?.count == 4)
        #expect((ward.value(forKeyPath: "patients.@distinctUnionOfArrays.doctors.name") as? [Any])?.count == 2)
        let empty = try Stack()
        let none = empty.context.make("Ward")
        #expect(none.value(forKeyPath: "patients.@count") as? Int == 0)
        #expect(none.value(forKeyPath: "patients.@sum.age") as? Int == 0)
        #expect(none.value(forKeyPath: "patients.@max.age") == nil)
        #expect(!stack.context.hasChanges)
    }

    @Test("Many values are read and set by dictionary, nil as NSNull")
    func dictionaries() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada", "age": 36])
        let values = patient.dictionaryWithValues(forKeys: ["name", "age", "ward"])
        #expect(values["name"] as? String == "Ada" && values["age"] as? Int == 36 && values["ward"] is NSNull)
        patient.setValuesForKeys(["name": "Bo", "age": NSNull()])
        #expect(patient["name"] as? String == "Bo" && patient["age"] == nil)
    }

    @Test(
        "An unknown key goes to the methods that a class may override; else it ends the process with the nearest name")
    func undefined() async throws {
        let stack = try Stack(model: Watched.model("RelationshipTests.Talkative"))
        let patient = try #require(stack.context.make("Patient") as? Talkative)
        patient.setValue(3, forKey: "ownShoes")
        #expect(patient.value(forKey: "ownShoes") as? Int == 3)
        #expect(patient.value(forKey: "nickname") as? String == "Nick")
        #expect(patient.value(forKey: "objectID") as? NSManagedObjectID == patient.objectID)
        #expect(patient.value(forKeyPath: "entity.name") as? String == "Patient")
        #expect(patient.value(forKey: "isInserted") as? Bool == true)
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Stack()
            _ = stack.context.make("Patient").value(forKey: "nmae")
        }
        #expect(said(read?.standardErrorContent, "entity Patient", "\"nmae\"", "Did you mean \"name\"?"))
        let write = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Stack()
            stack.context.make("Patient").setValue(1, forKey: "Wards")
        }
        #expect(said(write?.standardErrorContent, "entity Patient", "\"Wards\"", "\"ward\""))
    }

    @Test("Overridden methods are called also through NSObject and along key paths")
    func overridden() throws {
        let stack = try Stack(model: Watched.model("RelationshipTests.Talkative"))
        let patient = try #require(stack.context.make("Patient", ["name": "Ada"]) as? Talkative)
        patient.told = []
        _ = (patient as NSObject).value(forKey: "name")
        _ = stack.context.make("Visit", ["patient": patient]).value(forKeyPath: "patient.age")
        patient.setValue(nil, forKey: "weight")
        patient.setValue(nil, forKey: "name")
        #expect(patient.told == ["name", "age", "nil for weight"])
    }

    @Test("Numbers are taken as NSNumber takes them; one that is too large is refused at the save, 1610 or 1620")
    func coercion() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        let ones: [Any] = [
            1, Int8(1), UInt64(1), 1.0, Float(1), true, Decimal(1), NSNumber(value: 1), NSDecimalNumber(value: 1),
        ]
        for one in ones {
            for key in ["age", "code", "weight", "awake", "fee"] {
                patient.setValue(one, forKey: key)
                #expect(patient.value(forKey: key) as? Double == 1, "\(key) \(one)")
            }
        }
        patient.setValue(2, forKey: "awake")
        #expect(patient["awake"] as? Bool == true)
        patient.setValue(-99_999, forKey: "age")
        #expect(patient["age"] as? Int == -99_999)
        let error = caught { try stack.context.save() }
        #expect(error?.code.rawValue == 1620 && error?.validationKey == "age")
        patient.setValue(99_999, forKey: "age")
        #expect(caught { try stack.context.save() }?.code.rawValue == 1610)
        patient.setValue(9_999, forKey: "age")
        try stack.context.save()
        #expect(try stack.another().all("Patient").first?["age"] as? Int == 9_999)
    }

    @Test("A value of another type ends the process with property, type wanted and type given")
    func wrongType() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Stack()
            stack.context.make("Patient").setValue("many", forKey: "age")
        }
        #expect(said(result?.standardErrorContent, "Patient.age", "Integer", "String was given"))
    }

    @Test("A custom accessor with primitive values reads faults, marks the object and can be undone")
    func customAccessor() throws {
        let stack = try Stack(model: Watched.model("RelationshipTests.Talkative"))
        let patient = try #require(stack.context.make("Patient", ["name": "Ada"]) as? Talkative)
        try stack.context.save()
        stack.context.refresh(patient, mergeChanges: false)
        #expect(patient.name == "Ada" && !patient.isFault)
        stack.context.processPendingChanges()
        stack.context.undoManager?.removeAllActions()
        patient.name = "Bo"
        #expect(patient.isUpdated && patient.changedValues()["name"] as? String == "Bo")
        stack.context.processPendingChanges()
        stack.context.undo()
        #expect(patient.name == "Ada")
        stack.context.redo()
        #expect(patient.name == "Bo")
    }

    @Test("Primitive changes between willChangeValue and didChangeValue reach the inverse")
    func announced() throws {
        let stack = try Stack(model: Watched.model("RelationshipTests.Talkative"))
        let context = stack.context
        let patient = try #require(context.make("Patient", ["name": "Ada"]) as? Talkative)
        let (doctor, ward) = (context.make("Doctor"), context.make("Ward"))
        let visits = (0..<3).map { _ in context.make("Visit") }
        try context.save()
        context.processPendingChanges()
        context.undoManager?.removeAllActions()
        patient.addToDoctors(doctor)
        #expect(doctor.members("patients") == [patient] && doctor.isUpdated)
        patient.willChangeValue(forKey: "ward")
        patient.setPrimitiveValue(ward, forKey: "ward")
        #expect(ward.members("patients").isEmpty)
        patient.didChangeValue(forKey: "ward")
        #expect(ward.members("patients") == [patient])
        patient.willChange(.insertion, valuesAt: IndexSet(integersIn: 0..<3), forKey: "visits")
        patient.setPrimitiveValue(NSOrderedSet(array: visits), forKey: "visits")
        patient.didChange(.insertion, valuesAt: IndexSet(integersIn: 0..<3), forKey: "visits")
        #expect(visits.allSatisfy { $0.one("patient") === patient } && patient.many("visits") == visits)
        let gone: Set<AnyHashable> = [patient]
        doctor.willChangeValue(forKey: "patients", withSetMutation: .minus, using: gone)
        doctor.setPrimitiveValue(NSSet(), forKey: "patients")
        doctor.didChangeValue(forKey: "patients", withSetMutation: .minus, using: gone)
        #expect(patient.members("doctors").isEmpty)
        context.processPendingChanges()
        #expect(context.openChanges.isEmpty)
        context.undo()
        #expect(patient.one("ward") == nil && patient.many("visits").isEmpty && patient.members("doctors").isEmpty)
        #expect(visits.allSatisfy { $0.one("patient") == nil })
        context.redo()
        try context.save()
        let reader = stack.another()
        #expect(try reader.all("Patient").first?.many("visits").count == 3)
    }
}
