// Owners that several writers give members to at once: their rows are touched, not compared.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct SharedOwnerTests {
    // MARK: What is touched

    @Test(
        "A member may come to an owner that another writer has changed, whose change is seen at the next one here",
        arguments: Rivalry.touching)
    func renamed(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        let ward = try rivals.mine.named("North")
        try rivals.theirs.named("North").set("name", "B")
        try rivals.theirs.save()
        _ = rivals.mine.make("Patient", ["name": "a", "ward": ward])
        try rivals.mine.save()
        #expect(ward.text("name") == "North" && !rivals.mine.hasChanges)
        // The row cache of the same coordinator must not have the older row.
        let third = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        third.persistentStoreCoordinator = rivals.mine.persistentStoreCoordinator
        #expect(third.object(with: ward.objectID).text("name") == "B")
        ward.set("name", "A")
        #expect(code { try rivals.mine.save() } == 133020)
        #expect(rivals.stored(ward)?.text("name") == "B")
        #expect(rivals.stored(ward)?.names("patients") == ["a"])
    }

    @Test(
        "An owner that nobody else has changed is not out of date after a save that touched it",
        arguments: Rivalry.allCases)
    func adopted(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        let ward = try rivals.mine.named("North")
        for name in ["a", "b"] {
            _ = rivals.mine.make("Patient", ["name": name, "ward": ward])
            try rivals.mine.save()
        }
        #expect(rivals.stored(ward)?.heldVersion == 3 && ward.heldVersion == 3)
        ward.set("name", "A")
        try rivals.mine.save()
        #expect(rivals.stored(ward)?.text("name") == "A")
    }

    @Test(
        "Two writers give members to one owner, to-many with to-one and many-to-many, and both are there",
        arguments: Rivalry.touching)
    func both(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        for (context, name) in [(rivals.mine, "a"), (rivals.theirs, "b")] {
            let doctors = NSSet(array: try ["Ida", "Jo"].map { try context.named($0, "Doctor") })
            _ = context.make("Patient", ["name": name, "ward": try context.named("North"), "doctors": doctors])
        }
        try rivals.mine.save()
        try rivals.theirs.save()
        let reader = rivals.reader()
        #expect(try reader.named("North").names("patients") == ["a", "b"])
        for name in ["Ida", "Jo"] {
            #expect(try reader.named(name, "Doctor").names("patients") == ["a", "b"])
            #expect(try reader.named(name, "Doctor").heldVersion == 3)
        }
        for name in ["a", "b"] { #expect(try reader.named(name, "Patient").names("doctors") == ["Ida", "Jo"]) }
    }

    @Test(
        "Both ends of a new pair are touched, and a pair that both writers made is there once",
        arguments: Rivalry.touching)
    func samePair(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        try rivals.mine.admit("a")
        for context in [rivals.mine, rivals.theirs] {
            try context.named("a", "Patient").mutableSetValue(forKey: "doctors").add(try context.named("Ida", "Doctor"))
        }
        try rivals.mine.save()
        try rivals.theirs.save()
        let reader = rivals.reader()
        #expect(try reader.named("Ida", "Doctor").heldVersion == 3)
        #expect(try reader.named("a", "Patient").heldVersion == 3)
        #expect(try reader.named("Ida", "Doctor").names("patients") == ["a"])
        for context in [rivals.mine, rivals.theirs] {
            context.refreshAllObjects()
            try context.named("Ida", "Doctor").mutableSetValue(forKey: "patients").remove(
                try context.named("a", "Patient"))
        }
        try rivals.mine.save()
        try rivals.theirs.save()
        #expect(try rivals.reader().named("Ida", "Doctor").names("patients") == [])
    }

    @Test("The former and the new owner of a member are touched; the member is compared", arguments: Rivalry.touching)
    func moved(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        try rivals.mine.admit("a")
        try rivals.mine.admit("b")
        try rivals.mine.named("a", "Patient").set("ward", try rivals.mine.named("South"))
        let other = try rivals.theirs.named("b", "Patient")
        other.set("ward", try rivals.theirs.named("South"))
        try rivals.mine.save()
        try rivals.theirs.save()
        #expect(try rivals.reader().named("South").names("patients") == ["a", "b"])
        #expect(try rivals.reader().named("North").heldVersion == 5)
        try rivals.mine.named("b", "Patient").set("ward", nil)
        other.set("ward", try rivals.theirs.named("North"))
        try rivals.mine.save()
        #expect(code { try rivals.theirs.save() } == 133020)
    }

    @Test("A row whose version is NULL counts as the first", arguments: [Rivalry.sqlite, .otherCoordinator])
    func noVersion(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        try SQLiteFile(rivals.folder.file("store.sqlite")).run("UPDATE ZPLACE SET Z_OPT = NULL")
        let context = rivals.reader(), late = rivals.reader()
        let ward = try context.named("North"), same = try late.named("North")
        #expect(ward.heldVersion == -1)
        _ = context.make("Patient", ["name": "a", "ward": ward])
        try context.save()
        #expect(ward.heldVersion == 1)
        _ = late.make("Patient", ["name": "b", "ward": same])
        try late.save()
        #expect(same.heldVersion == -1)
        ward.set("name", "A")
        #expect(code { try context.save() } == 133020)
        context.refreshAllObjects()
        ward.set("name", "A")
        try context.save()
        #expect(rivals.stored(ward)?.heldVersion == 3)
    }

    @Test(
        "An owner that is gone is a conflict if a member came, none if members only left", arguments: Rivalry.touching)
    func gone(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        try rivals.mine.admit("a")
        let ward = try rivals.mine.named("North"), other = try rivals.mine.named("South")
        let patient = try rivals.mine.named("a", "Patient")
        try rivals.mine.named("Ida", "Doctor").set("patients", NSSet(object: patient))
        try rivals.mine.save()
        let doctor = try rivals.mine.named("Ida", "Doctor")
        let third = rivals.reader()
        third.delete(try third.named("South"))
        try third.save()
        _ = rivals.mine.make("Patient", ["name": "b", "ward": other])
        let error = caught { try rivals.mine.save() }
        #expect(error?.code.rawValue == 133020 && error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [other])
        #expect(error?.persistentStoreSaveConflicts?.first?.newVersionNumber == 0)
        rivals.mine.rollback()
        // Without a word to the patient's row.
        patient.set("doctors", NSSet())
        let fourth = rivals.reader()
        let gone = try fourth.named("Ida", "Doctor")
        fourth.delete(gone)
        try fourth.save()
        #expect(doctor.managedObjectContext != nil && ward.managedObjectContext != nil)
        try rivals.mine.save()
        #expect(rivals.stored(doctor) == nil && rivals.stored(patient)?.many("doctors") == [])
    }

    @Test(
        "Members that several writers put at the end of an order are all there, each writer's in its order",
        arguments: Rivalry.touching)
    func appended(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry, clinic(ordered: true))
        try rivals.mine.admit("a")
        try rivals.mine.admit("b")
        let third = rivals.reader()
        for (context, names) in [(rivals.mine, ["c", "d"]), (rivals.theirs, ["e", "f"]), (third, ["g", "h"])] {
            let ward = try context.named("North")
            let new = names.map { context.make("Patient", ["name": $0]) }
            if context === third {
                // As generated classes do it.
                ward.set("patients", NSOrderedSet(array: ward.ordered("patients") + new))
            } else {
                ward.mutableOrderedSetValue(forKey: "patients").addObjects(from: new)
            }
        }
        for context in [rivals.mine, rivals.theirs, third] { try context.save() }
        let names = try rivals.reader().named("North").ordered("patients").compactMap { $0.text("name") }
        #expect(names == ["a", "b", "c", "d", "e", "f", "g", "h"])
    }

    @Test("A member that leaves an order moves nobody, whoever came at its end", arguments: Rivalry.touching)
    func leftOrder(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry, clinic(ordered: true))
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] { try rivals.mine.admit(name) }
        let ward = try rivals.theirs.named("North")
        #expect(ward.ordered("patients").count == 8)
        for name in ["a", "b", "c", "e", "g", "h"] {
            ward.mutableOrderedSetValue(forKey: "patients").remove(try rivals.theirs.named(name, "Patient"))
        }
        try rivals.mine.admit("i")
        try rivals.theirs.save()
        let names = try rivals.reader().named("North").ordered("patients").compactMap { $0.text("name") }
        #expect(names == ["d", "f", "i"])
    }

    @Test("The rows of members without inverse are compared, their owners are not", arguments: Rivalry.touching)
    func oneWay(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry, clinic(oneWay: true))
        for code in ["1", "2", "3"] { _ = rivals.mine.make("Badge", ["code": code]) }
        try rivals.mine.save()
        func badge(_ code: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
            try #require(try context.all("Badge").first { $0.text("code") == code })
        }
        func give(_ code: String, _ ward: String, _ context: NSManagedObjectContext) throws {
            try context.named(ward).mutableSetValue(forKey: "stock").add(try badge(code, context))
        }
        try give("1", "North", rivals.mine)
        try give("2", "North", rivals.theirs)
        try rivals.mine.save()
        try rivals.theirs.save()
        #expect(try rivals.reader().named("North").many("stock").compactMap { $0.text("code") }.sorted() == ["1", "2"])
        // One badge to two wards.
        let held = try badge("3", rivals.theirs)
        try give("3", "North", rivals.mine)
        try rivals.mine.save()
        let given = try badge("3", rivals.mine)
        #expect(given.heldVersion == 2)
        try give("3", "South", rivals.theirs)
        let error = caught { try rivals.theirs.save() }
        #expect(error?.code.rawValue == 133020 && error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [held])
        rivals.theirs.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try rivals.theirs.save()
        #expect(try rivals.reader().named("South").many("stock").compactMap { $0.text("code") } == ["3"])
        // One that is gone.
        let third = rivals.reader()
        third.delete(try badge("3", third))
        try third.save()
        rivals.mine.refresh(try rivals.mine.named("South"), mergeChanges: false)
        try rivals.mine.named("South").mutableSetValue(forKey: "stock").add(given)
        #expect(code { try rivals.mine.save() } == 133020)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try rivals.mine.save()
        #expect(try rivals.reader().named("South").many("stock") == [] && !rivals.mine.hasChanges)
    }

    // MARK: Many writers

    @Test(
        "Two threads give 400 members to the same owners, holding nothing, and no save is refused",
        arguments: Rivalry.touching.prefix(2))
    func threads(_ rivalry: Rivalry) async throws {
        let rivals = try Rivals.shared(rivalry, clinic(ordered: true))
        let coordinator = try #require(rivals.mine.persistentStoreCoordinator)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    for number in 0..<200 {
                        let context = coordinator.context()
                        try await context.perform {
                            let doctors = NSOrderedSet(array: [
                                try context.named("Ida", "Doctor"), try context.named("Jo", "Doctor"),
                            ])
                            _ = context.make(
                                "Patient",
                                ["name": "\(writer)-\(number)", "ward": try context.named("North"), "doctors": doctors])
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let reader = rivals.reader()
        let ward = try reader.named("North")
        #expect(ward.heldVersion == 401)
        for owner in [ward, try reader.named("Ida", "Doctor"), try reader.named("Jo", "Doctor")] {
            let names = owner.ordered("patients").compactMap { $0.text("name") }
            #expect(names.count == 400)
            for writer in 0..<2 {
                #expect(names.filter { $0.hasPrefix("\(writer)-") } == (0..<200).map { "\(writer)-\($0)" })
            }
        }
    }
}
