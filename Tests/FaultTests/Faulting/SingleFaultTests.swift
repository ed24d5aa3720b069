// Faults that come one by one: by ID, from a merge, or from a refresh.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct SingleFaultTests {
    private static let count = 600
    private let hospital: Hospital
    private let context: NSManagedObjectContext

    init() throws {
        hospital = try Hospital(Self.count)
        context = hospital.context
    }

    private func expectRead(
        _ patients: [NSManagedObject], _ suffix: String = "", sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        hospital.costs(3, sourceLocation: sourceLocation) {
            #expect(
                Set(patients.map(\.name)) == Set((0..<Self.count).map { "\($0)\(suffix)" }),
                sourceLocation: sourceLocation)
        }
    }

    @Test("Faults asked for by ID are read together, and those that are gone by then are not")
    func byID() throws {
        expectRead(hospital.ids.map { context.object(with: $0) })
        context.reset()
        var few = hospital.ids.prefix(200).map { context.object(with: $0) }
        few.removeSubrange(2...)
        hospital.costs(1) { #expect(few.map(\.name) == ["0", "1"]) }
        #expect(context.registeredObjects.count == 2)
    }

    @Test("A fault that comes after one was read stands beside those that come then")
    func later() throws {
        let first = context.object(with: hospital.ids[0]), second = context.object(with: hospital.ids[1])
        hospital.costs(1) { #expect(first.name == "0") }
        let third = context.object(with: hospital.ids[2])
        try hospital.write("UPDATE ZPATIENT SET ZNAME = 'new', Z_OPT = Z_OPT + 1 WHERE ZNAME IN ('1', '2')")
        hospital.costs(0) { #expect(second.name == "1") }
        hospital.costs(1) { #expect(third.name == "new") }
    }

    @Test("Faults of several entities that come by turns are read together, each with its own")
    func mixed() throws {
        let beds = try hospital.stack.context.all("Bed").prefix(300).map(\.objectID)
        let faults = zip(hospital.ids, beds).flatMap { [context.object(with: $0), context.object(with: $1)] }
        hospital.costs(4) {
            for fault in faults { #expect(fault.value(forKey: fault.entity.name == "Bed" ? "number" : "name") != nil) }
        }
    }

    @Test("10.4 Objects that changed elsewhere are read together after the merge, loaded or new")
    func remote() throws {
        let patients = try hospital.fetch(values: true)
        #expect(patients.map(\.name).contains("7"))
        try hospital.write("UPDATE ZPATIENT SET ZNAME = ZNAME || '!', Z_OPT = Z_OPT + 1")
        hospital.costs(0) {
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: hospital.ids], into: [context])
        }
        expectRead(patients, "!")
        let other = hospital.stack.another()
        other.stalenessInterval = 0
        let log = NotificationLog(other)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSInsertedObjectIDsKey: hospital.ids], into: [other])
        expectRead(Array(log.objects(0, NSInsertedObjectsKey)), "!")
    }

    @Test(
        "10.4 Objects with changes are read together below them by a merge and by a refresh of all",
        arguments: [true, false])
    func changed(merges: Bool) throws {
        let patients = try hospital.fetch(values: true)
        for patient in patients { patient.setValue(-1, forKey: "age") }
        context.processPendingChanges()
        try hospital.write("UPDATE ZPATIENT SET ZNAME = ZNAME || '!', Z_OPT = Z_OPT + 1")
        let ids = hospital.ids
        hospital.costs(3) {
            guard merges else { return context.refreshAllObjects() }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [context])
        }
        hospital.costs(0) { #expect(patients[7].name == "7!" && patients[599].value(forKey: "age") as? Int == -1) }
        #expect(context.updatedObjects.count == Self.count)
        #expect(!patients.contains { $0.isFault })
        try context.save()
    }

    @Test("Refreshed objects are read together, be they refreshed all at once or one by one", arguments: [true, false])
    func refreshed(all: Bool) throws {
        let patients = try hospital.fetch(values: true)
        #expect(patients.map(\.name).contains("7"))
        if all {
            context.refreshAllObjects()
        } else {
            for patient in patients { context.refresh(patient, mergeChanges: false) }
        }
        #expect(!patients.contains { !$0.isFault })
        expectRead(patients)
    }

    @Test("4.11 What another context has saved of objects with derived attributes is read together after the merge")
    func derived() throws {
        var draft = Clinic.draft()
        var size = Clinic.attribute("size", .integer64)
        size.derivationExpression = "visits.@count"
        draft.entities[0].attributes.append(size)
        let stack = try Stack(model: NSManagedObjectModel(draft: draft), undo: false)
        let writer = stack.context
        let made = (0..<Self.count).map { writer.make("Patient", ["name": "\($0)"]) }
        try writer.save()
        let reader = stack.another()
        let patients = try reader.all("Patient")
        #expect(patients.allSatisfy { $0.value(forKey: "size") as? Int == 0 })
        for patient in made { writer.make("Visit").setValue(patient, forKey: "patient") }
        let log = NotificationLog(writer)
        try writer.save()
        let saved = try #require(log.entries.last { $0.name == "didSave:" })
        reader.mergeChanges(
            fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, object: writer, userInfo: saved.info)
        )
        let before = stack.statements
        #expect(patients.allSatisfy { $0.value(forKey: "size") as? Int == 1 })
        #expect(stack.statements - before <= 3)
    }
}
