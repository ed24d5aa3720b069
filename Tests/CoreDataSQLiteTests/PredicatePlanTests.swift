// The plans by which the database answers predicates: by an index where one exists.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Plans of predicates")
struct PredicatePlanTests {
    private let folder: Folder
    private let store: SQLiteStore

    /// Every attribute of a thing has an index of its own but `free`.
    static var schema: Schema {
        get throws {
            var thing = EntityDraft(name: "Thing")
            let types: [(String, AttributeType)] = [
                ("text", .string), ("int", .integer32), ("big", .integer64), ("double", .double), ("float", .float), ("date", .date),
                ("flag", .boolean), ("decimal", .decimal), ("uuid", .uuid), ("uri", .uri), ("bytes", .binary), ("free", .string),
            ]
            thing.attributes = types.map { Triage.attribute($0.0, $0.1) }
            thing.indexes = types.dropLast().map { FetchIndex(name: "by" + $0.0, elements: [.init(property: $0.0)]) }
            thing.indexes.append(FetchIndex(name: "both", elements: [.init(property: "flag"), .init(property: "date")]))
            thing.relationships = [
                Triage.toOne("owner", "Owner", "things"), Triage.toMany("marks", "Mark", "things"), Triage.toMany("parts", "Part", "thing", ordered: true),
            ]
            var owner = EntityDraft(name: "Owner")
            owner.attributes = [Triage.attribute("name", .string)]
            owner.indexes = [FetchIndex(name: "byName", elements: [.init(property: "name")])]
            owner.relationships = [Triage.toMany("things", "Thing", "owner")]
            var mark = EntityDraft(name: "Mark")
            mark.attributes = [Triage.attribute("name", .string)]
            mark.relationships = [Triage.toMany("things", "Thing", "marks")]
            var part = EntityDraft(name: "Part")
            part.attributes = [Triage.attribute("name", .string), Triage.attribute("size", .integer32)]
            part.relationships = [Triage.toOne("thing", "Thing", "parts")]
            var draft = SchemaDraft()
            draft.entities = [thing, owner, mark, part]
            return try Schema(checking: draft)
        }
    }

    init() throws {
        folder = try Folder()
        store = try folder.store(Self.schema)
        // What SQLite guesses of tables that were never analysed does not depend on their rows.
        try store.insert("Thing", [(1, ["text": .text("a"), "int": .int(1)])])
    }

