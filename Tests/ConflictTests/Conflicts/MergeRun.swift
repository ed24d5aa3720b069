// One run of three writers over one store, and what is wrong afterwards.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// One thing that one writer does. It depends on nothing but its own dice, so that steps may be left out.
struct MergeStep {
    let place: Int
    let dice: UInt64
    let isSave: Bool
}

struct MergeRun {
    private static let entities = ["Patient", "Ward", "Doctor", "Visit", "Bed"]
    private static let relationships = [
        ("Patient", "ward"), ("Patient", "doctors"), ("Patient", "visits"), ("Patient", "bed"), ("Ward", "patients"),
        ("Doctor", "patients"), ("Visit", "patient"), ("Bed", "patient"),
    ]

    private let type: NSMergePolicyType
    private let rivalry: Rivalry
    private let draft: SchemaDraft
    /// Whether contexts keep what they have read, so that it becomes old.
    private let keepsObjects: Bool

    init(_ type: NSMergePolicyType, _ rivalry: Rivalry, _ draft: SchemaDraft, keepsObjects: Bool) {
        self.type = type
        self.rivalry = rivalry
        self.draft = draft
        self.keepsObjects = keepsObjects
    }

    /// Does all steps and answers what went wrong, nil if nothing did.
    ///
    /// What relationships say is looked at after the last save only: it reads everything, so that nothing would be old afterwards.
    func flaws(of steps: [MergeStep]) throws -> String? {
        let rivals = try Rivals(rivalry, draft: draft)
        let contexts = [rivals.mine, rivals.theirs, rivals.reader()]
        for context in contexts {
            context.mergePolicy = Recorder(merge: type)
            context.retainsRegisteredObjects = keepsObjects
        }
        for entity in Self.entities { for number in 0..<3 { _ = Self.make(entity, number, rivals.mine) } }
        try rivals.mine.save()
        for context in contexts {
            for entity in Self.entities { for object in try context.all(entity) { _ = object.int("code") } }
        }
        var story: [String] = []
        for (index, step) in steps.enumerated() {
            let context = contexts[step.place]
            if step.isSave {
                story.append("save \(step.place)")
                let found = try MergeSave(context, rivals, Self.entities).flaws(looksAround: index == steps.count - 1)
                if !found.isEmpty { return "\(found.joined(separator: "; ")): \(story.joined(separator: ", "))" }
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
                .sorted { $0.name < $1.name }.randomElement(using: &dice)
        }
        let entity = entities.randomElement(using: &dice) ?? "Ward"
        guard let object = try pick(entity) else {
            _ = make(entity, 9, context)
            return "new \(entity)"
        }
        switch Int.random(in: 0..<16, using: &dice) {
        case 0, 1, 2:
            let code = Int.random(in: 0..<12, using: &dice)
            object.set("code", code)
            return "\(object.name).code = \(code)"
        case 3, 4:
            context.delete(object)
            return "delete \(object.name)"
        case 5:
            _ = make(entity, 10, context)
            return "new \(entity)"
        case 6:
            context.refresh(object, mergeChanges: true)
            return "refresh \(object.name)"
        case 7:
            context.refresh(object, mergeChanges: false)
            return "fault \(object.name)"
        default:
            let (entity, key) = relationships.randomElement(using: &dice) ?? ("Patient", "ward")
            guard let object = try pick(entity), let relationship = object.entity.relationshipsByName[key],
                let destination = relationship.destinationEntity?.name
            else { return "nothing" }
            let other = try pick(destination)
            return relationship.isToMany
                ? members(object, key, other, relationship.isOrdered, &dice)
                : target(object, key, Int.random(in: 0..<4, using: &dice) == 0 ? nil : other)
        }
    }

    private static func target(_ object: NSManagedObject, _ key: String, _ target: NSManagedObject?) -> String {
        object.set(key, target)
        return "\(object.name).\(key) = \(target?.name ?? "nil")"
    }

    private static func members(
        _ object: NSManagedObject, _ key: String, _ other: NSManagedObject?, _ isOrdered: Bool, _ dice: inout SplitMix
    ) -> String {
        var members = object.many(key).sorted { $0.name < $1.name }
        if isOrdered { members = object.ordered(key) }
        switch Int.random(in: 0..<5, using: &dice) {
        case 0: members = other.map { [$0] } ?? []
        case 1: members.reverse()
        case 2: if let last = members.popLast(), let other, other !== last { members.append(other) }
        default:
            if let other, !members.contains(other) {
                members.insert(other, at: Int.random(in: 0...members.count, using: &dice))
            }
        }
        object.set(key, isOrdered ? NSOrderedSet(array: members) : NSSet(array: members))
        return "\(object.name).\(key) = \(members.map(\.name))"
    }
}

/// Settles as its type says, and remembers what.
private final class Recorder: NSMergePolicy {
    var objects: Set<NSManagedObject> = []

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        objects.formUnion(list.map(\.sourceObject))
        try super.resolve(optimisticLockingConflicts: list)
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        for conflict in list {
            objects.formUnion(conflict.conflictingObjects)
            if let object = conflict.databaseObject { objects.insert(object) }
        }
        try super.resolve(constraintConflicts: list)
    }
}

