// Firing one fault reads those beside it.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct FaultBatchTests {
    @Test("Six hundred faults of one fetch are read with three statements, 256 at a time", arguments: [true, false])
    func oneFetch(together: Bool) throws {
        let hospital = try Hospital(600)
        hospital.context.readsFaultsTogether = together
        let patients = try hospital.fetch(values: false)
        #expect(!patients.contains { !$0.isFault })
        let first = hospital.statements { #expect(patients[0].name == "0") }
        #expect(first == 1)
        #expect(!patients.dropFirst().contains { !$0.isFault }, "what stands beside it stays a fault")
        let rest = hospital.statements { #expect(patients.map(\.name) == (0..<600).map { "\($0)" }) }
        #expect(rest == (together ? 2 : 599))
        #expect(!patients.contains { $0.isFault })
    }

    @Test("8.8 Without property values a fetch makes faults that read later; with them firing reads nothing")
    func propertyValues() throws {
        let hospital = try Hospital(10)
        let loaded = try hospital.fetch(values: true)
        #expect(!loaded.contains { !$0.isFault })
        hospital.costs(0) { #expect(loaded[3].name == "3") }
        let other = hospital.stack.another()
        other.stalenessInterval = 0
        let bare = try hospital.fetch(values: false, in: other)
        hospital.costs(1) { #expect(bare[3].name == "3") }
        hospital.costs(0) { #expect(bare[4].name == "4") }
    }

    @Test("Firing fills the faults that are held and makes no others")
    func nothingElse() throws {
        let hospital = try Hospital(300)
        var patients = try hospital.fetch(values: false)
        patients.removeSubrange(3...)
        #expect(hospital.context.registeredObjects.count == 3)
        hospital.costs(1) { #expect(patients[0].name == "0") }
        #expect(hospital.context.registeredObjects.count == 3)
        hospital.costs(0) { #expect(patients[2].name == "2") }
    }

    @Test("Faults of other kinds of stores are read together too", arguments: StoreMaker.types)
    func stores(_ type: String) throws {
        let hospital = try Hospital(300, wards: 7, type: type)
        let patients = try hospital.fetch(values: false)
        for (index, patient) in patients.enumerated() {
            #expect(patient.name == "\(index)")
            #expect(patient.one("ward")?.name == "ward \(index % 7)")
            #expect(patient.one("bed")?.value(forKey: "number") as? Int == index)
        }
    }

    @Test("A class that wakes is woken at its own first read, not when the row comes")
    func waking() throws {
        let stack = try Stack(model: Watched.model(), undo: false)
        for index in 0..<3 { _ = stack.context.make("Patient", ["name": "\(index)"]) }
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.includesPropertyValues = false
        let context = stack.another()
        let patients = try context.fetch(request).compactMap { $0 as? Watched }
        #expect(patients[0].name != nil)
        #expect(patients[1].calls.isEmpty)
        #expect(patients[1].name != nil)
        #expect(patients.map(\.calls) == [["awakeFromFetch"], ["awakeFromFetch"], []])
    }

    @Test("A walk along a to-one reads the targets of all rows that came together")
    func toOne() throws {
        let hospital = try Hospital(600, wards: 50)
        let patients = try hospital.fetch(values: true)
        var wards: [NSManagedObject?] = []
        let together = hospital.statements {
            wards = patients.map { $0.one("ward") }
            #expect(wards.map { $0?.name } == (0..<600).map { "ward \($0 % 50)" })
        }
        #expect(
            (1...2).contains(together), "rows come by 32, 64, 128 …; the second chunk has the last wards: \(together)")
        #expect(Set(wards.compactMap { $0 }).count == 50)
        let other = hospital.stack.another()
        other.readsFaultsTogether = false
        other.stalenessInterval = 0
        let same = try hospital.fetch(values: true, in: other)
        let held = same.map { $0.one("ward") }
        hospital.costs(50) { for ward in held { _ = ward?.name } }
    }

    @Test("Targets that nobody holds are not read one by one")
    func passingTargets() throws {
        let hospital = try Hospital(600)
        let patients = try hospital.fetch(values: true)
        let count = hospital.statements {
            for (index, patient) in patients.enumerated() {
                #expect(patient.one("bed")?.value(forKey: "number") as? Int == index)
            }
        }
        #expect(count == 5, "one for each chunk of 32, 64, 128, 256 and 120 rows")
        #expect(hospital.context.registeredObjects.count == 600, "no bed is kept")
    }

    @Test("Rows that wait for their objects are forgotten when something newer is merged")
    func merging() throws {
        let hospital = try Hospital(20)
        let patients = try hospital.fetch(values: true)
        _ = patients[0].one("bed")?.value(forKey: "number")
        let writer = hospital.stack.another()
        let bed = writer.object(with: hospital.ids[1]).one("bed")
        bed?.setValue(77, forKey: "number")
        let log = NotificationLog(writer)
        try writer.save()
        let saved = try #require(log.entries.last { $0.name == "didSave:" })
        hospital.context.mergeChanges(
            fromContextDidSave: Notification(
                name: .NSManagedObjectContextDidSave, object: writer, userInfo: saved.info))
        #expect(patients[1].one("bed")?.value(forKey: "number") as? Int == 77)
    }

    @Test("Members of a to-many that were saved here and let go are read together")
    func savedMembers() throws {
        let stack = try Stack(undo: false)
        stack.context.stalenessInterval = 0
        let patient = stack.context.make("Patient", ["name": "Ada"])
        do {
            let visits = (0..<300).map { stack.context.make("Visit", ["code": $0]) }
            patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
            try stack.context.save()
        }
        #expect(stack.context.registeredObjects.count == 1)
        let before = stack.statements
        let visits = try #require(patient.value(forKey: "visits") as? NSOrderedSet)
        #expect(visits.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "code") as? Int } == Array(0..<300))
        #expect(stack.statements - before == 2)
    }

    @Test("8.11 Reading the count of a to-many that was not prefetched costs one statement an object")
    func toMany() throws {
        let stack = try Stack(undo: false)
        for index in 0..<10 {
            let patient = stack.context.make("Patient", ["name": "\(index)"])
            let visits = (0..<index).map { stack.context.make("Visit", ["code": $0]) }
            patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
        }
        try stack.context.save()
        let context = stack.another()
        let patients = try context.all("Patient")
        for expected in [10, 0] {
            let before = stack.statements
            let counts = patients.map { ($0.value(forKey: "visits") as? NSOrderedSet)?.count ?? -1 }
            #expect(counts.sorted() == Array(0..<10))
            #expect(stack.statements - before == expected)
        }
        let before = stack.statements
        for patient in patients {
            for case let visit as NSManagedObject in patient.value(forKey: "visits") as? NSOrderedSet ?? [] {
                #expect(visit.value(forKey: "code") != nil)
            }
        }
        #expect(stack.statements == before, "the members' rows came with them")
    }

    @Test("A child's faults are read together from its parent")
    func child() throws {
        let hospital = try Hospital(300)
        let child = hospital.context.child()
        let patients = try hospital.fetch(values: false, in: child)
        let count = hospital.statements { #expect(patients.map(\.name) == (0..<300).map { "\($0)" }) }
        #expect(count <= 2)
    }

    @Test("4.12 A fault whose row is gone reads as deleted, and those beside it are read all the same")
    func missingNeighbour() throws {
        let hospital = try Hospital(5)
        let patients = try hospital.fetch(values: false)
        let writer = hospital.stack.context
        writer.delete(writer.object(with: hospital.ids[2]))
        try writer.save()
        #expect(patients[0].name == "0")
        #expect(patients[2].name == nil)
        #expect(patients[2].isDeleted)
        #expect(patients.map(\.name) == ["0", "1", nil, "3", "4"])
        try hospital.context.save()
    }
}
