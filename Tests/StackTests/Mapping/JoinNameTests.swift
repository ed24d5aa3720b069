// Join tables of files that name them otherwise than is computed.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct JoinNameTests {
    /// A store with artworks whose tables are renamed, opened anew by another coordinator.
    private func reopened(_ renaming: String, _ model: NSManagedObjectModel = Gallery.model()) throws -> Rig {
        let maker = Rig(model)
        let store = try maker.add()
        try maker.hang()
        try maker.coordinator.remove(store)
        try maker.run(renaming)
        let rig = Rig(model, in: maker.folder)
        try rig.add()
        return rig
    }

    @Test(
        "Many-to-many relationships are read, fetched by, changed and ordered under any names",
        arguments: Gallery.shapes.keys.sorted())
    func shapes(_ shape: String) throws {
        let rig = try reopened(Gallery.shapes[shape] ?? "")
        #expect(try rig.hanging() == "one,two wall fair b  | cab")
        #expect(try rig.hanging("b") == "  fair c a | cab")
        for (entity, key, count) in [("Artwork", "shows", 3), ("Location", "artworks", 1), ("Artwork", "wholes", 2)] {
            let request = NSFetchRequest<NSManagedObject>(entity, "\(key).@count > 0")
            request.relationshipKeyPathsForPrefetching = [key]
            #expect(try rig.context().count(for: request) == count)
            let context = rig.context()
            #expect(try context.fetch(request).allSatisfy { (($0.value(forKey: key) as? NSSet)?.count ?? 1) > 0 })
        }
        try change(rig)
        #expect(try rig.hanging() == "two wall fair b c | abc")
        try rig.coordinator.remove(rig.coordinator.persistentStores[0])
        let again = Rig(Gallery.model(), in: rig.folder)
        try again.add()
        #expect(try again.hanging() == "two wall fair b c | abc")
        #expect(try again.hanging("b") == " wall fair c a | abc")
    }

    /// From either side, in two contexts; nothing is held between them.
    private func change(_ rig: Rig) throws {
        let first = rig.context()
        let album = try #require(try first.all("Album").first { $0.name == "one" })
        album.setValue(Set<NSManagedObject>(), forKey: "artworks")
        let works = try first.all("Artwork").sorted { $0.name < $1.name }
        try #require(try first.all("Show").first).setValue(NSOrderedSet(array: works), forKey: "artworks")
        try first.save()
        let second = rig.context()
        let fresh = try second.all("Artwork").sorted { $0.name < $1.name }
        fresh[0].mutableSetValue(forKey: "wholes").add(fresh[2])
        try #require(try second.all("Location").first).mutableSetValue(forKey: "artworks").add(fresh[1])
        try second.save()
    }

    @Test("Files with different names are open at once under one model, also when many threads open them")
    func together() async throws {
        let model = Gallery.model()
        let rigs = try Gallery.shapes.keys.sorted().map { try reopened(Gallery.shapes[$0] ?? "", model) }
        nonisolated(unsafe) let shared = (model, rigs)
        try await withThrowingTaskGroup(of: String.self) { group in
            for round in 0..<4 * rigs.count {
                group.addTask {
                    let rig = Rig(shared.0, in: shared.1[round % shared.1.count].folder)
                    try rig.add(options: [NSReadOnlyPersistentStoreOption: true])
                    return try rig.hanging()
                }
            }
            for try await hanging in group { #expect(hanging == "one,two wall fair b  | cab") }
        }
        for rig in rigs { #expect(try rig.hanging("c") == "  fair  b | cab") }
    }

    @Test(
        "Copies have what the file has: moved to another file, to another type, and page by page",
        arguments: Gallery.shapes.keys.sorted())
    func copies(_ shape: String) throws {
        let rig = try reopened(Gallery.shapes[shape] ?? "")
        let copy = rig.folder.file("copy")
        try rig.coordinator.replacePersistentStore(
            at: copy, destinationOptions: nil, withPersistentStoreFrom: rig.folder.file("store"), sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        let copied = Rig(Gallery.model(), in: rig.folder)
        try copied.add(NSSQLiteStoreType, "copy")
        #expect(try copied.hanging() == "one,two wall fair b  | cab")
        var store = rig.coordinator.persistentStores[0]
        for (type, name) in [(NSXMLStoreType, "xml"), (NSSQLiteStoreType, "moved")] {
            store = try rig.coordinator.migratePersistentStore(store, to: rig.folder.file(name), withType: type)
            #expect(try rig.hanging() == "one,two wall fair b  | cab")
        }
        try rig.coordinator.remove(store)
        let moved = Rig(Gallery.model(), in: rig.folder)
        try moved.add(NSSQLiteStoreType, "moved")
        #expect(try moved.hanging("b") == "  fair c a | cab")
    }

    @Test(
        "A table that cannot be told is an error when the store is added, which names the relationship and what it may be"
    )
    func unknown() throws {
        let cases = [
            (
                "ALTER TABLE Z_2WHOLES RENAME COLUMN Z_2PARTS TO Z_2X; ALTER TABLE Z_2WHOLES RENAME COLUMN Z_2WHOLES TO Z_2Y",
                ["Artwork.parts", "no table"]
            ),
            ("DROP TABLE Z_2SHOWS", ["Artwork.shows and Show.artworks", "no table is left"]),
            ("ALTER TABLE Z_2SHOWS DROP COLUMN Z_FOK_2ARTWORKS2", ["Show.artworks"]),
            (
                "ALTER TABLE Z_1ARTWORKS RENAME TO Z_1A; ALTER TABLE Z_1A RENAME COLUMN Z_1COLLECTIONS TO Z_1X; "
                    + "ALTER TABLE Z_1A RENAME COLUMN Z_2ARTWORKS TO Z_2X; CREATE TABLE Z_1B (Z_1Y INTEGER, Z_2Y INTEGER)",
                ["Album.artworks", "Z_1A, Z_1B"]
            ),
        ]
        for (renaming, words) in cases {
            let text = sentence { _ = try reopened(renaming) }
            #expect(words.allSatisfy(text.contains), "\(text)")
            #expect(code { _ = try reopened(renaming) } == NSPersistentStoreIncompatibleSchemaError)
        }
        // Nobody has said that the model is the store's.
        let maker = Rig(Gallery.model())
        let store = try maker.add()
        try maker.hang()
        try maker.coordinator.remove(store)
        try maker.run("DROP TABLE Z_2SHOWS")
        let rig = Rig(Gallery.model(), in: maker.folder)
        try rig.add(options: [NSIgnorePersistentStoreVersioningOption: true])
        #expect(try rig.context().all("Album").count == 2)
    }
}
