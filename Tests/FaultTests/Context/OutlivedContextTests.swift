// Objects that outlive their context.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct OutlivedContextTests {
    /// What happens to the objects' context.
    enum End: CaseIterable { case reset, letGo }

    /// A patient that was read, one that is a fault, one that is new, a new doctor, visit, ward and bed, and the context that `reset()`
    /// leaves.
    private func outlived(_ end: End, _ hospital: Hospital) throws -> (
        objects: [NSManagedObject], context: NSManagedObjectContext?
    ) {
        let context = hospital.stack.another()
        context.stalenessInterval = 0
        let read = context.object(with: hospital.ids[0])
        #expect(read.name == "0")
        let patients = [read, context.object(with: hospital.ids[1]), context.make("Patient", ["name": "new"])]
        let objects = patients + ["Doctor", "Visit", "Ward", "Bed"].map { context.make($0) }
        switch end {
        case .reset:
            context.reset()
            return (objects, context)
        case .letGo: return (objects, nil)
        }
    }

    @Test(
        "5.5 A change of an object whose context is gone is harmless, as after reset(): it is read back and never saved",
        arguments: End.allCases)
    func changes(_ end: End) throws {
        let hospital = try Hospital(3)
        let (objects, context) = try outlived(end, hospital)
        #expect(objects[..<3].map { $0.name } == ["0", nil, "new"])
        for object in objects[..<3] {
            #expect(object.managedObjectContext == nil)
            object.setValue("changed", forKey: "name")
            object.setPrimitiveValue(5, forKey: "age")
            object.setValue(nil, forKey: "weight")
            #expect(object.value(forKey: "age") as? Int == 5)
            object.willChangeValue(forKey: "name")
            object.setPrimitiveValue("changed again", forKey: "name")
            object.didChangeValue(forKey: "name")
            #expect(object.name == "changed again")
            #expect(object.changedValuesForCurrentEvent().isEmpty)
            _ = object.description
        }
        try context?.save()
        #expect(try hospital.stack.another().all("Patient").compactMap { $0.name }.sorted() == ["0", "1", "2"])
    }

    @Test(
        "5.5 Objects that outlive a context together can be related and parted, both sides following",
        arguments: End.allCases)
    func pairs(_ end: End) throws {
        let hospital = try Hospital(3)
        let (objects, context) = try outlived(end, hospital)
        let (patients, doctor, visit, ward, bed) = (objects[..<3], objects[3], objects[4], objects[5], objects[6])
        for patient in patients {
            patient.mutableSetValue(forKey: "doctors").add(doctor)
            patient.mutableOrderedSetValue(forKey: "visits").add(visit)
            patient.setValue(ward, forKey: "ward")
            patient.setValue(bed, forKey: "bed")
            #expect(visit.one("patient") === patient && bed.one("patient") === patient)
            #expect(doctor.mutableSetValue(forKey: "patients").contains(patient))
            #expect(ward.mutableSetValue(forKey: "patients").contains(patient))
            // Nobody breaks the cycles of objects without a context.
            for key in ["ward", "bed"] { patient.setValue(nil, forKey: key) }
            patient.mutableSetValue(forKey: "doctors").removeAllObjects()
            patient.mutableOrderedSetValue(forKey: "visits").removeAllObjects()
            #expect(visit.one("patient") == nil)
            #expect(doctor.mutableSetValue(forKey: "patients").count == 0)
        }
        try context?.save()
    }

    @Test(
        "5.5 So are changes of relationships among such objects, live sets and deletions from them included",
        arguments: End.allCases)
    func relationships(_ end: End) throws {
        let hospital = try Hospital(3)
        let (objects, context) = try outlived(end, hospital)
        let read = objects[0]
        for object in objects[..<3] {
            #expect(object.one("ward") == nil || object === read)
            object.setValue(nil, forKey: "ward")
            object.setValue(nil, forKey: "bed")
            #expect(object.one("ward") == nil)
            let doctors = object.mutableSetValue(forKey: "doctors")
            #expect(doctors.count == 0)
            doctors.removeAllObjects()
            object.mutableOrderedSetValue(forKey: "visits").removeAllObjects()
        }
        try context?.save()
        let reader = hospital.stack.another()
        #expect(try reader.all("Ward").first?.mutableSetValue(forKey: "patients").count == 3)
    }
}
