// Two versions of a model, and stores of them.

import CoreDataTestSupport
import Testing

@testable import CoreData

/// Models from text, stores in a folder of their own, and what is in them.
final class Versions {
    let folder = Folder()

    /// A model of the entities in a text of model XML.
    func model(_ name: String, _ entities: String) throws -> NSManagedObjectModel {
        let place = folder.file("\(name).xcdatamodel")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data("<model>\n\(entities)\n</model>".utf8).write(to: place.appendingPathComponent("contents"))
        return try NSManagedObjectModel(loading: place)
    }

    func file(_ name: String) -> URL { folder.file(name) }

    /// Does something with a store and closes it.
    @discardableResult
    func with<T>(
        _ model: NSManagedObjectModel, at url: URL, type: String = NSSQLiteStoreType,
        _ body: @Sendable (NSManagedObjectContext) throws -> T
    ) throws -> T {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = coordinator.context()
        let answer = try context.performAndWait { try body(context) }
        try coordinator.remove(store)
        return answer
    }

    static let first = """
        <entity name="Author">
            <attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="born" optional="YES" attributeType="Integer 16"/>
            <relationship name="books" optional="YES" toMany="YES" ordered="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
        </entity>
        <entity name="Book">
            <attribute name="title" attributeType="String"/>
            <attribute name="pages" optional="YES" attributeType="Integer 32"/>
            <attribute name="kind" optional="YES" attributeType="String"/>
            <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
            <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="books" inverseEntity="Tag"/>
        </entity>
        <entity name="Tag">
            <attribute name="word" optional="YES" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="tags" inverseEntity="Book"/>
        </entity>
        <entity name="Note"><attribute name="text" optional="YES" attributeType="String"/></entity>
        """

    /// The author is a person and required, pages may not be null, the note is gone, a shelf is new.
    static let second = """
        <entity name="Person" elementID="Author">
            <attribute name="fullName" optional="YES" attributeType="String" elementID="name"/>
            <attribute name="born" optional="YES" attributeType="Integer 16"/>
            <attribute name="rank" attributeType="Integer 16" defaultValueString="7"/>
            <relationship name="books" optional="YES" toMany="YES" ordered="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
        </entity>
        <entity name="Book">
            <attribute name="title" attributeType="String"/>
            <attribute name="pages" attributeType="Integer 32" defaultValueString="-1"/>
            <attribute name="kind" optional="YES" attributeType="String"/>
            <relationship name="author" maxCount="1" destinationEntity="Person" inverseName="books" inverseEntity="Person"/>
            <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="books" inverseEntity="Tag"/>
        </entity>
        <entity name="Tag">
            <attribute name="word" optional="YES" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="tags" inverseEntity="Book"/>
        </entity>
        <entity name="Shelf"><attribute name="place" optional="YES" attributeType="String"/></entity>
        """

    /// Two authors with books in an order, tags on both sides.
    func library(_ model: NSManagedObjectModel, at url: URL, type: String = NSSQLiteStoreType) throws {
        try with(model, at: url, type: type) { context in
            let ann = context.make("Author", ["name": "Ann", "born": 1901])
            let bob = context.make("Author", ["name": "Bob"])
            let old = context.make("Tag", ["word": "old"])
            let good = context.make("Tag", ["word": "good"])
            let books = [
                context.make(
                    "Book",
                    [
                        "title": "Zebras", "pages": 300, "kind": "nature", "author": ann,
                        "tags": NSSet(array: [old, good]),
                    ]),
                context.make(
                    "Book",
                    ["title": "Apples", "pages": 120, "kind": "food", "author": ann, "tags": NSSet(array: [good])]),
                context.make("Book", ["title": "Mice", "kind": "nature", "author": bob]),
            ]
            ann.setValue(NSOrderedSet(array: [books[0], books[1]]), forKey: "books")
            context.make("Note", ["text": "lost"])
            try context.save()
        }
    }
}

/// The error of a body that must throw one of Core Data's.
func thrown(_ body: () throws -> Void, _ location: SourceLocation = #_sourceLocation) -> CocoaError? {
    do {
        try body()
        Issue.record("nothing was thrown", sourceLocation: location)
    } catch {
        if let error = error as? CocoaError { return error }
        Issue.record("\(error) was thrown", sourceLocation: location)
    }
    return nil
}
