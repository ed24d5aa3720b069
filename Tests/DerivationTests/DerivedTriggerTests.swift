// The triggers in files: as Apple writes them, and what they do in stores that Apple wrote.

import CoreDataSQL
import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataSQLite

@Suite("Triggers of derived attributes") struct DerivedTriggerTests {
    /// The model of CoreDataPlus's SampleModel2_V1, whose store Apple's Core Data wrote; its transformables
    /// are taken as bytes.
    ///
    /// - Parameter hasInverse: false for an older version, in which pages and books know nothing of each
    /// other.
    static func sample(hasInverse: Bool = true) -> SchemaDraft {
        func attribute(_ name: String, _ type: AttributeType, optional: Bool = false) -> Attribute {
            Clinic.attribute(name, type, optional: optional)
        }
        func required(_ relationship: Relationship, _ count: ClosedRange<Int>) -> Relationship {
            var relationship = relationship
            relationship.isOptional = false
            (relationship.minCount, relationship.maxCount) = (count.lowerBound, count.upperBound)
            return relationship
        }
        var writer = EntityDraft(name: "Writer")
        writer.isAbstract = true
        writer.attributes = [attribute("age", .integer16)]
        var author = EntityDraft(name: "Author")
        author.parentName = "Writer"
        author.attributes = [attribute("alias", .string), attribute("siteURL", .uri, optional: true)]
        author.relationships = [Clinic.toMany("books", "Book", inverse: "author", rule: .cascade)]
        author.uniquenessConstraints = [["alias"]]
        var book = EntityDraft(name: "Book")
        book.attributes = [
            attribute("uniqueID", .uuid), attribute("price", .decimal), attribute("publishedAt", .date),
            attribute("title", .string), attribute("cover", .binary),
            Library.derived("pagesCount", .integer64, "count:(pages)"),
        ]
        book.relationships = [
            required(Clinic.toOne("author", "Author", inverse: "books"), 1...1),
            required(Clinic.toMany("pages", "Page", inverse: hasInverse ? "book" : nil, rule: .cascade), 1...10000),
        ]
        book.uniquenessConstraints = [["uniqueID"]]
        let graphic = EntityDraft("GraphicNovel", [attribute("isBlackAndWhite", .boolean)], parent: "Book")
        var page = EntityDraft(name: "Page")
        page.attributes = [
            attribute("isBookmarked", .boolean), attribute("number", .integer32), attribute("content", .binary),
        ]
        page.relationships = [required(Clinic.toOne("book", "Book", inverse: hasInverse ? "pages" : nil), 1...1)]
        var feedback = EntityDraft(name: "Feedback")
        feedback.attributes = [
            attribute("bookID", .uuid), attribute("comment", .string, optional: true),
            attribute("authorAlias", .string),
            attribute("rating", .double),
        ]
        return SchemaDraft(writer, author, book, graphic, page, feedback)
    }

    private static let newer = "alemar11+CoreDataPlus/Tests/Resources/SampleModel2/Fixtures/SampleModel2_V1.sqlite"
    private static let older =
        "alemar11+CoreDataPlus/@b6acc84f82/Tests/Resources/SampleModel2/Fixtures/SampleModel2V1.sqlite"

