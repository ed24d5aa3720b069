// Making transactions undone after the model was changed.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Reverting what was saved under a former model") struct MigratedReversionTests {
    private let folder = Folder()
    private func desk(_ entities: [EntityDraft]) throws -> Desk {
        var draft = SchemaDraft()
        draft.entities = entities
        return try Desk(
            NSManagedObjectModel(draft: draft), in: folder,
            options: [
                NSPersistentStoreKeepsFormerValues: true, NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true,
            ])
    }

    /// Saves twice under a model, and reverts the second transaction under another one.
    private func reverted(
        _ first: [EntityDraft], _ second: [EntityDraft], _ setUp: (NSManagedObjectContext) throws -> Void,
        _ change: (NSManagedObjectContext) throws -> Void
    ) throws -> (reversion: HistoryReversion, context: NSManagedObjectContext) {
        try {
            let desk = try self.desk(first)
            let (before, after) = (desk.context(), desk.context())
            try setUp(before)
            try before.save()
            try change(after)
            try after.save()
            try desk.coordinator.close()
        }()
        let desk = try self.desk(second)
        let context = desk.context()
        let reversion = try context.revert(try #require(try desk.transactions().last))
        try context.save()
        return (reversion, desk.context())
    }

    private func only(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.all(name).first)
    }

    private func names(_ value: Any?) -> [String] {
        ((value as? NSSet)?.allObjects ?? []).compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
            .sorted()
    }

    @Test("A target to whose entity the relationship does not lead any more is a conflict", arguments: [false, true])
    func misfit(isMany: Bool) throws {
        func entities(_ parent: String) -> [EntityDraft] {
            let link =
                isMany ? Clinic.toMany("r", "B", inverse: "xs") : Clinic.toOne("r", "B", inverse: "xs")
            var b = EntityDraft("B", parent: "A")
            b.relationships = [Clinic.toMany("xs", "X", inverse: "r")]
            return [
                EntityDraft("A", [Clinic.attribute("name", .string)]), b, EntityDraft("C", parent: parent),
                EntityDraft("X", [Clinic.attribute("name", .string)], [link]),
            ]
        }
        let (reversion, context) = try reverted(entities("B"), entities("A")) { context in
            let (c, x) = (context.make("C", ["name": "c"]), context.make("X", ["name": "x"]))
            x.setValue(isMany ? NSSet(object: c) : c, forKey: "r")
        } _: { context in
            try only("X", context).setValue(nil, forKey: "r")
        }
        #expect(reversion.conflicts.flatMap(\.properties).contains("r"))
        #expect(try context.all("C").count == 1 && context.all("X").count == 1)
    }

    @Test("An object of an entity that became abstract is a conflict, and stays away")
    func abstract() throws {
        func entities(_ isAbstract: Bool) -> [EntityDraft] {
            var a = EntityDraft("A", [Clinic.attribute("name", .string)])
            a.isAbstract = isAbstract
            return [a, EntityDraft("B", parent: "A")]
        }
        let (reversion, context) = try reverted(entities(false), entities(true)) { context in
            context.make("A", ["name": "a"])
            context.make("B", ["name": "b"])
        } _: { context in
            for object in try context.all("A") { context.delete(object) }
        }
        #expect(reversion.conflicts.map(\.properties) == [[]])
        #expect(try context.all("A").map { $0.value(forKey: "name") as? String } == ["b"])
    }

    @Test("A to-one that became a to-many, as its inverse is, has its former member again", arguments: [false, true])
    func manyToMany(isDeletion: Bool) throws {
        func entities(_ isMany: Bool) -> [EntityDraft] {
            [
                EntityDraft(
                    "A", [Clinic.attribute("name", .string)],
                    [isMany ? Clinic.toMany("b", "B", inverse: "as") : Clinic.toOne("b", "B", inverse: "as")]),
                EntityDraft("B", [Clinic.attribute("name", .string)], [Clinic.toMany("as", "A", inverse: "b")]),
            ]
        }
        let (reversion, context) = try reverted(entities(false), entities(true)) { context in
            let a = context.make("A", ["name": "a"])
            a.setValue(context.make("B", ["name": "b1"]), forKey: "b")
            context.make("B", ["name": "b2"])
        } _: { context in
            let a = try only("A", context)
            if isDeletion { return context.delete(a) }
            a.setValue(try context.all("B").first { $0.value(forKey: "name") as? String == "b2" }, forKey: "b")
        }
        #expect(reversion.conflicts.isEmpty)
        let a = try only("A", context)
        #expect(a.value(forKey: "name") as? String == "a" && names(a.value(forKey: "b")) == ["b1"])
    }

    @Test("Nothing is the default where the attribute must have a value since, and a conflict where there is none")
    func required() throws {
        func entities(_ isOptional: Bool) -> [EntityDraft] {
            [
                EntityDraft(
                    "A",
                    [
                        Clinic.attribute("name", .string),
                        Clinic.attribute("x", .string, optional: isOptional, default: isOptional ? .null : .text("d")),
                    ])
            ]
        }
        let (reversion, context) = try reverted(entities(true), entities(false)) { context in
            context.make("A", ["name": "a"])
        } _: { context in
            let a = try only("A", context)
            a.setValue("set", forKey: "x")
            a.setValue("changed", forKey: "name")
        }
        #expect(reversion.conflicts.isEmpty)
        let a = try only("A", context)
        #expect(a.value(forKey: "x") as? String == "d" && a.value(forKey: "name") as? String == "a")
    }
}
