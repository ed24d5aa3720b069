// Two writers that change the same few objects at random, under every merging policy.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// One thing that one writer does. It depends on nothing but its own dice, so that steps may be left out.
private struct Step {
    let place: Int
    let dice: UInt64
    let isSave: Bool
}

@Suite struct RandomMergeTests {
    private static let entities = ["Patient", "Ward", "Doctor", "Visit", "Bed"]
    /// Which seeds are tried in memory: `MERGE_SEEDS=2000` makes a longer search, `MERGE_SEEDS=500-1000` a part of it. A file
    /// costs more and is tried with a tenth.
    private static let seeds: Range<Int> = {
        let ends = ProcessInfo.processInfo.environment["MERGE_SEEDS"]?.split(separator: "-").compactMap { Int($0) } ?? [45]
        return (ends.count == 2 ? ends[0] : 0)..<(ends.last ?? 0)
    }()

    private static func seeds(_ rivalry: Rivalry) -> Range<Int> {
        rivalry == .memory ? seeds : seeds.lowerBound / 10..<seeds.upperBound / 10
    }

    @Test(
        "6.3 Whatever two writers do, saves pass, the store holds no loose end, and saved objects are as stored",
        arguments: RelationshipMergeTests.merging, Rivalry.allCases)
    func random(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        try search(type, rivalry, Clinic.draft())
    }

    @Test(
        "6.5 The same with numbers that must be unique, which new and changed objects often claim twice",
        arguments: RelationshipMergeTests.merging, [Rivalry.sqlite, .memory])
    func unique(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        var draft = Clinic.draft()
        for index in draft.entities.indices where ["Patient", "Doctor", "Bed"].contains(draft.entities[index].name) {
            draft.entities[index].uniquenessConstraints = [["code"]]
        }
        try search(type, rivalry, draft)
    }

    private func search(_ type: NSMergePolicyType, _ rivalry: Rivalry, _ draft: SchemaDraft) throws {
        var count = 0
        for seed in Self.seeds(rivalry) {
            let steps = steps(UInt64(seed) &* 31 &+ UInt64(type.rawValue))
            guard try run(steps, type, rivalry, draft) != nil else { continue }
            let failed = try run(shrunk(steps) { try run($0, type, rivalry, draft) != nil }, type, rivalry, draft)
            Issue.record("seed \(seed): \(failed ?? "")")
            count += 1
            if count == 5 { return }
        }
    }

    private func steps(_ seed: UInt64) -> [Step] {
        var dice = SplitMix(seed &+ 0x9E37_79B9_7F4A_7C15)
        var steps: [Step] = []
        for _ in 0..<8 {
            for place in 0...1 {
                for _ in 0..<Int.random(in: 1...3, using: &dice) {
                    steps.append(Step(place: place, dice: dice.next(), isSave: false))
                }
            }
            steps.append(Step(place: Int.random(in: 0...1, using: &dice), dice: 0, isSave: true))
        }
        return steps
    }

    /// The fewest steps that still fail, one being left out at a time.
    private func shrunk(_ steps: [Step], _ fails: ([Step]) throws -> Bool) rethrows -> [Step] {
        var steps = steps
        var place = steps.count - 1
        while place >= 0 {
            var fewer = steps
            fewer.remove(at: place)
            if try fails(fewer) { steps = fewer }
            place = min(place, steps.count) - 1
        }
        return steps
    }

    /// Does all steps and answers what went wrong, nil if nothing did.
    private func run(_ steps: [Step], _ type: NSMergePolicyType, _ rivalry: Rivalry, _ draft: SchemaDraft) throws -> String? {
        let rivals = try Rivals(rivalry, draft: draft)
        let contexts = [rivals.mine, rivals.theirs]
        for context in contexts { context.mergePolicy = NSMergePolicy(merge: type) }
        for entity in Self.entities { for number in 0..<3 { _ = Self.make(entity, number, rivals.mine) } }
        try rivals.mine.save()
        for context in contexts { for entity in Self.entities { for object in try context.all(entity) { _ = object.int("code") } } }
        var story: [String] = []
        for step in steps {
            let context = contexts[step.place]
            if step.isSave {
                story.append("save \(step.place)")
                if let flaws = try save(context, rivals) { return "\(flaws): \(story.joined(separator: ", "))" }
            } else {
                var dice = SplitMix(step.dice &+ 0x9E37_79B9_7F4A_7C15)
                story.append("\(step.place): " + (try Self.change(context, &dice)))
            }
        }
        return nil
    }

    private static func make(_ entity: String, _ number: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = context.make(entity, ["code": number])
        if entity == "Patient" { object.set("name", "P\(number)") }
        return object
    }

    // MARK: Changes

