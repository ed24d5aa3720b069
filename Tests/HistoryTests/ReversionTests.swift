// Making transactions undone.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Reverting transactions") struct ReversionTests {
    private func desk(_ folder: Folder = Folder()) throws -> Desk {
        try Desk(in: folder, options: [NSPersistentStoreKeepsFormerValues: true])
    }

    @discardableResult
    private func fill(_ desk: Desk) throws -> NSManagedObjectContext {
        let context = desk.context("fill")
        let wards = ["North", "South"].map { context.make("Ward", ["name": $0]) }
        let doctors = ["Ada", "Bob"].map { context.make("Doctor", ["name": $0]) }
        for name in ["Eve", "Ann"] {
            let patient = context.make(
                "Patient", ["name": name, "age": 30, "weight": 61.5, "photo": Data([1, 2]), "tag": UUID()])
            patient.setValue(Date(timeIntervalSinceReferenceDate: 1000), forKey: "born")
            patient.setValue(NSDecimalNumber(string: "12.10"), forKey: "fee")
            patient.setValue(URL(string: "https://example.org/\(name)"), forKey: "link")
            patient.setValue(wards[0], forKey: "ward")
            patient.setValue(Set(doctors), forKey: "doctors")
            for note in ["a", "b", "c"] { context.make("Visit", ["note": note]).setValue(patient, forKey: "patient") }
            context.make("Bed", ["number": 1]).setValue(patient, forKey: "patient")
        }
        try context.save()
        return context
    }

    private func last(_ desk: Desk) throws -> NSPersistentHistoryTransaction {
        try #require(try desk.transactions().last)
    }

    /// Reverts the last transaction and saves.
    @discardableResult
    private func revertLast(_ desk: Desk) throws -> HistoryReversion {
        let context = desk.context("revert")
        let reversion = try context.revert(last(desk))
        #expect(context.hasChanges)
        try context.save()
        return reversion
    }

    @Test("Changed values and relationships of every kind are as they were")
    func updates() throws {
        let desk = try desk()
        let context = try fill(desk)
        let before = try desk.contents()
        let patient = try #require(try context.all("Patient").first { $0.value(forKey: "name") as? String == "Eve" })
        let south = try #require(try context.all("Ward").first { $0.value(forKey: "name") as? String == "South" })
        for (key, value) in ["name": "Eva", "age": 41, "weight": 3.5, "photo": Data([9]), "awake": true]
            as [String: Any]
        {
            patient.setValue(value, forKey: key)
        }
        for key in ["born", "tag", "fee", "link"] { patient.setValue(nil, forKey: key) }
        patient.setValue(south, forKey: "ward")
        patient.setValue(NSSet(), forKey: "doctors")
        let visits = try #require(patient.value(forKey: "visits") as? NSOrderedSet)
        patient.setValue(NSOrderedSet(array: visits.reversed()), forKey: "visits")
        try context.save()
        #expect(try desk.contents() != before)
        let reversion = try revertLast(desk)
        #expect(reversion.conflicts.isEmpty && reversion.replacedObjectIDs.isEmpty)
        #expect(try desk.contents() == before)
    }

    @Test("Some thousands of deletions are back with their owners and members")
    func many() throws {
        let desk = try desk()
        let context = desk.context("fill")
        let wards = (0..<1000).map { context.make("Ward", ["name": "w\($0)"]) }
        for (number, ward) in wards.enumerated() {
            let patient = context.make("Patient", ["name": "p\(number)", "age": number])
            patient.setValue(ward, forKey: "ward")
            for note in ["a", "b"] { context.make("Visit", ["note": note]).setValue(patient, forKey: "patient") }
        }
        try context.save()
        let before = try desk.contents()
        #expect(before.count == 4000)
        for object in try context.all("Patient") + context.all("Ward") { context.delete(object) }
        try context.save()
        #expect(try desk.contents().isEmpty)
        let reversion = try revertLast(desk)
        #expect(reversion.conflicts.isEmpty && reversion.replacedObjectIDs.isEmpty)
        #expect(try desk.contents() == before)
    }

    @Test("A deleted object is back under its ID, with what its rules had deleted and let go; what was inserted goes")
    func deletions() throws {
        let desk = try desk()
        let context = try fill(desk)
        let before = try desk.contents()
        let patient = try #require(try context.all("Patient").first)
        let gone = patient.objectID
        context.delete(patient)
        context.delete(try #require(try context.all("Ward").first))
        context.make("Doctor", ["name": "new"])
        try context.save()
        let reversion = try revertLast(desk)
        #expect(reversion.conflicts.isEmpty && reversion.replacedObjectIDs.isEmpty)
        #expect(try desk.contents() == before)
        #expect(try desk.context().existingObject(with: gone).value(forKey: "name") != nil)
        // Undone itself, it is done again.
        try revertLast(desk)
        #expect(try desk.context().all("Doctor").count == 3 && desk.context().all("Patient").count == 1)
    }

    @Test("Batch updates and deletions leave former values too")
    func batches() throws {
        let desk = try desk()
        try fill(desk)
        let before = try desk.contents()
        let update = NSBatchUpdateRequest(entityName: "Patient")
        update.propertiesToUpdate = ["age": 99, "name": "all"]
        try desk.context().execute(update)
        #expect(try desk.contents() != before)
        try revertLast(desk)
        #expect(try desk.contents() == before)
        try desk.context().execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Patient")))
        #expect(try desk.context().all("Visit").isEmpty)
        try revertLast(desk)
        #expect(try desk.contents() == before)
    }

    @Test("What later saves have changed stays, and is named with the transactions that changed it")
    func conflicts() throws {
        let desk = try desk()
        let context = try fill(desk)
        let beds = try context.all("Bed")
        beds[0].setValue(10, forKey: "number")
        beds[0].setValue(20, forKey: "code")
        beds[1].setValue(30, forKey: "number")
        let fresh = context.make("Doctor", ["name": "new"])
        try context.save()
        let middle = try last(desk)
        beds[0].setValue(11, forKey: "number")
        fresh.setValue("renamed", forKey: "name")
        try context.save()
        context.delete(beds[1])
        try context.save()
        let other = desk.context("revert")
        let reversion = try other.revert(middle)
        let named = reversion.conflicts.sorted { $0.properties.count > $1.properties.count }
        #expect(named.map(\.objectID.entity.name).prefix(1) == ["Bed"] && named.first?.properties == ["number"])
        #expect(named.first?.transactions == [3] && named.count == 3)
        #expect(named.contains { $0.objectID == beds[1].objectID && $0.properties.isEmpty && $0.transactions == [4] })
        #expect(named.contains { $0.objectID == fresh.objectID && $0.transactions == [3] })
        let bed = try other.existingObject(with: beds[0].objectID)
        #expect(bed.value(forKey: "number") as? Int == 11 && bed.value(forKey: "code") == nil)
        #expect(try other.existingObject(with: fresh.objectID).isDeleted == false)
        try other.save()
    }

    @Test("A deleted object whose ID is taken again comes back under another, which is told")
    func replaced() throws {
        let desk = try desk()
        let context = try fill(desk)
        let bed = try #require(try context.all("Bed").first)
        let id = bed.objectID
        context.delete(bed)
        try context.save()
        let deletion = try last(desk)
        try desk.context().revert(deletion)
        let first = desk.context("revert")
        try first.revert(deletion)
        try first.save()
        let second = desk.context("revert again")
        let reversion = try second.revert(deletion)
        let new = try #require(reversion.replacedObjectIDs[id])
        #expect(reversion.replacedObjectIDs.count == 1 && new != id)
        try second.save()
        #expect(try desk.context().existingObject(with: new).value(forKey: "number") as? Int == 1)
    }

    @Test(
        "The context that made a deletion takes it back itself, whether it holds the objects or not",
        arguments: [true, false])
    func sameContext(_ holds: Bool) throws {
        let desk = try desk()
        let context = try fill(desk)
        let before = try desk.contents()
        var held: [NSManagedObject] =
            holds ? try ["Patient", "Visit", "Bed", "Doctor", "Ward"].flatMap { try context.all($0) } : []
        context.delete(try #require(try context.all("Patient").first))
        context.delete(try #require(try context.all("Ward").first))
        try context.save()
        let reversion = try context.revert(last(desk))
        #expect(reversion.conflicts.isEmpty && reversion.replacedObjectIDs.isEmpty)
        try context.save()
        #expect(try desk.contents() == before)
        held = []
        #expect(held.isEmpty)
    }

    @Test("A to-one or a member that was deleted since is named, with the transaction that deleted it")
    func goneTargets() throws {
        let desk = try desk()
        let context = try fill(desk)
        let patient = try #require(try context.all("Patient").first { $0.value(forKey: "name") as? String == "Eve" })
        let wards = try context.all("Ward").sorted {
            ($0.value(forKey: "name") as? String ?? "") < ($1.value(forKey: "name") as? String ?? "")
        }
        let doctors = try context.all("Doctor")
        for other in try context.all("Patient") where other !== patient {
            other.setValue(nil, forKey: "ward")
            other.setValue(NSSet(), forKey: "doctors")
        }
        try context.save()
        patient.setValue(wards[1], forKey: "ward")
        patient.setValue(NSSet(), forKey: "doctors")
        try context.save()
        let middle = try last(desk)
        context.delete(wards[0])
        try context.save()
        context.delete(doctors[0])
        try context.save()
        let other = desk.context("revert")
        let reversion = try other.revert(middle)
        let named = try #require(reversion.conflicts.first { $0.objectID == patient.objectID })
        #expect(named.properties == ["doctors", "ward"] && named.transactions == [4, 5])
        let back = try other.existingObject(with: patient.objectID)
        #expect((back.value(forKey: "ward") as? NSManagedObject)?.objectID == wards[1].objectID)
        #expect((back.value(forKey: "doctors") as? NSSet)?.count == 1)
        try other.save()
    }

    @Test(
        "An insertion stays where a batch request has given the object members since, and where one of its own members stays"
    )
    func attached() throws {
        let desk = try desk()
        let context = try fill(desk)
        let patient = context.make("Patient", ["name": "Zoe"])
        let own = context.make("Visit", ["note": "own"])
        own.setValue(patient, forKey: "patient")
        try context.save()
        let insertion = try last(desk)
        let update = NSBatchUpdateRequest(entityName: "Visit")
        update.predicate = NSPredicate(format: "note == 'a'")
        update.propertiesToUpdate = ["patient": patient.objectID]
        try desk.context().execute(update)
        let first = desk.context("revert")
        var named = try first.revert(insertion).conflicts
        #expect(
            named.map(\.objectID) == [patient.objectID] && named.first?.properties == []
                && named.first?.transactions == [3])
        try first.save()
        #expect(try desk.context().all("Visit").count == 6 && desk.context().all("Patient").count == 3)
        // Its own visit is renamed, and so stays; its patient may not take it along.
        let next = desk.context()
        let other = next.make("Patient", ["name": "Kim"])
        let visit = next.make("Visit", ["note": "k"])
        visit.setValue(other, forKey: "patient")
        try next.save()
        let later = try last(desk)
        visit.setValue("renamed", forKey: "note")
        try next.save()
        let second = desk.context("revert")
        named = try second.revert(later).conflicts
        #expect(Set(named.map(\.objectID)) == [other.objectID, visit.objectID])
        #expect(named.allSatisfy { $0.transactions == [try? last(desk).transactionNumber] })
        try second.save()
        let reader = desk.context()
        #expect(try reader.existingObject(with: visit.objectID).value(forKey: "patient") != nil)
    }

    @Test(
        "A transaction without former values is refused by number, one that was purged by 134301, and purging removes the values"
    )
    func refusals() throws {
        let folder = Folder()
        try {
            let plain = try Desk(in: folder)
            try plain.addBed(1)
            try plain.coordinator.remove(plain.store)
        }()
        let desk = try desk(folder)
        let context = desk.context()
        let refused = caught { try context.revert(desk.transactions()[0]) }
        #expect(refused.number == 134060 && refused.sentence.contains("transaction 1") && !context.hasChanges)
        let bed = try context.one("Bed")
        bed.setValue(2, forKey: "number")
        try context.save()
        bed.setValue(3, forKey: "number")
        try context.save()
        let all = try desk.transactions()
        let tables = try SQLiteFile(desk.url)
        #expect(try tables.rows("SELECT DISTINCT ZTRANSACTIONID FROM OCDFORMERVALUE ORDER BY 1") == ["2", "3"])
        _ = try desk.fetch(.deleteHistory(before: all[2]), .count, as: Int.self)
        #expect(try tables.rows("SELECT DISTINCT ZTRANSACTIONID FROM OCDFORMERVALUE") == ["3"])
        #expect(code { try desk.context().revert(all[1]) } == 134301)
        let other = try self.desk()
        try other.addBed(1)
        #expect(code { try desk.context().revert(other.transactions()[0]) } == 134060)
        #expect(
            code {
                _ = try Desk(tracks: false, options: [NSPersistentStoreKeepsFormerValues: true])
            } == 134060)
    }

    @Test("Without the option nothing is kept")
    func off() throws {
        let desk = try Desk()
        try fill(desk)
        #expect(try SQLiteFile(desk.url).rows("SELECT name FROM sqlite_master WHERE name LIKE 'OCD%'").isEmpty)
    }
}