    /// A text, the words that its plan has, and none of the table's rows is read without them.
    private static let searched: [(text: String, words: [String])] = [
        ("text == 'x'", ["INDEX Z_Thing_bytext (ZTEXT=?)"]), ("'x' == text", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text == nil", ["INDEX Z_Thing_bytext (ZTEXT=?)"]), ("text IN {'a', 'b'}", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text IN {'a', nil}", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text > 'x'", ["INDEX Z_Thing_bytext (ZTEXT>?)"]), ("text BETWEEN {'a', 'b'}", ["INDEX Z_Thing_bytext (ZTEXT>? AND ZTEXT<?)"]),
        ("text BEGINSWITH 'x'", ["INDEX Z_Thing_bytext (ZTEXT>? AND ZTEXT<?)"]),
        ("text == 'a' OR text == 'b' OR text == 'c'", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text == 'x' OR int == 3", ["MULTI-INDEX OR", "Z_Thing_bytext", "Z_Thing_byint"]),
        ("text == 'x' AND free CONTAINS 'y'", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("text == 'x' AND NOT (free LIKE 'y*')", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
        ("int == 3", ["INDEX Z_Thing_byint (ZINT=?)"]), ("int < 3", ["INDEX Z_Thing_byint (ZINT<?)"]),
        ("int BETWEEN {1, 3}", ["INDEX Z_Thing_byint (ZINT>? AND ZINT<?)"]), ("big >= 3", ["INDEX Z_Thing_bybig (ZBIG>?)"]),
        ("int > 1 AND int < 4", ["INDEX Z_Thing_byint (ZINT>? AND ZINT<?)"]), ("double == 0.5", ["INDEX Z_Thing_bydouble (ZDOUBLE=?)"]),
        ("float == 0.1", ["INDEX Z_Thing_byfloat (ZFLOAT>? AND ZFLOAT<?)"]), ("date > CAST(5, 'NSDate')", ["INDEX Z_Thing_bydate (ZDATE>?)"]),
        ("flag == YES", ["(ZFLAG=?)"]), ("flag == YES AND date > CAST(5, 'NSDate')", ["INDEX Z_Thing_both (ZFLAG=? AND ZDATE>?)"]),
        ("decimal == 1.5", ["INDEX Z_Thing_bydecimal (ZDECIMAL=?)"]),
        ("uuid == CAST('01000000-0000-0000-0000-000000000000', 'NSUUID')", ["INDEX Z_Thing_byuuid (ZUUID=?)"]),
        ("uri == CAST('x:y', 'NSURL')", ["INDEX Z_Thing_byuri (ZURI=?)"]), ("bytes == CAST('AAEC', 'NSData')", ["INDEX Z_Thing_bybytes (ZBYTES=?)"]),
        ("owner == nil", ["INDEX ZTHING_ZOWNER_INDEX (ZOWNER=?)"]),
        ("TERNARY(YES == YES, text, free) == 'x'", ["INDEX Z_Thing_bytext (ZTEXT=?)"]),
    ]

    @Test("A comparison of a property that has an index searches in it")
    func searches() throws {
        for (text, words) in Self.searched {
            let plan = try plan("Thing", FormatParser.predicate(text) { _, _ in throw PredicateError("no argument") })
            for word in words { #expect(plan.contains(word), "\(text): \(plan)") }
            #expect(!plan.contains("SCAN t"), "\(text): \(plan)")
        }
    }

    /// Rows of the table may be read one by one, those of others by their keys and indexes.
    private static let correlated: [(text: String, words: [String])] = [
        ("owner.name == 'x'", ["Z_Owner_byName", "ZTHING_ZOWNER_INDEX"]), ("ANY parts.name == 'x'", ["ZPART_ZTHING_INDEX"]),
        ("ALL parts.size > 3", ["ZPART_ZTHING_INDEX"]), ("NONE parts.size > 3", ["ZPART_ZTHING_INDEX"]), ("parts.@count > 2", ["ZPART_ZTHING_INDEX"]),
        ("parts.@sum.size > 2", ["ZPART_ZTHING_INDEX"]), ("parts[0].name == 'x'", ["ZPART_ZTHING_INDEX"]),
        ("SUBQUERY(parts, $p, $p.size > 1 AND $p.name != nil).@count > 0", ["ZPART_ZTHING_INDEX"]),
        ("ANY marks.name == 'x'", ["USING INTEGER PRIMARY KEY"]), ("ANY owner.things.free == 'x'", ["ZTHING_ZOWNER_INDEX"]),
    ]

    @Test("Members and targets are found by their keys, never by reading their whole table")
    func members() throws {
        for (text, words) in Self.correlated {
            let plan = try plan("Thing", FormatParser.predicate(text) { _, _ in throw PredicateError("no argument") })
            for word in words { #expect(plan.contains(word), "\(text): \(plan)") }
            let scans = plan.split(separator: "\n").filter { $0.hasPrefix("SCAN") && !$0.hasPrefix("SCAN t0") }
            #expect(scans.isEmpty, "\(text): \(plan)")
        }
    }

    @Test("A row is found by its key, and rows by the keys of a list; an object at the other end by the index of the relationship")
    func objects() throws {
        let key = ObjectKey(number: 1, entity: try store.entity("Thing").index, store: 0)
        let owner = ObjectKey(number: 1, entity: try store.entity("Owner").index, store: 0)
        func compared(_ left: Expression, _ op: Comparison.Operator, _ right: Expression) throws -> String {
            try plan("Thing", .comparison(Comparison(left, op, right)))
        }
        #expect(try compared(.this, .equal, .constant(.key(key))).contains("SEARCH t0 USING INTEGER PRIMARY KEY"))
        #expect(try compared(.keyPath(["objectID"]), .equal, .constant(.key(key))).contains("SEARCH t0 USING INTEGER PRIMARY KEY"))
        #expect(try compared(.this, .in, .list([.constant(.key(key)), .constant(.key(key))])).contains("SEARCH t0 USING INTEGER PRIMARY KEY"))
        #expect(try compared(.keyPath(["owner"]), .equal, .constant(.key(owner))).contains("ZTHING_ZOWNER_INDEX (ZOWNER=?)"))
        #expect(try compared(.keyPath(["owner"]), .in, .list([.constant(.key(owner)), .constant(.null)])).contains("ZTHING_ZOWNER_INDEX"))
    }

    @Test("An order that an index has needs no sorting")
    func orders() throws {
        for term in [SortTerm(keyPath: ["text"]), SortTerm(keyPath: ["date"], isAscending: false)] {
            let plan = try plan("Thing", nil, [term])
            #expect(plan.contains("USING INDEX Z_Thing_by") && !plan.contains("TEMP B-TREE"), "\(plan)")
        }
        let both = try plan("Thing", .comparison(Comparison(.keyPath(["flag"]), .equal, .constant(.bool(true)))), [SortTerm(keyPath: ["date"])])
        #expect(both.contains("Z_Thing_both") && !both.contains("TEMP B-TREE"), "\(both)")
    }

    private func plan(_ entity: String, _ predicate: Predicate?, _ sort: [SortTerm] = []) throws -> String {
        let map = try StoreMap(schema: store.schema, configuration: nil)
        let entity = try store.entity(entity)
        var plan = FetchPlan(entity: entity.index)
        plan.predicate = predicate
        plan.sort = sort
        let shape = try RowShape(map: map, entity: entity, last: entity.last, includesValues: true)
        let query = try Query(plan, in: store.schema)
        let selection = try SelectCompiler(map).select(query, shape: shape)
        let connection = try Connection(path: folder.file.path, access: .read, options: SQLiteOptions(), counter: StatementCounter())
        let statement = try connection.statement("EXPLAIN QUERY PLAN " + selection.sql)
        defer { statement.finish() }
        try statement.bind(selection.values(for: query))
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(3) ?? "") }
        return lines.joined(separator: "\n")
    }
}
