// Batch requests: many rows at once in the stores, and what contexts learn of it.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct BatchRequestTests {
    static let types = StoreMaker.types
    static let constrained = StoreMaker.types(for: .constraints)

    /// Rooms with a unique number where the store can keep it.
    private static func draft(unique: Bool) -> SchemaDraft {
        var house = EntityDraft(name: "House")
        house.attributes = [Clinic.attribute("street", .string)]
        house.relationships = [Clinic.toMany("rooms", "Room", inverse: "house", rule: .cascade)]
        var room = EntityDraft(name: "Room")
        room.attributes = [
            Clinic.attribute("number", .integer64), Clinic.attribute("name", .string),
            Clinic.attribute("beds", .integer16, default: .int(2)), Clinic.attribute("photo", .binary, external: true),
            Clinic.attribute("since", .date),
        ]
        room.relationships = [Clinic.toOne("house", "House", inverse: "rooms")]
        if unique { room.uniquenessConstraints = [["number"]] }
        let suite = EntityDraft("Suite", [Clinic.attribute("stars", .integer16)], parent: "Room")
        return SchemaDraft(house, room, suite)
    }

    private func stack(_ type: String, unique: Bool = false) throws -> Stack {
        try Stack(type, model: NSManagedObjectModel(draft: Self.draft(unique: unique)), undo: false)
    }

    private func rooms(_ context: NSManagedObjectContext, _ predicate: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>("Room", predicate, by: "number")
        request.shouldRefreshRefetchedObjects = true
        return try context.fetch(request)
    }

    private func names(_ objects: [NSManagedObject]) -> [String] {
        objects.map { $0.value(forKey: "name") as? String ?? "-" }
    }

    private func insert(_ stack: Stack, _ count: Int) throws {
        let request = NSBatchInsertRequest(
            entityName: "Room", objects: (0..<count).map { ["number": $0, "name": "r\($0)"] })
        _ = try stack.context.execute(request)
    }

    /// What a request answers, as a type.
    private func answer<R>(_ request: NSPersistentStoreRequest, _ context: NSManagedObjectContext) throws -> R? {
        switch try context.execute(request) {
        case let result as NSBatchInsertResult: result.result as? R
        case let result as NSBatchUpdateResult: result.result as? R
        case let result as NSBatchDeleteResult: result.result as? R
        default: nil
        }
    }

    private func refused(_ words: String, _ body: () throws -> Void) {
        let error = #expect(throws: CocoaError.self, performing: body)
        #expect("\(error.map { $0 as Any } ?? "")".contains(words))
    }

    // MARK: Insert

    @Test(
        "9.4 Rows come from dictionaries and from both kinds of blocks; what is missing has its default",
        arguments: types)
    func insert(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let photo = Data(repeating: 7, count: 200_000)
        let dictionaries = NSBatchInsertRequest(
            entityName: "Room",
            objects: [
                ["number": 1, "name": "a", "beds": Int16(3)], ["number": NSNumber(value: 2), "name": NSNull()], [:],
            ])
        dictionaries.resultType = .count
        let result = try #require(try stack.context.execute(dictionaries) as? NSBatchInsertResult)
        #expect(result.result as? Int == 3)
        var number = 10
        let filled = NSBatchInsertRequest(
            entityName: "Room",
            dictionaryHandler: { dictionary in
                dictionary["number"] = number
                dictionary["photo"] = photo
                number += 1
                return number > 12
            })
        filled.resultType = .objectIDs
        let ids: [NSManagedObjectID] = try #require(try answer(filled, stack.context))
        #expect(ids.count == 2 && !ids[0].isTemporaryID)
        #expect(try stack.another().existingObject(with: ids[1]).value(forKey: "number") as? Int == 11)
        var (stars, beds) = (0, Set<Int?>())
        let objects = NSBatchInsertRequest(
            entityName: "Suite",
            managedObjectHandler: { object in
                beds.insert(object.value(forKey: "beds") as? Int)
                stars += 1
                object.setValue(stars, forKey: "stars")
                object.setValue(20 + stars, forKey: "number")
                return stars == 600
            })
        #expect(try answer(objects, stack.context) == true)
        let reader = stack.another()
        let found = try rooms(reader)
        #expect(
            found.count == 3 + 2 + 599
                && found.map { $0.value(forKey: "beds") as? Int }.filter { $0 == 2 }.count == found.count - 1)
        #expect(found.count { $0.entity.name == "Suite" } == 599)
        #expect(beds == [2], "The handler reads defaults.")
        withExtendedLifetime(reader) { #expect(found.count { $0.value(forKey: "photo") as? Data == photo } == 2) }
        #expect(stack.context.registeredObjects.isEmpty && !stack.context.hasChanges)
    }

    @Test("9.5 A wrong key, type, entity or relationship is refused by name, and nothing is inserted", arguments: types)
    func refusedRows(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        func insert(_ entity: String, _ row: [String: Any]) throws {
            _ = try stack.context.execute(NSBatchInsertRequest(entityName: entity, objects: [[:], row]))
        }
        refused("nosuch") { try insert("Room", ["nosuch": 1]) }
        refused("Room.number") { try insert("Room", ["number": "one"]) }
        refused("Room.beds") { try insert("Room", ["beds": 70_000]) }
        refused("house") { try insert("Room", ["house": 1]) }
        refused("rooms") { try insert("House", ["street": "x", "rooms": []]) }
        refused("Nowhere") { try insert("Nowhere", [:]) }
        let related = NSBatchInsertRequest(
            entityName: "Room",
            managedObjectHandler: { room in
                room.setValue(
                    NSManagedObject(
                        entity: stack.coordinator.managedObjectModel.entitiesByName["House"] ?? room.entity,
                        insertInto: nil), forKey: "house")
                return false
            })
        refused("house") { _ = try stack.context.execute(related) }
        #expect(try rooms(stack.another()).isEmpty)
    }

    @Test(
        "9.4 A row whose unique values are taken is left out, or overwrites where the policy prefers memory; each is told",
        arguments: constrained)
    func upsert(_ type: String) throws {
        let stack = try stack(type, unique: true)
        defer { withExtendedLifetime(stack) {} }
        try insert(stack, 3)
        func run(_ policy: NSMergePolicy) throws -> NSBatchInsertResult {
            stack.context.mergePolicy = policy
            let request = NSBatchInsertRequest(
                entityName: "Room", objects: [["number": 1, "name": "new"], ["number": 7, "name": "x"]])
            request.reportsEffects = true
            request.resultType = .count
            return try #require(try stack.context.execute(request) as? NSBatchInsertResult)
        }
        let kept = try run(NSMergePolicy(merge: .errorMergePolicyType))
        #expect(kept.effects.map(\.effect) == [.kept, .inserted] && kept.result as? Int == 1)
        #expect(
            try stack.another().existingObject(with: kept.effects[0].objectID).value(forKey: "name") as? String == "r1")
        let updated = try run(NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType))
        #expect(
            updated.effects.map(\.effect) == [.updated, .updated]
                && updated.effects[0].objectID == kept.effects[0].objectID)
        #expect(names(try rooms(stack.another())) == ["r0", "new", "r2", "x"])
    }

    // MARK: Update

    @Test("9.3 An update writes constants and expressions, raises versions and refreshes on request", arguments: types)
    func update(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        try insert(stack, 5)
        let (reader, writer) = (stack.another(), stack.another())
        let held = try rooms(reader)
        try rooms(writer)[1].setValue("mine", forKey: "name")
        let request = NSBatchUpdateRequest(entityName: "Room")
        request.predicate = NSPredicate(format: "number < 3")
        request.propertiesToUpdate = ["name": "u", "beds": NSExpression(format: "beds * 2"), "since": NSNull()]
        request.resultType = .updatedObjectsCountResultType
        #expect(try answer(request, reader) == 3)
        #expect(names(held) == ["r0", "r1", "r2", "r3", "r4"])
        #expect(names(try rooms(stack.another())) == ["u", "u", "u", "r3", "r4"])
        #expect(try rooms(stack.another()).map { $0.value(forKey: "beds") as? Int } == [4, 4, 4, 2, 2])
        let conflict = #expect(throws: CocoaError.self) { try writer.save() }
        #expect(conflict?.errorCode == 133020)
        request.propertiesToUpdate = ["name": "again"]
        request.refreshesRegisteredObjects = true
        request.resultType = .updatedObjectIDsResultType
        let ids: [NSManagedObjectID]? = try answer(request, reader)
        #expect(
            Set(ids ?? []) == Set(held[..<3].map(\.objectID)) && names(held) == ["again", "again", "again", "r3", "r4"])
    }

    @Test(
        "9.3 An update sets to-ones and reaches sub-entities unless told not to; what it cannot assign is refused",
        arguments: types)
    func updateReach(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        try insert(stack, 2)
        _ = try stack.context.execute(NSBatchInsertRequest(entityName: "Suite", objects: [["number": 2, "name": "s"]]))
        let house = stack.context.make("House", ["street": "x"])
        try stack.context.save()
        let request = NSBatchUpdateRequest(entityName: "Room")
        request.propertiesToUpdate = ["house": house.objectID]
        request.includesSubentities = false
        _ = try stack.context.execute(request)
        #expect(try rooms(stack.another(), "house.street == 'x'").count == 2)
        for (key, value) in [("rooms", 1), ("nosuch", 1), ("number", "x"), ("beds", 1 << 40), ("house", 3)]
            as [(String, Any)]
        {
            request.propertiesToUpdate = [key: value]
            refused(key) { _ = try stack.context.execute(request) }
        }
        request.propertiesToUpdate = nil
        refused("assigns nothing") { _ = try stack.context.execute(request) }
    }

    // MARK: Delete

    @Test("9.2 A deletion follows delete rules and takes objects out of the context on request", arguments: types)
    func delete(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        for street in ["a", "b"] {
            let house = context.make("House", ["street": street])
            for number in 0..<3 {
                context.make("Room", ["number": number, "name": street]).setValue(house, forKey: "house")
            }
        }
        try context.save()
        let held = try rooms(context)
        let fetch = NSFetchRequest<any NSFetchRequestResult>("House", "street == 'a'")
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        request.refreshesRegisteredObjects = true
        let gone: [NSManagedObjectID]? = try answer(request, context)
        #expect(gone?.count == 4)
        #expect(held.filter { $0.managedObjectContext != nil }.count == 3)
        #expect(names(try rooms(stack.another())) == ["b", "b", "b"])
        let rest = NSBatchDeleteRequest(objectIDs: Array(try rooms(stack.another()).map(\.objectID)[..<2]))
        rest.resultType = .resultTypeCount
        #expect(try answer(rest, context) == 2)
        #expect(try answer(rest, context) == 0)
        #expect(try answer(NSBatchDeleteRequest(objectIDs: []), context) == true)
        let mixed = NSBatchDeleteRequest(
            objectIDs: try rooms(stack.another()).map(\.objectID) + stack.another().all("House").map(\.objectID))
        refused("no entity in common") { _ = try context.execute(mixed) }
    }

    @Test("9.1 A batch deletes as many as limit and order say; the coordinator executes requests too", arguments: types)
    func window(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        try insert(stack, 6)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Room")
        fetch.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
        fetch.fetchLimit = 2
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        _ = try stack.coordinator.execute(request, with: stack.context)
        #expect(names(try rooms(stack.another())) == ["r0", "r1", "r2", "r3"])
    }

    @Test("9.1 A child's batch goes to the stores, not to its parent; threads that upsert the same few rows lose none")
    func threads() async throws {
        let stack = try stack(NSSQLiteStoreType, unique: true)
        defer { withExtendedLifetime(stack) {} }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                let child = stack.context.child()
                child.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
                group.addTask {
                    for round in 0..<20 {
                        try await child.perform {
                            let rows = (0..<5).map { ["number": $0, "name": "t\(task)-\(round)"] as [String: Any] }
                            _ = try child.execute(NSBatchInsertRequest(entityName: "Room", objects: rows))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let context = stack.context
        let found = try await context.perform { self.names(try self.rooms(context)) }
        #expect(found.count == 5 && Set(found).count == 1 && found.allSatisfy { $0.hasSuffix("-19") })
    }
}
