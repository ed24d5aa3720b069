// The tables of a history, as Core Data's own files have them (Documentation/StoreFormat.md).

import CoreDataValues
import Foundation

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
        package let kind: SlotKind
        init(_ name: String, _ kind: SlotKind) { (self.name, self.kind) = (name, kind) }
    }

    /// How many values of a deleted row a change has room for.
    package let tombstones: Int
    let dialect: any SQLDialect

    package init(tombstones: Int, dialect: any SQLDialect) {
        self.tombstones = tombstones
        self.dialect = dialect
    }

    /// All columns but `Z_PK`.
    package func fields(of table: Table) -> [Field] {
        let own: [Field] =
            switch table {
            case .change:
                ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].map { Field($0, .int) }
                    + [Field("ZCOLUMNS", .data)] + (0..<tombstones).map { Field("ZTOMBSTONE\($0)", .data) }
            case .transaction:
                Self.names.map { Field($0 + "TS", .int) } + [Field("ZTIMESTAMP", .double)]
                    + Self.names.map { Field($0, .text) } + [Field("ZQUERYGEN", .data)]
            case .string: [Field("ZNAME", .text)]
            }
        return ["Z_ENT", "Z_OPT"].map { Field($0, .int) } + own
    }

    /// What a transaction says of its origin: the columns ending in TS hold numbers of texts, which the first versions of
    /// Core Data's history wrote out.
    private static let names = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]

    package func definition(of table: Table) -> String {
        let key = "\(dialect.defined("Z_PK")) \(dialect.type(.int)) PRIMARY KEY"
        let columns = [key] + fields(of: table).map(definition)
        return "CREATE TABLE IF NOT EXISTS \(dialect.defined(table.name)) ( \(columns.joined(separator: ", ")) )"
    }

    /// Adds a column that is missing.
    package func addition(of field: Field, to table: Table) -> String {
        "ALTER TABLE \(dialect.defined(table.name)) ADD COLUMN \(definition(field))"
    }

    private func definition(_ field: Field) -> String { "\(dialect.defined(field.name)) \(dialect.type(field.kind))" }

    package var indexes: [String] {
        let strings = Self.names.map { index("ATRANSACTION_\($0)TS_INDEX", .transaction, dialect.defined("\($0)TS")) }
        return [index("ACHANGE_ZTRANSACTIONID_INDEX", .change, dialect.defined("ZTRANSACTIONID"))] + strings + [
            index("Z_TRANSACTION_TransactionAuthorIndex", .transaction, ascending("ZAUTHOR", .text)),
            index("Z_TRANSACTION_TransactionTimestampIndex", .transaction, ascending("ZTIMESTAMP", .double)),
            index("Z_TRANSACTIONSTRING_UNIQUE_NAME", .string, ascending("ZNAME", .text), isUnique: true),
        ]
    }

    private func index(_ name: String, _ table: Table, _ column: String, isUnique: Bool = false) -> String {
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX IF NOT EXISTS \(dialect.defined(name)) ON \(dialect.defined(table.name)) (\(column))"
    }

    private func ascending(_ column: String, _ kind: SlotKind) -> String {
        dialect.indexed(dialect.defined(column), kind, isAscending: true)
    }
}

