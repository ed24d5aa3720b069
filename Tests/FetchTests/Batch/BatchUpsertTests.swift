// Batch insertions that meet stored rows: what each merge policy makes of them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Batch upserts") struct BatchUpsertTests {
    static let constrained = StoreMaker.types(for: .constraints)

    /// A room with a unique number, a name in capitals where stores derive it, and a photo that may lie in a file.
    private func stack(_ type: String, options: [AnyHashable: Any]? = nil) throws -> Stack {
        var room = EntityDraft(name: "Room")
        room.attributes = [
            Clinic.attribute("number", .integer64), Clinic.attribute("name", .string),
            Clinic.attribute("beds", .integer16, default: .int(2)), Clinic.attribute("photo", .binary, external: true),
            Clinic.attribute("floor", .integer16),
        ]
        if !SpecificationCase.leftOut.contains(where: { $0.type == type && $0.name == .derivation }) {
            var title = Clinic.attribute("title", .string)
            title.derivationExpression = "uppercase:(name)"
            room.attributes.append(title)
        }
        room.uniquenessConstraints = [["number"]]
        return try Stack(type, model: NSManagedObjectModel(room), undo: false, options: options)
    }

    private static let small = Data([1, 2, 3])
    private static let large = Data(repeating: 9, count: 200_000)

    private func facts(_ stack: Stack) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>("Room", by: "number")
        let reader = stack.another()
        return try reader.fetch(request).map { room in
            let title = room.entity.propertiesByName["title"] == nil ? nil : room.value(forKey: "title")
            if let title = title as? String { #expect(title == (room.value(forKey: "name") as? String)?.uppercased()) }
            let photo = (room.value(forKey: "photo") as? Data).map { "\($0.count)" } ?? "-"
            return ["number", "name", "beds", "floor"].map { room.value(forKey: $0).map { "\($0)" } ?? "-" }.joined(
                separator: " ") + " " + photo
        }
    }

    private func insert(_ stack: Stack, _ policy: NSMergePolicyType, _ rows: [[String: Any]]) throws
        -> [NSBatchInsertEffect]
    {
        stack.context.mergePolicy = NSMergePolicy(merge: policy)
        let request = NSBatchInsertRequest(entityName: "Room", objects: rows)
        request.reportsEffects = true
        return try #require(try stack.context.execute(request) as? NSBatchInsertResult).effects.map(\.effect)
    }

    private static let policies: [(policy: NSMergePolicyType, effect: NSBatchInsertEffect, row: String)] = [
        (.errorMergePolicyType, .kept, "1 a 5 3 200000"),
        (.mergeByPropertyStoreTrumpMergePolicyType, .kept, "1 a 5 3 200000"),
        (.rollbackMergePolicyType, .kept, "1 a 5 3 200000"),
        (.mergeByPropertyObjectTrumpMergePolicyType, .updated, "1 b 5 - 200000"),
        (.overwriteMergePolicyType, .updated, "1 b 2 - -"),
    ]

    @Test(
        "9.4 A stored row stays, takes what was given, or is overwritten with defaults too, as the merge policy says",
        arguments: constrained)
    func policies(_ type: String) throws {
        for (policy, effect, row) in Self.policies {
            let stack = try stack(type)
            defer { withExtendedLifetime(stack) {} }
            _ = try insert(
                stack, .errorMergePolicyType, [["number": 1, "name": "a", "beds": 5, "floor": 3, "photo": Self.large]])
            let effects = try insert(
                stack, policy, [["number": 1, "name": "b", "floor": NSNull()], ["number": 2, "name": "c"]])
            #expect(effects == [effect, .inserted], "\(policy)")
            #expect(try facts(stack) == [row, "2 c 2 - -"], "\(policy)")
        }
    }

    @Test(
        "9.4 By property each row gives what it has, whichever way it comes, and rows of one request to one another",
        arguments: constrained)
    func givenValues(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let rows: [[String: Any]] = [
            ["number": 1, "name": "a", "beds": 5, "photo": Self.large], ["number": 1, "floor": 4],
            ["number": 2, "photo": Self.small],
            ["number": 1, "name": "b"], ["number": 2, "photo": NSNull(), "beds": 9],
        ]
        let effects = try insert(stack, .mergeByPropertyObjectTrumpMergePolicyType, rows)
        #expect(effects == [.inserted, .updated, .inserted, .updated, .updated])
        #expect(try facts(stack) == ["1 b 5 4 200000", "2 - 9 - -"])
        var rest = 3
        let filled = NSBatchInsertRequest(
            entityName: "Room",
            dictionaryHandler: { row in
                rest -= 1
                row["number"] = rest
                row["name"] = "d\(rest)"
                return rest == 0
            })
        _ = try stack.context.execute(filled)
        #expect(try facts(stack) == ["1 d1 5 4 200000", "2 d2 9 - -"])
        rest = 3
        let objects = NSBatchInsertRequest(
            entityName: "Room",
            managedObjectHandler: { room in
                rest -= 1
                room.setValue(rest, forKey: "number")
                if rest == 2 { room.setValue(nil, forKey: "name") } else { room.setValue(Self.small, forKey: "photo") }
                return rest == 0
            })
        _ = try stack.context.execute(objects)
        #expect(try facts(stack) == ["1 d1 5 4 3", "2 - 9 - -"])
    }

    @Test("9.4 The history of an upsert names the properties that were given")
    func history() throws {
        let stack = try stack(NSSQLiteStoreType, options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        defer { withExtendedLifetime(stack) {} }
        _ = try insert(stack, .errorMergePolicyType, [["number": 1, "name": "a"], ["number": 2, "name": "b"]])
        _ = try insert(
            stack, .mergeByPropertyObjectTrumpMergePolicyType,
            [["number": 1, "name": "x"], ["number": 2, "beds": 7], ["number": 1, "floor": 1], ["number": 3]])
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try stack.context.execute(request) as? NSPersistentHistoryResult
        let last = try #require((result?.result as? [NSPersistentHistoryTransaction])?.last)
        let changes = (last.changes ?? []).map {
            "\($0.changeType.rawValue) \(Set(($0.updatedProperties ?? []).map(\.name)).sorted())"
        }
        #expect(
            Set(changes) == ["0 []", "1 [\"floor\", \"name\", \"number\"]", "1 [\"beds\", \"number\"]"]
                && changes.count == 3)
    }
}

