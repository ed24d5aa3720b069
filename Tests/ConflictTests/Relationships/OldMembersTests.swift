// Deleting an object whose members were read before its row: what another writer has added between the two is not left behind.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct OldMembersTests {
    /// When the row of the owner, whose to-many was read while it was a fault, is read.
    enum Reading: CaseIterable {
        case atDeletion, before, byFetch
    }

    /// A ward with two patients and a patient with two visits, which only the store knows yet; `mine` knows faults of both.
    private func stored(_ rivals: Rivals) throws -> (ward: NSManagedObject, patient: NSManagedObject) {
        let ward = rivals.theirs.make("Ward", ["name": "North"])
        let patient = rivals.theirs.make("Patient", ["name": "a", "ward": ward])
        _ = rivals.theirs.make("Patient", ["name": "b", "ward": ward])
        for note in ["1", "2"] { _ = rivals.theirs.make("Visit", ["note": note, "patient": patient]) }
        try rivals.theirs.save()
        return (try fault(ward, rivals), try fault(patient, rivals))
    }

    private func fault(_ object: NSManagedObject, _ rivals: Rivals) throws -> NSManagedObject {
        let url = object.objectID.uriRepresentation()
        let id = try #require(rivals.mine.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
        return rivals.mine.object(with: id)
    }

    /// Reads the members of a fault beforehand, which stays a fault.
    private func prefetch(_ owner: NSManagedObject, _ key: String, _ count: Int = 2) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: owner.entity.name ?? "")
        request.includesPropertyValues = false
        request.relationshipKeyPathsForPrefetching = [key]
        _ = try owner.managedObjectContext?.fetch(request)
        #expect(owner.isFault && !owner.hasFault(forRelationshipNamed: key))
        #expect(owner.objectIDs(forRelationshipNamed: key).count == count && owner.isFault)
    }

    private func read(_ object: NSManagedObject, _ reading: Reading) throws {
        switch reading {
        case .atDeletion: break
        case .before: _ = object.value(forKey: "name")
        case .byFetch: _ = try object.managedObjectContext?.all(object.entity.name ?? "")
        }
    }

    /// How many rows of an entity lead by a to-one to a row that is not there.
    private func dangling(_ entity: String, _ key: String, _ rivals: Rivals) throws -> Int {
        let reader = rivals.reader()
        return try reader.all(entity).filter { object in
            guard case .slot(let slot)? = object.place(of: key), let id = object.committedTargetKey(at: slot) else {
                return false
            }
            return try reader.faulting.read(id) == nil
        }.count
    }

    /// Deletes an owner after another writer has added a member to the two that were read.
    private func delete(
        _ owner: NSManagedObject, _ key: String, late entity: String, _ inverse: String, _ values: [String: Any],
        _ rivals: Rivals,
        _ reading: Reading
    ) throws {
        rivals.mine.stalenessInterval = 0
        try prefetch(owner, key)
        rivals.theirs.make(entity, values).set(inverse, try rivals.their(owner))
        try rivals.theirs.save()
        try read(owner, reading)
        rivals.mine.delete(owner)
        try rivals.mine.save()
    }

    @Test(
        "4.3 Nullify reaches a member that another writer has added since the members were read",
        arguments: Rivalry.allCases,
        Reading.allCases)
    func nullify(_ rivalry: Rivalry, _ reading: Reading) throws {
        let rivals = try Rivals(rivalry)
        try delete(stored(rivals).ward, "patients", late: "Patient", "ward", ["name": "late"], rivals, reading)
        #expect(try rivals.reader().all("Ward").isEmpty)
        #expect(try dangling("Patient", "ward", rivals) == 0)
    }

    @Test(
        "4.5 Cascade reaches a member that another writer has added since the members were read",
        arguments: Rivalry.allCases,
        Reading.allCases)
    func cascade(_ rivalry: Rivalry, _ reading: Reading) throws {
        let rivals = try Rivals(rivalry)
        try delete(stored(rivals).patient, "visits", late: "Visit", "patient", ["note": "late"], rivals, reading)
        let reader = rivals.reader()
        #expect(try reader.all("Visit").isEmpty && reader.all("Patient").map { $0.text("name") } == ["b"])
    }

    @Test(
        "6.2 A late member that is known here as it was before is a conflict, or is parted", arguments: [false, true])
    func known(_ isRead: Bool) throws {
        let rivals = try Rivals(.sqlite)
        rivals.mine.stalenessInterval = 0
        let ward = try stored(rivals).ward
        let late = rivals.mine.make("Patient", ["name": "late"])
        try rivals.mine.save()
        try prefetch(ward, "patients")
        #expect(late.one("ward") == nil)
        if !isRead { rivals.mine.refresh(late, mergeChanges: false) }
        try rivals.their(late).set("ward", try rivals.their(ward))
        try rivals.theirs.save()
        rivals.mine.delete(ward)
        let code = caught { try rivals.mine.save() }?.code.rawValue
        #expect(code == (isRead ? 133020 : nil))
        if code != nil {
            rivals.mine.mergePolicy = NSMergePolicy.overwrite
            try rivals.mine.save()
        }
        #expect(try rivals.reader().all("Ward").isEmpty)
        #expect(try dangling("Patient", "ward", rivals) == 0)
    }

    @Test("6.2 Changes that are pending in the members stay when they are read anew", arguments: [false, true])
    func pending(_ refreshes: Bool) throws {
        let rivals = try Rivals(.sqlite, undo: true)
        rivals.mine.stalenessInterval = 0
        let patient = try stored(rivals).patient
        try prefetch(patient, "visits")
        let new = rivals.mine.make("Visit", ["note": "new"])
        patient.mutableOrderedSetValue(forKey: "visits").insert(new, at: 0)
        rivals.mine.processPendingChanges()
        _ = rivals.theirs.make("Visit", ["note": "late", "patient": try rivals.their(patient)])
        try rivals.theirs.save()
        if refreshes { rivals.mine.refresh(patient, mergeChanges: true) }
        rivals.mine.delete(patient)
        rivals.mine.processPendingChanges()
        let code = caught { try rivals.mine.save() }?.code.rawValue
        #expect(code == (refreshes ? nil : 133020))
        if refreshes { #expect(try rivals.reader().all("Visit").isEmpty) }
        rivals.mine.undo()
        #expect(patient.ordered("visits").map { $0.text("note") } == ["new", "1", "2", "late"])
    }

    @Test("6.2 Members that were saved in an order of ours, without those of another writer, are read anew too")
    func saved() throws {
        let rivals = try Rivals(.sqlite)
        rivals.mine.stalenessInterval = 0
        let patient = try stored(rivals).patient
        try prefetch(patient, "visits")
        _ = rivals.theirs.make("Visit", ["note": "late", "patient": try rivals.their(patient)])
        try rivals.theirs.save()
        patient.mutableOrderedSetValue(forKey: "visits").insert(rivals.mine.make("Visit", ["note": "new"]), at: 0)
        try rivals.mine.save()
        rivals.mine.delete(patient)
        try rivals.mine.save()
        #expect(try rivals.reader().all("Visit").isEmpty)
    }

    @Test("6.2 Members known by a save are read anew when the row was refreshed below changes")
    func refreshed() throws {
        let rivals = try Rivals(.sqlite)
        rivals.mine.stalenessInterval = 0
        let visits = ["1", "2"].map { rivals.mine.make("Visit", ["note": $0]) }
        let patient = rivals.mine.make("Patient", ["name": "a"])
        patient.set("visits", NSOrderedSet(array: visits))
        try rivals.mine.save()
        patient.set("age", 7)
        _ = rivals.theirs.make("Visit", ["note": "late", "patient": try rivals.their(patient)])
        try rivals.theirs.save()
        rivals.mine.refresh(patient, mergeChanges: true)
        rivals.mine.delete(patient)
        try rivals.mine.save()
        #expect(try rivals.reader().all("Visit").isEmpty)
    }

    @Test("6.2 Members that a fetch has read beforehand are read anew for an object whose row was read since")
    func prefetched() throws {
        let rivals = try Rivals(.sqlite)
        rivals.mine.stalenessInterval = 0
        let ward = rivals.theirs.make("Ward", ["name": "North"])
        let patient = rivals.theirs.make("Patient", ["name": "a", "ward": ward])
        _ = rivals.theirs.make("Visit", ["note": "1", "patient": patient])
        try rivals.theirs.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.relationshipKeyPathsForPrefetching = ["patients.visits"]
        let wards = try rivals.mine.fetch(request)
        #expect(rivals.mine.registeredObjects.count == 1)
        _ = rivals.theirs.make("Visit", ["note": "late", "patient": patient])
        try rivals.theirs.save()
        let mine = try rivals.mine.existingObject(with: patient.objectID)
        #expect(wards[0].many("patients") == [mine] && mine.ordered("visits").count == 1)
        rivals.mine.delete(mine)
        try rivals.mine.save()
        #expect(try rivals.reader().all("Visit").isEmpty)
    }

    @Test("The deletion of a fault reads its row and its members, unless they were read: that fires it")
    func statements() throws {
        let log = StatementLog()
        let stack = try Stack(undo: false, options: log.options)
        let writer = stack.another(), context = stack.context
        let wards = (0..<3).map { writer.make("Ward", ["name": "\($0)"]) }
        for ward in wards { _ = writer.make("Patient", ["name": "a", "ward": ward]) }
        try writer.save()
        context.stalenessInterval = 0
        context.readsFaultsTogether = false
        let mine = wards.map { context.object(with: $0.objectID) }
        _ = mine[0].text("name")
        _ = mine[0].many("patients")
        #expect(
            log.reads {
                context.delete(mine[0]); context.processPendingChanges()
            }.count == 0)
        #expect(
            log.reads {
                context.delete(mine[1]); context.processPendingChanges()
            }.count == 2)
        #expect(log.reads { _ = mine[2].many("patients") }.count == 2)
        #expect(
            log.reads {
                context.delete(mine[2]); context.processPendingChanges()
            }.count == 0)
    }
}