    @Test("The triggers of toMany.@count are those of an Apple-written store, to the letter", arguments: [true, false])
    func count(_ isNewer: Bool) throws {
        guard let stores = Corpus.stores else { return }
        let schema = try Schema(checking: Self.sample(hasInverse: isNewer))
        let ours = try DerivedTriggers(StoreMap(schema: schema, configuration: nil)).statements()
        let folder = Folder()
        let copy = folder.file("copy.sqlite")
        try FileManager.default.copyItem(at: stores.appendingPathComponent(isNewer ? Self.newer : Self.older), to: copy)
        let theirs = try SQLiteFile(copy).rows("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
        #expect(ours.count == 5)
        // Framework 1044 names the entities of the table even where they are all of them.
        let plain = theirs.map {
            $0.replacing(" AND 1 <= Z_ENT AND Z_ENT <= 2", with: "").replacing(
                "WHEN 1 <= NEW.Z_ENT AND NEW.Z_ENT <= 2 ", with: "")
        }
        #expect(Set(ours) == Set(isNewer ? theirs : plain))
    }

    @Test("A derived attribute of a sub-entity leaves the other rows of the table alone, in the form of framework 1044")
    func subentity() throws {
        let map = try StoreMap(schema: Schema(checking: Library.draft()), configuration: nil)
        let ours = try DerivedTriggers(map).statements().filter { $0.contains("_Novel_") }
        let number = try #require(map.schema.entity(named: "Novel")).index.number
        #expect(ours.count == 6)
        for sql in ours {
            let own = "FOR EACH ROW WHEN \(number) <= NEW.Z_ENT AND NEW.Z_ENT <= \(number) BEGIN"
            let other = "= NEW.Z_PK AND \(number) <= Z_ENT AND Z_ENT <= \(number); "
            #expect(sql.contains("_SOURCE_") ? sql.contains(own) : sql.contains(other), "\(sql)")
        }
    }

    @Test("The triggers of a key path over a to-one are those of an Apple-written store, to the letter")
    func path() throws {
        guard let stores = Corpus.stores else { return }
        var asset = EntityDraft(name: "Asset")
        asset.attributes = [
            Library.derived("derivedCameraCaptureDevice", .integer16, "additionalAttributes.cameraCaptureDevice")
        ]
        asset.relationships = [Clinic.toOne("additionalAttributes", "AdditionalAssetAttributes", inverse: "asset")]
        var more = EntityDraft(name: "AdditionalAssetAttributes")
        more.attributes = [Clinic.attribute("cameraCaptureDevice", .integer16)]
        more.relationships = [Clinic.toOne("asset", "Asset", inverse: "additionalAttributes")]
        let ours = try DerivedTriggers(StoreMap(schema: Schema(checking: SchemaDraft(asset, more)), configuration: nil))
            .statements()
        let folder = Folder()
        let copy = folder.file("copy.sqlite")
        let photos =
            "ink-splatters+osxphotos/tests/Test-Empty-Library-Ventura-13-5.photoslibrary/database/Photos.sqlite"
        try FileManager.default.copyItem(at: stores.appendingPathComponent(photos), to: copy)
        let theirs = try SQLiteFile(copy).rows(
            "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'Z_DA_%'")
        #expect(ours.count == 4)
        #expect(Set(ours) == Set(theirs))
    }

    @Test("The trigger of now() follows the version, as fatbobman shows it")
    func now() throws {
        let item = EntityDraft("Item", [Library.derived("update", .date, "now()")])
        let ours = try DerivedTriggers(StoreMap(schema: Schema(checking: SchemaDraft(item)), configuration: nil))
            .statements()
        let rest =
            "BEGIN UPDATE ZITEM SET ZUPDATE = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK; "
            + "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZITEM', Z_ENT, Z_PK, 'update', ZUPDATE) FROM ZITEM "
            + "WHERE Z_PK = NEW.Z_PK; END"
        #expect(
            ours.contains(
                "CREATE TRIGGER Z_DA_ZITEM_Item_update_UPDATE AFTER UPDATE OF Z_OPT ON ZITEM FOR EACH ROW " + rest))
        #expect(ours.count == 2)
    }

