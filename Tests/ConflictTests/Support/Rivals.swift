// Two writers of the same rows, and what tests ask about them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// How the other writer reaches the rows.
enum Rivalry: String, CaseIterable, Sendable {
    /// Another context of the same coordinator.
    case sqlite, memory, binary, xml, propertyList, box, shelf
    /// Another coordinator over the same file, as another process would have.
    case otherCoordinator

    var type: String {
        switch self {
        case .sqlite, .otherCoordinator: NSSQLiteStoreType
        case .memory: NSInMemoryStoreType
        case .binary: NSBinaryStoreType
        case .xml: NSXMLStoreType
        case .propertyList: NSPropertyListStoreType
        case .box: BoxStore.type
        case .shelf: ShelfStore.type
        }
    }

    var keepsConstraints: Bool { StoreMaker.types(for: .constraints).contains(type) }

    /// One for each store that keeps constraints, and the other coordinator.
    static let constrained = allCases.filter(\.keepsConstraints)
}

/// A context that is tested, and another writer of the same rows.
final class Rivals {
    let folder = Folder()
    let mine: NSManagedObjectContext
    let theirs: NSManagedObjectContext
    private let coordinators: [NSPersistentStoreCoordinator]
    /// Objects need their contexts.
    private var readers: [NSManagedObjectContext] = []

    /// - Parameter policy: the merge policy of the context that is tested; nil refuses.
    init(
        _ rivalry: Rivalry, draft: SchemaDraft = Clinic.draft(), undo: Bool = false, policy: NSMergePolicyType? = nil
    ) throws {
        let file = folder.file("store.sqlite")
        StoreMaker.registerSamples()
        coordinators = try (0..<(rivalry == .otherCoordinator ? 2 : 1)).map { _ in
            try NSPersistentStoreCoordinator(NSManagedObjectModel(draft: draft), rivalry.type, at: file)
        }
        mine = coordinators[0].context()
        theirs = coordinators[coordinators.count - 1].context()
        // What the test says is in the store must be read from there.
        theirs.stalenessInterval = 0
        if undo { mine.undoManager = UndoManager() }
        if let policy { mine.mergePolicy = NSMergePolicy(merge: policy) }
    }

    /// A context that has seen nothing yet.
    func reader() -> NSManagedObjectContext {
        let reader = coordinators[coordinators.count - 1].context()
        reader.stalenessInterval = 0
        readers.append(reader)
        return reader
    }

    /// The other writer's object for the same row.
    func their(_ object: NSManagedObject) throws -> NSManagedObject {
        try #require(Self.same(object, in: theirs))
    }

    /// The stored row of an object, nil if it is gone.
    func stored(_ object: NSManagedObject) -> NSManagedObject? { Self.same(object, in: reader()) }

    static func same(_ object: NSManagedObject, in context: NSManagedObjectContext) -> NSManagedObject? {
        let url = object.objectID.uriRepresentation()
        guard let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url) else {
            return nil
        }
        return try? context.existingObject(with: id)
    }

    /// A saved patient that both sides know.
    func patient(_ values: [String: Any] = ["name": "Ada", "age": 30, "code": 1, "weight": 1.5]) throws
        -> NSManagedObject
    {
        let patient = mine.make("Patient", values)
        try mine.save()
        _ = try their(patient).value(forKey: "name")
        return patient
    }
}

extension NSManagedObject {
    func many(_ key: String) -> Set<NSManagedObject> {
        if let set = value(forKey: key) as? NSSet { return Set(set.compactMap { $0 as? NSManagedObject }) }
        return Set(ordered(key))
    }
    func ordered(_ key: String) -> [NSManagedObject] {
        (value(forKey: key) as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? []
    }
    func names(_ key: String) -> [String] { many(key).compactMap { $0.text("name") }.sorted() }
    /// The version of the row that the object was read from.
    var heldVersion: Int { withExtendedLifetime(self) { Int(_state.version) } }
    func set(_ key: String, _ value: Any?) { setValue(value, forKey: key) }
}
