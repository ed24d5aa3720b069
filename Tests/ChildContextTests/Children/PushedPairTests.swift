// Pairs of objects of which one is unsaved in the parent.

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite struct PushedPairTests {
    @Test(
        "A pair of a saved object and one that is unsaved in the parent can be taken apart from either side",
        arguments: [false, true])
    func takeApart(fromOther: Bool) throws {
        let stack = try Stack(undo: false)
        let parent = stack.context
        let patient = parent.make("Patient", ["name": "Ada"])
        let old = parent.make("Doctor", ["code": 3])
        try parent.save()
        let new = parent.make("Doctor", ["code": 12])
        patient.setValue(Set([old, new]), forKey: "doctors")
        parent.processPendingChanges()
        let child = parent.child()
        let found = try #require(try child.all("Patient").first)
        let doctors = try child.all("Doctor")
        let doctor = try #require(doctors.first { $0.value(forKey: "code") as? Int == 12 })
        #expect((doctor.value(forKey: "patients") as? Set<NSManagedObject>) == [found])
        #expect((found.value(forKey: "doctors") as? Set<NSManagedObject>)?.count == 2)
        if fromOther {
            doctor.mutableSetValue(forKey: "patients").remove(found)
        } else {
            found.mutableSetValue(forKey: "doctors").remove(doctor)
        }
        #expect((doctor.value(forKey: "patients") as? Set<NSManagedObject>) == [])
        #expect((found.value(forKey: "doctors") as? Set<NSManagedObject>)?.count == 1)
        try child.save()
        #expect((patient.value(forKey: "doctors") as? Set<NSManagedObject>) == [old])
        try parent.save()
        let reader = stack.another()
        #expect((try reader.all("Patient").first?.value(forKey: "doctors") as? Set<NSManagedObject>)?.count == 1)
    }
}