    @Test("A store that Apple wrote with derived attributes opens and accepts writes", arguments: [true, false])
    func writes(_ isNewer: Bool) throws {
        guard let stores = Corpus.stores else { return }
        let folder = Folder()
        let url = folder.file("copy.sqlite")
        try FileManager.default.copyItem(at: stores.appendingPathComponent(isNewer ? Self.newer : Self.older), to: url)
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel(draft: Self.sample(hasInverse: isNewer)))
        // Not compared: in the store's model the books of an author number at most -1, which no model file
        // can say.
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSIgnorePersistentStoreVersioningOption: true, NSPersistentHistoryTrackingKey: isNewer])
        let context = coordinator.context()
        let books = try context.all("Book")
        #expect(books.count == 52)
        let book = try #require(books.first { ($0.value(forKey: "pagesCount") as? Int ?? 0) > 5 })
        var pages = try #require(book.value(forKey: "pages") as? Set<NSManagedObject>)
        let count = pages.count
        #expect(book.value(forKey: "pagesCount") as? Int == count)
        let (gone, moved) = (pages.removeFirst(), pages.removeFirst())
        let other = try #require(books.first { $0 !== book })
        let others = try #require(other.value(forKey: "pages") as? Set<NSManagedObject>)
        for number in 0..<3 {
            let page = context.make("Page", ["number": 900 + number, "isBookmarked": false, "book": book])
            page.setValue(moved.value(forKey: "content"), forKey: "content")
            pages.insert(page)
        }
        moved.setValue(950, forKey: "number")
        moved.setValue(other, forKey: "book")
        book.setValue(pages, forKey: "pages")
        other.setValue(others.union([moved]), forKey: "pages")
        context.delete(gone)
        try context.save()
        #expect(book.anew("pagesCount") as? Int == count + 1)
        #expect(other.anew("pagesCount") as? Int == others.count + 1)
        let key = book.objectID.uriRepresentation().lastPathComponent.dropFirst()
        #expect(try SQLiteFile(url).rows("SELECT ZPAGESCOUNT FROM ZBOOK WHERE Z_PK = \(key)") == [String(count + 1)])
        #expect(try SQLiteFile(url).rows("PRAGMA integrity_check") == ["ok"])
    }

    @Test("A commit names the rows that its triggers changed, and no others", arguments: [true, false])
    func touched(_ isSQLite: Bool) throws {
        let folder = Folder()
        let schema = try Schema(checking: Library.draft())
        let store: any RowStore =
            isSQLite
            ? try SQLiteStore(
                url: folder.file("a.sqlite"), schema: schema, configuration: nil, options: SQLiteOptions())
            : try MemoryStore(schema: schema)
        let node = try #require(schema.entity(named: "Node"))
        let parent = try #require(node.slots.firstIndex { $0.name == "parent" })
        let keys = try store.allocateKeys(3, in: node.index)
        func insert(_ rows: [(Int64, Int64?)]) throws -> [RowKey] {
            let chunk = RowChunk(layout: node.layout, capacity: 4)
            for (number, owner) in rows {
                var values: [Value] = node.slots.map { _ in .null }
                if let owner { values[parent] = .int(owner) }
                try chunk.append(key: number, version: 1, values: values)
            }
            var batch = ChangeBatch()
            batch.inserts = [chunk]
            guard case .committed(let touched, _) = try store.commit(batch) else { return [] }
            return touched
        }
        let first = keys.lowerBound
        #expect(Set(try insert([(first, nil), (first + 1, nil)]).map(\.number)) == [first, first + 1])
        let touched = try insert([(first + 2, first)])
        #expect(Set(touched.map(\.number)) == [first, first + 2])
        #expect(touched.allSatisfy { $0.entity == node.index })
        let note = try #require(schema.entity(named: "Note"))
        let chunk = RowChunk(layout: note.layout, capacity: 1)
        try chunk.append(
            key: store.allocateKeys(1, in: note.index).lowerBound, version: 1, values: note.slots.map { _ in .null })
        var batch = ChangeBatch()
        batch.inserts = [chunk]
        guard case .committed(let none, _) = try store.commit(batch) else { throw CocoaError(.coderInvalidValue) }
        #expect(none.isEmpty)
    }

    @Test("A derivation enters the version hash, a foreign hash yields to the columns, and it is never overwritten")
    func hashes() throws {
        let folder = Folder()
        let url = folder.file("a.sqlite")
        func open(_ change: (inout SchemaDraft) -> Void = { _ in }) throws -> SQLiteStore {
            var draft = Library.draft()
            change(&draft)
            return try SQLiteStore(
                url: url, schema: Schema(checking: draft), configuration: nil, options: SQLiteOptions())
        }
        func renamed(_ draft: inout SchemaDraft) {
            draft.entities[6].attributes[2].derivationExpression = "children.@sum.size"
        }
        try open().close()
        #expect((#expect(throws: StoreError.self) { _ = try open(renamed) })?.code == 134100)
        // What Apple's Core Data would have recorded for Node is not known: any 32 bytes stand for it.
        let foreign = Data(repeating: 7, count: 32)
        let store = try open()
        var metadata = try store.metadata()
        metadata.versionHashes["Node"] = foreign
        try store.setMetadata(metadata)
        try store.close()
        let again = try open()
        #expect(try again.metadata().versionHashes["Node"] == foreign)
        try again.setMetadata(try again.metadata())
        #expect(try again.metadata().versionHashes["Node"] == foreign)
        try again.close()
        var options = SQLiteOptions()
        options.ignoresVersionHashes = true
        let ignoring = try SQLiteStore(
            url: url, schema: Schema(checking: Library.draft()), configuration: nil, options: options)
        #expect(try ignoring.metadata().versionHashes["Node"] == foreign)
        try ignoring.close()
        let error = #expect(throws: StoreError.self) {
            _ = try open { $0.entities[6].attributes.append(Clinic.attribute("more", .string)) }
        }
        #expect(error?.code == 134100 && error?.sentence.contains("Entities that differ: Node.") == true)
        // A plain attribute that the model derives now has no trigger, so that nobody would derive it.
        let plain = folder.file("plain.sqlite")
        var draft = Library.draft()
        for entity in draft.entities.indices {
            for index in draft.entities[entity].attributes.indices {
                draft.entities[entity].attributes[index].derivationExpression = nil
            }
        }
        try SQLiteStore(url: plain, schema: Schema(checking: draft), configuration: nil, options: SQLiteOptions())
            .close()
        let underived = #expect(throws: StoreError.self) {
            _ = try SQLiteStore(
                url: plain, schema: Schema(checking: Library.draft()), configuration: nil, options: SQLiteOptions())
        }
        #expect(underived?.code == 134100)
        let other = #expect(throws: StoreError.self) {
            _ = try open { $0.entities[4].attributes[0].isOptional = false }
        }
        #expect(other?.code == 134100, "entities without derived attributes are compared as ever")
    }

    @Test("A trigger of canonical: that calls a function nobody knows gets its meaning from the model")
    func foreignFunction() throws {
        let folder = Folder()
        let url = folder.file("a.sqlite")
        func open() throws -> NSManagedObjectContext {
            try NSPersistentStoreCoordinator(Library.model(), at: url).context()
        }
        _ = try open()
        try SQLiteFile(url).run(
            "CREATE TRIGGER Z_DA_ZAUTHOR_Author_key_SOURCE_INSERT AFTER INSERT ON ZAUTHOR FOR EACH ROW BEGIN "
                + "UPDATE ZAUTHOR SET ZKEY = SomebodysFolding(NEW.ZNAME, 3) WHERE Z_PK = NEW.Z_PK; END")
        let context = try open()
        let author = context.make("Author", ["name": "ÉVE"])
        try context.save()
        #expect(author.anew("key") as? String == "eve")
    }
}
