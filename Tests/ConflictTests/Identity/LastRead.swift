// Deletions of an owner between whose reading and whose deletion another writer has saved: every way to come by the owner, what was
// read, what was held, what the other wrote, and what came between.

import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// One store, in which each case has rows of its own.
final class LastRead {
    enum Getting: CaseIterable { case objectWith, fetch, prefetch, existing, relationship }
    /// What the program reads of the owner and its members; a list of members is read with all objects of it.
    enum Reading: CaseIterable { case nothing, attribute, members, value }
    enum Writing: CaseIterable { case value, release, give, part, pair, gain, reorder }
    enum Between: CaseIterable { case nothing, save, refreshOwner, refreshAll, merge }
    /// What is in a variable until the deletion.
    enum Holding: CaseIterable { case owner, ownerAndMembers, nothing }

    struct Kind: CustomStringConvertible, Sendable {
        let key: String
        let inverse: String
        let rule: DeleteRule
        var isToOne: Bool { key.hasPrefix("mate") }
        var isManyToMany: Bool { inverse.hasPrefix("all") }
        var isOrdered: Bool { key.hasPrefix("list") || key.hasPrefix("tops") }
        var description: String { key }
        /// Whether the deletion of the owner writes or removes the rows of its members.
        var changesMembers: Bool { rule == .cascade || !isManyToMany }
        /// Which writes there are: a member gets another owner, or none; its pair is parted, or one with another owner made; the
        /// owner gets another member.
        var writings: [Writing] {
            let ends: [Writing] = isManyToMany ? [.value, .part, .pair, .gain] : [.value, .release, .give, .gain]
            return ends.filter { $0 != .gain || !isToOne } + (isOrdered ? [.reorder] : [])
        }
    }

    struct Case: CustomStringConvertible {
        let kind: Kind
        let getting: Getting
        let reading: Reading
        let writing: Writing
        let between: Between
        var description: String { "\(kind), \(getting), read \(reading), wrote \(writing), \(between) between" }
        /// Whether the program has seen the rows of the members. A to-one leads to a fault.
        private var hasReadMembers: Bool {
            reading == .value || !kind.isToOne && (getting == .prefetch || reading == .members)
        }
        /// Whether the program has seen the row of the owner.
        private var hasReadOwner: Bool { [.fetch, .existing, .relationship].contains(getting) || reading != .nothing }
        /// Whether the deletion would lose what the other has written: a value of a member that goes or changes, a member that came.
        var mustBeRefused: Bool {
            guard between == .nothing || between == .save else { return false }
            return writing == .value && hasReadMembers && kind.changesMembers || writing == .gain && hasReadOwner
        }
    }

    /// One to many, ordered, one to one, many to many, ordered; with cascade and with nullify.
    static let kinds: [Kind] = [DeleteRule.cascade, .nullify].flatMap { rule in
        let suffix = rule == .cascade ? "C" : "N"
        return [
            ("items", "owner"), ("list", "holder"), ("mate", "mated"), ("links", "allLinked"), ("tops", "allTopped"),
        ].map {
            Kind(key: $0 + suffix, inverse: $1 + suffix, rule: rule)
        }
    }

    static func cases(_ kind: Kind) -> [Case] {
        Getting.allCases.flatMap { getting in
            Reading.allCases.flatMap { reading in
                kind.writings.flatMap { writing in
                    Between.allCases.map {
                        Case(kind: kind, getting: getting, reading: reading, writing: writing, between: $0)
                    }
                }
            }
        }
    }

    /// What a save has answered, and what the store holds of the member that the other has written.
    enum Answer: Equatable { case saved, refused }

    private let stack: Stack
    private let mine: NSManagedObjectContext
    private let theirs: NSManagedObjectContext

    init(_ type: String) throws {
        stack = try Stack(type, model: NSManagedObjectModel(draft: LastRead.draft()), undo: false)
        mine = stack.another()
        theirs = stack.another()
    }

    /// Deletes an owner as a case says, in contexts that have forgotten all that was before.
    func answer(_ item: Case, _ holding: Holding) throws -> Answer {
        let (owner, other, root) = try rows(item.kind)
        var (held, kept): (NSManagedObject?, [NSManagedObject]) = try read(item, owner, root)
        if holding != .ownerAndMembers { kept = [] }
        if holding == .nothing { held = nil }
        return try withExtendedLifetime((held, kept)) { () throws -> Answer in
            let written = try write(item, owner)
            try pass(item.between, owner, other, written)
            mine.delete(held ?? mine.object(with: owner))
            do {
                try mine.save()
                return .saved
            } catch let error as CocoaError where error.code.rawValue == 133020 {
                mine.rollback()
                return .refused
            }
        }
    }

    /// An owner with two members, another owner and what leads to both, which only the store knows.
    private func rows(_ kind: Kind) throws -> (
        owner: NSManagedObjectID, other: NSManagedObjectID, root: NSManagedObjectID
    ) {
        mine.reset()
        theirs.reset()
        let writer = stack.another()
        let owner = writer.make("Owner", ["name": "owner"])
        let other = writer.make("Owner", ["name": "other"])
        let root = writer.make("Root", ["name": "root", "owners": NSSet(array: [owner, other])])
        for number in 0..<(kind.isToOne ? 1 : 2) {
            let member = writer.make("Item", ["name": "item\(number)"])
            if kind.isToOne {
                owner.setValue(member, forKey: kind.key)
            } else if kind.isOrdered {
                owner.mutableOrderedSetValue(forKey: kind.key).add(member)
            } else {
                owner.mutableSetValue(forKey: kind.key).add(member)
            }
        }
        try writer.save()
        return (owner.objectID, other.objectID, root.objectID)
    }

