// Fetches of dictionaries: columns, expressions, groups, and what they leave out.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct DictionaryFetchTests {
    static let types = StoreMaker.types
    /// Three wards of 0, 1 and 3 patients, and a patient without one. Nothing is held.
    private func stack(_ type: String) throws -> Stack {
        let stack = try Stack(type, undo: false)
        let context = stack.context
        for (ward, ages) in [("east", []), ("north", [30]), ("west", [10, 20, 60])] as [(String, [Int])] {
            let made = context.make("Ward", ["name": ward, "beds": ages.count])
            for age in ages {
                let fee = NSDecimalNumber(string: "0.1")
                let patient = context.make(
                    "Patient", ["name": "\(ward)\(age)", "age": age, "weight": Double(age) / 4, "fee": fee])
                patient.setValue(made, forKey: "ward")
            }
        }
        _ = context.make("Patient", ["name": "none", "awake": true, "born": Date(timeIntervalSinceReferenceDate: 5)])
        try context.save()
        context.reset()
        return stack
    }

    private func request(_ entity: String = "Patient", _ properties: [Any]? = nil, sort: [String] = [])
        -> NSFetchRequest<NSDictionary>
    {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    private func computed(_ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType)
        -> NSExpressionDescription
    {
        let computed = NSExpressionDescription()
        computed.name = name
        computed.expression = NSExpression(format: format)
        computed.expressionResultType = type
        return computed
    }

    @Test("8.9 Without properties a dictionary has all attributes that have a value", arguments: types)
    func whole(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        let all = request(sort: ["name"])
        let found = try #require(try context.fetch(all) as? [[String: Any]])
        #expect(found.map { $0["name"] as? String } == ["none", "north30", "west10", "west20", "west60"])
        #expect(Set(found[0].keys) == ["name", "awake", "born"])
        #expect(
            found[0]["awake"] as? Bool == true && found[0]["born"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
        #expect(found[4]["age"] as? Int16 == 60 && found[4]["weight"] as? Double == 15)
        #expect((found[4]["fee"] as? NSDecimalNumber)?.description == "0.1")
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("8.9 Properties are names, key paths, to-ones, descriptions and expressions", arguments: types)
    func properties(_ type: String) throws {
        let stack = try stack(type)
        let age = try #require(stack.coordinator.managedObjectModel.entitiesByName["Patient"]?.attributesByName["age"])
        let asked: [Any] = [
            "name", "ward.name", "ward", age, computed("half", "age / 2", .doubleAttributeType), "ward.patients.@count",
            "name",
        ]
        let found = try stack.context.fetch(request(properties: asked))
        let west = try #require(found.last)
        #expect(west["ward.name"] as? String == "west" && west["age"] as? Int == 60 && west["half"] as? Double == 30)
        #expect(west["ward.patients.@count"] as? Int == 3)
        let ward = try #require(west["ward"] as? NSManagedObjectID)
        #expect(ward.entity.name == "Ward" && ward.persistentStore === stack.coordinator.persistentStores[0])
        #expect(try stack.context.existingObject(with: ward).value(forKey: "name") as? String == "west")
        #expect(
            found[0].allKeys as? [String] == ["name", "ward.patients.@count"]
                || found[0].allKeys as? [String] == ["name"])
        #expect(west.count == 6 && Set(west.allKeys as? [String] ?? []).count == 6)
    }

    private func request(properties: [Any]) -> NSFetchRequest<NSDictionary> {
        request("Patient", properties, sort: ["name"])
    }

    @Test("Swift dictionaries hold what Foundation's do, whatever the request says of its results", arguments: types)
    func swift(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        let requests = [
            request(sort: ["name"]), request("Patient", ["name", "ward.name", "ward"], sort: ["name"]),
            request(
                "Patient", [computed("half", "age / 2"), computed("self", "SELF", .objectIDAttributeType)],
                sort: ["name"]),
            request("Ward", [computed("all", "sum:(beds)", .integer64AttributeType)]),
        ]
        for request in requests {
            let expected = try context.fetch(request)
            request.resultType = .managedObjectResultType
            let found = try context.fetchDictionaries(request)
            #expect(found.count == expected.count && !found.isEmpty)
            #expect(found.map { $0 as NSDictionary } == expected)
        }
        #expect(
            try context.fetchDictionaries(request("Patient", ["name"], sort: ["name"]))[0]["name"] as? String == "none")
        let error = #expect(throws: CocoaError.self) { try context.fetchDictionaries(request("Patient", ["nothing"])) }
        #expect(error?.errorCode == 134060)
    }

    @Test("8.9 Aggregates of all rows are one dictionary", arguments: types)
    func aggregates(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        let asked = [
            computed("n", "count:(name)", .integer32AttributeType), computed("sum", "sum:(age)", .doubleAttributeType),
            computed("most", "max:(age)"), computed("mean", "average:(age)"), computed("fees", "@sum.fee"),
        ]
        let found = try #require(try context.fetch(request("Patient", asked)).first)
        #expect(
            found["n"] as? Int == 5 && found["sum"] as? Double == 120 && found["most"] as? Int == 60
                && found["mean"] as? Double == 30)
        #expect((found["fees"] as? NSDecimalNumber)?.description == "0.4")
        let none = request("Patient", asked)
        none.predicate = NSPredicate(format: "name == 'nobody'")
        let empty = try #require(try context.fetch(none).first)
        #expect(empty["n"] as? Int == 0 && empty["most"] == nil && empty["mean"] == nil)
    }

    @Test("8.9 Groups have keys, aggregates and a condition that names columns", arguments: types)
    func groups(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        let asked: [Any] = ["ward.name", computed("n", "count:(name)"), computed("oldest", "max:(age)")]
        let grouped = request("Patient", asked, sort: ["ward.name"])
        grouped.propertiesToGroupBy = ["ward.name"]
        #expect(try context.fetch(grouped).map { $0["n"] as? Int } == [1, 1, 3])
        #expect(try context.count(for: grouped) == 3)
        grouped.havingPredicate = NSPredicate(format: "$n > 1 AND $oldest == 60")
        let found = try context.fetch(grouped)
        #expect(found.map { $0["ward.name"] as? String } == ["west"])
        grouped.havingPredicate = NSPredicate(format: "$n == 1")
        grouped.sortDescriptors = [NSSortDescriptor(key: "oldest", ascending: false)]
        grouped.fetchLimit = 1
        #expect(try context.fetch(grouped).map { $0["oldest"] as? Int } == [30])
    }

    @Test(
        "8.9 returnsDistinctResults leaves equal dictionaries out, limit and offset count what is left",
        arguments: types)
    func distinct(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        let distinct = request("Patient", ["ward.name"], sort: ["ward.name"])
        distinct.returnsDistinctResults = true
        #expect(try context.fetch(distinct).map { $0["ward.name"] as? String } == [nil, "north", "west"])
        distinct.fetchOffset = 1
        distinct.fetchLimit = 1
        #expect(try context.fetch(distinct) == [["ward.name": "north"]])
        #expect(try context.count(for: distinct) == 1)
    }

    @Test("8.3 Dictionaries show what the stores hold, in a child too", arguments: types)
    func unsaved(_ type: String) throws {
        let stack = try stack(type)
        let child = stack.context.child()
        for context in [stack.context, child] {
            for patient in try context.all("Patient") { patient.setValue("changed", forKey: "name") }
            _ = context.make("Patient", ["name": "new"])
            #expect(try context.fetch(request(sort: ["name"])).compactMap { $0["name"] as? String }.first == "none")
            #expect(try context.count(for: request()) == 5)
        }
    }

    @Test(
        "8.3 Groups, their condition and aggregates take no notice of what is unsaved; after a save they do",
        arguments: types)
    func unsavedGroups(_ type: String) throws {
        let stack = try stack(type)
        let context = stack.context
        let grouped = request(
            "Patient", ["ward.name", computed("n", "count:(name)"), computed("oldest", "max:(age)")],
            sort: ["ward.name"])
        grouped.propertiesToGroupBy = ["ward.name"]
        grouped.havingPredicate = NSPredicate(format: "$n > 1 AND $oldest >= 60")
        let total = request("Patient", [computed("n", "count:(name)"), computed("oldest", "max:(age)")])
        let north = try #require(context.all("Ward").first { $0.value(forKey: "name") as? String == "north" })
        for age in [70, 80] { context.make("Patient", ["name": "new", "age": age]).setValue(north, forKey: "ward") }
        for patient in try context.all("Patient") where patient.value(forKey: "age") as? Int == 60 {
            context.delete(patient)
        }
        func found() throws -> [String] {
            try context.fetch(grouped).map { "\($0["ward.name"] ?? "-") \($0["n"] ?? 0)" }
                + context.fetch(total).map { "\($0["n"] ?? 0) to \($0["oldest"] ?? 0)" }
        }
        #expect(try found() == ["west 3", "5 to 60"])
        #expect(try context.count(for: grouped) == 1)
        try context.save()
        #expect(try found() == ["north 3", "6 to 80"])
    }

    @Test("8.9 What means nothing is refused by name", arguments: types)
    func refusals(_ type: String) throws {
        let stack = try stack(type)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        func refused(_ words: String, _ request: NSFetchRequest<NSDictionary>) {
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(error?.errorCode == 134060 && "\(error.map { $0 as Any } ?? "")".contains(words))
        }
        refused("nosuch", request("Patient", ["nosuch"]))
        refused("doctors", request("Patient", ["doctors"]))
        refused("group by it or aggregate it", request("Patient", ["name", computed("n", "max:(age)")]))
        refused("expressionResultType", request("Patient", [computed("n", "max:(age)", .stringAttributeType)]))
        refused("lacks a name or an expression", request("Patient", [NSExpressionDescription()]))
        refused("names a property by Int", request("Patient", [3]))
        let having = request("Patient", ["name"])
        having.havingPredicate = NSPredicate(format: "age > 1")
        refused("having", having)
        let objects = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        objects.propertiesToFetch = ["nosuch"]
        #expect(throws: CocoaError.self) { try context.fetch(objects) }
        objects.propertiesToFetch = ["name", "ward"]
        #expect(try context.fetch(objects).count == 5)
        objects.propertiesToGroupBy = ["name"]
        #expect(throws: CocoaError.self) { try context.fetch(objects) }
    }

    @Test("8.13 Several stores answer as one, but for objects, whose keys are of one store")
    func severalStores() throws {
        let stack = try Stack(undo: false)
        let context = stack.context
        let a = stack.coordinator.persistentStores[0]
        let b = try stack.coordinator.addPersistentStore(
            ofType: NSBinaryStoreType, configurationName: nil, at: stack.folder.file("second"), options: nil)
        for (place, store) in [a, b, b, a].enumerated() {
            context.assign(context.make("Doctor", ["name": "d\(place / 2)", "code": place]), to: store)
        }
        try context.save()
        let grouped = request("Doctor", ["name", computed("sum", "sum:(code)")], sort: ["name"])
        grouped.propertiesToGroupBy = ["name"]
        #expect(try context.fetch(grouped) == [["name": "d0", "sum": 1], ["name": "d1", "sum": 5]])
        let ids = request("Doctor", [computed("id", "SELF", .objectIDAttributeType)])
        #expect(throws: CocoaError.self) { try context.fetch(ids) }
        ids.affectedStores = [b]
        let found = try context.fetch(ids).compactMap { $0["id"] as? NSManagedObjectID }
        #expect(found.count == 2 && found.allSatisfy { $0.persistentStore === b })
    }

    @Test(
        "8.9 A composite is a dictionary, a transformable what its transformer makes",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func compositesAndTransformables(_ type: String) throws {
        var draft = SchemaDraft()
        draft.composites = [
            Composite(name: "Area", attributes: [Clinic.attribute("low", .double), Clinic.attribute("high", .double)])
        ]
        var site = EntityDraft(name: "Site")
        site.attributes = [
            Clinic.attribute("name", .string), Clinic.composite("area", "Area"),
            Clinic.transformable("tags", "NSSecureUnarchiveFromData"),
        ]
        site.relationships = [
            Clinic.toOne("next", "Site", inverse: "former"), Clinic.toOne("former", "Site", inverse: "next"),
        ]
        draft.entities = [site]
        let stack = try Stack(type, model: NSManagedObjectModel(draft: draft), undo: false)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        let first = context.make("Site", ["name": "a", "area": ["low": 1.5], "tags": ["x", "y"] as NSArray])
        context.make("Site", ["name": "b"]).setValue(first, forKey: "former")
        try context.save()
        context.reset()
        let found = try context.fetch(request("Site", sort: ["name"]))
        #expect(found[0]["area"] as? [String: Double] == ["low": 1.5] && found[0]["tags"] as? [String] == ["x", "y"])
        #expect(found[1].count == 1)
        #expect(
            try context.fetch(request("Site", ["area.low"], sort: ["name"])).map { $0["area.low"] as? Double } == [
                1.5, nil,
            ])
        let all: [Any] = [
            computed("own", "tags"), computed("declared", "tags", .transformableAttributeType),
            computed("behind", "former.tags"), "former.tags",
        ]
        let words = try context.fetch(request("Site", all, sort: ["name"])).map { $0 as? [String: [String]] }
        let xy = ["x", "y"]
        #expect(words == [["own": xy, "declared": xy], ["behind": xy, "former.tags": xy]])
    }

    @Test("A dictionary outlives its context and may be read on any thread")
    func threads() async throws {
        let stack = try stack(NSSQLiteStoreType)
        let found = try stack.context.fetch(request("Patient", ["name", "age"], sort: ["name"]))
        withExtendedLifetime(stack) {}
        nonisolated(unsafe) let dictionaries = found
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { dictionaries.reduce(0) { $0 + ($1["age"] as? Int ?? 0) + $1.count } } }
            for try await sum in group { #expect(sum == 129) }
        }
        #expect(found[1].isEqual(NSDictionary(dictionary: ["name": "north30", "age": 30])))
        #expect(NSDictionary(dictionary: ["name": "north30", "age": 30]).isEqual(found[1]))
        #expect((found[1].copy() as? NSDictionary) == found[1] && found[1].description.contains("north30"))
        #expect((found[1].mutableCopy() as? NSMutableDictionary)?.count == 2)
        #expect(found[0].value(forKey: "name") as? String == "none")
    }
}