/// One save of a run.
private struct MergeSave {
    private let context: NSManagedObjectContext
    private let rivals: Rivals
    private let entities: [String]

    init(_ context: NSManagedObjectContext, _ rivals: Rivals, _ entities: [String]) {
        self.context = context
        self.rivals = rivals
        self.entities = entities
    }

    /// Saves and looks at everything.
    func flaws(looksAround: Bool) throws -> [String] {
        let log = NotificationLog(context)
        let recorder = context.mergePolicy as? Recorder
        recorder?.objects = []
        // An object that was touched without a change is not written and not compared; delete rules may take a change back.
        context.processPendingChanges()
        let changed = context.insertedObjects.union(context.updatedObjects.filter { !$0.changedValues().isEmpty })
        let written = Set(changed.filter { $0.isInserted || $0.hasChangedSlot })
        do { try context.save() } catch {
            let error = error as? CocoaError
            return ["\(error?.code.rawValue ?? 0) \(error?.persistentStoreSaveConflicts ?? [])"]
        }
        let reader = rivals.reader()
        let rows = try Dictionary(uniqueKeysWithValues: entities.flatMap { try reader.all($0).map { ($0.name, $0) } })
        var flaws = looseEnds(rows)
        if context.hasChanges { flaws.append("changes are left") }
        if let last = log.entries.indices.last, log.entries[last].name == "didSave:" {
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey] {
                for object in log.objects(last, key).intersection(changed) {
                    // Nobody misses the row of an object that members have only left.
                    if rows[object.name] == nil, !written.contains(object) { continue }
                    flaws += differences(object, rows[object.name])
                }
            }
        }
        if looksAround, let merged = recorder?.objects, !merged.isEmpty { flaws += disagreements(rows, merged) }
        return flaws
    }

    /// Targets without a row, and pairs that only one side knows.
    private func looseEnds(_ rows: [String: NSManagedObject]) -> [String] {
        var flaws: [String] = []
        for object in rows.values {
            for relationship in object._state.info.relationships {
                for target in object.targets(of: relationship) {
                    guard rows[target.name] === target else {
                        flaws.append("\(object.name).\(relationship.name) leads nowhere")
                        continue
                    }
                    guard let inverse = relationship.inverse else { continue }
                    let back = target.targets(of: object._state.info.schema[inverse])
                    if !back.contains(object) { flaws.append("\(object.name).\(relationship.name) is one-sided") }
                }
            }
        }
        return flaws
    }

    /// Where a saved object differs from its row.
    private func differences(_ object: NSManagedObject, _ stored: NSManagedObject?) -> [String] {
        guard let stored else { return ["\(object.name) was saved and is not stored"] }
        // A merge may have left it nothing to write.
        if object.heldVersion != stored.heldVersion { return [] }
        return object._state.info.entity.slots.enumerated().compactMap { slot, property in
            let isSame =
                property.kind == .toOne
                ? object.target(at: slot)?.name == stored.target(at: slot)?.name
                : object.value(at: slot) == stored.value(at: slot)
            return isSame ? nil : "\(object.name).\(property.name) differs from its row"
        }
    }

    /// Where a merged object differs from the store, or another one says of a merged one what the store does not.
    private func disagreements(_ rows: [String: NSManagedObject], _ merged: Set<NSManagedObject>) -> [String] {
        var flaws: [String] = []
        let names = Set(merged.map(\.name))
        for object in context.registeredObjects where object.managedObjectContext != nil {
            guard let stored = rows[object.name] else {
                if merged.contains(object), !object.isDeleted {
                    flaws.append("\(object.name) was merged and is not stored")
                }
                continue
            }
            if merged.contains(object) { flaws += differences(object, stored) }
            for relationship in object._state.info.relationships {
                var mine = object.targets(of: relationship).map(\.name)
                var theirs = stored.targets(of: relationship).map(\.name)
                if !merged.contains(object) {
                    mine.removeAll { !names.contains($0) }
                    theirs.removeAll { !names.contains($0) }
                }
                let isSame = relationship.isOrdered ? mine == theirs : mine.sorted() == theirs.sorted()
                if !isSame { flaws.append("\(object.name).\(relationship.name): \(mine) here, \(theirs) there") }
            }
        }
        return flaws
    }
}

extension NSManagedObject {
    /// Whether an attribute or a to-one is among the changes.
    fileprivate var hasChangedSlot: Bool {
        changedValues().keys.contains { entity.relationshipsByName[$0]?.isToMany != true }
    }

    /// `Patient/p1`
    fileprivate var name: String {
        let url = objectID.uriRepresentation()
        return "\(entity.name ?? "")/\(url.lastPathComponent)"
    }
}
