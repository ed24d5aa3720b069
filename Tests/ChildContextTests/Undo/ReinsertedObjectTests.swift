// Inserting an object again whose deletion was saved.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct ReinsertedObjectTests {
    private let stack: Stack
    private let parent: NSManagedObjectContext

    init() throws {
        var item = EntityDraft(name: "Item")
        item.attributes = [
            Clinic.attribute("name", .string), Clinic.attribute("note", .string),
            Clinic.attribute("rank", .integer16, default: .int(5)), Clinic.attribute("scan", .binary, external: true),
        ]
        item.relationships = [
            Clinic.toOne("box", "Box", inverse: "items"),
            Clinic.toOne("owner", "Box", inverse: "owned", rule: .noAction),
        ]
        var box = EntityDraft(name: "Box")
        box.relationships = [
            Clinic.toMany("items", "Item", inverse: "box"), Clinic.toMany("owned", "Item", inverse: "owner"),
        ]
        stack = try Stack(NSSQLiteStoreType, model: NSManagedObjectModel(item, box), undo: false)
        parent = stack.context
    }

    /// Made anew each time: the leak sanitizer does not find what a constant of this type holds.
    private static var scan: Data { Data(repeating: 3, count: 200_000) }

    /// The attributes of all items, as texts.
    private func items(_ context: NSManagedObjectContext) throws -> [String] {
        try context.all("Item").map { item in
            let scan = item.value(forKey: "scan") as? Data
            let (note, rank) = (item.value(forKey: "note") ?? "-", item.value(forKey: "rank") ?? "-")
            return "\(item.name ?? "-") \(note) \(rank) \(scan == Self.scan)"
        }
    }

    @Test(
        "1.8 An object that is inserted again after its deletion was saved has the values that it had, here, above and stored",
        arguments: [false, true], [false, true])
    func values(_ isChild: Bool, _ refreshes: Bool) throws {
        let context = isChild ? parent.child() : parent
        context.undoManager = UndoManager()
        func save() throws {
            try context.save()
            if isChild { try parent.save() }
        }
        let box = context.make("Box")
        let item = context.make("Item", ["name": "keep", "rank": 9, "scan": Self.scan, "box": box, "owner": box])
        try save()
        if refreshes { context.refreshAllObjects() }
        let former = item.objectID
        context.delete(item)
        try save()
        context.insert(item)
        #expect(item.isInserted && item.managedObjectContext === context && item.objectID != former)
        #expect(try items(context) == ["keep - 9 true"])
        #expect(item.value(forKey: "box") == nil)
        #expect(item.value(forKey: "owner") as? NSManagedObject === box && box.members("owned") == [item])
        try save()
        #expect(box.members("owned") == [item])
        let other = stack.another()
        #expect(try other.all("Box").first?.members("owned").count == 1)
        for reader in [context, parent, stack.another()] { #expect(try items(reader) == ["keep - 9 true"]) }
        context.undo()
        try save()
        #expect(try items(stack.another()).isEmpty)
        context.redo()
        try save()
        for reader in [context, parent, stack.another()] { #expect(try items(reader) == ["keep - 9 true"]) }
    }

    @Test("1.8 Inserting again what a child has deleted in its parent makes a new object there with the same values")
    func pushed() throws {
        let item = parent.make("Item", ["name": "keep", "rank": 9, "scan": Self.scan])
        try parent.save()
        let child = parent.child()
        let mine = child.same(item)
        child.delete(mine)
        try child.save()
        child.insert(mine)
        try child.save()
        #expect(parent.same(mine) !== item && item.isDeleted)
        for reader in [child, parent] { #expect(try items(reader) == ["keep - 9 true"]) }
        try parent.save()
        #expect(try items(stack.another()) == ["keep - 9 true"])
    }

    @Test(
        "1.8 Without an undo manager a value in a file goes with the deletion, and the save after the insertion says so"
    )
    func missingFile() throws {
        let item = parent.make("Item", ["name": "keep", "rank": 9, "scan": Self.scan])
        try parent.save()
        parent.delete(item)
        try parent.save()
        parent.insert(item)
        #expect(item.value(forKey: "rank") as? Int == 9 && item.value(forKey: "scan") == nil)
        let error = #expect(throws: CocoaError.self) { try parent.save() }
        #expect(error?.code.rawValue == 134060)
        try parent.save()
        #expect(try items(stack.another()) == ["keep - 9 false"])
    }
}
