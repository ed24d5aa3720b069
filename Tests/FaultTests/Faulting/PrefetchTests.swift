// Prefetched relationships: one statement a level and relationship, and none when they are read.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// A saved clinic: 3 wards with 4 patients each; every patient has 2 of 3 doctors, 3 visits in reverse order, and a bed.
private final class Filled {
    let stack: Stack
    private let isCounted: Bool
    private var contexts: [NSManagedObjectContext] = []

    /// Another context, which lives as long as this.
    func another() -> NSManagedObjectContext {
        contexts.append(stack.another())
        return contexts[contexts.count - 1]
    }

    init(_ type: String) throws {
        stack = try Stack(type)
        isCounted = type == NSSQLiteStoreType
        let context = stack.context
        let doctors = (0..<3).map { context.make("Doctor", ["name": "D\($0)"]) }
        for doctor in doctors { _ = context.make("Badge", ["code": "B", "doctor": doctor]) }
        for place in 0..<3 {
            let ward = context.make("Ward", ["name": "W\(place)"])
            for number in 0..<4 {
                let patient = context.make("Patient", ["name": "P\(place)\(number)", "ward": ward])
                patient.setValue(Set([doctors[number % 3], doctors[(number + 1) % 3]]), forKey: "doctors")
                let visits = (0..<3).map { context.make("Visit", ["code": $0]) }
                patient.setValue(NSOrderedSet(array: visits.reversed()), forKey: "visits")
                patient.setValue(context.make("Bed", ["number": place * 10 + number]), forKey: "bed")
            }
        }
        try context.save()
    }

    /// Expects a number of statements where there is a store that counts them.
    func expect(_ statements: Int, _ location: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Void)
        rethrows
    {
        let run = try stack.statements(of: body)
        if isCounted { #expect(run == statements, sourceLocation: location) }
    }
}

private func request(_ entity: String, _ keyPaths: String...) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entity, by: "name")
    request.relationshipKeyPathsForPrefetching = keyPaths
    return request
}

private func names(_ objects: Any?) -> [String] {
    (objects as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "name") as? String }.sorted()
}

private func codes(_ patient: NSManagedObject) -> [Int] {
    (patient.value(forKey: "visits") as? NSOrderedSet)?.array
        .compactMap { ($0 as? NSManagedObject)?.value(forKey: "code") as? Int } ?? []
}

@Suite struct PrefetchTests {
    @Test("8.10 A prefetched to-many costs one statement and is no fault then", arguments: StoreMaker.types)
    func toMany(_ type: String) throws {
        let clinic = try Filled(type)
        let other = clinic.another()
        var wards: [NSManagedObject] = []
        try clinic.expect(2) { wards = try other.fetch(request("Ward", "patients")) }
        #expect(wards.count == 3)
        #expect(!wards.contains { $0.hasFault(forRelationshipNamed: "patients") })
        clinic.expect(0) {
            for (place, ward) in wards.enumerated() {
                #expect(names(ward.value(forKey: "patients")) == (0..<4).map { "P\(place)\($0)" })
                #expect(ward.value(forKeyPath: "patients.@count") as? Int == 4)
            }
        }
        let plain = try clinic.another().fetch(request("Ward"))
        #expect(!plain.contains { !$0.hasFault(forRelationshipNamed: "patients") })
    }

