// The tables of a history, as Core Data's own files have them (store format §11).

/// Names and definitions of the three tables. Pure text; nothing is run here.
package struct HistoryTables: Sendable {
    package enum Table: Int, Sendable, CaseIterable {
        case change = 16001
        case transaction
        case string

        package var name: String {
            switch self {
            case .change: "ACHANGE"
            case .transaction: "ATRANSACTION"
            case .string: "ATRANSACTIONSTRING"
            }
        }

        /// Its name in `Z_PRIMARYKEY`.
        package var entity: String { String(name.dropFirst()) }
    }

    package struct Field: Sendable {
        package let name: String
        package let type: String
        /// As a definition spells it.
        package var definition: String { "\(name) \(type)" }
        init(_ name: String, _ type: String) { (self.name, self.type) = (name, type) }
    }

    /// How many values of a deleted row a change has room for.
    package let tombstones: Int
    package init(tombstones: Int) { self.tombstones = tombstones }

    /// All columns but `Z_PK`.
    package func fields(of table: Table) -> [Field] {
        let own: [Field] =
            switch table {
            case .change:
                ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].map { Field($0, "INTEGER") }
                    + [Field("ZCOLUMNS", "BLOB")] + (0..<tombstones).map { Field("ZTOMBSTONE\($0)", "BLOB") }
            case .transaction:
                Self.names.map { Field($0 + "TS", "INTEGER") } + [Field("ZTIMESTAMP", "FLOAT")]
                    + Self.names.map { Field($0, "VARCHAR") } + [Field("ZQUERYGEN", "BLOB")]
            case .string: [Field("ZNAME", "VARCHAR")]
            }
        return ["Z_ENT", "Z_OPT"].map { Field($0, "INTEGER") } + own
    }

    /// What a transaction says of its origin: the columns ending in TS hold numbers of texts, which the first versions of
    /// Core Data's history wrote out.
    private static let names = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]

    package func definition(of table: Table) -> String {
        let columns = ["Z_PK INTEGER PRIMARY KEY"] + fields(of: table).map(\.definition)
        return "CREATE TABLE IF NOT EXISTS \(table.name) ( \(columns.joined(separator: ", ")) )"
    }

    package static let indexes: [String] =
        ["CREATE INDEX IF NOT EXISTS ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)"]
        + names.map { "CREATE INDEX IF NOT EXISTS ATRANSACTION_\($0)TS_INDEX ON ATRANSACTION (\($0)TS)" } + [
            "CREATE INDEX IF NOT EXISTS Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
            "CREATE INDEX IF NOT EXISTS Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
            "CREATE UNIQUE INDEX IF NOT EXISTS Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
        ]
}

/// Statements that write to these tables. Parameters are numbered as the comments give them.
package enum HistoryStatements {
    /// Count. Answers the highest number handed out afterwards; the table's row in `Z_PRIMARYKEY` is made when it is missing.
    package static func allocate(_ table: HistoryTables.Table) -> String {
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(table.rawValue), '\(table.entity)', 0, "
            + "COALESCE((SELECT MAX(Z_PK) FROM \(table.name)), 0) + ?1) "
            + "ON CONFLICT (Z_ENT) DO UPDATE SET Z_MAX = MAX(COALESCE(Z_MAX, 0) + ?1, excluded.Z_MAX) RETURNING Z_MAX"
    }

    /// Text. Answers its number.
    package static let findString = "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?1"

    /// Number, text.
    package static let addString =
        "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?1, \(HistoryTables.Table.string.rawValue), ?2)"

    /// Number, time, then the numbers of author, bundle identifier, context name and process name.
    package static let addTransaction =
        "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS) "
        + "VALUES (?1, \(HistoryTables.Table.transaction.rawValue), ?2, ?3, ?4, ?5, ?6)"

    /// First number, transaction, kind, entity, mask, rows as a JSON list.
    package static let addChanges =
        "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZCOLUMNS, ZENTITYPK) "
        + "SELECT ?1 + key, \(HistoryTables.Table.change.rawValue), ?2, ?3, ?4, ?5, value FROM json_each(?6)"

    /// The same parameters: what is to be kept of the rows is copied from them, so they must still be there.
    ///
    /// - Parameter columns: the columns of the table that tombstones keep, in their order; not empty.
    package static func addDeletions(keeping columns: [String], of table: String) -> String {
        let kept = columns.indices.map { "ZTOMBSTONE\($0)" }.joined(separator: ", ")
        return "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZCOLUMNS, ZENTITYPK, \(kept)) "
            + "SELECT ?1 + gone.key, \(HistoryTables.Table.change.rawValue), ?2, ?3, ?4, ?5, gone.value, "
            + columns.map { "t.\(quoted($0))" }.joined(separator: ", ")
            + " FROM json_each(?6) AS gone LEFT JOIN \(quoted(table)) AS t ON t.\"Z_PK\" = gone.value"
    }

    /// Answers the number of the last transaction, 0 for none.
    package static let lastTransaction =
        "SELECT MAX(COALESCE((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(HistoryTables.Table.transaction.rawValue)), 0), "
        + "COALESCE((SELECT MAX(Z_PK) FROM ATRANSACTION), 0))"
}
