// Objects that outlive their context.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct OutlivedContextTests {
    /// What happens to the objects' context.
    enum End: CaseIterable { case reset, letGo }

    /// A patient that was read, one that is a fault, one that is new, and the context that `reset()` leaves.
    private func outlived(_ end: End, _ hospital: Hospital) throws -> (objects: [NSManagedObject], context: NSManagedObjectContext?) {
        let context = hospital.stack.another()
        context.stalenessInterval = 0
        let read = context.object(with: hospital.ids[0])
        #expect(read.name == "0")
        let objects = [read, context.object(with: hospital.ids[1]), context.make("Patient", ["name": "new"])]
        switch end {
        case .reset:
            context.reset()
            return (objects, context)
        case .letGo: return (objects, nil)
        }
    }

    @Test("5.5 A change of an object whose context is gone is harmless, as after reset(): it is read back and never saved", arguments: End.allCases)
    func changes(_ end: End) throws {
        let hospital = try Hospital(3)
        let (objects, context) = try outlived(end, hospital)
        #expect(objects.map { $0.name } == ["0", nil, "new"])
        for object in objects {
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

    @Test("5.5 So are changes of relationships among such objects, live sets and deletions from them included", arguments: End.allCases)
    func relationships(_ end: End) throws {
        let hospital = try Hospital(3)
        let (objects, context) = try outlived(end, hospital)
        let read = objects[0]
        for object in objects {
            #expect(object.related("ward") == nil || object === read)
            object.setValue(nil, forKey: "ward")
            object.setValue(nil, forKey: "bed")
            #expect(object.related("ward") == nil)
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
