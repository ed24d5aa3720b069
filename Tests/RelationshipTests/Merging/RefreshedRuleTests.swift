// Objects that are refreshed after another's deletion has taken them apart: nothing that is saved leads to the deleted one.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct RefreshedRuleTests {
    enum Flavour: CaseIterable { case dropping, merging, all, faulting }

    private static let arguments = [NSInMemoryStoreType, NSSQLiteStoreType].flatMap { type in
        Flavour.allCases.map { (type, $0) }
    }

    private func refresh(_ object: NSManagedObject, _ flavour: Flavour) {
        let context = object.managedObjectContext
        switch flavour {
        case .dropping: context?.refresh(object, mergeChanges: false)
        case .merging: context?.refresh(object, mergeChanges: true)
        case .all: context?.refreshAllObjects()
        case .faulting:
            context?.refresh(object, mergeChanges: false)
            _ = object.value(forKey: "name")
        }
    }

    /// What a new context reads of the one patient.
    private func stored(_ stack: Stack, _ key: String) throws -> [NSManagedObjectID] {
        let reader = stack.another()
        let patient = try #require(try reader.all("Patient").first)
        let found =
            patient.entity.relationshipsByName[key]?.isToMany == true
            ? patient.many(key) : patient.one(key).map { [$0] } ?? []
        for other in found { _ = try reader.existingObject(with: other.objectID) }
        return found.map(\.objectID)
    }

    @Test(
        "5.6 A refreshed object whose row leads to a deleted one is parted from it again when changes are processed",
        arguments: arguments)
    func nullified(_ type: String, _ flavour: Flavour) throws {
        for (key, entity) in [("ward", "Ward"), ("doctors", "Doctor"), ("bed", "Bed")] {
            let stack = try Stack(type)
            let context = stack.context
            let (patient, other) = (context.make("Patient", ["name": "Ada"]), context.make(entity))
            patient.setValue(key == "doctors" ? NSSet(object: other) : other, forKey: key)
            try context.save()
            context.undoManager?.removeAllActions()
            context.delete(other)
            context.processPendingChanges()
            refresh(patient, flavour)
            context.processPendingChanges()
            #expect(patient.one(key) == nil && patient.many(key).isEmpty)
            try context.save()
            #expect(try stored(stack, key) == [])
            #expect(patient.one(key) == nil && patient.many(key).isEmpty)
            context.undo()
            #expect(patient.one(key) ?? patient.many(key).first === other)
            try context.save()
            #expect(try stored(stack, key) == [other.objectID])
        }
    }

    @Test(
        "4.3 A pending deletion that is refreshed parts what another writer has related to the object meanwhile",
        arguments: arguments.filter { $0.1 == .merging || $0.1 == .all }, [false, true])
    func refreshedDeletion(_ type: (String, flavour: Flavour), isProcessed: Bool) throws {
        for (key, entity) in [("ward", "Ward"), ("bed", "Bed"), ("doctors", "Doctor")] {
            for isRead in [false, true] {
                let stack = try Stack(type.0)
                let (patient, other) = (stack.context.make("Patient", ["name": "Ada"]), stack.context.make(entity))
                try stack.context.save()
                let context = stack.another()
                let deleted = context.object(with: other.objectID)
                if isRead { _ = deleted.value(forKey: entity == "Bed" ? "patient" : "patients") }
                context.delete(deleted)
                if isProcessed { context.processPendingChanges() }
                patient.setValue(key == "doctors" ? NSSet(object: other) : other, forKey: key)
                try stack.context.save()
                refresh(deleted, type.flavour)
                try context.save()
                #expect(try stored(stack, key) == [])
            }
        }
    }

    @Test(
        "4.4 A pending deletion that is refreshed takes along what another writer has added meanwhile",
        arguments: [true, false])
    func refreshedCascade(_ isProcessed: Bool) throws {
        for flavour in [Flavour.merging, .all] {
            let stack = try Stack(NSSQLiteStoreType)
            let (patient, visit) = (stack.context.make("Patient", ["name": "Ada"]), stack.context.make("Visit"))
            visit.setValue(patient, forKey: "patient")
            let late = stack.context.make("Visit")
            try stack.context.save()
            let context = stack.another()
            let deleted = context.object(with: patient.objectID)
            #expect(deleted.many("visits").count == 1)
            context.delete(deleted)
            if isProcessed { context.processPendingChanges() }
            late.setValue(patient, forKey: "patient")
            try stack.context.save()
            refresh(deleted, flavour)
            try context.save()
            #expect(try stack.another().all("Visit").isEmpty)
        }
    }

    @Test(
        "A changed object that is refreshed shows the members that another writer has added",
        arguments: [Flavour.merging, .all])
    func refreshedMembers(_ flavour: Flavour) throws {
        for (key, entity) in [("visits", "Visit"), ("doctors", "Doctor")] {
            let stack = try Stack(NSSQLiteStoreType)
            let patient = stack.context.make("Patient", ["name": "Ada"])
            try stack.context.save()
            let context = stack.another()
            let own = context.object(with: patient.objectID)
            #expect(own.many(key).isEmpty)
            own.setValue("Eve", forKey: "name")
            let came = stack.context.make(entity)
            patient.setValue(key == "visits" ? NSOrderedSet(object: came) : NSSet(object: came), forKey: key)
            try stack.context.save()
            refresh(own, flavour)
            #expect(own.many(key).map(\.objectID) == [came.objectID])
            #expect(own.value(forKey: "name") as? String == "Eve")
            try context.save()
            #expect(try stored(stack, key) == [came.objectID])
        }
    }

    @Test("5.6 A member that refreshing took out of a cascade goes with its owner all the same", arguments: arguments)
    func cascaded(_ type: String, _ flavour: Flavour) throws {
        let stack = try Stack(type)
        let context = stack.context
        let (patient, visit) = (context.make("Patient", ["name": "Ada"]), context.make("Visit"))
        visit.setValue(patient, forKey: "patient")
        try context.save()
        context.undoManager?.removeAllActions()
        context.delete(patient)
        context.processPendingChanges()
        if flavour == .faulting {
            context.refresh(visit, mergeChanges: false)
            #expect(visit.one("patient") === patient)
        } else {
            refresh(visit, flavour)
        }
        try context.save()
        #expect(try stack.another().all("Visit").isEmpty)
        context.undo()
        #expect(visit.one("patient") === patient && patient.many("visits") == [visit])
        try context.save()
        #expect(try stored(stack, "visits") == [visit.objectID])
    }

    @Test(
        "5.6 A deletion after the refresh finds who points at the object, by the row or by a change of the other side",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType], [true, false])
    func refreshedBefore(_ type: String, _ dropsMember: Bool) throws {
        let stack = try Stack(type)
        let context = stack.context
        let (former, new) = (context.make("Ward"), context.make("Ward"))
        let patient = context.make("Patient", ["name": "Ada", "ward": former])
        try context.save()
        patient.setValue(new, forKey: "ward")
        context.processPendingChanges()
        // The member forgets that it moved; the ward keeps that one came.
        context.refresh(dropsMember ? patient : new, mergeChanges: false)
        #expect(former.members("patients") == (dropsMember ? [patient] : []))
        #expect(new.members("patients") == (dropsMember ? [] : [patient]))
        #expect(patient.one("ward") === (dropsMember ? former : new))
        context.delete(dropsMember ? former : new)
        try context.save()
        #expect(patient.one("ward") == nil)
        #expect(try stored(stack, "ward") == [])
    }

    @Test(
        "5.6 An object that is read after the deletion is parted from it",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType])
    func firedLater(_ type: String) throws {
        let stack = try Stack(type)
        let ward = stack.context.make("Ward")
        let patient = stack.context.make("Patient", ["name": "Ada", "ward": ward])
        try stack.context.save()
        let context = stack.another()
        let (fault, going) = (context.object(with: patient.objectID), context.object(with: ward.objectID))
        context.delete(going)
        #expect(fault.isFault)
        context.processPendingChanges()
        #expect(fault.value(forKey: "name") as? String == "Ada" && fault.one("ward") == nil)
        context.refresh(fault, mergeChanges: false)
        #expect(fault.isFault)
        try context.save()
        #expect(try stored(stack, "ward") == [])
    }

    @Test("5.6 A refresh puts a member back to its place in its owner's order, and the owner has nothing to save")
    func order() throws {
        let stack = try Stack()
        let context = stack.context
        let (patient, other) = (context.make("Patient", ["name": "Ada"]), context.make("Patient", ["name": "Bo"]))
        let visits = (0..<3).map { context.make("Visit", ["code": $0]) }
        patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
        try context.save()
        visits[0].setValue(other, forKey: "patient")
        context.refresh(visits[0], mergeChanges: false)
        #expect(patient.many("visits") == visits && other.many("visits").isEmpty)
        #expect(patient.changedValues().isEmpty && other.changedValues().isEmpty)
    }
}

