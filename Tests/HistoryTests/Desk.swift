// Stacks over a store with history.

import CoreData
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

/// A coordinator with one SQLite store that records history, and contexts on it.
final class Desk: @unchecked Sendable {
    let folder: Folder
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore

    init(
        _ model: NSManagedObjectModel = Clinic.model(), in folder: Folder = Folder(), tracks: Bool = true,
        options: [String: Any] = [:]
    ) throws {
        self.folder = folder
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("store"),
            options: (tracks ? [NSPersistentHistoryTrackingKey: true] : [:]).merging(options) { $1 })
    }

    func context(_ author: String? = nil, name: String? = nil) -> NSManagedObjectContext {
        let context = coordinator.context()
        context.transactionAuthor = author
        context.name = name
        return context
    }

    /// Saves a bed of a number, as an author.
    @discardableResult
    func addBed(_ number: Int, _ author: String? = nil) throws -> NSManagedObject {
        let context = context(author)
        let bed = context.make("Bed", ["number": number])
        try context.save()
        return bed
    }

    var url: URL { folder.file("store") }

    func fetch<T>(
        _ request: NSPersistentHistoryChangeRequest, _ type: NSPersistentHistoryResultType, as: T.Type = T.self
    ) throws -> T {
        request.resultType = type
        let result = try #require(try context().execute(request) as? NSPersistentHistoryResult)
        #expect(result.resultType == type)
        return try #require(result.result as? T)
    }

    func transactions(
        _ request: NSPersistentHistoryChangeRequest = .fetchHistory(after: nil as NSPersistentHistoryToken?)
    ) throws -> [NSPersistentHistoryTransaction] {
        try fetch(request, .transactionsAndChanges)
    }

    var token: NSPersistentHistoryToken {
        get throws { try #require(coordinator.currentPersistentHistoryToken(fromStores: nil)) }
    }
}

extension NSManagedObjectContext {
    func one(_ entity: String) throws -> NSManagedObject { try #require(try all(entity).first) }
}

extension Desk {
    /// Everything in the store, object by object: values, and the names of related ones.
    func contents() throws -> [String] {
        let context = self.context()
        return try ["Patient", "Ward", "Doctor", "Visit", "Bed", "Badge"].flatMap { entity in
            try context.all(entity).map { object in
                let row = object.objectID.uriRepresentation().lastPathComponent
                let values = object.entity.propertiesByName.keys.sorted().map { key -> String in
                    switch object.value(forKey: key) {
                    case let other as NSManagedObject: "\(key)=\(other.objectID.uriRepresentation().lastPathComponent)"
                    case let others as NSOrderedSet:
                        "\(key)=\(others.compactMap { ($0 as? NSManagedObject)?.objectID.uriRepresentation().lastPathComponent })"
                    case let others as NSSet:
                        "\(key)=\(others.compactMap { ($0 as? NSManagedObject)?.objectID.uriRepresentation().lastPathComponent }.sorted())"
                    case let value: "\(key)=\(value.map { "\($0)" } ?? "-")"
                    }
                }
                return "\(entity) \(row) \(values.joined(separator: " "))"
            }
        }.sorted()
    }
}
