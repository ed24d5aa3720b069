// Predicates, sort orders and key paths as the database answers them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Predicates in SQL")
struct PredicateTests {
    let folder = Folder()
    let store: SQLiteStore

    init() throws {
        store = try folder.store()
        try store.insert(
            "Station", [(1, ["name": .text("North")]), (2, ["name": .text("South"), "capacity": .int(4)])])
        try store.insert("Place", [(3, ["name": .text("Road")])])
        let tag = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        try store.insert(
            "Casualty",
            [
                (
                    1,
                    [
                        "name": .text("Ann"), "age": .int(30), "alive": .bool(true), "station": .int(1),
                        "station#": .int(5),
                    ]
                ),
                (
                    2,
                    [
                        "name": .text("ann"), "age": .int(9), "admittedAt": .date(100), "station": .int(2),
                        "station#": .int(5),
                    ]
                ),
                (
                    3,
                    [
                        "name": .text("Annette"), "tag": .uuid(tag), "weight": .decimal(70),
                        "station": .int(3), "station#": .int(4),
                    ]
                ),
                (4, ["age": .int(-1), "alive": .bool(false), "link": .uri("https://a.b/c")]),
                (5, ["name": .text("B\0ob"), "age": .int(50)]),
                (6, ["name": .text("\u{10FFFF}x*?[%_'\"\\")]),
            ])
        try store.insert(
            "Injury",
            [
                (1, ["severity": .int(1), "kind": .text("cut"), "casualty": .int(1)]),
                (2, ["severity": .int(5), "kind": .text("burn"), "casualty": .int(1)]),
                (3, ["severity": .int(5), "casualty": .int(2)]), (4, ["kind": .text("cut")]),
            ])
        try store.insert("Assessment", [(1, ["note": .text("ok")]), (2, [:])])
        try store.link("Casualty", "assessments", 1, added: ["Assessment": [1, 2]])
        try store.link("Casualty", "assessments", 3, added: ["Assessment": [2]])
    }

    private func compare(
        _ path: String, _ op: Comparison.Operator, _ right: Value, _ modifier: Comparison.Modifier = .direct
    ) -> Predicate {
        .comparison(
            Comparison(
                .keyPath(path.split(separator: ".").map(String.init)), op, .constant(right),
                modifier: modifier))
    }

    private func list(_ path: String, _ op: Comparison.Operator, _ values: [Value]) -> Predicate {
        .comparison(Comparison(.keyPath([path]), op, .list(values.map { .constant($0) })))
    }

    private func casualties(_ predicate: Predicate, _ location: SourceLocation = #_sourceLocation) throws
        -> [Int64]
    {
        let found = try store.keys("Casualty", predicate).sorted()
        let rest = try store.keys("Casualty", .not(predicate)).sorted()
        #expect(
            rest == (1...6).filter { !found.contains($0) }, "NOT is the complement", sourceLocation: location)
        return found
    }

    private typealias SourceLocation = Testing.SourceLocation

    @Test("Comparisons take and leave rows as in memory, nil included")
    func comparisons() throws {
        #expect(try casualties(compare("name", .equal, .text("Ann"))) == [1])
        #expect(try casualties(compare("name", .notEqual, .text("Ann"))) == [2, 3, 4, 5, 6])
        #expect(try casualties(compare("name", .equal, .null)) == [4])
        #expect(try casualties(compare("name", .notEqual, .null)) == [1, 2, 3, 5, 6])
        #expect(try casualties(compare("age", .less, .int(30))) == [2, 4])
        #expect(try casualties(compare("age", .lessOrEqual, .double(30))) == [1, 2, 4])
        #expect(try casualties(compare("age", .greater, .int(9))) == [1, 5])
        #expect(try casualties(compare("age", .greaterOrEqual, .null)).isEmpty)
        #expect(try casualties(compare("admittedAt", .equal, .date(100))) == [2])
        #expect(try casualties(compare("weight", .equal, .decimal(70))) == [3])
        #expect(try casualties(compare("alive", .equal, .bool(true))) == [1])
        #expect(try casualties(compare("link", .equal, .uri("https://a.b/c"))) == [4])
        #expect(try casualties(list("age", .between, [.int(9), .int(30)])) == [1, 2])
        #expect(try casualties(list("age", .between, [.null, .int(30)])).isEmpty)
        #expect(try casualties(.and([])).count == 6)
        #expect(try casualties(.or([])).isEmpty)
        #expect(try casualties(.constant(false)).isEmpty)
    }

