// What a history tells of the same changes before and after a migration.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("A history through a migration") struct HistoryMigrationTests {
    private typealias V = Versions
    private static var tracked: [String: Any] { V.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 } }

    /// Each change as entity, kind, changed properties and tombstone, by name.
    private func told(_ context: NSManagedObjectContext) throws -> [String] {
        let coordinator = try #require(context.persistentStoreCoordinator)
        let (schema, rows) = (coordinator.runtime.schema, coordinator.persistentStores[0].rows)
        var lines: [String] = []
        try rows.openHistory(after: 0).forEach { transaction in
            for change in transaction.changes {
                let entity = schema[change.key.entity]
                let names =
                    change.slots.filter { entity.slots[$0].kind != .entityTag }.map { entity.slots[$0].name }
                    + change.relationships.map { schema[$0].name }
                let left = change.tombstone.map { "\(entity.slots[$0.key].name)=\($0.value.shown)" }
                lines.append(
                    "\(transaction.number) \(entity.name) \(change.key.number) \(change.kind) \(Set(names).sorted()) \(left.sorted())"
                )
            }
            return .more
        }
        return lines.sorted()
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        let boxes = (1...2).map { context.make("Box", ["label": "b\($0)"]) }
        let items = (1...4).map { context.make("Item", ["title": "t\($0)", "code": "c\($0)", "box": boxes[0]]) }
        try context.save()
        items[0].setValue("x", forKey: "title")
        try context.save()
        items[1].setValue("y", forKey: "code")
        items[1].setValue(boxes[1], forKey: "box")
        items[2].setValue(7, forKey: "gone")
        items[2].setValue("z", forKey: "title")
        try context.save()
        context.delete(items[3])
        try context.save()
    }

    private static let preserved = "optional=\"YES\" preserveAfterDeletion=\"YES\""

    @Test(
        "13.3 Numbers, masks and tombstones follow entities and properties to their new names and places; what is gone is dropped"
    )
    func followed() throws {
        let versions = try V(
            V.entity(
                "Item", "", V.attribute("code", "String", Self.preserved), V.attribute("gone", "Integer 32"),
                V.attribute("title", "String", Self.preserved),
                V.toOne("box", "Box", "items"))
                + V.entity("Box", "", V.attribute("label"), V.toMany("items", "Item", "box")),
            V.entity("Aid", "", V.attribute("first", "String", Self.preserved))
                + V.entity(
                    "Thing", "elementID=\"Item\"", V.attribute("added", "String", Self.preserved),
                    V.attribute("zcode", "String", Self.preserved + " elementID=\"code\""),
                    V.attribute("name", "String", Self.preserved + " elementID=\"title\""), V.attribute("also", "Date"),
                    V.toOne("home", "Box", "things", "optional=\"YES\" elementID=\"box\""), V.toOne("aid", "Aid"))
                + V.entity("Box", "", V.attribute("label"), V.toMany("things", "Thing", "home", "elementID=\"items\"")))
        let before = try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            try fill(context)
            return try told(context)
        }
        #expect(before.contains { $0.contains("tombstone") || $0.contains("code=“c4”") })
        let expected = before.map { line in
            [
                ("Item", "Thing"), ("\"gone\", ", ""), ("\"title\"", "\"name\""), ("\"code\"", "\"zcode\""),
                ("\"box\"", "\"home\""), ("\"items\"", "\"things\""), ("title=", "name="), ("code=", "zcode="),
            ]
            .reduce(line) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        }
        func names(_ lines: [String]) -> [String] {
            // The order of names in a list may be another one.
            lines.map { line in String(line.map { $0 }) }.map {
                $0.components(separatedBy: CharacterSet(charactersIn: "[], ")).filter { !$0.isEmpty }.sorted().joined(
                    separator: " ")
            }.sorted()
        }
        let after = try versions.open(2, NSSQLiteStoreType, Self.tracked) { try told($0) }
        #expect(names(after) == names(expected), "\(after) \(expected)")
        // It goes on where it was.
        try versions.open(2, NSSQLiteStoreType, Self.tracked) { context in
            context.make("Aid")
            try context.save()
            #expect(try told(context).count == before.count + 1)
        }
    }

    @Test(
        "13.3 A mask says of a to-one what a save under the later version says of it, and of which entity its target is"
    )
    func masks() throws {
        func shop(_ box: String) -> String {
            V.entity("Item", "", V.attribute("title"), box) + V.entity("Crate", "parentEntity=\"Box\"")
        }
        let versions = try V(
            shop(V.toOne("box", "Box", "items")) + V.entity("Box", "", V.toMany("items", "Item", "box")),
            shop(V.toOne("home", "Box", "items", "optional=\"YES\" elementID=\"box\""))
                + V.entity("Box", "", V.attribute("label"), V.toMany("items", "Item", "home")))
        try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            let item = context.make("Item", ["box": context.make("Box")])
            try context.save()
            item.setValue(context.make("Crate"), forKey: "box")
            try context.save()
        }
        try versions.open(2, NSSQLiteStoreType, Self.tracked) { context in
            try context.all("Item")[0].setValue(context.make("Box"), forKey: "home")
            try context.save()
        }
        let masks = try versions.sql(
            "SELECT hex(ZCOLUMNS) FROM ACHANGE JOIN Z_PRIMARYKEY AS p ON p.Z_ENT = ZENTITY WHERE ZCHANGETYPE = 1 AND Z_NAME = 'Item'"
        )
        #expect(masks.count == 2 && masks[0] == masks[1], "\(masks)")
    }

    @Test("13.3 Where an entity is removed, the history up to its last change is cut off") func cut() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title")) + V.entity("Note", "", V.attribute("text")),
            V.entity("Item", "", V.attribute("title")))
        try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            for entity in ["Item", "Note", "Item", "Item"] {
                context.make(entity)
                try context.save()
            }
        }
        let after = try versions.open(2, NSSQLiteStoreType, Self.tracked) { try told($0) }
        #expect(after == ["3 Item 2 insert [] []", "4 Item 3 insert [] []"], "\(after)")
    }

    @Test(
        "13.3 An entity that became abstract and then is removed: its rows and the history up to it go, and the plan says so"
    )
    func abstract() throws {
        func shop(_ mid: String?, _ leaf: String) -> String {
            V.entity("Root", "", V.attribute("name"))
                + (mid.map { V.entity("Mid", "parentEntity=\"Root\" \($0)") } ?? "")
                + V.entity("Leaf", "parentEntity=\"\(leaf)\"")
        }
        let versions = try V(
            shop("", "Mid"), shop("isAbstract=\"YES\"", "Mid"),
            V.entity("Aid", "", V.attribute("a")) + shop("isAbstract=\"YES\"", "Mid"), shop(nil, "Root"))
        let token = try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            for entity in ["Root", "Mid", "Leaf"] {
                context.make(entity, ["name": entity])
                try context.save()
            }
            return try transactions(context)[0].token
        }
        for version in [2, 3] {
            let kinds = try versions.open(version, NSSQLiteStoreType, Self.tracked) { context in
                try context.all("Root").map(\.entity.name)
            }
            #expect(kinds == ["Root", "Mid", "Leaf"])
        }
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: versions.model(4))
            .migrationPlan(at: versions.store, toVersionsOf: versions.url)
        #expect(plan.lost == [.init(entity: "Mid", property: nil, rows: 1)])
        try versions.open(4, NSSQLiteStoreType, Self.tracked) { context in
            let left = try (context.values("Root", "name"), versions.sql("SELECT COUNT(*) FROM ZROOT"))
            #expect(left == (["Root", "Leaf"], ["2"]))
            #expect(caught { _ = try transactions(context, after: token) }?.number == 134301)
        }
    }

    @Test(
        "13.3 A tombstone's bytes stay as they are where they may lie in files afterwards, or no longer may",
        arguments: [true, false])
    func flipped(_ external: Bool) throws {
        func shop(_ external: Bool) -> String {
            let more = external ? " allowsExternalBinaryDataStorage=\"YES\"" : ""
            return V.entity("Item", "", V.attribute("blob", "Binary", Self.preserved + more))
        }
        let versions = try V(shop(external), shop(!external))
        let blobs = [Data([1, 65, 66]), Data([2, 0, 7]), Data([255]), Data(repeating: 7, count: 200_000)]
        func tombstones(_ context: NSManagedObjectContext) throws -> [Data?] {
            try transactions(context).flatMap { $0.changes ?? [] }.filter { $0.changeType == .delete }
                .map { $0.tombstone?["blob"] as? Data }
        }
        let before = try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            let items = blobs.map { context.make("Item", ["blob": $0]) }
            try context.save()
            for item in items {
                context.delete(item)
                try context.save()
            }
            return try tombstones(context)
        }
        #expect(before == blobs.dropLast() + [external ? nil : blobs[3]])
        #expect(try versions.open(2, NSSQLiteStoreType, Self.tracked) { try tombstones($0) } == before)
    }

    private static var keeping: [String: Any] { tracked.merging([NSPersistentStoreKeepsFormerValues: true]) { $1 } }

    private func transactions(
        _ context: NSManagedObjectContext, after token: NSPersistentHistoryToken? = nil
    ) throws -> [NSPersistentHistoryTransaction] {
        let result =
            try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
            as? NSPersistentHistoryResult
        return result?.result as? [NSPersistentHistoryTransaction] ?? []
    }

    @Test(
        "13.3 Former values follow entities and properties: what was saved before a migration is taken back after it, under the new names"
    )
    func reverted() throws {
        let versions = try V(
            V.entity(
                "Item", "", V.attribute("code"), V.attribute("gone", "Integer 32"), V.attribute("title"),
                V.toOne("box", "Box", "items"), V.toMany("tags", "Tag", "items"))
                + V.entity("Box", "", V.attribute("label"), V.toMany("items", "Item", "box"))
                + V.entity("Tag", "", V.attribute("word"), V.toMany("items", "Item", "tags")),
            V.entity("Aid", "", V.attribute("first"))
                + V.entity(
                    "Thing", "elementID=\"Item\"", V.attribute("added"),
                    V.attribute("title", "String", "optional=\"YES\" elementID=\"code\""),
                    V.attribute("code", "String", "optional=\"YES\" elementID=\"title\""),
                    V.toOne("home", "Box", "things", "optional=\"YES\" elementID=\"box\""),
                    V.toMany("marks", "Tag", "things", "elementID=\"tags\""))
                + V.entity("Box", "", V.attribute("label"), V.toMany("things", "Thing", "home", "elementID=\"items\""))
                + V.entity("Tag", "", V.attribute("word"), V.toMany("things", "Thing", "marks", "elementID=\"items\"")))
        try versions.open(1, NSSQLiteStoreType, Self.keeping) { context in
            let boxes = (1...2).map { context.make("Box", ["label": "b\($0)"]) }
            let tag = context.make("Tag", ["word": "w"])
            let items = (1...2).map {
                context.make(
                    "Item", ["title": "t\($0)", "code": "c\($0)", "gone": 5, "box": boxes[0], "tags": Set([tag])])
            }
            try context.save()
            for (key, value) in ["title": "x", "code": "y", "box": boxes[1], "gone": 6, "tags": NSSet()]
                as [String: Any]
            { items[0].setValue(value, forKey: key) }
            try context.save()
            context.delete(items[1])
            try context.save()
        }
        try versions.open(2, NSSQLiteStoreType, Self.keeping) { context in
            let all = try transactions(context)
            #expect(all.map(\.transactionNumber) == [1, 2, 3], "a migration is no transaction")
            #expect(try context.revert(all[2]).conflicts.isEmpty)
            try context.save()
            // The tag has lost a member since and has it again; who left it in between comes back by his own side.
            let conflicts = try context.revert(all[1]).conflicts
            #expect(conflicts.map { $0.objectID.entity.name } == ["Tag"], "\(conflicts)")
            #expect(conflicts.map(\.properties) == [["things"]])
            #expect(conflicts.map(\.transactions) == [[3, 4]])
            try context.save()
            #expect(
                try context.values("Thing", "title") == ["c1", "c2"] && context.values("Thing", "code") == ["t1", "t2"])
            #expect(
                try context.all("Thing").map {
                    ($0.value(forKey: "home") as? NSManagedObject)?.value(forKey: "label") as? String
                } == ["b1", "b1"])
            #expect(try context.all("Thing").map { ($0.value(forKey: "marks") as? NSSet)?.count } == [1, 1])
        }
        #expect(
            try versions.sql("SELECT COUNT(*) FROM OCDFORMERVALUE WHERE ZPROPERTY = 'gone' OR ZENTITY < 1") == ["0"])
    }

    @Test("13.3 A deletion from before is not taken back where the new model requires what nobody kept")
    func required() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title")),
            V.entity("Item", "", V.attribute("title"), V.attribute("size", "Integer 32", "defaultValueString=\"3\"")))
        try versions.open(1, NSSQLiteStoreType, Self.keeping) { context in
            let item = context.make("Item", ["title": "t"])
            try context.save()
            context.delete(item)
            try context.save()
        }
        try versions.open(2, NSSQLiteStoreType, Self.keeping) { context in
            try context.revert(transactions(context)[1])
            #expect(
                try context.values("Item", "title") == ["t"] && context.values("Item", "size") == ["3"],
                "an attribute with a default value has that")
            context.rollback()
        }
        // As an older version of this library has left it.
        try versions.write("DELETE FROM OCDFORMERVALUE WHERE ZENTITY IS NOT NULL")
        try versions.open(2, NSSQLiteStoreType, Self.keeping) { context in
            do {
                try context.revert(transactions(context)[1])
                Issue.record("taken back without values")
            } catch let error as CocoaError {
                #expect(error.code.rawValue == 134060 && error.localizedDescription.contains("of Item."))
            }
            #expect(!context.hasChanges)
        }
    }

    @Test(
        "13.3 A token from before a migration leads on after it, and a cursor as well; where an entity is removed both are too old (134301)"
    )
    func tokens() throws {
        let item = V.entity("Item", "", V.attribute("title"))
        let versions = try V(
            item + V.entity("Note", "", V.attribute("text")),
            V.entity("Item", "", V.attribute("title"), V.attribute("more")) + V.entity("Note", "", V.attribute("text")),
            V.entity("Item", "", V.attribute("title"), V.attribute("more")))
        let token = try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            for entity in ["Item", "Note", "Item"] {
                context.make(entity)
                try context.save()
            }
            let token = try transactions(context)[0].token
            try #require(context.persistentStoreCoordinator).moveHistoryCursor("mail", to: token)
            return token
        }
        try versions.open(2, NSSQLiteStoreType, Self.tracked) { context in
            let coordinator = try #require(context.persistentStoreCoordinator)
            #expect(try transactions(context, after: token).map(\.transactionNumber) == [2, 3])
            #expect(try coordinator.historyToken(ofCursor: "mail") == token)
            #expect(
                coordinator.currentPersistentHistoryToken(fromStores: nil)?.transactions.values.first == 3,
                "a migration is no transaction")
        }
        try versions.open(3, NSSQLiteStoreType, Self.tracked) { context in
            let coordinator = try #require(context.persistentStoreCoordinator)
            for body in [
                { _ = try transactions(context, after: token) }, { _ = try coordinator.historyToken(ofCursor: "mail") },
            ] as [() throws -> Void] {
                do {
                    try body()
                    Issue.record("not too old")
                } catch let error as CocoaError { #expect(error.code.rawValue == 134301) }
            }
            #expect(try transactions(context).map(\.transactionNumber) == [3])
        }
    }
}
