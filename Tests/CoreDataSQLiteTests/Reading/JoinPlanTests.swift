// The plans by which the database answers predicates about other rows: from the index at the far end back to the row.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Plans of joins and members")
struct JoinPlanTests {
    private let sample: PlanSample

    init() throws { sample = try PlanSample() }

    // MARK: To-ones

    private static let back = "t0 USING INDEX ZTHING_ZOWNER_INDEX (ZOWNER=?)"
    private static let byName = "INDEX Z_Owner_byname (ZNAME"
    private static let overCity = ["INDEX Z_City_byname (ZNAME", "ZOWNER_ZCITY_INDEX (ZCITY=?)", back]
    private static let overLand = [
        "INDEX Z_Land_byname (ZNAME", "ZCITY_ZLAND_INDEX (ZLAND=?)", "ZOWNER_ZCITY_INDEX (ZCITY=?)", back,
    ]

    /// A text about things, and the words that its plan has.
    private static let joined: [(text: String, words: [String])] = [
        ("owner.name == 'x'", [byName, back]), ("owner.name > 'x'", [byName, back]),
        ("owner.name IN {'a', 'b'}", [byName, back]),
        ("owner.name == 'a' OR owner.name == 'b'", [byName, back]), ("owner.name BETWEEN {'a', 'b'}", [byName, back]),
        ("owner.name BEGINSWITH 'x'", [byName, back]),
        ("owner.name == 'a' OR owner.code == 3", ["MULTI-INDEX OR", byName, "Z_Owner_bycode", back]),
        ("owner.name IN {'a', 'b'} AND free CONTAINS 'y'", [byName, back]),
        ("owner.name == 'a' OR (owner.name == 'b' AND free == 'c')", [byName, back]),
        ("owner.city.name == 'x'", overCity), ("owner.city.name IN {'a', 'b'}", overCity),
        ("owner.city.name BETWEEN {'a', 'b'}", overCity),
        ("owner.city.name == 'a' OR owner.city.name == 'b'", overCity), ("owner.city.name BEGINSWITH 'x'", overCity),
        ("owner.city.land.name == 'x'", overLand), ("owner.city.land.name IN {'a', 'b'}", overLand),
        ("owner.city.land.name == 'a' OR owner.city.land.name == 'b'", overLand),
    ]

    @Test("A condition on the end of to-ones begins at its index and comes back by those of the relationships")
    func toOnes() throws {
        for entity in ["Thing", "Book"] { for (text, words) in Self.joined { try sample.expect(entity, text, words) } }
    }

