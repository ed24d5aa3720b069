// Values in files as child contexts see them.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct ChildExternalDataTests {
    /// What the parent knows of the photo when a child asks.
    enum Knowledge: CaseIterable {
        case none, fault, row, saved
    }

    @Test(
        "7.2 A child reads a value that lies in a file, through one parent or two", arguments: [1, 2],
        Knowledge.allCases)
    func read(_ depth: Int, _ knowledge: Knowledge) throws {
        let album = Album(), root = try album.open()
        let photo = root.make("Photo", ["name": "a", "data": Album.large])
        try root.save()
        switch knowledge {
        case .none: root.reset()
        case .fault: root.refresh(photo, mergeChanges: false)
        case .row:
            root.refresh(photo, mergeChanges: false)
            _ = photo.value(forKey: "name")
        case .saved: break
        }
        let middle = root.child()
        let context = depth == 1 ? middle : middle.child()
        let mine = try #require(try context.all("Photo").first)
        #expect(mine.value(forKey: "data") as? Data == Album.large)
        // An equal value is no change.
        mine.setValue(Album.large, forKey: "data")
        #expect(mine.changedValues().isEmpty)
        mine.setValue("b", forKey: "name")
        try context.save()
        if depth == 2 { try middle.save() }
        try root.save()
        #expect(try album.firstValue() == Album.large && album.names().count == 1)
        mine.setValue(Album.bytes(200_000, 8), forKey: "data")
        try context.save()
        if depth == 2 { try middle.save() }
        try root.save()
        #expect(try album.firstValue() == Album.bytes(200_000, 8) && album.names().count == 1)
        context.refresh(mine, mergeChanges: false)
        #expect(mine.value(forKey: "data") as? Data == Album.bytes(200_000, 8))
    }

    @Test("A value whose file was replaced elsewhere reads as it is now, in a child too")
    func stale() throws {
        let album = Album(), (root, context) = try album.stored()
        let held = try root.all("Photo")
        try album.replace(seenBy: try #require(try context.all("Photo").first))
        _ = try context.all("Photo")
        withExtendedLifetime(held) {}
    }

    @Test("A value that cannot be read is an error of the child's next fetch, and none of its parent's")
    func missing() throws {
        let album = Album(), (root, context) = try album.stored()
        let mine = try #require(try context.all("Photo").first)
        try FileManager.default.removeItem(at: album.files)
        #expect(mine.value(forKey: "data") == nil)
        #expect(try root.all("Photo").count == 1)
        let error = #expect(throws: CocoaError.self) { try context.all("Photo") }
        #expect(error?.code.rawValue == 134060)
        #expect(try context.all("Photo").count == 1)
    }

    @Test("A child's undo brings back a value whose file the parent's save has removed")
    func undo() throws {
        let album = Album(), (root, context) = try album.stored()
        context.undoManager = UndoManager()
        context.delete(try #require(try context.all("Photo").first))
        try context.save()
        try root.save()
        #expect(album.names().isEmpty)
        context.undo()
        #expect(try context.all("Photo").first?.value(forKey: "data") as? Data == Album.large)
        try context.save()
        try root.save()
        #expect(try album.firstValue() == Album.large)
    }
}
