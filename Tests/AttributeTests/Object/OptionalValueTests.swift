// Optionals that a program hands over inside `Any`.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct OptionalValueTests {
    private let stack: Stack
    private let patient: NSManagedObject
    private let ward: NSManagedObject

    init() throws {
        stack = try Stack()
        ward = stack.context.make("Ward", ["name": "w"])
        patient = stack.context.make("Patient", ["name": "Ada", "age": 3, "ward": ward])
    }

    @Test("nil inside Any clears attributes and relationships, by single keys and by many")
    func absent() {
        let (text, number, object): (String?, Int16?, NSManagedObject?) = (nil, nil, nil)
        patient.setValuesForKeys(["name": text as Any, "age": number as Any, "ward": object as Any])
        #expect(patient.text("name") == nil && patient.int("age") == nil && patient.value(forKey: "ward") == nil)
        patient.setValuesForKeys(["name": "Bo", "age": 4, "ward": ward])
        patient.setValue(text as Any, forKey: "name")
        patient.setValue(number as Any, forKey: "age")
        patient.setValue(object as Any, forKey: "ward")
        #expect(patient.text("name") == nil && patient.int("age") == nil && patient.value(forKey: "ward") == nil)
        let members: Set<NSManagedObject>? = nil
        patient.setValue(ward, forKey: "ward")
        ward.setValue(members as Any, forKey: "patients")
        #expect(patient.value(forKey: "ward") == nil)
        patient.setPrimitiveValue(Optional<Date>.none as Any, forKey: "born")
        #expect(patient.value(forKey: "born") == nil)
    }

    @Test("A value inside an optional inside Any is the value")
    func present() {
        let bed = stack.context.make("Bed")
        let (text, number, object): (String?, Int16?, NSManagedObject?) = ("Cy", 7, bed)
        patient.setValue(text as Any, forKey: "name")
        patient.setValue(Optional(number) as Any, forKey: "age")
        patient.setValue(object as Any, forKey: "bed")
        #expect(patient.text("name") == "Cy" && patient.int("age") == 7)
        #expect(patient.value(forKey: "bed") as? NSManagedObject === bed)
        let members: Set<NSManagedObject>? = []
        ward.setValue(members as Any, forKey: "patients")
        #expect(patient.value(forKey: "ward") == nil)
        let visits: NSOrderedSet? = NSOrderedSet(object: stack.context.make("Visit"))
        patient.setPrimitiveValue(visits as Any, forKey: "visits")
        #expect((patient.value(forKey: "visits") as? NSOrderedSet)?.count == 1)
    }

    @Test("The average of nothing is a number object, as the sum is")
    func average() {
        for key in ["patients.@avg.weight", "patients.@sum.weight"] {
            ward.setValue(NSSet(), forKey: "patients")
            let value = ward.value(forKeyPath: key)
            #expect(value is NSNumber)
            #expect(value as? Double == 0)
        }
    }
}
