// Predicates that compare transformable attributes with values: the same in SQL, in memory, beside unsaved changes and for objects.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Texts as bytes behind one that is another each time: equal values have different data.
private final class Salting: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? String).map { Data([UInt8.random(in: 0...255)]) + Data($0.utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0.dropFirst(), as: UTF8.self) }
    }
}

@Suite("Transformable attributes by value") struct TransformablePredicateTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, ShelfStore.type]

    private static let registered: Void = {
        ValueTransformer.setValueTransformer(
            CodableTransformer<[String]>(), forName: NSValueTransformerName("ValueLabels"))
        ValueTransformer.setValueTransformer(Salting(), forName: NSValueTransformerName("ValueSalted"))
    }()

    /// Four notes; a has the children b and d, and c has nothing.
    private func context(_ type: String, saves: Bool = true) throws -> NSManagedObjectContext {
        _ = Self.registered
        var note = EntityDraft(name: "Note")
        note.attributes = [
            Clinic.attribute("name", .string), Clinic.transformable("words"),
            Clinic.transformable("labels", "ValueLabels"),
            Clinic.transformable("salted", "ValueSalted"),
        ]
        note.indexes = [FetchIndex(name: "byLabels", elements: [.init(property: "labels")])]
        note.relationships = [
            Clinic.toOne("parent", "Note", inverse: "children"), Clinic.toMany("children", "Note", inverse: "parent"),
        ]
        let rig = Rig(NSManagedObjectModel(note))
        try rig.add(type)
        let context = rig.context()
        context.userInfo["rig"] = rig
        let a = context.make("Note", ["name": "a", "words": ["x", "y"], "labels": ["red"], "salted": "s"])
        context.make("Note", ["name": "b", "words": "text", "labels": ["red", "blue"], "salted": "t"]).setValue(
            a, forKey: "parent")
        _ = context.make("Note", ["name": "c"])
        context.make("Note", ["name": "d", "words": ["k": 1], "labels": [String](), "salted": "s"]).setValue(
            a, forKey: "parent")
        guard saves else { return context }
        try context.save()
        context.reset()
        return context
    }

    private static var cases: [(NSPredicate, String)] {
        [
            (NSPredicate(format: "labels == %@", ["red"]), "a"), (NSPredicate(format: "labels != %@", ["red"]), "bcd"),
            (NSPredicate(format: "%@ == labels", ["red"]), "a"),
            (NSPredicate(format: "labels == {'red', 'blue'}"), "b"),
            (NSPredicate(format: "labels IN %@", [["red"], []]), "ad"),
            (NSPredicate(format: "NOT labels IN %@", [["red"], []]), "bc"),
            (NSPredicate(format: "labels == nil"), "c"), (NSPredicate(format: "labels != nil"), "abd"),
            (NSPredicate(format: "labels == %@", Data("[\"red\"]".utf8)), "a"),
            (NSPredicate(format: "labels IN %@", [["red"], NSNull()] as [Any]), "ac"),
            (NSPredicate(format: "words == %@", ["x", "y"]), "a"), (NSPredicate(format: "words == 'text'"), "b"),
            (NSPredicate(format: "'text' == words"), "b"), (NSPredicate(format: "words != 'text'"), "acd"),
            (NSPredicate(format: "words == %@", ["k": 1]), "d"), (NSPredicate(format: "words == 'x'"), ""),
            (NSPredicate(format: "salted == 's'"), "ad"), (NSPredicate(format: "salted != 's'"), "bc"),
            (NSPredicate(format: "salted IN {'s', 't'}"), "abd"),
            (NSPredicate(format: "NOT salted IN {'s', nil}"), "b"),
            (NSPredicate(format: "salted == nil OR salted == 't'"), "bc"),
            (NSPredicate(format: "salted == 's' AND labels == {}"), "d"),
            (NSPredicate(format: "parent.salted == 's'"), "bd"),
            (NSPredicate(format: "parent.labels == {'red'}"), "bd"),
            (NSPredicate(format: "ANY children.salted == 't'"), "a"),
            (NSPredicate(format: "ALL children.salted == 's'"), "bcd"),
            (NSPredicate(format: "NONE children.salted == 't'"), "bcd"),
            (NSPredicate(format: "ANY children.labels == {'red', 'blue'}"), "a"),
            (NSPredicate(format: "ANY parent.children.salted == 't'"), "bd"),
            (NSPredicate(format: "SUBQUERY(children, $c, $c.salted == 's' AND $c.labels == {}).@count == 1"), "a"),
            (NSPredicate(format: "SUBQUERY(children, $c, ANY $c.parent.children.salted == 't').@count == 2"), "a"),
        ]
    }

    private func names(_ predicate: NSPredicate?, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>("Note", by: "name")
        request.predicate = predicate
        return try context.fetch(request)
    }

    private func joined(_ objects: [NSManagedObject]) -> String {
        objects.compactMap { $0.value(forKey: "name") as? String }.joined()
    }

    @Test(
        "A value is compared with values, whatever bytes they have: by stores, for objects, and beside unsaved changes",
        arguments: types)
    func values(type: String) throws {
        for saves in [true, false] {
            let context = try context(type, saves: saves)
            for (predicate, expected) in Self.cases {
                #expect(try joined(names(predicate, context)) == expected, "\(predicate), \(saves)")
                #expect(
                    try joined(names(nil, context).filter { predicate.evaluate(with: $0) }) == expected,
                    "\(predicate) of an object, \(saves)")
            }
        }
    }

    @Test(
        "The least and greatest of a list with transformable attributes is answered or refused alike by stores, and for objects"
    )
    func extremes() throws {
        for format in [
            "min:({salted, 't'}) == 's'", "max:({salted, 's'}) == 't'", "max:({labels, parent.labels}) == labels",
            "min:({words, name}) != nil",
            "min:({salted, name}) == 's'", "max:(children.salted) == 't'", "children.@max.salted == 't'",
            "children.@min.labels != nil",
            "min:({labels, nil}) == {'red'}",
        ] {
            var outcomes: [String: String] = [:]
            for type in Self.types {
                for saves in [true, false] {
                    let context = try context(type, saves: saves)
                    let predicate = NSPredicate(format: format)
                    do {
                        outcomes["\(type) \(saves)"] = try joined(names(predicate, context))
                    } catch { outcomes["\(type) \(saves)"] = error.localizedDescription }
                }
            }
            #expect(Set(outcomes.values).count == 1, "\(format): \(outcomes)")
            guard let wanted = outcomes.values.first, wanted.count < 5 else { continue }
            let context = try context(NSInMemoryStoreType)
            #expect(
                try joined(names(nil, context).filter { NSPredicate(format: format).evaluate(with: $0) }) == wanted,
                "\(format)")
        }
    }

    @Test("A changed value is judged before it is saved and after, and in a child", arguments: types)
    func changed(type: String) throws {
        let context = try context(type)
        try names(NSPredicate(format: "name == 'c'"), context).first?.setValue("s", forKey: "salted")
        try names(NSPredicate(format: "name == 'd'"), context).first?.setValue(["red"], forKey: "labels")
        let child = context.child()
        for isSaved in [false, true] {
            for context in [context, child] {
                #expect(try joined(names(NSPredicate(format: "salted == 's'"), context)) == "acd", "\(isSaved)")
                #expect(try joined(names(NSPredicate(format: "labels == {'red'}"), context)) == "ad", "\(isSaved)")
            }
            try context.save()
        }
    }

    @Test("Where equal values have equal data an index serves; else each row's value is made")
    func plans() throws {
        let context = try context(NSSQLiteStoreType)
        func told(_ format: String) throws -> FetchExplanation.Part? {
            return try context.explain(NSFetchRequest<NSManagedObject>("Note", format)).parts.first
        }
        #expect(try told("labels == {'red'}")?.indexes == ["Z_Note_byLabels"])
        #expect(try told("labels IN {{'red'}, nil}")?.indexes == ["Z_Note_byLabels"])
        #expect(try told("salted == 's'")?.sql?.contains("equalValues:") == true)
    }

    @Test("Batch requests and counts take them as fetches do", arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func batches(type: String) throws {
        let context = try context(type)
        let request = NSFetchRequest<NSManagedObject>("Note", "salted == 's'")
        #expect(try context.count(for: request) == 2)
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.predicate = request.predicate
        update.propertiesToUpdate = ["name": "salt"]
        update.resultType = .updatedObjectsCountResultType
        #expect(((try context.execute(update) as? NSBatchUpdateResult)?.result as? NSNumber)?.intValue == 2)
    }

    @Test(
        "A value that the transformer does not take is refused by name, and an order by values as well",
        arguments: types)
    func refused(type: String) throws {
        let context = try context(type)
        let said = sentence { _ = try names(NSPredicate(format: "labels == 5"), context) }
        #expect(said.contains("Note.labels"), "\(said)")
        #expect(code { _ = try names(NSPredicate(format: "salted BEGINSWITH 's'"), context) } == 134060)
    }

    @Test(
        "A large value of an attribute that allows external storage is compared as any other",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func external(type: String) throws {
        _ = Self.registered
        var sheet = EntityDraft(
            "Sheet", [Clinic.transformable("labels", "ValueLabels"), Clinic.transformable("salted", "ValueSalted")])
        for place in 0...1 { sheet.attributes[place].allowsExternalBinaryDataStorage = true }
        let rig = Rig(NSManagedObjectModel(sheet))
        try rig.add(type)
        let context = rig.context()
        let long = [String(repeating: "long ", count: 50_000)]
        for labels in [["short"], long] { _ = context.make("Sheet", ["labels": labels, "salted": "s"]) }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sheet")
        for labels in [["short"], long] {
            request.predicate = NSPredicate(format: "labels == %@", labels)
            #expect(try context.count(for: request) == 1)
        }
        request.predicate = NSPredicate(format: "salted == 's'")
        #expect(try context.count(for: request) == 2)
        withExtendedLifetime(rig) {}
    }

    @Test("What a Codable type must be to have equal data for equal values")
    func deterministic() {
        func isDeterministic(_ type: ValueTransformer.Type) -> Bool { type.givesEqualDataForEqualValues() }
        #expect(isDeterministic(CodableTransformer<String>.self) && isDeterministic(CodableTransformer<[Int?]>.self))
        #expect(
            isDeterministic(CodableTransformer<[String: [Date]]>.self)
                && !isDeterministic(CodableTransformer<[Int: String]>.self))
        #expect(
            !isDeterministic(CodableTransformer<Set<String>>.self)
                && !isDeterministic(CodableTransformer<[Set<Int>]>.self))
        #expect(!isDeterministic(Salting.self) && !isDeterministic(NSSecureUnarchiveFromDataTransformer.self))
    }
}
