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
                let names = change.slots.filter { entity.slots[$0].kind != .entityTag }.map { entity.slots[$0].name }
                    + change.relationships.map { schema[$0].name }
                let left = change.tombstone.map { "\(entity.slots[$0.key].name)=\($0.value.shown)" }
                lines.append("\(transaction.number) \(entity.name) \(change.key.number) \(change.kind) \(Set(names).sorted()) \(left.sorted())")
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

    @Test("13.3 Numbers, masks and tombstones follow entities and properties to their new names and places; what is gone is dropped")
    func followed() throws {
        let versions = try V(
            V.entity(
                "Item", "", V.attribute("code", "String", Self.preserved), V.attribute("gone", "Integer 32"), V.attribute("title", "String", Self.preserved),
                V.toOne("box", "Box", "items"))
                + V.entity("Box", "", V.attribute("label"), V.toMany("items", "Item", "box")),
            V.entity("Aid", "", V.attribute("first", "String", Self.preserved))
                + V.entity(
                    "Thing", "elementID=\"Item\"", V.attribute("added", "String", Self.preserved), V.attribute("zcode", "String", Self.preserved + " elementID=\"code\""),
                    V.attribute("name", "String", Self.preserved + " elementID=\"title\""), V.attribute("also", "Date"),
                    V.toOne("home", "Box", "things", "optional=\"YES\" elementID=\"box\""), V.toOne("aid", "Aid"))
                + V.entity("Box", "", V.attribute("label"), V.toMany("things", "Thing", "home", "elementID=\"items\"")))
        let before = try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            try fill(context)
            return try told(context)
        }
        #expect(before.contains { $0.contains("tombstone") || $0.contains("code=“c4”") })
        let expected = before.map { line in
            [("Item", "Thing"), ("\"gone\", ", ""), ("\"title\"", "\"name\""), ("\"code\"", "\"zcode\""), ("\"box\"", "\"home\""), ("\"items\"", "\"things\""), ("title=", "name="), ("code=", "zcode=")]
                .reduce(line) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        }
        func names(_ lines: [String]) -> [String] {
            // The order of names in a list may be another one.
            lines.map { line in String(line.map { $0 }) }.map { $0.components(separatedBy: CharacterSet(charactersIn: "[], ")).filter { !$0.isEmpty }.sorted().joined(separator: " ") }.sorted()
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

    @Test("13.3 Where an entity is removed, the history up to its last change is cut off") func cut() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title")) + V.entity("Note", "", V.attribute("text")), V.entity("Item", "", V.attribute("title")))
        try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            for entity in ["Item", "Note", "Item", "Item"] {
                context.make(entity)
                try context.save()
            }
        }
        let after = try versions.open(2, NSSQLiteStoreType, Self.tracked) { try told($0) }
        #expect(after == ["3 Item 2 insert [] []", "4 Item 3 insert [] []"], "\(after)")
    }
}
