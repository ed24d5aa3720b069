// A store with values in files of their own, for the process to change.

import CoreData
import CoreDataTestSupport
import Foundation

/// Photos with data that may lie outside the table.
struct VictimAlbum {
    private let coordinator: NSPersistentStoreCoordinator
    private let context: NSManagedObjectContext

    static func model() -> NSManagedObjectModel {
        let (photo, name, data) = (NSEntityDescription(), NSAttributeDescription(), NSAttributeDescription())
        photo.name = "Photo"
        (name.name, name.attributeType) = ("name", .stringAttributeType)
        (data.name, data.attributeType) = ("data", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = true
        photo.properties = [name, data]
        let model = NSManagedObjectModel()
        model.entities = [photo]
        return model
    }

    init(_ url: URL) throws {
        coordinator = try NSPersistentStoreCoordinator(Self.model(), at: url)
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    private func insert(_ name: String, _ byte: UInt8, _ count: Int) {
        context.make("Photo", ["name": name, "data": Data(repeating: byte, count: count)])
    }

    /// Two values in files, one in its row.
    func prepare() throws {
        insert("a", 1, 1_048_576)
        insert("b", 2, 200_000)
        insert("c", 3, 500)
        try context.save()
    }

    /// One save that replaces one file, gives up another and adds a third.
    func change() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
        for photo in try context.fetch(request) {
            switch photo.value(forKey: "name") as? String {
            case "a": photo.setValue(Data(repeating: 11, count: 1_048_576), forKey: "data")
            case "b": context.delete(photo)
            default: photo.setValue("changed", forKey: "name")
            }
        }
        insert("d", 14, 1_048_576)
        try context.save()
    }

    static func beside(_ url: URL, _ name: String) -> URL {
        url.deletingLastPathComponent().appendingPathComponent("\(name).sqlite")
    }

    func copy(to target: URL) throws {
        try coordinator.backup(to: target)
        try close()
    }

    static func exchange(_ url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.replacePersistentStore(
            at: url, withPersistentStoreFrom: beside(url, "source"), ofType: NSSQLiteStoreType)
    }

    /// Name, length and first byte of every photo, by name.
    func contents() throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
        return try context.fetch(request).map { photo in
            let data = photo.value(forKey: "data") as? Data ?? Data()
            let isWhole = data.allSatisfy { $0 == data.first }
            return "\(photo.value(forKey: "name") ?? "-") \(data.count) \(data.first ?? 0) \(isWhole)"
        }.sorted()
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