@Suite("Blocks of batch insertions") struct BatchHandlerTests {
    private func stack(_ type: String) throws -> Stack {
        var house = EntityDraft(name: "House")
        house.attributes = [Clinic.attribute("street", .string)]
        house.relationships = [Clinic.toMany("rooms", "Room", inverse: "house", rule: .cascade)]
        var room = EntityDraft(name: "Room")
        room.attributes = [
            Clinic.attribute("number", .integer64), Clinic.attribute("beds", .integer16),
            Clinic.attribute("code", .integer32),
            Clinic.attribute("area", .double), Clinic.transformable("secret", "Refusing"),
        ]
        room.relationships = [Clinic.toOne("house", "House", inverse: "rooms")]
        ValueTransformer.setValueTransformer(RefusingTransformer(), forName: NSValueTransformerName("Refusing"))
        return try Stack(type, model: NSManagedObjectModel(house, room), undo: false)
    }

    private static func refused(
        _ entity: String, _ words: String, _ code: Int, _ stack: Stack, _ fill: @escaping (NSManagedObject) -> Void
    ) {
        var calls = 0
        let request = NSBatchInsertRequest(
            entityName: entity,
            managedObjectHandler: { object in
                calls += 1
                if calls == 2 { fill(object) }
                return calls == 3
            })
        let error = #expect(throws: CocoaError.self) { try stack.context.execute(request) }
        #expect(
            error?.code.rawValue == code && error?.localizedDescription.contains(words) == true,
            "\(words): \(error.map { "\($0)" } ?? "")")
    }

    @Test("9.5 What no row can have is refused of an object too, and nothing is inserted", arguments: StoreMaker.types)
    func objects(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        Self.refused("Room", "Room.beds", 134060, stack) { $0.setValue(70_000, forKey: "beds") }
        Self.refused("Room", "Room.beds", 134060, stack) { $0.setPrimitiveValue(-40_000, forKey: "beds") }
        Self.refused("Room", "Room.code", 134060, stack) { $0.setValue(1 << 40, forKey: "code") }
        Self.refused("Room", "Room.area", 1550, stack) { $0.setValue(Double.nan, forKey: "area") }
        Self.refused("Room", "Room.secret", 1550, stack) { $0.setValue("open", forKey: "secret") }
        let entities = stack.coordinator.managedObjectModel.entitiesByName
        let (house, room) = (try #require(entities["House"]), try #require(entities["Room"]))
        Self.refused("Room", "“house”", 134060, stack) {
            $0.setValue(NSManagedObject(entity: house, insertInto: nil), forKey: "house")
        }
        Self.refused("House", "“rooms”", 134060, stack) {
            $0.setValue(NSSet(object: NSManagedObject(entity: room, insertInto: nil)), forKey: "rooms")
        }
        #expect(try stack.another().all("Room").isEmpty && stack.another().all("House").isEmpty)
        var isDone = false
        let good = NSBatchInsertRequest(
            entityName: "Room",
            managedObjectHandler: { room in
                room.setValue(Int(Int16.max), forKey: "beds")
                room.setValue(Int(Int32.min), forKey: "code")
                defer { isDone = true }
                return isDone
            })
        try stack.context.execute(good)
        let reader = stack.another()
        let found = try reader.all("Room")
        #expect(
            found.map { $0.value(forKey: "beds") as? Int } == [32_767]
                && found.first?.value(forKey: "code") as? Int == Int(Int32.min))
    }
}

/// Takes nothing.
private final class RefusingTransformer: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { nil }
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}
