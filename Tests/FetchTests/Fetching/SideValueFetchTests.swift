// Fetches of values that may lie in files of their own.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

private final class SideRoom: NSManagedObject {
    var name: String? { value(forKey: "name") as? String }
    var photo: Data? { value(forKey: "photo") as? Data }
}

@Suite("Columns of values in side files") struct SideValueFetchTests {
    private static let photos: [String: Data?] = [
        "empty": Data(), "large": Data(repeating: 7, count: 200_000), "none": nil,
        "same": Data(repeating: 7, count: 200_000), "small": Data([1, 2, 3]),
    ]

    private func model() -> NSManagedObjectModel {
        let house = EntityDraft(
            "House", [Clinic.attribute("street", .string)], [Clinic.toMany("rooms", "Room", inverse: "house")])
        var room = EntityDraft(name: "Room")
        room.className = "SideRoom"
        room.attributes = [Clinic.attribute("name", .string), Clinic.attribute("photo", .binary, external: true)]
        room.relationships = [Clinic.toOne("house", "House", inverse: "rooms")]
        NSManagedObjectModel.setClass(SideRoom.self, forClassName: "SideRoom")
        return NSManagedObjectModel(house, room)
    }

    private func fill(_ context: NSManagedObjectContext, _ names: [String]) throws -> [NSManagedObject] {
        let made = names.map { name in
            let room = context.make("Room", ["name": name])
            if let photo = Self.photos[name] ?? nil { room.setValue(photo, forKey: "photo") }
            return room
        }
        return made
    }

    private func stack(_ type: String) throws -> Stack {
        let stack = try Stack(type, model: model(), undo: false)
        let house = stack.context.make("House", ["street": "x"])
        for room in try fill(stack.context, Self.photos.keys.sorted()) { room.setValue(house, forKey: "house") }
        try stack.context.save()
        stack.context.reset()
        return stack
    }

    private func request(_ entity: String, _ properties: [Any]?) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    @Test(
        "8.9 Dictionaries have values from side files, with and without names of properties",
        arguments: StoreMaker.types)
    func dictionaries(_ type: String) throws {
        let stack = try stack(type)
        let context = stack.context
        for properties in [nil, ["name", "photo"]] as [[Any]?] {
            let found = try context.fetch(request("Room", properties))
            #expect(found.map { $0["name"] as? String } == Self.photos.keys.sorted())
            for room in found { #expect(room["photo"] as? Data == (Self.photos[room["name"] as? String ?? ""] ?? nil)) }
        }
        let distinct = request("Room", ["photo"])
        distinct.sortDescriptors = nil
        distinct.returnsDistinctResults = true
        #expect(Set(try context.fetch(distinct).map { ($0["photo"] as? Data)?.count ?? -1 }) == [-1, 0, 3, 200_000])
        #expect(try context.fetch(distinct).count == 4)
        let reached = request("Room", ["name", "house.rooms.@count", "photo"])
        reached.predicate = NSPredicate(format: "photo == %@", try #require(Self.photos["large"] ?? nil))
        #expect(try context.fetch(reached).map { ($0["photo"] as? Data)?.count } == [200_000, 200_000])
    }

    @Test("8.9 Objects may be asked for by such a property, and columns read it", arguments: StoreMaker.types)
    func objectsAndColumns(_ type: String) throws {
        let stack = try stack(type)
        let context = stack.context
        let objects = NSFetchRequest<NSManagedObject>(entityName: "Room")
        objects.propertiesToFetch = ["photo"]
        #expect(try context.fetch(objects).count == 5)
        let (ids, photos) = try SideRoom.columns(of: \.photo, sortedBy: [SortDescriptor(\.name)], in: context)
        #expect(ids.count == 5 && photos == Self.photos.keys.sorted().map { Self.photos[$0] ?? nil })
    }

    @Test("8.9 What is made of such a value is still refused: groups, aggregates and calculations")
    func refused() throws {
        let stack = try stack(NSSQLiteStoreType)
        let grouped = request("Room", ["photo"])
        grouped.sortDescriptors = nil
        grouped.propertiesToGroupBy = ["photo"]
        let least = NSExpressionDescription()
        least.name = "least"
        least.expression = NSExpression(format: "min:(photo)")
        let aggregated = request("Room", [least])
        aggregated.sortDescriptors = nil
        for request in [grouped, aggregated] {
            let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
            #expect(error?.code.rawValue == 134060 && error?.localizedDescription.contains("photo") == true)
        }
    }

    @Test("8.13 Several stores answer with the bytes of their files")
    func severalStores() throws {
        let stack = try Stack(model: model(), undo: false)
        let context = stack.context
        let other = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.file("second"), options: nil)
        for room in try fill(context, ["large", "small"]) {
            context.assign(room, to: stack.coordinator.persistentStores[0])
        }
        for room in try fill(context, ["same", "empty"]) { context.assign(room, to: other) }
        try context.save()
        let found = try context.fetch(request("Room", ["name", "photo"]))
        #expect(found.map { $0["name"] as? String } == ["empty", "large", "same", "small"])
        #expect(found.map { ($0["photo"] as? Data)?.count } == [0, 200_000, 200_000, 3])
        try context.setQueryGenerationFrom(.current)
        #expect(try context.fetch(request("Room", ["name", "photo"])) == found)
    }

    @Test("8.9 A file that is gone makes the fetch throw")
    func missing() throws {
        let stack = try stack(NSSQLiteStoreType)
        let walk = FileManager.default.enumerator(at: stack.folder.url, includingPropertiesForKeys: nil)
        let files = (walk?.allObjects as? [URL] ?? []).filter { UUID(uuidString: $0.lastPathComponent) != nil }
        #expect(files.count == 2)
        for file in files { try FileManager.default.removeItem(at: file) }
        #expect(throws: CocoaError.self) { try stack.context.fetch(request("Room", ["photo", "name"])) }
    }
}
