// The statements on the predicate language, one by one.

import CoreDataAgreement
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Statements on predicates") struct PredicateStatementTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    private func expect(_ type: String, holding: [String], failing: [String] = []) throws {
        let one = try OneWork(type)
        for text in holding { one.expect(text) }
        for text in failing { one.expect(text, is: false) }
    }

    @Test("14.1 Every spelling of every comparison, and its options", arguments: types)
    func comparisons(type: String) throws {
        try expect(
            type,
            holding: [
                "i16 = 7", "i16 == 7", "i16 != 8", "i16 <> 8", "i16 >= 7", "i16 => 7", "i16 <= 7", "i16 =< 7",
                "i16 > 6", "i16 < 8",
                "i16 BETWEEN {7, 7}", "i16 between {6, 8}", "s BEGINSWITH 'ab'", "s CONTAINS 'b'", "s ENDSWITH 'bc'",
                "s LIKE 'a?c'", "s MATCHES 'a.c'",
                "s IN {'abc', 'x'}", "s ==[c] 'ABC'", "s ==[d] '\u{e4}bc'", "s ==[cd] '\u{c4}BC'", "s ==[n] 'abc'",
                "s ==[l] 'abc'", "s <[l] 'abd'",
                "s CONTAINS[cd] 'B'", "s IN[c] {'ABC'}", "s LIKE[c] 'A*'", "s MATCHES[c] 'A.*'", "s IN[l] {'abc'}",
                "s BETWEEN[l] {'abb', 'abd'}",
            ],
            failing: ["i16 <> 7", "i16 BETWEEN {8, 9}", "s ==[n] 'ABC'", "s == 'ABC'", "s ==[l] 'abd'"])
    }

    @Test("14.2 LIKE with its wildcards, MATCHES of the whole text, membership", arguments: types)
    func patterns(type: String) throws {
        try expect(
            type,
            holding: [
                "s LIKE '*'", "s LIKE '???'", "s LIKE 'a*'", "NOT s LIKE 'a\\*'", "s MATCHES '[a-c]+'",
                "tags.rank CONTAINS 1", "s IN 'xabcx'",
                "3 IN tags.rank", "i16 IN {1, 7}",
            ], failing: ["s MATCHES 'b'", "s LIKE 'b'", "s LIKE 'ab'", "tags.rank CONTAINS 2"])
        let one = try OneWork(type)
        one.expect("i16 IN %@", Set([6, 7]))
        one.expect("i16 IN %@", ["x": 7])
    }

    @Test("14.3 ANY, SOME, ALL and NONE", arguments: types)
    func quantifiers(type: String) throws {
        try expect(
            type,
            holding: [
                "ANY tags.rank == 3", "SOME tags.rank == 3", "ALL tags.rank != 2", "NONE tags.rank == 2",
                "ALL chapters.pos == 1", "NONE chapters.pos == 1",
                "ANY tags.rank == nil",
            ], failing: ["ANY tags.rank == 2", "ALL tags.rank == 3", "NONE tags.rank == 3", "ANY chapters.pos == 1"])
    }

    @Test("14.4 AND, OR and NOT, their order and their signs", arguments: types)
    func compounds(type: String) throws {
        try expect(
            type,
            holding: [
                "i16 == 7 OR i16 == 8 AND i16 == 9", "NOT i16 == 8 AND i16 == 7", "i16 == 7 && s == 'abc'",
                "i16 == 1 || s == 'abc'", "! (i16 == 1)",
                "!i16 == 1", "not i16 == 1 and TRUEPREDICATE", "NOT FALSEPREDICATE",
            ],
            failing: [
                "(i16 == 7 OR i16 == 8) AND i16 == 9", "NOT (i16 == 8 OR i16 == 7)", "FALSEPREDICATE",
                "NOT TRUEPREDICATE",
            ])
    }

    @Test("14.5 Literals", arguments: types)
    func literals(type: String) throws {
        try expect(
            type,
            holding: [
                "s == 'abc'", "s == \"abc\"", "i16 == 0x7", "i16 == 0o7", "i16 == 0b111", "d == 2.5e0", "d == .25e1",
                "b == TRUE", "b == yes", "b != FALSE",
                "b != NO", "author == NULL", "author == nil", "i16 IN {1, 0x7}", "SELF == SELF", "'it\\'s' != s",
            ])
        #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "s == @\"abc\"") }
    }

    @Test("14.6 Reserved words begin a key path only with their sign")
    func reserved() throws {
        for word in [
            "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES",
            "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN",
            "NULL", "NIL", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST",
            "TRUEPREDICATE", "FALSEPREDICATE",
        ] {
            for written in [word, word.lowercased()] {
                let predicate = try NSPredicate(validating: "#\(written) == 5")
                #expect(predicate.evaluate(with: [written: 5]) && !predicate.evaluate(with: [written: 6]), "\(written)")
                #expect(predicate.description == "#\(written) == 5")
                #expect(NSPredicate(format: "a.#\(written) == 5").evaluate(with: ["a": [written: 5]]))
            }
        }
        for word in ["AND", "in", "Like", "subquery", "cast"] {
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "\(word) == 5") }
        }
    }

    @Test("14.7 Arguments of every kind, by order and by position; in quotes a placeholder is text", arguments: types)
    func arguments(type: String) throws {
        let one = try OneWork(type)
        one.expect("%K == %@", "i16", 7)
        one.expect("%K == %d AND %K == %lf", "i16", 7, "d", 2.5)
        one.expect(
            "i16 == %i AND i32 < %u AND i16 == %ld AND i16 == %lld AND i16 == %lu AND i16 == %x AND d == %g", 7, 7, 7,
            7, 7, 7, 2.5)
        one.expect("%2$K == %1$@", 7, "i16")
        one.expect("s == %s", "abc")
        one.expect("s == '%@'", is: false)
        one.expect("i16 IN %@ AND date == %@", [1, 7], Date(timeIntervalSinceReferenceDate: 60))
        one.expect("i16 BETWEEN %@", [6, 8])
        // An argument is a value, never part of the language.
        one.expect("s == %@", "abc' OR TRUEPREDICATE OR s == '", is: false)
        #expect(NSPredicate(format: "a == $x").withSubstitutionVariables(["x": 3]).description == "a == 3")
    }

    @Test("14.8 Key paths, collection operators and indexes", arguments: types)
    func keyPaths(type: String) throws {
        try expect(
            type,
            holding: [
                "tags.@count == 3", "tags.@sum.rank == 4", "tags.@avg.rank == 2", "tags.@min.rank == 1",
                "tags.@max.rank == 3", "SELF.i16 == 7",
                "author.boss.name == nil", "ANY tags.@unionOfObjects.rank == 1",
                "ANY tags.@distinctUnionOfObjects.rank == 3", "chapters[SIZE] == 0",
                "chapters[FIRST].pos == nil", "chapters[0].pos == nil", "tags.works.@count == 3",
            ])
        let list: [String: Any] = ["a": [1, 2, 3], "d": ["k": 5]]
        for text in [
            "a[0] == 1", "a[FIRST] == 1", "a[LAST] == 3", "a[SIZE] == 3", "d['k'] == 5", "a[9] == nil",
            "a.@max.self == 3",
        ] {
            #expect(NSPredicate(format: text).evaluate(with: list), "\(text)")
        }
    }

    @Test("14.9 Arithmetic and functions, with and without colons", arguments: types)
    func functions(type: String) throws {
        try expect(
            type,
            holding: [
                "i16 + i32 * 2 == 1", "i16 ** 2 - 9 == 40", "add:to:(i16, 1) == 8", "from:subtract:(i16, 1) == 6",
                "multiply:by:(i16, 2) == 14",
                "divide:by:(i16, 2) == 3", "modulus:by:(i16, 4) == 3", "raise:toPower:(i16, 2) == 49",
                "sqrt:(49) == i16", "abs(i32) == 3", "ABS:(i32) == 3",
                "ceiling:(d) == 3", "floor(d) == 2", "trunc:(d) == 2", "uppercase:(s) == 'ABC'",
                "lowercase(s) == 'abc'", "length:(s) == 3",
                "canonical:(s) == 'abc'", "bitwiseAnd:with:(i16, 3) == 3", "bitwiseOr:with:(i16, 8) == 15",
                "bitwiseXor:with:(i16, 1) == 6",
                "leftshift:by:(i16, 1) == 14", "rightshift:by:(i16, 1) == 3", "onesComplement:(i16) == -8",
                "noindex:(i16) == 7", "date < now()",
                "random() < 1", "sum:(tags.rank) == 4", "average:(tags.rank) == 2", "min:(i16, i32) == -3",
                "max:(i16, i32) == 7", "count:(tags) == 3",
                "ln:(1) == 0", "log:(100) == 2", "exp:(0) == 1", "FUNCTION(s, 'uppercaseString') == 'ABC'",
            ])
    }

    @Test("14.10 SUBQUERY, CAST and TERNARY; FETCH of what is no request is refused", arguments: types)
    func special(type: String) throws {
        try expect(
            type,
            holding: [
                "SUBQUERY(tags, $t, $t.rank > 1).@count == 1",
                "SUBQUERY(tags, $t, $t.rank > 1 AND $t.name == nil).@count > 0",
                "SUBQUERY(tags, $t, SELF.i16 == 7).@count == 3", "CAST(i16, 'NSString') == '7'",
                "CAST(date, 'NSNumber') == 60",
                "TERNARY(i16 > 3, s, t) == 'abc'", "TERNARY(i16 > 9, i16, i32) == -3", "CAST(now(), 'NSNumber') > 0",
            ])
        try OneWork(type).expectRefused("FETCH(1, 2, NO) == 1", "FETCH needs a context")
    }

    @Test("14.11 nil equals nil alone, has no order and no text, and differs from every value", arguments: types)
    func nils(type: String) throws {
        try expect(
            type,
            holding: [
                "author.age == nil", "author.age != 5", "author.name != 'a'", "NOT author.age > 0",
                "NOT author.age <= 0", "NOT author.name CONTAINS 'a'",
                "NOT author.name MATCHES '.*'", "NOT author.name LIKE '*'", "NOT author.age BETWEEN {0, 9}",
                "author.age IN {nil, 1}",
            ], failing: ["author.age == 0", "author.age < 5", "author.name BEGINSWITH ''", "i16 == nil"])
    }

    @Test("14.12 Several to-manys and quantifiers in one condition; objects by their identity", arguments: types)
    func limits(type: String) throws {
        try expect(
            type,
            holding: [
                "ANY tags.works.i16 == 7", "ANY tags.works.tags.rank == 3",
                "ANY tags.rank == 1 AND ANY tags.rank == 3 AND NONE chapters.pos == 1",
                "ANY tags.works != nil", "ANY tags.rank IN {3, 9}", "SELF IN tags.works",
            ])
    }

    @Test("14.13 BETWEEN with calculations on all sides", arguments: types)
    func between(type: String) throws {
        try expect(
            type,
            holding: [
                "i16 BETWEEN {3 + 3, 4 * 2}", "i16 + 1 BETWEEN {i16, i16 + 2}", "i16 BETWEEN {i32 + 10, 10 - i32}",
                "d * 2 BETWEEN {d, 5.0}",
            ],
            failing: ["i16 - 1 BETWEEN {i16, i16 + 2}"])
    }

    @Test(
        "14.14 Booleans by all their words; a bare key is no condition; dates by argument and by CAST", arguments: types
    )
    func booleans(type: String) throws {
        try expect(
            type, holding: ["b == YES", "b == true", "b == 1", "b != NO", "date == CAST(60, 'NSDate')"],
            failing: ["b == NO", "b == 0"])
        try OneWork(type).expect("date > %@ AND b == %@", Date(timeIntervalSinceReferenceDate: 59), true)
        for text in ["b", "NOT b", "b AND i16 == 7", "(b)"] {
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: text) }
        }
    }

    @Test("14.15 Texts are compared scalar by scalar on every side", arguments: types)
    func texts(type: String) throws {
        try expect(
            type,
            holding: [
                "s > 'Z'", "s < '\u{e9}'", "'e\u{301}' != '\u{e9}'", "t < s", "'\u{ffff}' < '\u{1f600}'", "s > 'ABC'",
            ],
            failing: ["s == 'abC'", "s < 'Z'"])
    }

    @Test("14.16 A key path may lead into a composite attribute")
    func composites() throws {
        let location = NSCompositeAttributeDescription()
        location.name = "location"
        location.elements = ["latitude", "longitude"].map { name in
            let element = NSAttributeDescription()
            (element.name, element.attributeType, element.isOptional) = (name, .doubleAttributeType, true)
            return element
        }
        let entity = NSEntityDescription()
        (entity.name, entity.properties) = ("Place", [location])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let rig = Rig(model)
        try rig.add()
        let context = rig.context()
        let place = context.make("Place")
        place.setValue(["latitude": 60.0, "longitude": 10.0], forKey: "location")
        let predicate = NSPredicate(format: "location.latitude > 59 AND location.longitude < 11")
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
            request.predicate = predicate
            #expect(try context.count(for: request) == 1)
            #expect(predicate.evaluate(with: place))
        }
    }

    @Test(
        "An entity is compared with a description or by its name, of the row, its targets and its members",
        arguments: types)
    func entities(type: String) throws {
        let rig = Rig(Library.model())
        try rig.add(type)
        let context = rig.context()
        let person = context.make("Person", ["serial": 1])
        for (number, name) in ["Work", "Book", "Song"].enumerated() {
            let work = context.make(name, ["serial": number + 2])
            if number > 0 { work.setValue(person, forKey: "author") }
        }
        let book = try #require(rig.coordinator.managedObjectModel.entitiesByName["Book"])
        let cases: [(entity: String, wanted: [Int], text: String, arguments: [Any])] = [
            ("Work", [3], "entity == %@", [book]), ("Work", [2, 4], "entity != %@", [book]),
            ("Work", [3], "entity.name == 'Book'", []),
            ("Work", [2, 4], "NOT (SELF.entity.name IN {'Book', 'Person'})", []),
            ("Work", [3], "entity IN %@", [[book]]), ("Work", [4], "entity.name LIKE 'S*'", []),
            ("Work", [3, 4], "author.entity.name == 'Person'", []), ("Work", [2], "author.entity == nil", []),
            ("Person", [1], "ANY works.entity == %@", [book]),
            ("Person", [], "ALL works.entity == %@", [book]),
            ("Person", [1], "SUBQUERY(works, $w, $w.entity.name == 'Song').@count == 1", []),
            ("Work", [2, 3, 4], "entity.name.length == 4", []), ("Book", [3], "entity == %@", [book]),
            ("Song", [], "entity == %@", [book]),
        ]
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            for (entity, wanted, text, arguments) in cases {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                let everything = try context.fetch(request)
                let predicate = try NSPredicate(validating: text, argumentArray: arguments)
                request.predicate = predicate
                #expect(
                    try context.fetch(request).compactMap { $0.value(forKey: "serial") as? Int }.sorted() == wanted,
                    "\(text), \(type)")
                let told = everything.filter { predicate.evaluate(with: $0) }.compactMap {
                    $0.value(forKey: "serial") as? Int
                }.sorted()
                #expect(told == wanted, "objects, \(text), \(type)")
            }
        }
        let variable = NSPredicate(format: "entity == $which AND entity.name == $name")
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Work")).filter {
            variable.evaluate(with: $0, substitutionVariables: ["which": book, "name": "Book"])
        }
        #expect(found.count == 1)
    }

    @Test("Values in files are compared by their content", arguments: types)
    func contents(type: String) throws {
        let rig = Rig(NSManagedObjectModel(draft: Self.scans))
        try rig.add(type)
        let context = rig.context()
        let large = Data(repeating: 7, count: 200_000)
        let values: [Data?] = [nil, Data(), Data([1, 2]), large, Data(repeating: 8, count: 200_000)]
        var scans: [NSManagedObject] = []
        for (number, value) in values.enumerated() {
            scans.append(context.make("Scan", ["number": number]))
            scans[number].setValue(value, forKey: "image")
            if number > 0 { scans[number].setValue(scans[number - 1], forKey: "whole") }
        }
        let cases: [(wanted: [Int], text: String, arguments: [Any])] = [
            ([3], "image == %@", [large]), ([0, 1, 2, 4], "image != %@", [large]),
            ([1, 3], "image IN %@", [[large, Data()]]), ([0], "image == nil", []),
            ([3, 4], "image >= %@", [large]), ([2, 3], "image BETWEEN {%@, %@}", [Data([1]), large]),
            ([2], "ANY parts.image == %@", [large]),
            ([4], "whole.image == %@", [large]), ([3], "image == %@ AND image != nil AND number > 1", [large]),
            ([1, 2, 3, 4], "image == image AND image != nil", []),
        ]
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            for (asking, (wanted, text, arguments)) in [context, rig.context()].prefix(isSaved ? 2 : 1).flatMap({ one in
                cases.map { (one, $0) }
            }) {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Scan")
                let predicate = try NSPredicate(validating: text, argumentArray: arguments)
                request.predicate = predicate
                #expect(
                    try asking.fetch(request).compactMap { $0.value(forKey: "number") as? Int }.sorted() == wanted,
                    "\(text), \(type)")
                let told = scans.filter { predicate.evaluate(with: $0) }.compactMap {
                    $0.value(forKey: "number") as? Int
                }
                #expect(told == wanted, "objects, \(text), \(type)")
            }
        }
        let request = NSFetchRequest<NSManagedObject>("Scan", "max:(image, image) == %@", large)
        let error = #expect(throws: CocoaError.self) { _ = try context.fetch(request) }
        #expect(error?.localizedDescription.contains("a file of their own") == true)
    }

    @Test("A file of another length is not read for an equality; one that must be read and cannot is named")
    func files() throws {
        let rig = Rig(NSManagedObjectModel(draft: Self.scans))
        try rig.add()
        let context = rig.context()
        for (number, count) in [150_000, 160_000, 3].enumerated() {
            _ = context.make("Scan", ["number": number, "image": Data(repeating: UInt8(number), count: count)])
        }
        try context.save()
        let folder = rig.folder.url.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 2)
        // One is another now, which nobody sees who does not read it.
        for name in names {
            let file = folder.appendingPathComponent(name)
            if try Data(contentsOf: file).count == 160_000 { #expect(truncate(file.path, 159_999) == 0) }
        }
        func found(_ text: String, _ value: Data) throws -> Int {
            return try context.count(for: NSFetchRequest<NSManagedObject>("Scan", text, value))
        }
        #expect(try found("image == %@", Data(repeating: 0, count: 150_000)) == 1)
        #expect(try found("image != %@", Data(repeating: 0, count: 150_000)) == 2)
        #expect(try found("image == %@", Data(repeating: 2, count: 3)) == 1)
        for name in names { try FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
        #expect(try found("image == nil", Data()) == 0)
        let error = #expect(throws: CocoaError.self) { _ = try found("image > %@", Data([1])) }
        #expect(error?.localizedDescription.contains("_EXTERNAL_DATA") == true, "\(error?.localizedDescription ?? "")")
    }

    private static var scans: SchemaDraft {
        var entity = EntityDraft(name: "Scan")
        entity.attributes = [
            Clinic.attribute("image", .binary, external: true), Clinic.attribute("number", .integer32),
        ]
        entity.relationships = [
            Clinic.toMany("parts", "Scan", inverse: "whole"), Clinic.toOne("whole", "Scan", inverse: "parts"),
        ]
        return SchemaDraft(entity)
    }
}
