// The plans by which the database answers predicates: by an index where one exists.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Plans of predicates")
struct PredicatePlanTests {
    private let sample: PlanSample

    init() throws { sample = try PlanSample() }

    /// A text, the words that its plan has, and none of the table's rows is read without them.
    private static let searched: [(text: String, words: [String])] = [
        ("text == 'x'", ["INDEX Z_Thing_bytext (ZTEXT=?)"]), ("'x' == text", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text == nil", ["INDEX Z_Thing_bytext (ZTEXT=?)"]), ("text IN {'a', 'b'}", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text IN {'a', nil}", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text > 'x'", ["INDEX Z_Thing_bytext (ZTEXT>?)"]),
        ("text BETWEEN {'a', 'b'}", ["INDEX Z_Thing_bytext (ZTEXT>? AND ZTEXT<?)"]),
        ("text BEGINSWITH 'x'", ["INDEX Z_Thing_bytext (ZTEXT>? AND ZTEXT<?)"]),
        ("text == 'a' OR text == 'b' OR text == 'c'", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text == 'x' OR int == 3", ["MULTI-INDEX OR", "Z_Thing_bytext", "Z_Thing_byint"]),
        ("text == 'x' AND free CONTAINS 'y'", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text == 'x' AND NOT (free LIKE 'y*')", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("int == 3", ["INDEX Z_Thing_byint (ZINT=?)"]), ("int < 3", ["INDEX Z_Thing_byint (ZINT<?)"]),
        ("int BETWEEN {1, 3}", ["INDEX Z_Thing_byint (ZINT>? AND ZINT<?)"]),
        ("big >= 3", ["INDEX Z_Thing_bybig (ZBIG>?)"]),
        ("int > 1 AND int < 4", ["INDEX Z_Thing_byint (ZINT>? AND ZINT<?)"]),
        ("double == 0.5", ["INDEX Z_Thing_bydouble (ZDOUBLE=?)"]),
        ("float == 0.1", ["INDEX Z_Thing_byfloat (ZFLOAT>? AND ZFLOAT<?)"]),
        ("date > CAST(5, 'NSDate')", ["INDEX Z_Thing_bydate (ZDATE>?)"]),
        ("flag == YES", ["(ZFLAG=?)"]),
        ("flag == YES AND date > CAST(5, 'NSDate')", ["INDEX Z_Thing_both (ZFLAG=? AND ZDATE>?)"]),
        ("decimal == 1.5", ["INDEX Z_Thing_bydecimal (ZDECIMAL=?)"]),
        ("uuid == CAST('01000000-0000-0000-0000-000000000000', 'NSUUID')", ["INDEX Z_Thing_byuuid (ZUUID=?)"]),
        ("uri == CAST('x:y', 'NSURL')", ["INDEX Z_Thing_byuri (ZURI=?)"]),
        ("bytes == CAST('AAEC', 'NSData')", ["INDEX Z_Thing_bybytes (ZBYTES=?)"]),
        ("owner == nil", ["INDEX ZTHING_ZOWNER_INDEX (ZOWNER=?)"]),
        ("TERNARY(YES == YES, text, free) == 'x'", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
    ]

    @Test("A comparison of a property that has an index searches in it")
    func searches() throws {
        for (text, words) in Self.searched { try sample.expect("Thing", text, words) }
    }

    @Test("A fetch of a sub-entity searches in the index of the property, not in that of the entities")
    func subentities() throws {
        for (text, words) in Self.searched { try sample.expect("Book", text, words) }
        try sample.expect("Book", "pages BETWEEN {1, 3}", ["INDEX Z_Book_bypages (ZPAGES>? AND ZPAGES<?)"])
        try sample.expect("Volume", "pages > 3 OR text == 'x'", ["MULTI-INDEX OR", "Z_Book_bypages", "Z_Thing_bytext"])
        let key = ObjectKey(number: 1, entity: try sample.store.entity("Book").index, store: 0)
        let rows = Predicate.comparison(Comparison(.this, .in, .list([.constant(.key(key)), .constant(.key(key))])))
        #expect(try sample.plan("Book", rows).contains("SEARCH t0 USING INTEGER PRIMARY KEY"))
    }

    @Test("A sub-entity alone, or with conditions that no index serves, is found by the index of the entities")
    func wholeSubentities() throws {
        for text in [nil, "free == 'x'", "text CONTAINS 'x'", "free == 'x' OR text == 'x'", "ANY marks.free == 'x'"] {
            let plan = try sample.plan("Book", asking: text)
            #expect(plan.contains("SEARCH t0 USING INDEX ZTHING_Z_ENT_INDEX (Z_ENT"), "\(text ?? "-"): \(plan)")
        }
    }

    @Test(
        "A row is found by its key, and rows by the keys of a list; an object at the other end by the index of the relationship"
    )
    func objects() throws {
        let key = ObjectKey(number: 1, entity: try sample.store.entity("Thing").index, store: 0)
        let owner = ObjectKey(number: 1, entity: try sample.store.entity("Owner").index, store: 0)
        func compared(_ left: Expression, _ op: Comparison.Operator, _ right: Expression) throws -> String {
            try sample.plan("Thing", .comparison(Comparison(left, op, right)))
        }
        #expect(try compared(.this, .equal, .constant(.key(key))).contains("SEARCH t0 USING INTEGER PRIMARY KEY"))
        #expect(
            try compared(.keyPath(["objectID"]), .equal, .constant(.key(key))).contains(
                "SEARCH t0 USING INTEGER PRIMARY KEY"))
        #expect(
            try compared(.this, .in, .list([.constant(.key(key)), .constant(.key(key))])).contains(
                "SEARCH t0 USING INTEGER PRIMARY KEY"))
        #expect(
            try compared(.keyPath(["owner"]), .equal, .constant(.key(owner))).contains("ZTHING_ZOWNER_INDEX (ZOWNER=?)")
        )
        #expect(
            try compared(.keyPath(["owner"]), .in, .list([.constant(.key(owner)), .constant(.null)])).contains(
                "ZTHING_ZOWNER_INDEX"))
    }

    @Test("An order that an index has needs no sorting")
    func orders() throws {
        for term in [SortTerm(keyPath: ["text"]), SortTerm(keyPath: ["date"], isAscending: false)] {
            let plan = try sample.plan("Thing", nil, [term])
            #expect(plan.contains("USING INDEX Z_Thing_by") && !plan.contains("TEMP B-TREE"), "\(plan)")
        }
        let both = try sample.plan(
            "Thing", .comparison(Comparison(.keyPath(["flag"]), .equal, .constant(.bool(true)))),
            [SortTerm(keyPath: ["date"])])
        #expect(both.contains("Z_Thing_both") && !both.contains("TEMP B-TREE"), "\(both)")
    }
}