extension RefreshedRuleTests {
    @Test(
        "4.12 A pair made here is a conflict when the side that was refreshed to a fault has lost its row; under a policy it ends",
        arguments: everyStore)
    func lostPair(_ type: String) throws {
        let stack = try Stack(type)
        let context = stack.context
        let (patient, ward, doctor) = (
            context.make("Patient", ["name": "Ada"]), context.make("Ward"), context.make("Doctor")
        )
        try context.save()
        let lost = context.make("Patient", ["name": "Bo"])
        try context.save()
        context.stalenessInterval = 0
        patient.setValue(ward, forKey: "ward")
        doctor.setValue(NSSet(object: lost), forKey: "patients")
        context.processPendingChanges()
        for object in [ward, lost] { context.refresh(object, mergeChanges: false) }
        _ = try stack.elsewhere { other in
            for object in [ward, lost] { other.delete(other.object(with: object.objectID)) }
        }
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code.rawValue == 133020 && error?.persistentStoreSaveConflicts?.count == 2)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(patient.one("ward") == nil && doctor.many("patients").isEmpty && !context.hasChanges)
        let reader = stack.another()
        reader.stalenessInterval = 0
        #expect(reader.object(with: patient.objectID).objectIDs(forRelationshipNamed: "ward").isEmpty)
        #expect(reader.object(with: doctor.objectID).objectIDs(forRelationshipNamed: "patients").isEmpty)
    }
}