    /// Does one thing to one object and says what.
    private static func change(_ context: NSManagedObjectContext, _ dice: inout SplitMix) throws -> String {
        func pick(_ entity: String) throws -> NSManagedObject? {
            try context.all(entity).filter { !$0.isDeleted && $0.managedObjectContext != nil }
                .sorted { $0.objectID.description < $1.objectID.description }.randomElement(using: &dice)
        }
        guard let patient = try pick("Patient") else {
            _ = make("Patient", 9, context)
            return "new patient"
        }
        let name = patient.objectID.uriRepresentation().lastPathComponent
        switch Int.random(in: 0..<12, using: &dice) {
        case 0, 1: patient.set("age", Int.random(in: 0..<100, using: &dice))
        case 2:
            let code = Int.random(in: 0..<12, using: &dice)
            patient.set("code", code)
            return "\(name).code = \(code)"
        case 3, 4: patient.set("ward", try pick("Ward"))
        case 5:
            let bed = try pick("Bed")
            patient.set("bed", bed)
            return "\(name).bed = \(bed?.objectID.uriRepresentation().lastPathComponent ?? "nil")"
        case 6, 7:
            var doctors: [NSManagedObject] = []
            for _ in 0..<2 { if let doctor = try pick("Doctor") { doctors.append(doctor) } }
            patient.set("doctors", NSSet(array: doctors))
            return "\(name).doctors = \(doctors.map { $0.objectID.uriRepresentation().lastPathComponent })"
        case 8: try pick("Visit")?.set("patient", patient)
        case 9: patient.set("visits", NSOrderedSet(array: patient.ordered("visits").reversed()))
        case 10:
            let entity = entities.randomElement(using: &dice) ?? "Ward"
            if let object = try pick(entity) {
                context.delete(object)
                return "delete \(entity) \(object.objectID.uriRepresentation().lastPathComponent)"
            }
        default:
            let entity = entities.randomElement(using: &dice) ?? "Ward"
            _ = make(entity, 10, context)
            return "new \(entity)"
        }
        return "\(name) \(patient.changedValues().keys.sorted())"
    }

    // MARK: Checks

    /// Saves and looks at everything; answers what is wrong, nil if nothing is.
    private func save(_ context: NSManagedObjectContext, _ rivals: Rivals) throws -> String? {
        let log = NotificationLog(context)
        // An object that was touched without a change is not written and not compared; delete rules may take a change back.
        context.processPendingChanges()
        let changed = context.insertedObjects.union(context.updatedObjects.filter { !$0.changedValues().isEmpty })
        do { try context.save() } catch {
            let error = error as? CocoaError
            return "\(error?.code.rawValue ?? 0) \(error?.persistentStoreSaveConflicts ?? [])"
        }
        var flaws = try looseEnds(rivals.reader())
        if context.hasChanges { flaws.append("changes are left") }
        if let last = log.entries.indices.last, log.entries[last].name == "didSave:" {
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey] {
                for object in log.objects(last, key).intersection(changed) { flaws += differences(object, rivals) }
            }
        }
        return flaws.isEmpty ? nil : flaws.joined(separator: "; ")
    }

    /// Targets without a row, and pairs that only one side knows.
    private func looseEnds(_ reader: NSManagedObjectContext) throws -> [String] {
        var flaws: [String] = []
        let all = Dictionary(
            uniqueKeysWithValues: try Self.entities.map { ($0, Set(try reader.all($0).map { $0._state.key.row })) })
        for entity in Self.entities {
            for object in try reader.all(entity) {
                for relationship in object._state.info.relationships {
                    let destination = object._state.info.schema[relationship.destination].name
                    for target in object.targets(of: relationship) {
                        let isThere = all[destination]?.contains(target._state.key.row) ?? false
                        if !isThere { flaws.append("\(object.objectID).\(relationship.name) leads nowhere") }
                        guard isThere, let inverse = relationship.inverse else { continue }
                        let back = target.targets(of: object._state.info.schema[inverse])
                        if !back.contains(object) { flaws.append("\(object.objectID).\(relationship.name) is one-sided") }
                    }
                }
            }
        }
        return flaws
    }

    /// Where a saved object differs from its row.
    private func differences(_ object: NSManagedObject, _ rivals: Rivals) -> [String] {
        guard let stored = rivals.stored(object) else { return ["\(object.objectID) was saved and is not stored"] }
        var flaws: [String] = []
        // A merge may have left it nothing to write.
        if object.rowVersion != stored.rowVersion { return [] }
        for (slot, property) in object._state.info.entity.slots.enumerated() {
            if property.kind == .toOne {
                let mine = object.target(at: slot)?.objectID.uriRepresentation().lastPathComponent
                let theirs = stored.target(at: slot)?.objectID.uriRepresentation().lastPathComponent
                if mine != theirs { flaws.append("\(object.objectID).\(property.name): \(mine ?? "") \(theirs ?? "")") }
            } else if object.value(at: slot) != stored.value(at: slot) {
                flaws.append("\(object.objectID).\(property.name)")
            }
        }
        return flaws
    }
}