    @Test("IN finds members of lists of every kind, nil among them")
    func membership() throws {
        let tag = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        #expect(try casualties(list("age", .in, [.int(9), .int(50), .int(51)])) == [2, 5])
        #expect(try casualties(list("name", .in, [.text("Ann"), .text("x\"\\\n\u{1}"), .null])) == [1, 4])
        #expect(try casualties(list("name", .in, [.text("B\0ob"), .text("Ann"), .text("?")])) == [1, 5])
        #expect(try casualties(list("name", .in, [.text("\u{10FFFF}x*?[%_'\"\\")])) == [6])
        #expect(try casualties(list("tag", .in, [.uuid(tag), .uuid(UUID()), .uuid(UUID())])) == [3])
        #expect(try casualties(list("admittedAt", .in, [.date(100), .date(3)])) == [2])
        #expect(try casualties(list("age", .in, [])).isEmpty)
        #expect(try casualties(list("age", .in, (0..<5000).map { .int($0) })) == [1, 2, 5])
    }

    @Test("CONTAINS, BEGINSWITH and ENDSWITH compare scalar by scalar, NUL and wildcards included")
    func texts() throws {
        #expect(try casualties(compare("name", .contains, .text("nn"))) == [1, 2, 3])
        #expect(try casualties(compare("name", .contains, .text("\0o"))) == [5])
        #expect(try casualties(compare("name", .contains, .text("*?[%_'\""))) == [6])
        #expect(try casualties(compare("name", .beginsWith, .text("Ann"))) == [1, 3])
        #expect(try casualties(compare("name", .beginsWith, .text("B\0"))) == [5])
        #expect(try casualties(compare("name", .beginsWith, .text("\u{10FFFF}"))) == [6])
        #expect(try casualties(compare("name", .endsWith, .text("nn"))) == [1, 2])
        #expect(try casualties(compare("name", .endsWith, .text("ob"))) == [5])
        #expect(try casualties(compare("name", .endsWith, .text("\0ob"))) == [5])
        #expect(try casualties(compare("name", .endsWith, .text("longer than any name"))).isEmpty)
    }