    @Test("8.10 Prefetched ordered members come in their order", arguments: StoreMaker.types)
    func ordered(_ type: String) throws {
        let clinic = try Filled(type)
        let other = clinic.another()
        var patients: [NSManagedObject] = []
        try clinic.expect(2) { patients = try other.fetch(request("Patient", "visits")) }
        #expect(!patients.contains { $0.hasFault(forRelationshipNamed: "visits") })
        clinic.expect(0) { for patient in patients { #expect(codes(patient) == [2, 1, 0]) } }
    }

    @Test("8.10 A prefetched many-to-many costs one statement in both directions", arguments: StoreMaker.types)
    func manyToMany(_ type: String) throws {
        let clinic = try Filled(type)
        let other = clinic.another()
        var patients: [NSManagedObject] = []
        try clinic.expect(2) { patients = try other.fetch(request("Patient", "doctors")) }
        clinic.expect(0) { #expect(names(patients.first?.value(forKey: "doctors")) == ["D0", "D1"]) }
        var doctors: [NSManagedObject] = []
        try clinic.expect(2) { doctors = try clinic.another().fetch(request("Doctor", "patients")) }
        clinic.expect(0) {
            #expect(names(doctors.last?.value(forKey: "patients")) == ["P01", "P02", "P11", "P12", "P21", "P22"])
        }
    }

    @Test(
        "8.10 Prefetched to-ones cost one statement, whether or not the object may hold its target",
        arguments: StoreMaker.types)
    func toOne(_ type: String) throws {
        let clinic = try Filled(type)
        let other = clinic.another()
        var patients: [NSManagedObject] = []
        try clinic.expect(3) { patients = try other.fetch(request("Patient", "ward", "bed")) }
        #expect(!patients.contains { $0.hasFault(forRelationshipNamed: "ward") })
        #expect(!patients.contains { $0.hasFault(forRelationshipNamed: "bed") })
        #expect(patients.allSatisfy { $0.isFault })
        clinic.expect(0) {
            #expect(patients.map { $0.value(forKeyPath: "ward.name") as? String } == (0..<12).map { "W\($0 / 4)" })
            #expect(
                patients.map { $0.value(forKeyPath: "bed.number") as? Int } == (0..<12).map { $0 / 4 * 10 + $0 % 4 })
        }
        let plain = try clinic.another().fetch(request("Patient"))
        #expect(!plain.contains { !$0.hasFault(forRelationshipNamed: "bed") })
    }

    @Test("8.10 Each level of a key path costs one statement, common beginnings once", arguments: StoreMaker.types)
    func levels(_ type: String) throws {
        let clinic = try Filled(type)
        let other = clinic.another()
        var wards: [NSManagedObject] = []
        try clinic.expect(6) {
            wards = try other.fetch(
                request(
                    "Ward", "patients.doctors.badges", "patients", "patients.visits", "patients.bed", "patients.doctors"
                ))
        }
        try clinic.expect(0) {
            for (place, ward) in wards.enumerated() {
                let patients = try #require(ward.value(forKey: "patients") as? Set<NSManagedObject>)
                #expect(patients.count == 4)
                for patient in patients {
                    #expect(!patient.hasFault(forRelationshipNamed: "doctors"))
                    #expect(!patient.hasFault(forRelationshipNamed: "bed"))
                    #expect(codes(patient) == [2, 1, 0])
                    #expect((patient.value(forKeyPath: "bed.number") as? Int).map { $0 / 10 } == place)
                    let doctors = try #require(patient.value(forKey: "doctors") as? Set<NSManagedObject>)
                    #expect(doctors.count == 2)
                    for doctor in doctors {
                        #expect((doctor.value(forKey: "badges") as? Set<NSManagedObject>)?.count == 1)
                    }
                }
            }
        }
    }

    @Test("8.10 A path through a to-one fills the target's own relationships", arguments: StoreMaker.types)
    func throughToOne(_ type: String) throws {
        let clinic = try Filled(type)
        var beds: [NSManagedObject] = []
        let fetch = request("Bed", "patient.ward", "patient.visits")
        fetch.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let other = clinic.another()
        try clinic.expect(4) { beds = try other.fetch(fetch) }
        try clinic.expect(0) {
            for (place, bed) in beds.enumerated() {
                #expect(bed.value(forKeyPath: "patient.ward.name") as? String == "W\(place / 4)")
                let patient = try #require(bed.value(forKey: "patient") as? NSManagedObject)
                #expect(codes(patient) == [2, 1, 0])
            }
        }
    }

    @Test(
        "8.10 Members with unsaved changes keep them, and changed relationships show both", arguments: StoreMaker.types)
    func pending(_ type: String) throws {
        let clinic = try Filled(type)
        let other = clinic.another()
        let patients = try other.fetch(request("Patient"))
        let wards = try other.fetch(request("Ward"))
        patients[0].setValue("Changed", forKey: "name")
        patients[1].setValue(wards[1], forKey: "ward")
        let new = other.make("Patient", ["name": "New", "ward": wards[0]])
        #expect(wards[0].hasFault(forRelationshipNamed: "patients"))
        let found = try other.fetch(request("Ward", "patients.doctors", "patients.ward"))
        clinic.expect(0) {
            #expect(names(found[0].value(forKey: "patients")) == ["Changed", "New", "P02", "P03"])
            #expect(names(found[1].value(forKey: "patients")) == ["P01", "P10", "P11", "P12", "P13"])
            #expect(patients[1].value(forKeyPath: "ward.name") as? String == "W1")
            #expect(!patients[0].hasFault(forRelationshipNamed: "doctors"))
        }
        #expect(new.isInserted && patients[1].hasChanges)
        try other.save()
        let again = try clinic.another().fetch(request("Ward", "patients"))
        #expect(names(again[0].value(forKey: "patients")) == ["Changed", "New", "P02", "P03"])
    }

    @Test("8.10 A key path that is no chain of relationships throws 134060 and names it")
    func wrongKeyPaths() throws {
        let clinic = try Filled(NSSQLiteStoreType)
        for path in ["nonsense", "patients.nonsense", "patients.name", "", "patients..ward", "patients."] {
            var thrown: CocoaError?
            clinic.expect(0) {
                do { _ = try clinic.stack.context.fetch(request("Ward", path)) } catch { thrown = error as? CocoaError }
            }
            #expect(thrown?.code.rawValue == 134060)
            #expect(thrown?.localizedDescription.contains("“\(path)”") == true)
        }
        #expect(try clinic.stack.context.fetch(request("Ward")).count == 3)
    }

    @Test("8.10 A child context prefetches through its parent, unsaved objects included", arguments: StoreMaker.types)
    func child(_ type: String) throws {
        let clinic = try Filled(type)
        let parent = clinic.another()
        let ward = try #require(try parent.fetch(request("Ward")).first)
        let new = parent.make("Patient", ["name": "New", "ward": ward])
        new.setValue(NSOrderedSet(array: [parent.make("Visit", ["code": 7])]), forKey: "visits")
        new.setValue(parent.make("Bed", ["number": 99]), forKey: "bed")
        let child = parent.child()
        let wards = try child.fetch(request("Ward", "patients.visits", "patients.bed"))
        #expect(!wards.contains { $0.hasFault(forRelationshipNamed: "patients") })
        try clinic.expect(0) {
            let patients = try #require(wards[0].value(forKey: "patients") as? Set<NSManagedObject>)
            #expect(names(patients) == ["New", "P00", "P01", "P02", "P03"])
            for patient in patients {
                let isNew = patient.value(forKey: "name") as? String == "New"
                #expect(codes(patient) == (isNew ? [7] : [2, 1, 0]))
                #expect(patient.value(forKeyPath: "bed.number") as? Int != nil)
            }
        }
    }

    @Test("8.10 An object without members or target is filled too", arguments: StoreMaker.types)
    func nothing(_ type: String) throws {
        let stack = try Stack(type)
        _ = stack.context.make("Ward", ["name": "Empty"])
        _ = stack.context.make("Patient", ["name": "Alone"])
        try stack.context.save()
        let other = stack.another()
        let ward = try #require(try other.fetch(request("Ward", "patients.bed")).first)
        #expect(!ward.hasFault(forRelationshipNamed: "patients"))
        #expect(names(ward.value(forKey: "patients")) == [])
        let patient = try #require(try other.fetch(request("Patient", "ward", "bed", "doctors")).first)
        for key in ["ward", "bed", "doctors"] { #expect(!patient.hasFault(forRelationshipNamed: key)) }
        #expect(patient.value(forKey: "ward") == nil)
    }

    @Test("8.10 Prefetching holds no members: they go when nobody holds them, and a save makes their rows old")
    func lifetime() throws {
        let clinic = try Filled(NSSQLiteStoreType)
        let other = clinic.another()
        let wards = try other.fetch(request("Ward", "patients.bed"))
        #expect(other.registeredObjects.count == 3)
        let elsewhere = try #require(try clinic.stack.context.fetch(request("Patient")).first)
        elsewhere.setValue("Renamed", forKey: "name")
        try clinic.stack.context.save()
        wards[2].setValue("Saved", forKey: "name")
        try other.save()
        #expect(names(wards[0].value(forKey: "patients")).contains("Renamed"))
    }

    @Test("8.10 Prefetching is asked for again by a copy of the request and reads what is still a fault")
    func again() throws {
        let clinic = try Filled(NSSQLiteStoreType)
        let other = clinic.another()
        var wards: [NSManagedObject] = []
        try clinic.expect(2) { wards = try other.fetch(request("Ward", "patients").duplicate()) }
        try clinic.expect(2) { _ = try other.fetch(request("Ward", "patients.visits")) }
        try clinic.expect(2) { _ = try other.fetch(request("Ward", "patients.bed")) }
        try clinic.expect(1) { _ = try other.fetch(request("Ward", "patients.bed", "patients.visits")) }
        try clinic.expect(0) {
            for patient in try #require(wards[1].value(forKey: "patients") as? Set<NSManagedObject>) {
                #expect(codes(patient) == [2, 1, 0])
                #expect(patient.value(forKeyPath: "bed.number") as? Int != nil)
            }
        }
    }
}