    /// The owner, read as the case says, and its members if they are read.
    private func read(
        _ item: Case, _ id: NSManagedObjectID, _ root: NSManagedObjectID
    ) throws -> (NSManagedObject, [NSManagedObject]) {
        let owner = try get(item, id, root)
        switch item.reading {
        case .nothing: return (owner, [])
        case .attribute:
            _ = owner.value(forKey: "name")
            return (owner, [])
        case .members: return (owner, owner.hubs(item.kind.key))
        case .value:
            let members = owner.hubs(item.kind.key)
            for member in members { _ = member.value(forKey: "name") }
            return (owner, members)
        }
    }

    private struct Missing: Error {}

    private func get(_ item: Case, _ id: NSManagedObjectID, _ root: NSManagedObjectID) throws -> NSManagedObject {
        switch item.getting {
        case .objectWith: return mine.object(with: id)
        case .existing: return try mine.existingObject(with: id)
        case .relationship:
            let owners = mine.object(with: root).hubs("owners")
            guard let owner = owners.first(where: { $0.objectID == id }) else { throw Missing() }
            return owner
        case .fetch, .prefetch:
            let request = NSFetchRequest<NSManagedObject>("Owner", "SELF == %@", id)
            request.includesPropertyValues = item.getting == .fetch
            if item.getting == .prefetch { request.relationshipKeyPathsForPrefetching = [item.kind.key] }
            guard let owner = try mine.fetch(request).first else { throw Missing() }
            return owner
        }
    }

    /// What the other writer does; answers the rows that it has written.
    private func write(_ item: Case, _ id: NSManagedObjectID) throws -> [URL] {
        let owner = theirs.object(with: id)
        guard let member = owner.hubs(item.kind.key).first else { throw Missing() }
        let other = theirs.make("Owner", ["name": "third"])
        switch item.writing {
        case .value: member.setValue("theirs", forKey: "name")
        case .release: member.setValue(nil, forKey: item.kind.inverse)
        case .give: member.setValue(other, forKey: item.kind.inverse)
        case .part: change(owner, item.kind, member, isPair: false)
        case .pair: change(other, item.kind, member, isPair: true)
        case .gain: change(owner, item.kind, theirs.make("Item", ["name": "late"]), isPair: true)
        case .reorder: owner.mutableOrderedSetValue(forKey: item.kind.key).moveObjects(at: IndexSet(integer: 0), to: 1)
        }
        theirs.processPendingChanges()
        let written = theirs.updatedObjects.map { $0.objectID.uriRepresentation() }
        try theirs.save()
        return written
    }

    private func change(_ owner: NSManagedObject, _ kind: Kind, _ member: NSManagedObject, isPair: Bool) {
        if kind.isOrdered {
            let members = owner.mutableOrderedSetValue(forKey: kind.key)
            if isPair { members.add(member) } else { members.remove(member) }
        } else {
            let members = owner.mutableSetValue(forKey: kind.key)
            if isPair { members.add(member) } else { members.remove(member) }
        }
    }

    private func pass(_ between: Between, _ owner: NSManagedObjectID, _ other: NSManagedObjectID, _ written: [URL])
        throws
    {
        switch between {
        case .nothing: break
        case .save:
            _ = mine.make("Item", ["name": "mine"])
            mine.object(with: other).setValue("mine", forKey: "name")
            try mine.save()
        case .refreshOwner: mine.refresh(mine.object(with: owner), mergeChanges: true)
        case .refreshAll: mine.refreshAllObjects()
        case .merge:
            // As the other's notification says it, also of rows that are not here.
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: written], into: [mine])
        }
    }

    static func draft() -> SchemaDraft {
        var (owner, item, root) = (EntityDraft(name: "Owner"), EntityDraft(name: "Item"), EntityDraft(name: "Root"))
        for place in [0, 1, 2] {
            let name = Clinic.attribute("name", .string)
            if place == 0 {
                owner.attributes = [name]
            } else if place == 1 {
                item.attributes = [name]
            } else {
                root.attributes = [name]
            }
        }
        owner.relationships = [Clinic.toOne("root", "Root", inverse: "owners")]
        root.relationships = [Clinic.toMany("owners", "Owner", inverse: "root")]
        for kind in kinds {
            owner.relationships.append(
                kind.isToOne
                    ? Clinic.toOne(kind.key, "Item", inverse: kind.inverse, rule: kind.rule)
                    : Clinic.toMany(kind.key, "Item", inverse: kind.inverse, ordered: kind.isOrdered, rule: kind.rule))
            item.relationships.append(
                kind.isManyToMany
                    ? Clinic.toMany(kind.inverse, "Owner", inverse: kind.key)
                    : Clinic.toOne(kind.inverse, "Owner", inverse: kind.key))
        }
        return SchemaDraft(owner, item, root)
    }
}