/// Statements that write to these tables. Parameters are numbered as the comments give them.
package struct HistoryStatements: Sendable {
    let dialect: any SQLDialect
    package init(_ dialect: any SQLDialect) { self.dialect = dialect }

    func name(_ name: String) -> String { dialect.defined(name) }
    func names(_ names: [String]) -> String { names.map(dialect.defined).joined(separator: ", ") }
    /// A parameter to which a whole number is bound.
    private func number(_ number: Int) -> String { dialect.parameter(number, like: .int(0)) }

    /// Count. Answers the highest number handed out afterwards; the table's row in `Z_PRIMARYKEY` is made when it is missing.
    package func allocate(_ table: HistoryTables.Table) -> String {
        let (keys, last) = (name("Z_PRIMARYKEY"), name("Z_MAX"))
        let held = "COALESCE(\(dialect.held(last, in: keys)), 0) + \(number(1))"
        return
            "INSERT INTO \(keys) (\(names(["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]))) VALUES (\(table.rawValue), '\(table.entity)', 0, "
            + "COALESCE((SELECT MAX(\(name("Z_PK"))) FROM \(name(table.name))), 0) + \(number(1))) "
            + "ON CONFLICT (\(name("Z_ENT"))) DO UPDATE SET \(last) = \(dialect.larger(held, "excluded.\(last)")) RETURNING \(last)"
    }

    /// Text. Answers its number.
    package var findString: String {
        "SELECT \(name("Z_PK")) FROM \(name("ATRANSACTIONSTRING")) WHERE \(name("ZNAME")) = \(dialect.parameter(1, like: .text("")))"
    }

    /// Number, text.
    package var addString: String {
        "INSERT INTO \(name("ATRANSACTIONSTRING")) (\(names(["Z_PK", "Z_ENT", "ZNAME"]))) "
            + "VALUES (\(number(1)), \(HistoryTables.Table.string.rawValue), \(dialect.parameter(2, like: .text(""))))"
    }

    /// Number, time, then the numbers of author, bundle identifier, context name and process name.
    package var addTransaction: String {
        let columns = ["Z_PK", "Z_ENT", "ZTIMESTAMP", "ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]
        return "INSERT INTO \(name("ATRANSACTION")) (\(names(columns))) VALUES (\(number(1)), "
            + "\(HistoryTables.Table.transaction.rawValue), \(dialect.parameter(2, like: .double(0))), "
            + (3...6).map(number).joined(separator: ", ") + ")"
    }

    static let change = ["Z_PK", "Z_ENT", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZCOLUMNS", "ZENTITYPK"]

    func change(_ place: String) -> String {
        "SELECT \(number(1)) + \(place), \(HistoryTables.Table.change.rawValue), \(number(2)), \(number(3)), \(number(4)), "
            + dialect.parameter(5, like: .data(Data()))
    }

    private var rows: SQLList { SQLList(dialect.parameter(6, like: dialect.list([Int64(0)]))) }

    /// First number, transaction, kind, entity, mask, a list of rows.
    package var addChanges: String {
        let list = dialect.rows(of: rows, as: nil)
        return
            "INSERT INTO \(name("ACHANGE")) (\(names(Self.change))) \(change(list.place)), \(list.value) FROM \(list.source)"
    }

    /// The same parameters: what is to be kept of the rows is copied from them, so they must still be there.
    ///
    /// - Parameter columns: the columns of the table that tombstones keep, in their order; not empty.
    package func addDeletions(keeping columns: [String], of table: String) -> String {
        let list = dialect.rows(of: rows, as: "gone")
        let kept = names(columns.indices.map { "ZTOMBSTONE\($0)" })
        return "INSERT INTO \(name("ACHANGE")) (\(names(Self.change)), \(kept)) \(change(list.place)), \(list.value), "
            + columns.map { dialect.tombstone("t.\(dialect.quoted($0))") }.joined(separator: ", ")
            + " FROM \(list.source) LEFT JOIN \(dialect.quoted(table)) AS t ON t.\"Z_PK\" = \(list.value)"
    }

    /// Answers the number of the last transaction, 0 for none.
    package var lastTransaction: String {
        let transaction = HistoryTables.Table.transaction
        let taken =
            "SELECT \(name("Z_MAX")) FROM \(name("Z_PRIMARYKEY")) WHERE \(name("Z_ENT")) = \(transaction.rawValue)"
        let written = "SELECT MAX(\(name("Z_PK"))) FROM \(name(transaction.name))"
        return "SELECT " + dialect.larger("COALESCE((\(taken)), 0)", "COALESCE((\(written)), 0)")
    }
}
