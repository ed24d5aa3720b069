// Members that an owner loses without a change of its own, and their places.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Reverting what members of to-manys went through") struct LostMembersTests {
    /// Owner → Item without inverse, once without and once with an order; Owner ⇄ Kid with an order. Keeper ◁ Owner.
    ///
    /// - Parameter loose: what the first of these is called.
    private static func model(_ loose: String = "loose") -> NSManagedObjectModel {
        var owner = EntityDraft(name: "Owner")
        owner.attributes = [Clinic.attribute("name", .string)]
        owner.relationships = [
            Clinic.toMany(loose, "Item", inverse: nil), Clinic.toMany("row", "Item", inverse: nil, ordered: true),
            Clinic.toMany("kids", "Kid", inverse: "owner", ordered: true),
        ]
        owner.relationships[0].renamingIdentifier = "loose"
        let keeper = EntityDraft("Keeper", parent: "Owner")
        let item = EntityDraft("Item", [Clinic.attribute("name", .string)])
        let part = EntityDraft("Part", parent: "Item")
        let kid = EntityDraft(
            "Kid", [Clinic.attribute("name", .string)], [Clinic.toOne("owner", "Owner", inverse: "kids")])
        return NSManagedObjectModel(owner, keeper, item, part, kid)
    }

    private let desk: Desk
    private let context: NSManagedObjectContext

    /// o0 and o1, of which o0 has a, b, c in `loose` and `row` and k0…k3 as kids; o2 has nothing.
    init() throws {
        desk = try Desk(Self.model(), options: [NSPersistentStoreKeepsFormerValues: true])
        context = desk.context()
        for (entity, name) in [("Owner", "o0"), ("Keeper", "o1"), ("Owner", "o2")] {
            context.make(entity, ["name": name])
        }
        for name in ["a", "b", "c"] { context.make(name == "b" ? "Part" : "Item", ["name": name]) }
        for name in ["k0", "k1", "k2", "k3"] { context.make("Kid", ["name": name]) }
        try context.save()
        for list in ["loose", "row"] { try set("o0", list, ["a", "b", "c"]) }
        try set("o0", "kids", ["k3", "k0", "k2", "k1"])
        try context.save()
    }

    private func object(_ name: String, in context: NSManagedObjectContext? = nil) throws -> NSManagedObject {
        let context = context ?? self.context
        for entity in ["Owner", "Item", "Kid"] {
            if let found = try context.fetch(NSFetchRequest<NSManagedObject>(entity, "name == %@", name)).first {
                return found
            }
        }
        throw CocoaError(.coderValueNotFound)
    }

    private func set(_ owner: String, _ list: String, _ names: [String]) throws {
        let members = try names.map { try object($0) }
        try object(owner).setValue(
            list == "loose" ? NSSet(array: members) : NSOrderedSet(array: members), forKey: list)
    }

    /// The lists that are not empty, those without order sorted.
    private func lists() throws -> [String] {
        func name(_ object: Any) -> String { (object as? NSManagedObject)?.value(forKey: "name") as? String ?? "?" }
        let context = desk.context()
        return try context.all("Owner").sorted { name($0) < name($1) }.flatMap { owner in
            ["kids", "loose", "row"].compactMap { list -> String? in
                let members =
                    switch owner.value(forKey: list) {
                    case let row as NSOrderedSet: row.array.map(name)
                    case let set as NSSet: set.allObjects.map(name).sorted()
                    default: ["?"]
                    }
                return members.isEmpty ? nil : "\(name(owner)).\(list) \(members.joined(separator: " "))"
            }
        }
    }

    private func batchDelete(_ entity: String, _ format: String) throws {
        try desk.context().execute(
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entity, format)))
    }

    /// Does something, saves, and takes it back; answers what was left alone, and the last transaction before.
    private func undo(_ body: () throws -> Void, then: () throws -> Void = {}) throws -> (
        conflicts: [HistoryReversion.Conflict], guilty: Int64
    ) {
        try body()
        if context.hasChanges { try context.save() }
        let transaction = try #require(try desk.transactions().last)
        context.reset()
        try then()
        if context.hasChanges { try context.save() }
        let guilty = try #require(try desk.transactions().last?.transactionNumber)
        let other = desk.context()
        let reversion = try other.revert(transaction)
        try other.save()
        context.reset()
        return (reversion.conflicts, guilty)
    }

    @Test("A member without inverse that another owner took is back with the former one, in its place")
    func taken() throws {
        let before = try lists()
        #expect(before == ["o0.kids k3 k0 k2 k1", "o0.loose a b c", "o0.row a b c"])
        let steps: [() throws -> Void] = [
            { try set("o1", "loose", ["a"]) }, { try set("o1", "row", ["b", "a"]) },
            { context.make("Owner", ["name": "new"]).setValue(NSOrderedSet(object: try object("b")), forKey: "row") },
            {
                try set("o0", "row", ["c"])
                try set("o1", "row", ["b"])
                try set("o2", "loose", ["c"])
            },
        ]
        for (place, step) in steps.enumerated() {
            let conflicts = try undo(step).conflicts
            #expect(conflicts.isEmpty, "\(place)")
            #expect(try lists() == before, "\(place)")
        }
    }

    @Test("A deleted member without inverse is back with its owner, in its place, also of a batch request")
    func deleted() throws {
        let before = try lists()
        let steps: [() throws -> Void] = [
            { context.delete(try object("a")) },
            {
                context.delete(try object("b"))
                context.delete(try object("a"))
            },
            { try batchDelete("Item", "name IN {'a', 'b'}") }, { try batchDelete("Item", "TRUEPREDICATE") },
            {
                context.delete(try object("o0"))
                context.delete(try object("b"))
            },
        ]
        for (place, step) in steps.enumerated() {
            let conflicts = try undo(step).conflicts
            #expect(conflicts.isEmpty, "\(place)")
            #expect(try lists() == before, "\(place)")
        }
    }

    @Test("Members of an ordered to-many that a batch request deleted or led elsewhere are back in their places")
    func batches() throws {
        let before = try lists()
        let steps: [() throws -> Void] = [
            { try batchDelete("Kid", "name != 'k3'") }, { try batchDelete("Kid", "name IN {'k3', 'k2'}") },
            { try batchDelete("Kid", "TRUEPREDICATE") }, { try batchDelete("Owner", "TRUEPREDICATE") },
            {
                let update = NSBatchUpdateRequest(entityName: "Kid")
                update.predicate = NSPredicate(format: "name IN {'k0', 'k3'}")
                update.propertiesToUpdate = ["owner": try object("o1").objectID]
                try desk.context().execute(update)
            },
            { context.delete(try object("k2")) },
            { try object("k0").setValue(try object("o1"), forKey: "owner") },
        ]
        for (place, step) in steps.enumerated() {
            let conflicts = try undo(step).conflicts
            #expect(conflicts.isEmpty, "\(place)")
            #expect(try lists() == before, "\(place)")
        }
    }

    @Test("What a later transaction did to such members stays, and is named")
    func conflicts() throws {
        let owner = try object("o0").objectID
        // Taken once more.
        var (named, guilty) = try undo({ try set("o1", "loose", ["a"]) }, then: { try set("o2", "loose", ["a"]) })
        #expect(named.map(\.objectID) == [owner] && named.first?.properties == ["loose"])
        #expect(named.first?.transactions == [guilty])
        #expect(try lists() == ["o0.kids k3 k0 k2 k1", "o0.loose b c", "o0.row a b c", "o2.loose a"])
        // Let go of.
        (named, guilty) = try undo({ try set("o1", "loose", ["b"]) }, then: { try set("o1", "loose", []) })
        #expect(named.count == 2 && named.allSatisfy { $0.properties == ["loose"] && $0.transactions == [guilty] })
        #expect(named.contains { $0.objectID == owner })
        #expect(try lists().contains("o0.loose c"))
        // The owner has others.
        (named, guilty) = try undo({ try set("o1", "row", ["b"]) }, then: { try set("o0", "row", ["c", "a"]) })
        #expect(
            named.map(\.objectID) == [owner] && named.first?.properties == ["row"]
                && named.first?.transactions == [guilty])
        #expect(try lists().contains("o0.row c a"))
        // Deleted.
        (named, guilty) = try undo({ try set("o1", "row", ["a"]) }, then: { context.delete(try object("a")) })
        #expect(named.contains { $0.objectID == owner && $0.properties == ["row"] && $0.transactions == [guilty] })
        // A whole list does not take what others have now.
        (named, guilty) = try undo({ try set("o0", "row", []) }, then: { try set("o2", "row", ["c"]) })
        #expect(
            named.map(\.objectID) == [owner] && named.first?.properties == ["row"]
                && named.first?.transactions == [guilty])
        #expect(try lists().contains("o2.row c"))
    }

    @Test("Without what the tables of a former version lack, a reversion does what it did")
    func formerTables() throws {
        try set("o1", "loose", ["a"])
        try context.save()
        try SQLiteFile(desk.url).run("DELETE FROM OCDFORMERVALUE WHERE ZPROPERTY LIKE '-%'")
        let other = desk.context()
        let reversion = try other.revert(try #require(try desk.transactions().last))
        try other.save()
        #expect(reversion.conflicts.isEmpty)
        #expect(try lists() == ["o0.kids k3 k0 k2 k1", "o0.loose b c", "o0.row a b c"])
    }

    @Test("13.3 They are back after a migration as well, under the new name")
    func migrated() throws {
        try set("o1", "loose", ["a"])
        try set("o1", "row", ["b"])
        try context.save()
        try desk.coordinator.remove(desk.store)
        let later = try Desk(
            Self.model("things"), in: desk.folder,
            options: [
                NSPersistentStoreKeepsFormerValues: true, NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true,
            ])
        let other = later.context()
        let reversion = try other.revert(try #require(try later.transactions().last))
        try other.save()
        #expect(reversion.conflicts.isEmpty)
        func names(_ list: Any?) -> [String] {
            let members = (list as? NSOrderedSet)?.array ?? (list as? NSSet)?.allObjects ?? []
            return members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        }
        let reader = later.context()
        let owner = try object("o0", in: reader)
        #expect(names(owner.value(forKey: "things")).sorted() == ["a", "b", "c"])
        #expect(names(owner.value(forKey: "row")) == ["a", "b", "c"])
    }
}
