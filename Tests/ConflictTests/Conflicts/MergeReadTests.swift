// What a merge reads: the pairs that were changed here, never all members of an owner.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct MergeReadTests {
    private static let members = 300

    private let log = StatementLog()

    /// A ward and a doctor with many patients, of which nobody holds one.
    private func stack(_ draft: SchemaDraft) throws -> Stack {
        let stack = try Stack(model: NSManagedObjectModel(draft: draft), undo: false, options: log.options)
        let context = stack.another()
        let ward = context.make("Ward", ["name": "North"]), doctor = context.make("Doctor", ["name": "Ida"])
        for number in 0..<Self.members {
            let patient = context.make("Patient", ["name": "p\(number)", "ward": ward])
            patient.mutableSetOrOrdered("doctors", add: doctor)
        }
        try context.save()
        return stack
    }

    /// What a save runs and how many rows of objects it reads and writes.
    private func costs(of context: NSManagedObjectContext) throws -> (statements: [String], rows: Int) {
        let coordinator = try #require(context.persistentStoreCoordinator)
        let rows = coordinator.counters.rows
        log.take()
        try context.save()
        return (log.take(), coordinator.counters.rows - rows)
    }

    @Test(
        "A merge asks the store about the pairs changed here and reads no other member; the members are read when a program asks",
        arguments: RelationshipMergeTests.merging, [false, true])
    func pairs(_ type: NSMergePolicyType, _ isOrdered: Bool) throws {
        let stack = try stack(clinic(ordered: isOrdered))
        let (mine, theirs) = (stack.another(), stack.another())
        mine.mergePolicy = NSMergePolicy(merge: type)
        mine.comparesRelationshipOwners = true
        let ward = try mine.named("North"), doctor = try mine.named("Ida", "Doctor"),
            old = try mine.named("p7", "Patient")
        try theirs.named("Ida", "Doctor").set("code", 7)
        try theirs.named("North").set("code", 7)
        try theirs.save()
        let new = mine.make("Patient", ["name": "new", "ward": ward])
        new.mutableSetOrOrdered("doctors", add: doctor)
        old.mutableSetOrOrdered("doctors", remove: doctor)
        let (statements, rows) = try costs(of: mine)
        #expect(rows <= 12, "\(statements)")
        #expect(statements.count { $0.hasPrefix("SELECT") } <= 10, "\(statements)")
        #expect(doctor.hasFault(forRelationshipNamed: "patients") && ward.hasFault(forRelationshipNamed: "patients"))
        let isDropped = type == .rollbackMergePolicyType
        #expect(doctor.many("patients").count == Self.members)
        #expect(
            doctor.many("patients").contains(new) == !isDropped && doctor.many("patients").contains(old) == isDropped)
        #expect(
            ward.many("patients").count == Self.members + 1
                && doctor.int("code") == (type == .overwriteMergePolicyType ? nil : 7))
        let reader = stack.another()
        #expect(try reader.named("Ida", "Doctor").many("patients").count == Self.members)
        #expect(try reader.named("North").many("patients").count == Self.members + 1)
        if isOrdered, !isDropped {
            #expect(doctor.ordered("patients").last === new && ward.ordered("patients").last === new)
        }
    }

    @Test(
        "Members of the row that has a unique value already are not read for a new object that claims it",
        arguments: RelationshipMergeTests.merging)
    func unique(_ type: NSMergePolicyType) throws {
        var draft = clinic()
        for entity in draft.entities.indices where ["Place", "Doctor"].contains(draft.entities[entity].name) {
            draft.entities[entity].uniquenessConstraints = [["name"]]
        }
        let stack = try stack(draft)
        let mine = stack.another()
        mine.mergePolicy = NSMergePolicy(merge: type)
        let known = try mine.named("p7", "Patient")
        #expect(known.one("ward") != nil)
        let ward = mine.make("Ward", ["name": "North"]), doctor = mine.make("Doctor", ["name": "Ida"])
        _ = mine.make("Patient", ["name": "new", "ward": ward, "doctors": NSSet(object: doctor)])
        let (statements, rows) = try costs(of: mine)
        #expect(rows <= 12, "\(statements)")
        let moves = type != .rollbackMergePolicyType
        let reader = stack.another()
        #expect(try reader.named("Ida", "Doctor").many("patients").count == Self.members + (moves ? 1 : 0))
        #expect(try reader.named("North").many("patients").count == Self.members + (moves ? 1 : 0))
        #expect(try mine.named("North").many("patients").count == Self.members + (moves ? 1 : 0))
    }

    @Test(
        "An order that was changed here is read whole and kept",
        arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType])
    func order(_ type: NSMergePolicyType) throws {
        let stack = try stack(clinic(ordered: true))
        let mine = stack.another()
        mine.mergePolicy = NSMergePolicy(merge: type)
        let ward = try mine.named("North")
        let set = ward.mutableOrderedSetValue(forKey: "patients")
        set.exchangeObject(at: 0, withObjectAt: 1)
        let theirs = stack.another(), reader = stack.another()
        try theirs.admit("b")
        try mine.save()
        let names = try reader.named("North").ordered("patients").compactMap { $0.text("name") }
        #expect(names == ["p1", "p0"] + (2..<Self.members).map { "p\($0)" } + ["b"])
    }
}

extension NSManagedObject {
    /// Changes a to-many with or without order by its live set.
    fileprivate func mutableSetOrOrdered(_ key: String, add member: NSManagedObject) {
        if entity.relationshipsByName[key]?.isOrdered == true {
            mutableOrderedSetValue(forKey: key).add(member)
        } else {
            mutableSetValue(forKey: key).add(member)
        }
    }

    fileprivate func mutableSetOrOrdered(_ key: String, remove member: NSManagedObject) {
        if entity.relationshipsByName[key]?.isOrdered == true {
            mutableOrderedSetValue(forKey: key).remove(member)
        } else {
            mutableSetValue(forKey: key).remove(member)
        }
    }
}
