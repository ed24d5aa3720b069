// How many rows the database looks at for a predicate that an index serves: those of the result, and one page at most.

import CCoreDataSQLite
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Rows that predicates read")
struct PredicateRowTests {
    private static let count = 20_000
    private let folder = Folder()
    private let store: SQLiteStore

    /// Things 1 … with values that tell their number in every column, twenty an owner, ten owners a city, a part each; the first three
    /// have no text, a flag, and no owner. Those of even numbers are books.
    init() throws {
        store = try folder.store(PlanSample.schema)
        let (thing, owner) = (try store.entity("Thing").index.number, try store.entity("Owner").index.number)
        let (book, part, city) = (
            try store.entity("Book").index.number, try store.entity("Part").index.number,
            try store.entity("City").index.number
        )
        let rows = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < \(Self.count)) "
        try store.pool.write { connection in
            _ = try connection.run(
                "INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCITY) " + rows
                    + "SELECT n, \(owner), 1, printf('o%05d', n), (n + 9) / 10 FROM c WHERE n <= \(Self.count / 20)")
            _ = try connection.run(
                "INSERT INTO ZCITY (Z_PK, Z_ENT, Z_OPT, ZNAME) " + rows
                    + "SELECT n, \(city), 1, printf('c%05d', n) FROM c WHERE n <= \(Self.count / 200)")
            _ = try connection.run(
                "INSERT INTO ZPART (Z_PK, Z_ENT, Z_OPT, ZNAME, ZTHING) " + rows
                    + "SELECT n, \(part), 1, printf('p%05d', n), n FROM c")
            _ = try connection.run(
                "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZINT, ZBIG, ZDOUBLE, ZFLOAT, ZDATE, ZFLAG, ZDECIMAL, ZUUID, ZURI, ZBYTES, "
                    + "ZFREE, ZOWNER) " + rows
                    + "SELECT n, CASE WHEN n % 2 = 0 THEN \(book) ELSE \(thing) END, 1, CASE WHEN n > 3 THEN printf('%05d', n) END, n, n, n / 2.0, n / 4.0, n, n <= 3, n / 2.0, "
                    + "CAST(printf('%016d', n) AS BLOB), printf('x:%05d', n), CAST(printf('%05d', n) AS BLOB), printf('f%05d', n), "
                    + "CASE WHEN n > 3 THEN (n + 19) / 20 END FROM c")
        }
    }

    /// A text, and how many rows it finds.
    private static let predicates: [(text: String, rows: Int)] = [
        ("text == '00017'", 1), ("'00017' == text", 1), ("text == nil", 3), ("text IN {'00017', '00018'}", 2),
        ("text IN {'00017', nil}", 4),
        ("text > '19990'", 10), ("text >= '19990'", 11), ("text < '00010'", 6), ("text <= '00010'", 7),
        ("text BETWEEN {'00010', '00020'}", 11),
        ("text BEGINSWITH '0001'", 10), ("text == '00011' OR text == '00012' OR text == '00013'", 3),
        ("text == '00017' OR int == 30", 2),
        ("text BEGINSWITH '0001' AND free CONTAINS '9'", 1), ("text == '00017' AND NOT (free LIKE 'g*')", 1),
        ("NOT (text != '00017')", 1),
        ("int == 17", 1), ("int < 17", 16), ("int >= 19990", 11), ("int BETWEEN {10, 20}", 11),
        ("int > 10 AND int < 20", 9), ("int IN {1, 2, 3, 50000}", 3),
        ("big >= 19990", 11), ("double == 8.5", 1), ("double IN {8.5, 9}", 2), ("float == 8.25", 1), ("float < 2", 7),
        ("date > CAST(19990, 'NSDate')", 10), ("date == CAST(5, 'NSDate')", 1), ("flag == YES", 3),
        ("flag == YES AND date > CAST(2, 'NSDate')", 1),
        ("decimal == 8.5", 1), ("decimal < 5", 9),
        ("uuid == CAST('30303030-3030-3030-3030-303030303137', 'NSUUID')", 1),
        ("uri == CAST('x:00017', 'NSURL')", 1), ("bytes == CAST('MDAwMTc=', 'NSData')", 1), ("owner == nil", 3),
        ("owner.name == 'o00017'", 20),
        ("owner.name BEGINSWITH 'o0001'", 200), ("TERNARY(YES == YES, text, free) == '00017'", 1),
        ("owner.name IN {'o00017', 'o00018'}", 40), ("owner.name == 'o00017' OR owner.name == 'o00018'", 40),
        ("owner.name BETWEEN {'o00017', 'o00018'}", 40), ("owner.city.name == 'c00003'", 200),
        ("owner.city.name IN {'c00003', 'c00004'}", 400),
        ("ANY parts.name == 'p00017'", 1), ("ANY parts.name IN {'p00017', 'p00018'}", 2),
        ("ANY parts.name BEGINSWITH 'p0001'", 10),
        ("ANY parts.name BETWEEN {'p00017', 'p00020'}", 4), ("SUBQUERY(parts, $p, $p.name == 'p00017').@count > 0", 1),
        ("text == '00018' OR ANY parts.name == 'p00017'", 2), ("text == '00017' AND ANY parts.name > 'p'", 1),
        ("ANY owner.things.text == '00017'", 17),
    ]

    private func predicate(_ text: String) throws -> Predicate {
        try FormatParser.predicate(text) { _, _ in throw PredicateError("no argument") }
    }

    /// The same of books.
    private static let books: [(text: String, rows: Int)] = [
        ("text == '00018'", 1), ("text IN {'00017', '00018'}", 1), ("text > '19990'", 5), ("text BEGINSWITH '0001'", 5),
        ("int BETWEEN {10, 20}", 6),
        ("text == '00018' OR int == 30", 2), ("owner.name == 'o00017'", 10), ("owner.name IN {'o00017', 'o00018'}", 20),
        ("owner.city.name == 'c00003'", 100), ("ANY parts.name == 'p00018'", 1),
        ("ANY parts.name BEGINSWITH 'p0001'", 5), ("owner == nil", 1),
    ]

    private func plan(_ predicate: Predicate?, _ sort: [SortTerm] = [], limit: Int = 0, offset: Int = 0) throws
        -> FetchPlan
    {
        var plan = FetchPlan(entity: try store.entity("Thing").index)
        (plan.predicate, plan.sort, plan.limit, plan.offset) = (predicate, sort, limit, offset)
        return plan
    }

    /// Every row that is looked at takes steps of SQLite's machine, and no row of the result more than so many.
    private static let stepsPerRow = 60
    private static let page = RowChunk.maximumCount

    private func expectFew(_ plan: FetchPlan, _ expected: Int, _ title: String) throws {
        let read = store.counts.rows
        var found = 0
        try store.fetch(plan, .latest) {
            found += $0.count
            return .more
        }
        #expect(found == expected, "\(title)")
        #expect(store.counts.rows - read <= found + Self.page, "\(title)")
        let steps = try steps(of: plan)
        #expect(steps <= (found + Self.page) * Self.stepsPerRow, "\(title): \(steps) steps for \(found) rows")
    }

    /// What the database does for a statement from its beginning to its end.
    private func steps(of plan: FetchPlan) throws -> Int {
        let statement = try store.reader.statement(of: plan, counts: false)
        var steps = 0
        try store.pool.read { connection in
            let prepared = try connection.statement(statement.sql)
            defer { prepared.finish() }
            try prepared.bind(statement.values)
            _ = sqlite3_stmt_status(prepared.handle, SQLITE_STMTSTATUS_VM_STEP, 1)
            while try prepared.step() {}
            steps = Int(sqlite3_stmt_status(prepared.handle, SQLITE_STMTSTATUS_VM_STEP, 1))
        }
        return steps
    }

    @Test("Each construct that an index serves reads the rows of its result and one page at most")
    func constructs() throws {
        for (text, rows) in Self.predicates { try expectFew(plan(predicate(text)), rows, text) }
    }

    @Test("A sub-entity reads the rows of its result, and those of its siblings that the index leads to as well")
    func subentities() throws {
        for (text, rows) in Self.books {
            var plan = try plan(predicate(text))
            plan.entity = try store.entity("Book").index
            try expectFew(plan, rows, text)
        }
    }

    @Test("Objects are found by their keys and targets without a look at others")
    func objects() throws {
        let key = ObjectKey(number: 17, entity: try store.entity("Thing").index, store: 0)
        let other = ObjectKey(number: 18, entity: try store.entity("Thing").index, store: 0)
        let owner = ObjectKey(number: 17, entity: try store.entity("Owner").index, store: 0)
        for (left, op, right, rows) in [
            (Expression.this, Comparison.Operator.equal, Expression.constant(.key(key)), 1),
            (.keyPath(["objectID"]), .equal, .constant(.key(key)), 1),
            (.this, .in, .list([.constant(.key(key)), .constant(.key(other))]), 2),
            (.keyPath(["owner"]), .equal, .constant(.key(owner)), 20),
            (.keyPath(["owner"]), .in, .list([.constant(.key(owner)), .constant(.null)]), 23),
        ] {
            try expectFew(plan(.comparison(Comparison(left, op, right))), rows, "\(left) \(op)")
        }
    }

    @Test("A part of an order that an index has reads that part, and what comes before it")
    func parts() throws {
        let text = SortTerm(keyPath: ["text"])
        let latest = SortTerm(keyPath: ["date"], isAscending: false)
        try expectFew(plan(nil, [text], limit: 10), 10, "the first ten")
        try expectFew(plan(nil, [latest], limit: 10, offset: 30), 10, "ten after thirty")
        try expectFew(plan(predicate("flag == YES"), [SortTerm(keyPath: ["date"])], limit: 2), 2, "by two properties")
        try expectFew(plan(predicate("text BEGINSWITH '00'"), [text], limit: 5), 5, "the first of many that fit")
        try expectFew(plan(nil, limit: 7), 7, "any seven")
    }

    @Test("A cursor that is left after its first batch has read one page")
    func pulled() throws {
        let read = store.counts.rows
        let cursor = try store.open(plan(nil, [SortTerm(keyPath: ["text"])]), .latest)
        let first = try cursor.next()?.count ?? 0
        cursor.close()
        #expect(first > 0 && store.counts.rows - read <= Self.page)
    }

    @Test("A look at every row takes more steps than any of these may: the measure tells them apart")
    func measure() throws {
        let steps = try steps(of: plan(predicate("free == 'f00017'")))
        #expect(steps > (200 + Self.page) * Self.stepsPerRow, "\(steps)")
    }
}
