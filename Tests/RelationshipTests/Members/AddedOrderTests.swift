// The order of members that were added to an ordered to-many which has no order of its own: some of them go again.

import CoreDataSeeds
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct AddedOrderTests {
    enum Way: CaseIterable { case set, inverse, deletion }

    private func notes(_ patient: NSManagedObject) -> [String] {
        patient.many("visits").map { $0.value(forKey: "note") as? String ?? "" }
    }

    @Test(
        "4.1 Members that were added stay in order when one of them goes, few or many", arguments: [3, 8, 9, 40],
        Way.allCases)
    func removal(_ count: Int, _ way: Way) throws {
        let stack = try Stack()
        let context = stack.context
        let patient = context.make("Patient", ["name": "a"])
        _ = context.make("Visit", ["note": "first", "patient": patient])
        try context.save()
        context.refresh(patient, mergeChanges: false)
        let visits = (0..<count).map { context.make("Visit", ["note": "\($0)"]) }
        for visit in visits {
            if way == .set {
                patient.mutableOrderedSetValue(forKey: "visits").add(visit)
            } else {
                visit.setValue(patient, forKey: "patient")
            }
        }
        context.processPendingChanges()
        var expected = ["first"] + (0..<count).map { "\($0)" }
        // More than those after which the members get an order of their own.
        for place in [1, 1, 0, count - 4, 0, 1, 0, 0] where expected.count > place + 1 && place >= 0 {
            let gone = try #require(visits.first { ($0.value(forKey: "note") as? String) == expected[place + 1] })
            switch way {
            case .set: patient.mutableOrderedSetValue(forKey: "visits").remove(gone)
            case .inverse: gone.setValue(nil, forKey: "patient")
            case .deletion:
                context.delete(gone)
                context.processPendingChanges()
            }
            expected.remove(at: place + 1)
            #expect(notes(patient) == expected)
        }
        try context.save()
        let reader = stack.another()
        #expect(notes(patient) == expected && notes(reader.object(with: patient.objectID)) == expected)
    }

    @Test(
        "4.1 Many additions and removals in any order leave the members in the order in which they came",
        arguments: 0..<20)
    func random(_ seed: UInt64) throws {
        var random = SplitMix(seed)
        let stack = try Stack()
        let context = stack.context
        let patient = context.make("Patient", ["name": "a"])
        try context.save()
        let visits = (0..<60).map { context.make("Visit", ["note": "\($0)"]) }
        var expected: [NSManagedObject] = []
        for _ in 0..<150 {
            let visit = visits[random.below(visits.count)]
            if let place = expected.firstIndex(of: visit) {
                if random.below(2) > 0 { continue }
                visit.setValue(nil, forKey: "patient")
                expected.remove(at: place)
            } else {
                visit.setValue(patient, forKey: "patient")
                expected.append(visit)
            }
            if random.below(10) == 0 { #expect(patient.many("visits") == expected) }
        }
        try context.save()
        #expect(patient.many("visits") == expected)
        let reader = stack.another()
        #expect(
            notes(reader.object(with: patient.objectID)) == expected.map { $0.value(forKey: "note") as? String ?? "" })
    }

    @Test(
        "10.4 They stay in order when a merge shows that another writer has deleted or added some",
        arguments: [false, true])
    func merged(_ isDeleted: Bool) throws {
        let stack = try Stack()
        let context = stack.context
        let patient = context.make("Patient", ["name": "a"])
        let visits = (0..<20).map { context.make("Visit", ["note": "\($0)"]) }
        try context.save()
        for visit in visits { visit.setValue(patient, forKey: "patient") }
        context.processPendingChanges()
        try stack.merge { other in
            let visit = other.object(with: visits[3].objectID)
            if isDeleted {
                other.delete(visit)
            } else {
                visit.setValue(other.object(with: patient.objectID), forKey: "patient")
            }
        }
        let others = (0..<20).filter { $0 != 3 }.map { "\($0)" }
        #expect(notes(patient) == (isDeleted ? others : ["3"] + others))
    }
}
