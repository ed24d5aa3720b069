// Uniqueness constraints under each policy.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct ConstraintTests {
    static let stores = Rivalry.constrained.filter { $0 != .otherCoordinator }

    /// The clinic with doctors of unique names and patients unique by name and code together.
    private static func draft() -> SchemaDraft {
        var draft = Clinic.draft()
        for index in draft.entities.indices {
            if draft.entities[index].name == "Doctor" { draft.entities[index].uniquenessConstraints = [["name"]] }
            if draft.entities[index].name == "Patient" {
                draft.entities[index].uniquenessConstraints = [["name", "code"]]
            }
        }
        return draft
    }

    /// A stored doctor Bo with a patient and a badge, forgotten by the context; and a new doctor Bo with another of each.
    private struct Twins {
        let rivals: Rivals
        let row: NSManagedObjectID
        let twin: NSManagedObject
        let patients: [NSManagedObject]

        init(_ rivalry: Rivalry, _ policy: NSMergePolicy) throws {
            rivals = try Rivals(rivalry, draft: ConstraintTests.draft())
            rivals.mine.mergePolicy = policy
            let context = rivals.mine
            let first = context.make("Doctor", ["name": "Bo", "code": 1])
            let old = context.make("Patient", ["name": "Old", "doctors": NSSet(array: [first])])
            _ = context.make("Badge", ["code": "old", "doctor": first])
            try context.save()
            row = first.objectID
            twin = context.make("Doctor", ["name": "Bo"])
            let new = context.make("Patient", ["name": "New", "doctors": NSSet(array: [twin])])
            _ = context.make("Badge", ["code": "new", "doctor": twin])
            patients = [old, new]
        }

        func doctors() throws -> [NSManagedObject] { try rivals.reader().all("Doctor") }
        func badges(_ doctor: NSManagedObject) -> [String] {
            doctor.many("badges").compactMap { $0.text("code") }.sorted()
        }
    }

    @Test(
        "6.9 A save that a constraint refuses leaves the object that has the values as it was read", arguments: stores,
        [false, true])
    func clean(_ rivalry: Rivalry, _ isFault: Bool) throws {
        let rivals = try Rivals(rivalry, draft: Self.draft())
        let doctor = rivals.theirs.make("Doctor", ["name": "Bo", "code": 1])
        try rivals.theirs.save()
        let mine = try #require(try rivals.mine.all("Doctor").first)
        if !isFault { #expect(mine.int("code") == 1) }
        doctor.set("code", 2)
        try rivals.theirs.save()
        _ = rivals.mine.make("Doctor", ["name": "Bo"])
        for policy in [NSMergePolicy.error, Refusing(merge: .errorMergePolicyType)] {
            rivals.mine.mergePolicy = policy
            #expect(caught { try rivals.mine.save() }?.code.rawValue == 133021)
            #expect(mine.isFault == isFault && !mine.hasChanges)
        }
        #expect(mine.int("code") == 1)
    }

    /// Looks at the object that has the values before it refuses.
    private final class Refusing: NSMergePolicy {
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            #expect(list.first?.databaseObject?.int("code") == 2)
            try super.resolve(constraintConflicts: list)
        }
    }

    /// Settles a conflict by other values.
    private final class Renaming: NSMergePolicy {
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            for conflict in list { conflict.conflictingObjects.last?.set("name", "free") }
            try super.resolve(constraintConflicts: list)
        }
    }

    @Test(
        "6.5 A policy leaves alone what a subclass has given other values", arguments: stores,
        [
            NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
            .mergeByPropertyStoreTrumpMergePolicyType,
        ])
    func renamed(_ rivalry: Rivalry, _ type: NSMergePolicyType) throws {
        let twins = try Twins(rivalry, Renaming(merge: type))
        try twins.rivals.mine.save()
        let reader = twins.rivals.reader()
        let doctors = try reader.all("Doctor")
        #expect(doctors.compactMap { $0.text("name") }.sorted() == ["Bo", "free"])
        #expect(
            doctors.first { $0.text("name") == "Bo" }?.objectID.uriRepresentation() == twins.row.uriRepresentation())
        #expect(Set(doctors.map { twins.badges($0) }) == [["new"], ["old"]])
        let rivals = try Rivals(rivalry, draft: Self.draft())
        rivals.mine.mergePolicy = Renaming(merge: type)
        for code in [1, 2] { rivals.mine.make("Doctor", ["name": "Bo"]).set("code", code) }
        try rivals.mine.save()
        #expect(try Set(rivals.reader().all("Doctor").compactMap { $0.text("name") }) == ["Bo", "free"])
    }

    @Test("6.5 error: 133021 with the conflict, the insertion stays pending and poisons later saves", arguments: stores)
    func error(_ rivalry: Rivalry) throws {
        let twins = try Twins(rivalry, .error)
        let context = twins.rivals.mine
        let error = try #require(caught { try context.save() })
        #expect(error.code.rawValue == 133021)
        let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
        let conflict = try #require(conflicts.first)
        #expect(conflicts.count == 1)
        #expect(conflict.constraint == ["name"])
        #expect(conflict.constraintValues["name"] as? String == "Bo")
        #expect(conflict.databaseObject?.objectID == twins.row)
        #expect(conflict.databaseSnapshot?["code"] as? Int == 1)
        #expect(conflict.conflictingObjects == [twins.twin])
        #expect(conflict.conflictingSnapshots.first?["name"] is NSNull)
        let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [CocoaError])
        #expect(details.map(\.code.rawValue) == [1551])
        #expect(details.first?.validationObject as? NSManagedObject === twins.twin)
        #expect(details.first?.validationKey == "name" && details.first?.validationValue as? String == "Bo")
        #expect(twins.twin.isInserted && twins.twin.objectID.isTemporaryID)
        #expect(try twins.doctors().count == 1)
        _ = context.make("Ward", ["name": "North"])
        #expect(caught { try context.save() }?.code.rawValue == 133021)
        context.rollback()
        _ = context.make("Ward", ["name": "North"])
        try context.save()
        #expect(try twins.rivals.reader().all("Ward").count == 1)
    }

    @Test("6.5 object trump: the row that exists stays, with the new values; the new object is gone", arguments: stores)
    func objectTrump(_ rivalry: Rivalry) throws {
        let twins = try Twins(rivalry, .mergeByPropertyObjectTrump)
        twins.twin.set("code", 7)
        try twins.rivals.mine.save()
        try expectMerged(twins, code: 7)
    }

    @Test("6.5 object trump: what the new object does not say stays as it is stored", arguments: stores)
    func objectTrumpNil(_ rivalry: Rivalry) throws {
        let twins = try Twins(rivalry, .mergeByPropertyObjectTrump)
        try twins.rivals.mine.save()
        try expectMerged(twins, code: 1)
    }

    @Test("6.5 overwrite: the row that exists stays, with all the new values, nil too", arguments: stores)
    func overwrite(_ rivalry: Rivalry) throws {
        let twins = try Twins(rivalry, .overwrite)
        try twins.rivals.mine.save()
        try expectMerged(twins, code: nil)
    }

    @Test("6.5 store trump: the new object is dropped, what pointed at it points at the row", arguments: stores)
    func storeTrump(_ rivalry: Rivalry) throws {
        let twins = try Twins(rivalry, .mergeByPropertyStoreTrump)
        twins.twin.set("code", 7)
        try twins.rivals.mine.save()
        try expectMerged(twins, code: 1)
    }

    private func expectMerged(_ twins: Twins, code: Int?) throws {
        let doctors = try twins.doctors()
        #expect(doctors.map(\.objectID.uriAndNumber) == [twins.row.uriAndNumber])
        let doctor = try #require(doctors.first)
        #expect(doctor.int("code") == code)
        #expect(doctor.names("patients") == ["New", "Old"])
        #expect(twins.badges(doctor) == ["new", "old"])
        let context = twins.rivals.mine
        #expect(!context.hasChanges)
        #expect(twins.twin.managedObjectContext == nil)
        let mine = context.object(with: twins.row)
        #expect(mine.int("code") == code && mine.names("patients") == ["New", "Old"])
        #expect(twins.patients.allSatisfy { $0.many("doctors") == [mine] })
        _ = context.make("Ward", ["name": "North"])
        try context.save()
    }

    @Test("6.5 rollback: the new object is dropped, nothing moves to the row", arguments: stores)
    func rollback(_ rivalry: Rivalry) throws {
        let twins = try Twins(rivalry, .rollback)
        try twins.rivals.mine.save()
        let doctor = try #require(try twins.doctors().first)
        #expect(try twins.doctors().count == 1)
        #expect(doctor.int("code") == 1 && doctor.names("patients") == ["Old"] && twins.badges(doctor) == ["old"])
        #expect(try twins.rivals.reader().all("Patient").count == 2)
        #expect(twins.twin.managedObjectContext == nil && !twins.rivals.mine.hasChanges)
        #expect(twins.patients[1].many("doctors").isEmpty)
    }

    @Test("6.5 Between objects of one save there is no database object; the first one stays", arguments: stores)
    func oneSave(_ rivalry: Rivalry) throws {
        let outcomes: [(NSMergePolicy, Int?)] = [
            (.mergeByPropertyObjectTrump, 3), (.overwrite, nil), (.mergeByPropertyStoreTrump, 1), (.rollback, 1),
        ]
        for (policy, code) in outcomes {
            let rivals = try Rivals(rivalry, draft: ConstraintTests.draft())
            let context = rivals.mine
            let doctors = [1, 3, nil].map { context.make("Doctor", ["name": "Bo", "code": $0 as Any? ?? NSNull()]) }
            let error = try #require(caught { try context.save() })
            #expect(error.code.rawValue == 133021)
            let conflict = try #require(error.persistentStoreConstraintConflicts?.first)
            #expect(conflict.databaseObject == nil && conflict.databaseSnapshot == nil)
            #expect(conflict.conflictingObjects == doctors)
            #expect(context.insertedObjects.count == 3)
            context.mergePolicy = policy
            try context.save()
            let stored = try rivals.reader().all("Doctor")
            #expect(stored.map { $0.int("code") } == [code], "\(policy.mergeType)")
            #expect(!doctors[0].objectID.isTemporaryID && doctors[0].managedObjectContext === context)
            #expect(doctors[1].managedObjectContext == nil && doctors[2].managedObjectContext == nil)
        }
    }

    @Test(
        "6.5 A changed row that takes another row's value: it stays where memory wins, else it is taken back",
        arguments: stores)
    func updated(_ rivalry: Rivalry) throws {
        for type in RelationshipMergeTests.merging {
            let rivals = try Rivals(rivalry, draft: ConstraintTests.draft())
            let context = rivals.mine
            context.mergePolicy = NSMergePolicy(merge: type)
            let bo = context.make("Doctor", ["name": "Bo", "code": 1])
            let eve = context.make("Doctor", ["name": "Eve", "code": 2])
            let patient = context.make("Patient", ["name": "Ada", "doctors": NSSet(array: [bo])])
            try context.save()
            eve.set("name", "Bo")
            eve.set("code", 3)
            try context.save()
            let stored = try rivals.reader().all("Doctor").sorted { $0.int("code") ?? 0 < $1.int("code") ?? 0 }
            let texts = stored.map { "\($0.text("name") ?? "") \($0.int("code") ?? 0)" }
            switch type {
            case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
                #expect(texts == ["Bo 3"])
                #expect(patient.many("doctors") == [eve] && bo.managedObjectContext == nil)
            case .mergeByPropertyStoreTrumpMergePolicyType: #expect(texts == ["Bo 1", "Eve 3"])
            case .rollbackMergePolicyType: #expect(texts == ["Bo 1", "Eve 2"])
            case .errorMergePolicyType: break
            }
            #expect(!context.hasChanges)
        }
    }

    @Test("6.5 What joined the other row on both sides meanwhile moves with the rest", arguments: stores)
    func joinedMeanwhile(_ rivalry: Rivalry) throws {
        for (policy, joinsHere) in [
            (NSMergePolicy.mergeByPropertyObjectTrump, false), (.overwrite, false), (.overwrite, true),
        ] {
            let rivals = try Rivals(rivalry, draft: ConstraintTests.draft())
            rivals.mine.mergePolicy = policy
            let bo = rivals.mine.make("Doctor", ["name": "Bo"])
            let eve = rivals.mine.make("Doctor", ["name": "Eve"])
            let badges = ["old", "new", "newer"].map { rivals.mine.make("Badge", ["code": $0]) }
            badges[0].set("doctor", bo)
            try rivals.mine.save()
            try rivals.their(badges[1]).set("doctor", try rivals.their(bo))
            try rivals.theirs.save()
            eve.set("name", "Bo")
            if joinsHere { badges[2].set("doctor", bo) }
            try rivals.mine.save()
            #expect(rivals.stored(bo) == nil)
            let stored = try #require(rivals.stored(eve))
            let expected = badges.prefix(joinsHere ? 3 : 2)
            #expect(
                stored.many("badges").compactMap { $0.text("code") }.sorted()
                    == expected.compactMap { $0.text("code") }.sorted())
            #expect(eve.many("badges") == Set(expected) && expected.allSatisfy { $0.one("doctor") === eve })
        }
    }

    @Test("6.5 An object that was set to what it was has not given its row's values up", arguments: stores)
    func touched(_ rivalry: Rivalry) throws {
        for type in RelationshipMergeTests.merging {
            let rivals = try Rivals(rivalry, draft: ConstraintTests.draft(), policy: type)
            let eve = rivals.mine.make("Doctor", ["name": "Eve", "code": 1])
            try rivals.mine.save()
            try rivals.their(eve).set("name", "Ann")
            try rivals.theirs.save()
            eve.set("name", "Eve")
            _ = rivals.mine.make("Doctor", ["name": "Ann", "code": 2])
            try rivals.mine.save()
            let isNew = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
            let stored = try rivals.reader().all("Doctor")
            #expect(stored.map { "\($0.text("name") ?? "") \($0.int("code") ?? 0)" } == ["Ann \(isNew ? 2 : 1)"])
            #expect(eve.text("name") == "Ann" && !rivals.mine.hasChanges)
        }
    }

    @Test(
        "6.5 A value that a row gets back, since it cannot have another's, is taken from the object that wanted it",
        arguments: stores)
    func returned(_ rivalry: Rivalry) throws {
        for type in RelationshipMergeTests.merging {
            let rivals = try Rivals(rivalry, draft: ConstraintTests.draft(), policy: type)
            let bo = rivals.mine.make("Doctor", ["name": "Bo", "code": 1])
            _ = rivals.mine.make("Doctor", ["name": "Eve", "code": 2])
            try rivals.mine.save()
            bo.set("name", "Eve")
            bo.set("code", 3)
            _ = rivals.mine.make("Doctor", ["name": "Bo", "code": 4])
            try rivals.mine.save()
            let stored = try rivals.reader().all("Doctor").map { "\($0.text("name") ?? "") \($0.int("code") ?? 0)" }
            switch type {
            case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
                #expect(stored.sorted() == ["Bo 4", "Eve 3"])
            case .mergeByPropertyStoreTrumpMergePolicyType: #expect(stored.sorted() == ["Bo 3", "Eve 2"])
            case .rollbackMergePolicyType: #expect(stored.sorted() == ["Bo 1", "Eve 2"])
            case .errorMergePolicyType: break
            }
            #expect(!rivals.mine.hasChanges)
        }
    }

    @Test("6.5 A constraint over two attributes binds the pair, not each", arguments: stores)
    func pair(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, draft: ConstraintTests.draft())
        let context = rivals.mine
        for code in 1...2 { _ = context.make("Patient", ["name": "Ada", "code": code]) }
        _ = context.make("Patient", ["name": "Bo", "code": 1])
        try context.save()
        let again = context.make("Patient", ["name": "Ada", "code": 2, "age": 9])
        let conflict = try #require(caught { try context.save() }?.persistentStoreConstraintConflicts?.first)
        #expect(conflict.constraint == ["name", "code"])
        #expect(conflict.constraintValues["code"] as? Int == 2 && conflict.conflictingObjects == [again])
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        let stored = try rivals.reader().all("Patient")
        #expect(stored.count == 3 && stored.compactMap { $0.int("age") } == [9])
    }

    @Test("6.5 Texts that look alike but are written with other scalars are different", arguments: stores)
    func scalars(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, draft: ConstraintTests.draft())
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let names = ["é", "e\u{301}", "é", "e\u{301}"]
        for name in names { _ = rivals.mine.make("Doctor", ["name": name]) }
        try rivals.mine.save()
        let stored = try rivals.reader().all("Doctor").compactMap {
            $0.text("name").map { Array($0.unicodeScalars).count }
        }
        #expect(stored.sorted() == [1, 2])
    }

    @Test("6.7 Nulls in a constraint are distinct, alone and in a pair", arguments: stores)
    func nulls(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, draft: ConstraintTests.draft())
        for _ in 0..<3 {
            _ = rivals.mine.make("Doctor")
            _ = rivals.mine.make("Patient", ["name": "Ada"])
        }
        try rivals.mine.save()
        #expect(try rivals.reader().all("Doctor").count == 3)
        #expect(try rivals.reader().all("Patient").count == 3)
        _ = rivals.mine.make("Patient", ["name": "Ada", "code": 1])
        try rivals.mine.save()
        _ = rivals.mine.make("Patient", ["name": "Ada", "code": 1])
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 133021)
    }

    @Test("A merge with another writer and a broken constraint are settled in one save", arguments: stores)
    func both(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, draft: ConstraintTests.draft())
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let bo = rivals.mine.make("Doctor", ["name": "Bo", "code": 1])
        try rivals.mine.save()
        try rivals.their(bo).set("code", 2)
        _ = rivals.theirs.make("Doctor", ["name": "Eve", "code": 5])
        try rivals.theirs.save()
        bo.set("name", "Bob")
        _ = rivals.mine.make("Doctor", ["name": "Eve", "code": 6])
        _ = rivals.mine.make("Doctor", ["name": "Ann", "code": 7])
        try rivals.mine.save()
        let stored = try rivals.reader().all("Doctor").map { "\($0.text("name") ?? "") \($0.int("code") ?? 0)" }
        #expect(stored.sorted() == ["Ann 7", "Bob 2", "Eve 6"])
        #expect(!rivals.mine.hasChanges)
    }
}

extension NSManagedObjectID {
    fileprivate var uriAndNumber: String { uriRepresentation().lastPathComponent }
}
