// Rules about members, judged for a row that another writer has changed: a conflict, whatever the program holds.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct OvertakenRowTests {
    enum Rule: String, CaseIterable, Sendable { case deny, maximum, minimum }
    /// What becomes of the owner between reading its members and changing them.
    enum Holding: String, CaseIterable, Sendable { case held, letGo, membersUnread }

    /// A doctor with up to two badges that denies its deletion, and of two badges at least.
    private static func draft(_ rule: Rule) -> SchemaDraft {
        var draft = Clinic.draft()
        for entity in draft.entities.indices where draft.entities[entity].name == "Doctor" {
            for place in draft.entities[entity].relationships.indices
            where draft.entities[entity].relationships[place].name == "badges" {
                switch rule {
                case .deny: break
                case .maximum: draft.entities[entity].relationships[place].maxCount = 2
                case .minimum:
                    draft.entities[entity].relationships[place].minCount = 2
                    draft.entities[entity].relationships[place].maxCount = 5
                }
            }
        }
        return draft
    }

    /// How many badges the doctor has at first, so that either writer's change alone would do.
    private static func count(_ rule: Rule) -> Int {
        switch rule {
        case .deny: 0
        case .maximum: 1
        case .minimum: 3
        }
    }

    private static func change(
        _ doctor: NSManagedObject, _ rule: Rule, in context: NSManagedObjectContext, first: Bool
    ) throws {
        switch rule {
        case .deny where first: context.delete(doctor)
        case .deny, .maximum: _ = context.make("Badge", ["code": first ? "mine" : "theirs", "doctor": doctor])
        // Not by way of the doctor: that would read who its members are now.
        case .minimum: try context.all("Badge").first { $0.text("code") == (first ? "0" : "1") }?.set("doctor", nil)
        }
    }

    /// Reads the doctor and, unless they are to stay unread, its members.
    private static func read(_ id: NSManagedObjectID, _ holding: Holding, in context: NSManagedObjectContext)
        -> [NSManagedObject]
    {
        let doctor = context.object(with: id)
        _ = doctor.text("name")
        guard holding != .membersUnread else { return [doctor] }
        let badges = doctor.many("badges").map { badge in
            _ = badge.text("code")
            return badge
        }
        return holding == .held ? [doctor] + badges : []
    }

    @Test(
        "6.2 Who denies a deletion, or exceeds a count, on a row that another writer has changed is in conflict, held or not",
        arguments: [Rivalry.sqlite, .memory, .otherCoordinator], Rule.allCases)
    func conflict(_ rivalry: Rivalry, _ rule: Rule) throws {
        for inChild in [false, true] {
            var codes: [Int?] = []
            for holding in Holding.allCases {
                let rivals = try Rivals(rivalry, draft: Self.draft(rule))
                let maker = rivals.theirs.make("Doctor", ["name": "Who"])
                for code in 0..<Self.count(rule) {
                    _ = rivals.theirs.make("Badge", ["code": "\(code)", "doctor": maker])
                }
                try rivals.theirs.save()
                let url = maker.objectID.uriRepresentation()
                let id = try #require(
                    rivals.mine.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
                let context: NSManagedObjectContext
                if inChild {
                    context = rivals.mine.child()
                } else {
                    context = rivals.mine
                }
                let held = Self.read(id, holding, in: context)
                try Self.change(maker, rule, in: rivals.theirs, first: false)
                try rivals.theirs.save()
                try Self.change(context.object(with: id), rule, in: context, first: true)
                let error = caught {
                    if inChild { try context.save() }
                    try rivals.mine.save()
                }
                codes.append(error?.code.rawValue)
                withExtendedLifetime(held) {}
            }
            // With an owner whose members merely came or went travels no base: the parent judges the members of now.
            let above = [Rule.deny: 133020, .maximum: 1590, .minimum: 1580][rule]
            #expect(codes.allSatisfy { $0 == (inChild ? above : 133020) }, "child: \(inChild): \(codes)")
        }
    }

    @Test("4.4 On the row of now the rule decides, after a conflict too", arguments: [Rivalry.sqlite, .memory])
    func again(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let maker = rivals.theirs.make("Doctor", ["name": "Who"])
        try rivals.theirs.save()
        let id = maker.objectID
        _ = Self.read(id, .letGo, in: rivals.mine)
        try Self.change(maker, .deny, in: rivals.theirs, first: false)
        try rivals.theirs.save()
        rivals.mine.delete(rivals.mine.object(with: id))
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 133020)
        rivals.mine.rollback()
        #expect(rivals.mine.object(with: id).many("badges").count == 1)
        rivals.mine.delete(rivals.mine.object(with: id))
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 1600)
        rivals.mine.reset()
        rivals.mine.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        _ = Self.read(id, .letGo, in: rivals.mine)
        rivals.mine.delete(rivals.mine.object(with: id))
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 1600)
    }
}
