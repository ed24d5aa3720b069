// Finds transactions and changes by conditions.

import CoreDataValues

/// The history's tables in the place of those that its schema would have, so that a plan over it is one SELECT.
package struct HistorySearch {
    private let plan: StorePlan
    private let dialect: any SQLDialect
    private let layout: HistoryLayout

    package init(_ dialect: any SQLDialect, _ layout: HistoryLayout) throws {
        plan = try StorePlan(schema: Schema(checking: HistorySchema.draft), configuration: nil, dialect: dialect)
        self.dialect = dialect
        self.layout = layout
    }

    /// Answers the numbers of what is found, in its order.
    package func statement(_ query: HistoryQuery, _ search: HistoryQuery.Search, _ source: any SQLSource) throws
        -> (sql: String, values: [Value])
    {
        var wanted = search.plan
        wanted.includesValues = false
        let path = search.findsChanges ? ["transaction"] : []
        var conditions: [Predicate] = []
        if query.after > 0 { conditions.append(Self.test(path + ["transactionNumber"], .int(query.after))) }
        if let since = query.since { conditions.append(Self.test(path + ["timestamp"], .date(since))) }
        if let own = wanted.predicate { conditions.append(own) }
        wanted.predicate = conditions.isEmpty ? nil : .and(conditions)
        let found = try SQLReader(plan, source).statement(of: wanted, counts: false)
        return ("WITH \(tables().joined(separator: ", ")) \(found.sql)", found.values)
    }

    private static func test(_ path: [String], _ value: Value) -> Predicate {
        .comparison(Comparison(.keyPath(path), .greater, .constant(value)))
    }

    private func tables() -> [String] {
        let reading = HistoryReading(dialect, layout)
        let texts = Dictionary(
            uniqueKeysWithValues: zip(
                ["author", "contextName", "bundleID", "processID"], HistoryReading.origins.map(reading.text)))
        return plan.map.tables.map { table in
            let entity = plan.map.schema[table.root]
            let isChange = entity.name == HistorySchema.change
            let columns = table.columns.map { column in
                "\(texts[column.property] ?? "t.\(dialect.defined(Self.kept(column.property)))") AS \(dialect.quoted(column.name))"
            }
            let source = isChange ? HistoryTables.Table.change : .transaction
            let own = [
                "t.\(dialect.defined("Z_PK")) AS \"Z_PK\"", "\(entity.index.number) AS \"Z_ENT\"", "1 AS \"Z_OPT\"",
            ]
            return "\(dialect.quoted(table.name)) AS (SELECT \((own + columns).joined(separator: ", ")) "
                + "FROM \(dialect.defined(source.name)) AS t\(isChange ? "" : reading.texts))"
        }
    }

    /// Which column keeps a property.
    private static func kept(_ property: String) -> String {
        switch property {
        case "changedEntity": "ZENTITY"
        case "changedObjectID": "ZENTITYPK"
        case "changeType": "ZCHANGETYPE"
        case "transaction": "ZTRANSACTIONID"
        case "timestamp": "ZTIMESTAMP"
        default: "Z_PK"
        }
    }
}
