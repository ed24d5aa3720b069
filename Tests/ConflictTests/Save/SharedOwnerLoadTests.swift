// Many requests at once that give members to the same owners: what their saves cost, and that none is refused.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct SharedOwnerLoadTests {
    private static let policies: [NSMergePolicyType] = [
        .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
    ]
    private static let members = 200

    private let log = StatementLog()

    private func stack(_ isOrdered: Bool) throws -> Stack {
        let stack = try Stack(
            model: NSManagedObjectModel(draft: clinic(ordered: isOrdered)), undo: false, options: log.options)
        let context = stack.another()
        let ward = context.make("Ward", ["name": "North"]), doctor = context.make("Doctor", ["name": "Ida"])
        for number in 0..<Self.members { Self.admit("p\(number)", ward, doctor) }
        try context.save()
        return stack
    }

    private static func admit(_ name: String, _ ward: NSManagedObject, _ doctor: NSManagedObject) {
        guard let context = ward.managedObjectContext else { return }
        let patient = context.make("Patient", ["name": name, "ward": ward])
        if doctor.entity.relationshipsByName["patients"]?.isOrdered == true {
            patient.set("doctors", NSOrderedSet(object: doctor))
        } else {
            patient.set("doctors", NSSet(object: doctor))
        }
    }

    /// What a request does.
    private static func admit(_ name: String, in context: NSManagedObjectContext) throws {
        admit(name, try context.named("North"), try context.named("Ida", "Doctor"))
        try context.save()
    }

    @Test(
        "A save that gives a member to two owners writes three rows, reads none, and touches each owner with one statement",
        arguments: [false, true])
    func cost(_ isOrdered: Bool) throws {
        let stack = try stack(isOrdered)
        // Statements that are prepared once and numbers that are taken by the block are paid for.
        let first = stack.another()
        try Self.admit("first", in: first)
        let context = stack.another()
        Self.admit("new", try context.named("North"), try context.named("Ida", "Doctor"))
        let rows = stack.coordinator.counters.rows
        log.take()
        try context.save()
        let statements = log.take().filter { !$0.contains("Z_PRIMARYKEY") }
        #expect(stack.coordinator.counters.rows - rows == 3)
        #expect(statements.count { $0.hasPrefix("UPDATE") && $0.contains("SET \"Z_OPT\" = ") } == 2, "\(statements)")
        #expect(!statements.contains { $0.contains("RETURNING") })
        // BEGIN, two touches, the row, the pair, COMMIT; with order a look whether others wrote, and the places in three orders.
        #expect(statements.count <= (isOrdered ? 11 : 6), "\(statements)")
        #expect(!statements.contains { $0.contains("JOIN") })
    }

    @Test(
        "Up to eight owners of one entity are touched a statement each, one more for who was overtaken; more go together",
        arguments: [3, 8, 9])
    func severalOwners(_ count: Int) throws {
        let stack = try stack(false)
        let first = stack.another()
        for number in 1..<count { _ = first.make("Doctor", ["name": "d\(number)"]) }
        try first.save()
        let mine = stack.another()
        let doctors = try mine.all("Doctor")
        let patient = mine.make("Patient", ["name": "new", "ward": try mine.named("North")])
        patient.set("doctors", NSSet(array: doctors))
        try Self.admit("other", in: stack.another())
        log.take()
        try mine.save()
        let touches = log.take().filter { $0.hasPrefix("UPDATE \"ZDOCTOR\"") && $0.contains("SET \"Z_OPT\" = ") }
        #expect(touches.count == (count <= 8 ? count + 1 : 1), "\(touches)")
        #expect(touches.count { $0.contains("RETURNING") } == 1)
        let versions = try stack.another().all("Doctor").map { $0.heldVersion }
        #expect(
            doctors.count == count && versions.count { $0 == 2 } == count - 1 && versions.count { $0 == 3 } == 1,
            "\(versions)")
    }

    @Test(
        "32 tasks that give members to the same owners are never refused, and cost what one alone does",
        arguments: policies, [false, true])
    func together(_ type: NSMergePolicyType, _ isOrdered: Bool) async throws {
        let stack = try stack(isOrdered)
        let coordinator = stack.coordinator
        log.take()
        let before = coordinator.counters.rows
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<32 {
                group.addTask {
                    for number in 0..<10 {
                        let context = coordinator.context()
                        context.mergePolicy = NSMergePolicy(merge: type)
                        try await context.perform { try Self.admit("\(writer)-\(number)", in: context) }
                    }
                }
            }
            try await group.waitForAll()
        }
        // Two rows that are fetched, three that are written.
        #expect(coordinator.counters.rows - before == 320 * 5)
        let statements = log.take()
        // Where another writer was faster the new version is asked for.
        let raises = statements.count { $0.hasPrefix("UPDATE") && $0.contains("SET \"Z_OPT\" = ") }
        let asked = statements.count { $0.contains("SET \"Z_OPT\" = ifnull") }
        #expect(raises == 640 + asked)
        #expect(asked <= 640)
        #expect(!statements.contains { $0.hasPrefix("ROLLBACK") })
        let reader = stack.another()
        let ward = try reader.named("North"), doctor = try reader.named("Ida", "Doctor")
        #expect(
            ward.many("patients").count == Self.members + 320 && doctor.many("patients").count == Self.members + 320)
        #expect(ward.heldVersion == 321 && doctor.heldVersion == 321)
    }
}
