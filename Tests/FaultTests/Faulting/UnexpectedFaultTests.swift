// Faults that are refused: answered, told of, and thrown when the block ends.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct UnexpectedFaultTests {
    private func refused(_ body: () throws -> Void) throws -> [UnexpectedFault] {
        do {
            try body()
            return []
        } catch let error as CocoaError {
            #expect(error.code.rawValue == 134060)
            return error.unexpectedFaults
        }
    }

    @Test("A block without faulting answers all reads and throws the list of those that went to the store")
    func block() throws {
        let hospital = try Hospital(3, wards: 3)
        let context = hospital.context
        let patients = try hospital.fetch(values: true)
        let lone = context.object(with: try #require(hospital.stack.context.all("Bed").first?.objectID))
        var number: Any?
        let faults = try refused {
            try context.withoutFaulting {
                #expect(patients[1].one("ward")?.name == "ward 1")
                #expect((patients[0].value(forKey: "visits") as? NSOrderedSet)?.count == 0)
                number = lone.value(forKey: "number")
            }
        }
        #expect(number != nil)
        #expect(faults.map(\.entityName) == ["Ward", "Patient", "Bed"])
        #expect(faults.map(\.relationshipName) == [nil, "visits", nil])
        #expect(faults.map(\.prefetchKeyPath) == ["ward", "visits", nil])
        #expect(faults.map(\.prefetchEntityName) == ["Patient", "Patient", nil])
        #expect(faults[1].objectID == patients[0].objectID)
        #expect(faults[2].objectID == lone.objectID)
        #expect(faults[1].description.contains("prefetch \"visits\" with Patient"))
    }

    @Test("A block without faulting that reads only what is here answers its value; its own error goes first")
    func passes() throws {
        struct Own: Error {}
        let hospital = try Hospital(3)
        let patients = try hospital.fetch(values: true)
        let names = try hospital.context.withoutFaulting { patients.compactMap(\.name) }
        #expect(names.count == 3)
        #expect(throws: Own.self) {
            try hospital.context.withoutFaulting {
                _ = patients[0].value(forKey: "visits")
                throw Own()
            }
        }
        let name = try hospital.context.withoutFaulting { patients[1].name }
        #expect(name == "1", "nothing is left of the former block")
    }

    @Test("A fault that the coordinator's row cache answers is not unexpected; one that reads the store is")
    func known() throws {
        let hospital = try Hospital(2)
        let context = hospital.stack.another()
        let (first, second) = (context.object(with: hospital.ids[0]), context.object(with: hospital.ids[1]))
        try hospital.costs(0) {
            let name = try context.withoutFaulting { first.name }
            #expect(name == "0")
        }
        hospital.stack.coordinator.rowCache.removeAll()
        let faults = try refused { try context.withoutFaulting { #expect(second.name == "1") } }
        #expect(faults.map(\.objectID) == [hospital.ids[1]])
    }

    @Test("A block inside another keeps its faults to itself")
    func nested() throws {
        let hospital = try Hospital(2)
        let patients = try hospital.fetch(values: true)
        let context = hospital.context
        let outer = try refused {
            try context.withoutFaulting {
                let inner = try refused { try context.withoutFaulting { _ = patients[0].value(forKey: "visits") } }
                #expect(inner.count == 1)
                _ = patients[1].value(forKey: "doctors")
            }
        }
        #expect(outer.map(\.relationshipName) == ["doctors"])
    }

    @Test("A context that refuses faults tells its handler of each, which may read itself")
    func context() throws {
        let hospital = try Hospital(3)
        let context = hospital.context
        let patients = try hospital.fetch(values: true)
        var told: [String] = []
        context.unexpectedFaultHandler = { fault in
            told.append(fault.relationshipName ?? fault.entityName)
            _ = patients[2].value(forKey: "doctors")
        }
        _ = patients[0].value(forKey: "visits")
        #expect(told.isEmpty)
        context.refusesFaults = true
        _ = patients[1].value(forKey: "visits")
        _ = patients[1].value(forKey: "visits")
        _ = patients[1].one("bed")?.value(forKey: "number")
        #expect(told == ["visits", "Bed"])
        context.refusesFaults = false
        _ = patients[0].value(forKey: "doctors")
        #expect(told.count == 2)
    }

    @Test("A request that refuses faults has those of its objects told, and of what is reached from them")
    func request() throws {
        let hospital = try Hospital(3, wards: 2)
        let context = hospital.context
        var told: [UnexpectedFault] = []
        context.unexpectedFaultHandler = { told.append($0) }
        let bed = context.object(with: try #require(hospital.stack.context.all("Bed").first?.objectID))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.refusesFaults = true
        let patients = try context.fetch(request)
        _ = bed.value(forKey: "number")
        #expect(told.isEmpty, "the bed was not found by the request")
        let ward = try #require(patients[0].one("ward"))
        _ = ward.name
        _ = ward.value(forKey: "patients")
        #expect(told.map(\.prefetchKeyPath) == ["ward", "ward.patients"])
        #expect(told.map(\.prefetchEntityName) == ["Patient", "Patient"])
    }

    @Test(
        "The key path told begins at the request, also behind what was prefetched; prefetching it leaves nothing to tell"
    )
    func keyPath() throws {
        let hospital = try Hospital(3, wards: 2)
        func faults(_ keyPaths: [String]) throws -> [UnexpectedFault] {
            let context = hospital.stack.another()
            context.stalenessInterval = 0
            var told: [UnexpectedFault] = []
            context.unexpectedFaultHandler = { told.append($0) }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
            request.refusesFaults = true
            request.relationshipKeyPathsForPrefetching = keyPaths
            request.predicate = NSPredicate(format: "name == '0'")
            let patient = try #require(context.fetch(request).first)
            let ward = try #require(patient.one("ward"))
            let members = try #require(ward.value(forKey: "patients") as? Set<NSManagedObject>)
            let other = try #require(members.first { $0 !== patient })
            _ = other.value(forKey: "visits")
            return told
        }
        let second = try faults(["ward"])
        #expect(second.map(\.prefetchKeyPath) == ["ward.patients", "ward.patients.visits"])
        #expect(second.allSatisfy { $0.prefetchEntityName == "Patient" })
        #expect(try faults(["ward.patients.visits"]).isEmpty)
    }

    @Test(
        "In a block, or a context that refuses faults, the key path goes through members that came with their rows too")
    func throughMembers() throws {
        let hospital = try Hospital(3, wards: 3)
        let context = hospital.context
        let doctor = hospital.stack.context.make("Doctor", ["name": "Who"])
        let patients = hospital.ids.map { hospital.stack.context.object(with: $0) }
        doctor.setValue(Set(patients), forKey: "patients")
        try hospital.stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Doctor")
        request.relationshipKeyPathsForPrefetching = ["patients"]
        let found = try #require(context.fetch(request).first)
        func told(_ body: (NSManagedObject) -> Void) throws -> [UnexpectedFault] {
            try refused {
                try context.withoutFaulting {
                    let members = try #require(found.value(forKey: "patients") as? Set<NSManagedObject>)
                    body(try #require(members.first { $0.name == "1" }))
                }
            }
        }
        #expect(try told { _ = $0.name }.isEmpty)
        let ward = try told { #expect($0.one("ward")?.name == "ward 1") }
        #expect(ward.map(\.prefetchKeyPath) == ["patients.ward"])
        #expect(ward.map(\.prefetchEntityName) == ["Doctor"])
        let visits = try told { _ = $0.value(forKey: "visits") }
        #expect(visits.map(\.prefetchKeyPath) == ["patients.visits"])
        let beyond = try told { _ = $0.one("ward")?.value(forKey: "patients") }
        // Reading the members reads the row of the ward too.
        #expect(beyond.map(\.prefetchKeyPath) == ["patients.ward", "patients.ward.patients"])
        #expect(beyond.map(\.prefetchEntityName) == ["Doctor", "Doctor"])
        request.relationshipKeyPathsForPrefetching = ["patients.ward.patients", "patients.visits"]
        context.reset()
        let again = try #require(context.fetch(request).first)
        try context.withoutFaulting {
            for patient in try #require(again.value(forKey: "patients") as? Set<NSManagedObject>) {
                #expect(
                    patient.one("ward")?.value(forKey: "patients") != nil && patient.value(forKey: "visits") != nil)
            }
        }
    }

    @Test("The key path begins at what was held before the block, also when a to-one that was prefetched comes first")
    func throughPrefetchedTarget() throws {
        let hospital = try Hospital(2, wards: 2)
        let patient = hospital.stack.context.object(with: hospital.ids[0])
        hospital.stack.context.make("Visit").setValue(patient, forKey: "patient")
        try hospital.stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Visit")
        request.relationshipKeyPathsForPrefetching = ["patient"]
        for refusesAll in [false, true] {
            let context = hospital.stack.another()
            context.stalenessInterval = 0
            let visit = try #require(context.fetch(request).first)
            func told(_ body: () -> Void) throws -> [String?] {
                guard refusesAll else {
                    return try refused { try context.withoutFaulting(body) }.map(\.prefetchKeyPath)
                }
                var told: [String?] = []
                context.unexpectedFaultHandler = { told.append($0.prefetchKeyPath) }
                context.refusesFaults = true
                body()
                context.refusesFaults = false
                return told
            }
            let before = try told { #expect(visit.one("patient")?.one("ward")?.name == "ward 0") }
            #expect(before == ["patient.ward"])
            let own = try #require(visit.one("patient"))
            let mixed = try told {
                _ = own.value(forKey: "doctors")
                _ = visit.one("patient")?.one("bed")?.value(forKey: "number")
            }
            #expect(mixed == ["doctors", "bed"], "a path begins at what is read before anything leads to it")
        }
    }

    @Test("Members are replaced as anywhere in a context that tells of faults")
    func replacedMembers() throws {
        let hospital = try Hospital(3)
        let context = hospital.context
        context.unexpectedFaultHandler = { _ in }
        context.refusesFaults = true
        let patients = try hospital.fetch(values: true)
        let doctor = context.make("Doctor", ["name": "Who"])
        doctor.setValue(Set(patients.prefix(2)), forKey: "patients")
        doctor.setValue(Set(patients.suffix(2)), forKey: "patients")
        #expect(doctor.value(forKey: "patients") as? Set<NSManagedObject> == Set(patients.suffix(2)))
        #expect(patients.map { ($0.value(forKey: "doctors") as? Set<NSManagedObject>)?.count } == [0, 1, 1])
    }

    @Test("An object that the request found itself is where a path begins, whatever else leads to it")
    func ownObjects() throws {
        let hospital = try Hospital(2)
        let context = hospital.context
        var told: [UnexpectedFault] = []
        context.unexpectedFaultHandler = { told.append($0) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.refusesFaults = true
        request.relationshipKeyPathsForPrefetching = ["ward.patients"]
        let patients = try context.fetch(request)
        _ = patients[0].one("ward")?.value(forKey: "patients")
        _ = patients[1].value(forKey: "visits")
        #expect(told.map(\.prefetchKeyPath) == ["visits"])
    }

    @Test("A to-one that leads to a refreshed fault is told with its key path")
    func refreshed() throws {
        let hospital = try Hospital(1)
        let context = hospital.context
        let patient = try hospital.fetch(values: true)[0]
        let ward = try #require(patient.one("ward"))
        #expect(ward.name == "ward 0")
        context.refreshAllObjects()
        let faults = try refused { try context.withoutFaulting { #expect(patient.one("ward")?.name == "ward 0") } }
        #expect(faults.map(\.entityName) == ["Patient", "Ward"])
        #expect(faults.map(\.prefetchKeyPath) == [nil, "ward"])
        #expect(faults.map(\.prefetchEntityName) == [nil, "Patient"])
    }

    @Test("1.11 Asking whether a relationship is a fault reads nothing, and is answered for to-ones too")
    func hasFault() throws {
        let hospital = try Hospital(3)
        let context = hospital.context
        let fault = context.object(with: hospital.ids[0])
        let silent = hospital.statements {
            for key in ["ward", "bed", "visits"] { #expect(fault.hasFault(forRelationshipNamed: key)) }
        }
        #expect(silent == 0)
        #expect(fault.isFault)
        let patient = try hospital.fetch(values: true)[1]
        #expect(patient.hasFault(forRelationshipNamed: "ward"), "the ward is not in memory")
        let ward = try #require(patient.one("ward"))
        #expect(patient.hasFault(forRelationshipNamed: "ward"), "the ward is a fault")
        _ = ward.name
        #expect(!patient.hasFault(forRelationshipNamed: "ward"))
        patient.setValue(nil, forKey: "ward")
        #expect(!patient.hasFault(forRelationshipNamed: "ward"))
        patient.setValue(ward, forKey: "ward")
        #expect(!patient.hasFault(forRelationshipNamed: "ward"))
        #expect(!context.make("Patient").hasFault(forRelationshipNamed: "bed"))
    }
}
