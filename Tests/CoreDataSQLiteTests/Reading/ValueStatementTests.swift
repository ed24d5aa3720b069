// Columns of values as the database is asked for them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Values in SQL")
struct ValueStatementTests {
    private typealias Column = ValueProjection.Column

    private func path(_ text: String) -> Expression { .keyPath(text.split(separator: ".").map(String.init)) }

    private func sql(_ entity: String, _ projection: ValueProjection, _ change: (inout FetchPlan) -> Void = { _ in })
        throws -> String
    {
        let schema = Triage.schema
        var plan = FetchPlan(entity: try #require(schema.index(ofEntity: entity)))
        plan.projection = .values(projection)
        change(&plan)
        let map = try StoreMap(schema: schema, configuration: nil)
        let query = try Query(valuesOf: plan, in: schema)
        return try SelectCompiler(map).values(query, try #require(query.bound.projection)).selection.sql
    }

    @Test("Columns are selected with the joins that they need")
    func columns() throws {
        let text = try sql(
            "Casualty",
            ValueProjection([
                Column("name", path("name")), Column("station", path("station.name")), Column("s", path("station")),
            ])
        ) {
            $0.sort = [SortTerm(keyPath: ["name"], isAscending: false)]
            $0.limit = 3
        }
        #expect(
            text == """
                SELECT t0."ZNAME", t1."ZNAME", t0."ZSTATION", t0."Z4_STATION" FROM "ZCASUALTY" t0 LEFT JOIN "ZPLACE" t1 ON \
                t1."Z_PK" = t0."ZSTATION" ORDER BY t0."ZNAME" DESC, t0."Z_PK" DESC LIMIT ?1
                """)
    }

    @Test("Groups repeat the text of their keys, and the order that of the columns")
    func groups() throws {
        let half = Expression.function("divide:by:", [path("age"), .constant(.int(2))])
        let text = try sql(
            "Casualty",
            ValueProjection(
                [
                    Column("half", half), Column("station", path("station")), Column("rows", path("@count")),
                    Column("weight", .function("sum:", [path("weight")])),
                    Column("ages", .function("count:", [.function("distinct:", [path("age")])])),
                ], grouping: [half, path("station")],
                having: .comparison(Comparison(.variable("rows"), .greater, .constant(.int(1)))))
        ) {
            $0.predicate = .comparison(Comparison(path("alive"), .equal, .constant(.bool(true))))
            $0.sort = [SortTerm(keyPath: ["weight"])]
            ($0.limit, $0.offset) = (5, 2)
        }
        #expect(
            text == """
                SELECT COREDATA_CALL('divide:by:', t0."ZAGE", ?1), t0."ZSTATION", MIN(t0."Z4_STATION"), COUNT(*), \
                COREDATA_SUM(t0."ZWEIGHT"), COUNT(DISTINCT t0."ZAGE") FROM "ZCASUALTY" t0 WHERE t0."ZALIVE" = ?2 \
                GROUP BY COREDATA_CALL('divide:by:', t0."ZAGE", ?1), t0."ZSTATION" HAVING COUNT(*) > ?3 \
                ORDER BY COREDATA_SUM(t0."ZWEIGHT"), COREDATA_CALL('divide:by:', t0."ZAGE", ?1), t0."ZSTATION" LIMIT ?4 OFFSET ?5
                """)
    }

    @Test("Distinct rows are ordered by their columns alone")
    func distinct() throws {
        let text = try sql(
            "Station",
            ValueProjection([Column("a", path("name")), Column("b", path("casualties.@max.age"))], isDistinct: true)
        ) { $0.sort = [SortTerm(keyPath: ["a"], isAscending: true, comparison: .caseInsensitive)] }
        #expect(
            text == """
                SELECT DISTINCT t0."ZNAME", (SELECT MAX(t1."ZAGE") FROM "ZCASUALTY" t1 WHERE t1."ZSTATION" = t0."Z_PK") FROM "ZPLACE" t0 \
                WHERE t0."Z_ENT" = 5 ORDER BY t0."ZNAME" COLLATE COREDATA_CASE, t0."ZNAME", \
                (SELECT MAX(t1."ZAGE") FROM "ZCASUALTY" t1 WHERE t1."ZSTATION" = t0."Z_PK")
                """)
    }

    @Test("Sums and averages say what they are of nothing")
    func aggregates() throws {
        let text = try sql(
            "Casualty",
            ValueProjection([
                Column("a", path("@sum.age")), Column("b", path("@avg.age")), Column("c", path("@avg.weight")),
                Column("d", path("@min.name")),
            ]))
        #expect(
            text == """
                SELECT COALESCE(SUM(t0."ZAGE"), 0), AVG(t0."ZAGE"), COREDATA_AVERAGE(t0."ZWEIGHT"), \
                MIN(t0."ZNAME") FROM "ZCASUALTY" t0
                """)
    }

    @Test("A value query is one statement, prepared once, and its rows are counted")
    func statements() throws {
        let folder = Folder()
        let store = try folder.store()
        try store.insert("Place", (1...40).map { ($0, ["name": .text("\($0 % 4)")]) })
        var plan = FetchPlan(entity: try #require(store.schema.index(ofEntity: "Place")))
        plan.projection = .values(
            ValueProjection([Column("n", path("name")), Column("c", path("@count"))], grouping: [path("name")]))
        let before = store.counts
        for _ in 0..<3 {
            var rows = 0
            try store.fetchValues(plan, .latest) { batch in
                rows += batch.count
                return .more
            }
            #expect(rows == 4)
        }
        let after = store.counts
        #expect(after.prepared - before.prepared == 1 && after.run - before.run == 3 && after.rows - before.rows == 12)
    }

    @Test("Threads that read sums of decimals at once each have a connection that knows them")
    func threads() throws {
        let folder = Folder()
        let store = try folder.store()
        try store.insert("Casualty", (1...100).map { ($0, ["weight": .decimal(Decimal($0) / 10)]) })
        var plan = FetchPlan(entity: try #require(store.schema.index(ofEntity: "Casualty")))
        plan.projection = .values(ValueProjection([Column("w", path("@sum.weight"))]))
        let asked = plan
        let sums = Mutex<[Value]>([])
        DispatchQueue.concurrentPerform(iterations: 24) { _ in
            try? store.fetchValues(asked, .latest) { batch in
                sums.withLock { $0.append(batch.value(row: 0, column: 0)) }
                return .more
            }
        }
        #expect(sums.withLock { $0 } == Array(repeating: .decimal(505), count: 24))
    }
}