    @Test("An object over two to-ones is found by the index of the second")
    func targets() throws {
        let city = Expression.constant(
            .key(ObjectKey(number: 1, entity: try sample.store.entity("City").index, store: 0)))
        for op in [(Comparison.Operator.equal, city), (.in, .list([city, city]))] {
            let plan = try sample.plan("Thing", .comparison(Comparison(.keyPath(["owner", "city"]), op.0, op.1)))
            #expect(
                plan.contains("ZOWNER_ZCITY_INDEX (ZCITY=?)") && plan.contains(Self.back) && !plan.contains("SCAN t"),
                "\(plan)")
        }
    }

    @Test("What may hold where a to-one leads nowhere, and an order, keep the rows without it")
    func outer() throws {
        let kept = [
            "owner.name != 'x'", "owner.name == nil", "NOT (owner.name == 'x')", "owner.name == 'x' OR text == 'y'",
            "owner.name == free",
            "owner.name == 'x' OR owner.city.name == nil", "NOT (owner.name IN {'a', 'b'})",
            "TERNARY(owner.name == 'x', int, big) == 3",
        ]
        for text in kept {
            let sql = try sample.selection(sample.query("Thing", PlanSample.predicate(text))).sql
            #expect(sql.contains("LEFT JOIN \"ZOWNER\""), "\(text): \(sql)")
            #expect(!sql.contains(" t0 JOIN "), "\(text): \(sql)")
        }
        let byName = [SortTerm(keyPath: ["owner", "name"])]
        #expect(try sample.selection(sample.query("Thing", nil, byName)).sql.contains("LEFT JOIN \"ZOWNER\""))
        let both = try sample.selection(
            sample.query(
                "Thing", PlanSample.predicate("owner.code == 3"), [SortTerm(keyPath: ["owner", "city", "name"])])
        ).sql
        #expect(both.contains(" t0 JOIN \"ZOWNER\"") && both.contains(" LEFT JOIN \"ZCITY\""), "\(both)")
    }

    @Test("The first rows in the order of an index are read by it, whatever is tested beside")
    func limited() throws {
        let date = [SortTerm(keyPath: ["date"])]
        let tested = [
            nil, "free CONTAINS 'x'", "owner.name != 'x'", "owner.free CONTAINS 'x'", "NONE marks.name == 'x'",
            "ANY marks.free == 'x'",
            "parts.@count > 2", "owner == nil OR free == 'x'", "ANY marks.name > 'x'",
            "text > 'x' OR ANY marks.name BEGINSWITH 'x'",
        ]
        for text in tested {
            let plan = try sample.plan("Thing", asking: text, date, limit: 20)
            #expect(
                plan.contains("t0 USING INDEX Z_Thing_bydate") && !plan.contains("TEMP B-TREE"),
                "\(text ?? "-"): \(plan)")
        }
    }

    @Test("Members with a value that is named are found first, also where the first rows in an order are wanted")
    func limitedMembers() throws {
        let plan = try sample.plan(
            "Thing", asking: "ANY marks.name IN {'x', 'y'}", [SortTerm(keyPath: ["date"])], limit: 20)
        for word in Self.byMark { #expect(plan.contains(word), "\(plan)") }
    }

    // MARK: Members

    private static let byMark = ["t0 USING INTEGER PRIMARY KEY", "LIST SUBQUERY", "INDEX Z_Mark_byname (ZNAME"]
    private static let byLabel = ["t0 USING INTEGER PRIMARY KEY", "LIST SUBQUERY", "INDEX Z_Label_byname (ZNAME"]
    private static let byPart = ["t0 USING INTEGER PRIMARY KEY", "LIST SUBQUERY", "INDEX Z_Part_byname (ZNAME"]
    private static let byVisit = ["t0 USING INTEGER PRIMARY KEY", "LIST SUBQUERY", "INDEX Z_Visit_bydate (ZDATE"]

    private static let found: [(text: String, words: [String])] = [
        ("ANY marks.name == 'x'", byMark), ("'x' IN marks.name", byMark), ("ANY marks.name IN {'a', 'b'}", byMark),
        ("ANY marks.name > 'x'", byMark),
        ("ANY marks.name BETWEEN {'a', 'b'}", byMark), ("ANY marks.name BEGINSWITH 'x'", byMark),
        ("ANY labels.name == 'x'", byLabel),
        ("ANY labels.name IN {'a', 'b'}", byLabel), ("ANY labels.name BEGINSWITH 'x'", byLabel),
        ("ANY parts.name == 'x'", byPart),
        ("ANY parts.name IN {'a', 'b'}", byPart), ("ANY parts.name BETWEEN {'a', 'b'}", byPart),
        ("ANY visits.date > CAST(5, 'NSDate')", byVisit),
        ("ANY visits.date BETWEEN {CAST(5, 'NSDate'), CAST(6, 'NSDate')}", byVisit),
        ("SUBQUERY(parts, $p, $p.name == 'x' AND $p.size > 1).@count > 0", byPart),
        ("SUBQUERY(parts, $p, $p.name == 'x').@count != 0", byPart),
        ("ANY marks.name == 'a' OR ANY labels.name == 'b'", byMark + byLabel + ["MULTI-INDEX OR"]),
        ("text == 'x' OR ANY marks.name == 'y'", byMark + ["Z_Thing_bytext", "MULTI-INDEX OR"]),
        ("ANY marks.name == 'x' AND free CONTAINS 'y'", byMark), ("ANY marks.name == 'x' AND text > 'y'", byMark),
        ("ANY marks.name == 'x' AND date > CAST(5, 'NSDate')", byMark),
        (
            "ANY parts.maker.name == 'x'",
            ["t0 USING INTEGER PRIMARY KEY", "LIST SUBQUERY", "INDEX Z_Owner_byname (ZNAME", "ZPART_ZMAKER_INDEX"]
        ),
        ("ANY owner.things.text == 'x'", ["INDEX Z_Thing_bytext (ZTEXT=?)", back]),
        ("SUBQUERY(parts, $p, ANY $p.thing.marks.name == 'x').@count > 0", byMark),
    ]

    @Test("Members with a value that an index finds are found first, and their owners by them")
    func members() throws {
        for entity in ["Thing", "Book"] { for (text, words) in Self.found { try sample.expect(entity, text, words) } }
        try sample.expect("Owner", "ANY things.text == 'x'", ["t0 USING INTEGER PRIMARY KEY", "Z_Thing_bytext"])
        try sample.expect("Owner", "ANY things.marks.name == 'x'", Self.byMark)
        try sample.expect("City", "ANY owners.things.text == 'x'", ["t0 USING INTEGER PRIMARY KEY", "Z_Thing_bytext"])
    }

    @Test(
        "Members are found by their keys, too",
        arguments: [("marks", "Mark"), ("labels", "Label"), ("parts", "Part"), ("visits", "Visit")])
    func objects(relationship: String, entity: String) throws {
        let key = Expression.constant(
            .key(ObjectKey(number: 1, entity: try sample.store.entity(entity).index, store: 0)))
        let asked = [
            Comparison(.keyPath([relationship]), .contains, key), Comparison(key, .in, .keyPath([relationship])),
            Comparison(.keyPath([relationship]), .in, .list([key, key]), modifier: .any),
            Comparison(.keyPath([relationship]), .equal, key, modifier: .any),
        ]
        for comparison in asked {
            let plan = try sample.plan("Thing", .comparison(comparison))
            #expect(
                plan.contains("t0 USING INTEGER PRIMARY KEY") && plan.contains("t1 USING INTEGER PRIMARY KEY"),
                "\(plan)")
            #expect(!plan.contains("SCAN t"), "\(plan)")
        }
    }

    /// What no index finds: rows are read one by one, their members by keys and indexes.
    private static let correlated: [(text: String, words: [String])] = [
        ("ALL parts.name == 'x'", ["ZPART_ZTHING_INDEX"]), ("NONE parts.name == 'x'", ["ZPART_ZTHING_INDEX"]),
        ("free == 'x' OR ANY parts.name == 'x'", ["ZPART_ZTHING_INDEX"]),
        ("SUBQUERY(parts, $p, $p.name == 'x').@count > 1", ["ZPART_ZTHING_INDEX"]),
        ("NOT ANY parts.maker == nil", ["ZPART_ZTHING_INDEX"]), ("NONE marks.name == 'x'", ["sqlite_autoindex_Z_"]),
        ("NONE parts.size > 3", ["ZPART_ZTHING_INDEX"]), ("parts.@count > 2", ["ZPART_ZTHING_INDEX"]),
        ("parts.@sum.size > 2", ["ZPART_ZTHING_INDEX"]), ("parts[0].name == 'x'", ["ZPART_ZTHING_INDEX"]),
        ("ANY parts.free == 'x'", ["ZPART_ZTHING_INDEX"]),
        ("SUBQUERY(parts, $p, $p.size > 1 AND $p.name != nil).@count > 0", ["ZPART_ZTHING_INDEX"]),
        ("SUBQUERY(parts, $p, $p.name > 'x').@count > 1", ["ZPART_ZTHING_INDEX"]),
        ("ANY parts.name == free", ["ZPART_ZTHING_INDEX"]),
        ("SUBQUERY(parts, $p, $p.name BEGINSWITH 'x' AND $p.size > int).@count > 0", ["ZPART_ZTHING_INDEX"]),
        ("free == 'x' OR ANY parts.name > 'x'", ["ZPART_ZTHING_INDEX"]),
        ("ANY parts.name == nil", ["ZPART_ZTHING_INDEX"]),
        ("ANY marks.free == 'x'", ["USING INTEGER PRIMARY KEY"]),
        ("ANY owner.things.free == 'x'", ["ZTHING_ZOWNER_INDEX"]),
        ("NONE marks.name > 'x'", ["USING INTEGER PRIMARY KEY"]),
        ("NOT ANY marks.name > 'x'", ["USING INTEGER PRIMARY KEY"]),
    ]

    @Test("Members of rows that are read one by one are found by keys and indexes")
    func correlated() throws {
        for (text, words) in Self.correlated {
            let plan = try sample.plan("Thing", asking: text)
            for word in words { #expect(plan.contains(word), "\(text): \(plan)") }
            #expect(plan.contains("SCAN t0") && plan.contains("CORRELATED"), "\(text): \(plan)")
            let scans = plan.split(separator: "\n").filter { $0.contains("SCAN t") && !$0.contains("SCAN t0") }
            #expect(scans.isEmpty, "\(text): \(plan)")
        }
    }

    @Test("Where values of the row itself leave few rows, the members of these are looked at")
    func few() throws {
        for text in [
            "text == 'x' AND ANY marks.name == 'y'", "int IN {1, 2} AND SUBQUERY(parts, $p, $p.name > 'x').@count > 0",
        ] {
            let plan = try sample.plan("Book", asking: text)
            #expect(plan.contains("t0 USING INDEX Z_Thing_by") && plan.contains("CORRELATED"), "\(plan)")
        }
    }

    @Test(
        "The members of a to-many to a sub-entity are read by their owner",
        arguments: [("Owner", "books"), ("Shelf", "books")])
    func subentities(owner: String, name: String) throws {
        let relationship = try sample.store.schema[sample.store.relationship(owner, name)]
        let book = try sample.store.entity("Book")
        let shape = try RowShape(map: sample.map, entity: book, last: book.last, includesValues: true)
        let compiler = SelectCompiler(sample.map)
        let one = try sample.steps(compiler.members(of: relationship, shape: shape), [.int(1)])
        let many = try sample.steps(
            compiler.targets(of: relationship, shape: shape), [SQLiteDialect().list([Int64(1), 2])])
        for plan in [one, many] { #expect(!plan.contains("Z_ENT") && !plan.contains("SCAN t"), "\(plan)") }
    }
}