    @Test("Key paths go through to-ones; nothing at the way's end is nil")
    func keyPaths() throws {
        #expect(try casualties(compare("station.name", .equal, .text("North"))) == [1])
        #expect(try casualties(compare("station.name", .notEqual, .text("North"))) == [2, 3, 4, 5, 6])
        #expect(try casualties(compare("station.name", .equal, .null)) == [4, 5, 6])
        #expect(try store.keys("Injury", compare("casualty.station.name", .equal, .text("South"))) == [3])
        #expect(
            try store.keys("Injury") { $0.sort = [SortTerm(keyPath: ["casualty", "station", "name"])] } == [
                4, 1, 2, 3,
            ])
        let columns = Comparison(.keyPath(["name"]), .equal, .keyPath(["station", "name"]))
        #expect(try casualties(.comparison(columns)) == [4], "nil equals nil")
    }

    @Test("Objects are compared by key, and an object of another tree is never equal")
    func objects() throws {
        let north = ObjectKey(number: 1, entity: try store.entity("Station").index, store: 1)
        let injury = ObjectKey(number: 1, entity: try store.entity("Injury").index, store: 1)
        #expect(try casualties(compare("station", .equal, .key(north))) == [1])
        #expect(try casualties(compare("station", .notEqual, .key(north))) == [2, 3, 4, 5, 6])
        #expect(try casualties(compare("station", .equal, .key(injury))).isEmpty)
        #expect(try casualties(compare("injuries", .contains, .key(injury))) == [1])
        let ann = Value.key(ObjectKey(number: 1, entity: try store.entity("Casualty").index, store: 1))
        #expect(try casualties(.comparison(Comparison(.this, .equal, .constant(ann)))) == [1])
        #expect(try casualties(.comparison(Comparison(.this, .in, .list([.constant(ann)])))) == [1])
        let inAssessments = Comparison(.constant(ann), .in, .keyPath(["casualties"]))
        #expect(try store.keys("Assessment", .comparison(inAssessments)) == [1, 2])
    }

    @Test("ANY and ALL ask the members, one-to-many and many-to-many")
    func quantifiers() throws {
        #expect(try casualties(compare("injuries.kind", .equal, .text("cut"), .any)) == [1])
        #expect(try casualties(compare("injuries.severity", .greater, .int(3), .any)) == [1, 2])
        #expect(try casualties(compare("injuries.severity", .greater, .int(3), .all)) == [2, 3, 4, 5, 6])
        #expect(try casualties(compare("assessments.note", .equal, .text("ok"), .any)) == [1])
        #expect(try casualties(compare("assessments.note", .equal, .null, .any)) == [1, 3])
        #expect(
            try casualties(compare("assessments.casualties.name", .equal, .text("Annette"), .any)) == [1, 3])
        #expect(try casualties(compare("injuries.@count", .equal, .int(0))) == [3, 4, 5, 6])
        #expect(try casualties(compare("assessments.@count", .greater, .int(1))) == [1])
    }

    @Test("What no store can answer is refused with its name")
    func unsupported() throws {
        let cases: [(Predicate, String)] = [
            (compare("passing", .equal, .text("x")), "passing"),
            (compare("nonsense", .equal, .int(1)), "nonsense"),
            (compare("name", .matches, .text("(")), "regular expression"),
            (compare("injuries.severity", .equal, .int(1)), "injuries"),
            (.comparison(Comparison(.function("sum:", []), .equal, .constant(.int(1)))), "sum:"),
            (.comparison(Comparison(.keyPath(["age"]), .equal, .variable("x"))), "$x"),
            (.comparison(Comparison(.function("length:", [.keyPath(["photo"])]), .equal, .constant(.int(1)))), "photo"),
            (
                .comparison(
                    Comparison(.function("median:", [.keyPath(["injuries", "severity"])]), .equal, .constant(.int(1)))),
                "median:"
            ),
        ]
        for (predicate, word) in cases {
            let error = #expect(throws: StoreError.self) { try store.keys("Casualty", predicate) }
            #expect(error?.code == 134060)
            #expect(error?.sentence.contains(word) == true, "\(error?.sentence ?? "")")
        }
    }

    private func folded(
        _ path: String, _ op: Comparison.Operator, _ text: String,
        _ options: Comparison.Options = .caseInsensitive
    ) -> Predicate {
        .comparison(Comparison(.keyPath([path]), op, .constant(.text(text)), options: options))
    }

    @Test("The options c and d, LIKE and MATCHES answer as memory does, NUL and nil included")
    func foldedTexts() throws {
        #expect(try casualties(folded("name", .equal, "ANN")) == [1, 2])
        #expect(try casualties(folded("name", .notEqual, "ANN")) == [3, 4, 5, 6])
        #expect(try casualties(folded("name", .beginsWith, "aNN")) == [1, 2, 3])
        #expect(try casualties(folded("name", .contains, "\0O")) == [5])
        #expect(
            try casualties(folded("name", .endsWith, "ÉTTE", [.caseInsensitive, .diacriticInsensitive])) == [
                3
            ])
        #expect(try casualties(folded("name", .equal, "ANN", [.caseInsensitive, .normalized])).isEmpty)
        #expect(try casualties(folded("name", .like, "a?n*")) == [1, 2, 3])
        #expect(try casualties(folded("name", .like, "A?n", [])) == [1])
        #expect(try casualties(folded("name", .like, "B*b", [])) == [5])
        #expect(try casualties(folded("name", .like, "*\\**", [])) == [6])
        #expect(try casualties(folded("name", .matches, "[Aa]nn(ette)?", [])) == [1, 2, 3])
        let list = Comparison(
            .keyPath(["name"]), .in, .list([.constant(.text("ANN")), .constant(.null)]),
            options: .caseInsensitive)
        #expect(try casualties(.comparison(list)) == [1, 2, 4])
        #expect(try casualties(folded("name", .equal, "Ann", .localeSensitive)) == [1])
        #expect(try casualties(folded("name", .equal, "x", .localeSensitive)).isEmpty)
    }

    @Test("Every sort comparison orders as memory does")
    func collations() throws {
        let names = ["b", "A", "a", "Ä", "ä10", "ä9", "B", "", "z", "Z"]
        let folder = Folder()
        let store = try folder.store()
        try store.insert("Injury", names.enumerated().map { (Int64($0.offset), ["kind": .text($0.element)]) })
        for comparison: SortTerm.Comparison in [
            .binary, .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
        ] {
            let found = try store.keys("Injury") {
                $0.sort = [SortTerm(keyPath: ["kind"], comparison: comparison)]
            }
            let expected = names.indices.sorted {
                let order = TextComparison.compare(names[$0], names[$1], by: comparison)
                return order == .orderedSame ? $0 < $1 : order == .orderedAscending
            }
            #expect(found == expected.map { Int64($0) }, "\(comparison)")
        }
    }

    @Test("Nil sorts before everything, the row's number breaks ties in the last key's direction")
    func sorting() throws {
        #expect(try store.keys("Casualty") { $0.sort = [SortTerm(keyPath: ["age"])] } == [3, 6, 4, 2, 1, 5])
        #expect(
            try store.keys("Casualty") { $0.sort = [SortTerm(keyPath: ["age"], isAscending: false)] }
                == [5, 1, 2, 4, 6, 3])
    }

    @Test("Indexes serve fetches by key, by index, by prefix, by relationship and by sort order")
    func plans() throws {
        let name = "USING INDEX Z_Casualty_byName"
        #expect(try plan("Casualty", compare("name", .equal, .text("x"))).contains(name))
        #expect(try plan("Casualty", compare("name", .beginsWith, .text("x"))).contains(name))
        #expect(
            try plan(
                "Injury",
                compare(
                    "casualty", .equal,
                    .key(
                        ObjectKey(
                            number: 1, entity: store.entity("Casualty").index, store: 0)))
            ).contains("ZINJURY_ZCASUALTY_INDEX"))
        let list = try plan("Casualty", self.list("name", .in, [.text("a"), .text("b")]))
        #expect(list.contains(name))
        #expect(
            !(try plan(
                "Casualty", nil,
                [SortTerm(keyPath: ["name"]), SortTerm(keyPath: ["admittedAt"], isAscending: false)]))
                .contains("SCAN t0 USING COVERING"))
        #expect(
            try plan("Casualty", compare("injuries.kind", .equal, .text("x"), .any)).contains(
                "ZINJURY_ZCASUALTY_INDEX"))
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
        let connection = try Connection(
            path: folder.file.path, access: .read, options: SQLiteOptions(), counter: StatementCounter())
        let statement = try connection.statement("EXPLAIN QUERY PLAN " + selection.sql)
        defer { statement.finish() }
        try statement.bind(selection.values(for: query))
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(3) ?? "") }
        return lines.joined(separator: "\n")
    }
}
