// Statements that read a history and shorten it.

import CoreDataValues

/// Statements over the tables of one layout.
package struct HistoryReading: Sendable {
    private let dialect: any SQLDialect
    private let layout: HistoryLayout

    package init(_ dialect: any SQLDialect, _ layout: HistoryLayout = HistoryLayout(tombstones: 0)) {
        self.dialect = dialect
        self.layout = layout
    }

    private func name(_ name: String) -> String { dialect.defined(name) }
    private var number: String { dialect.parameter(1, like: .int(0)) }
    private var time: String { dialect.parameter(1, like: .double(0)) }
    private var transactions: String { name(HistoryTables.Table.transaction.name) }
    private var changes: String { name(HistoryTables.Table.change.name) }

    /// Which rows are read: those after a transaction, or those of a list, of transactions or of changes.
    package enum Part: Sendable { case after, transactions, changes }

    private var isListed: String { dialect.isIn(SQLList(dialect.parameter(1, like: dialect.list([Int64(0)])))) }

    // MARK: Transactions

    /// Number, time, author, context name, bundle identifier and process name of transactions in their order. Parameter 1 is a number,
    /// or a list of numbers.
    package func transactions(_ part: Part) -> String {
        let columns = ["t.\(name("Z_PK"))", "t.\(name("ZTIMESTAMP"))"] + HistoryReading.origins.map(text)
        let condition = part == .after ? "> \(number)" : isListed
        return
            "SELECT \(columns.joined(separator: ", ")) FROM \(transactions) AS t\(texts) WHERE t.\(name("Z_PK")) \(condition) "
            + "ORDER BY t.\(name("Z_PK"))"
    }

    static let origins = ["AUTHOR", "CONTEXTNAME", "BUNDLEID", "PROCESSID"]

    /// What a transaction says of its origin, in rows of the table under the name `t` and of `texts`.
    func text(_ origin: String) -> String {
        let written = "t.\(name("Z" + origin))"
        guard layout.hasNumbers else { return layout.hasTexts ? written : "NULL" }
        let numbered = "s\(origin.lowercased()).\(name("ZNAME"))"
        return layout.hasTexts ? "COALESCE(\(numbered), \(written))" : numbered
    }

    /// The joins to the texts of transactions.
    var texts: String {
        guard layout.hasNumbers else { return "" }
        return HistoryReading.origins.map { origin in
            let alias = "s\(origin.lowercased())"
            return " LEFT JOIN \(name(HistoryTables.Table.string.name)) AS \(alias) "
                + "ON \(alias).\(name("Z_PK")) = t.\(name("Z\(origin)TS"))"
        }.joined()
    }

    // MARK: Changes

    /// Changes as `HistoryRow` has them, in the order of their transactions. Parameter 1 is the number of a transaction, or a list of
    /// numbers.
    package func changes(_ part: Part) -> String {
        let columns =
            ["ZTRANSACTIONID", "Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS"]
            + (0..<layout.tombstones).map { "ZTOMBSTONE\($0)" }
        let condition =
            switch part {
            case .after: "\(name("ZTRANSACTIONID")) > \(number)"
            case .transactions: "\(name("ZTRANSACTIONID")) \(isListed)"
            case .changes: "\(name("Z_PK")) \(isListed)"
            }
        return "SELECT \(columns.map(name).joined(separator: ", ")) FROM \(changes) WHERE \(condition) "
            + "ORDER BY \(name("ZTRANSACTIONID")), \(name("Z_PK"))"
    }

    /// A list of changes. Answers the numbers of their transactions.
    package var owners: String {
        "SELECT DISTINCT \(name("ZTRANSACTIONID")) FROM \(changes) WHERE \(name("Z_PK")) \(isListed)"
    }

    // MARK: Extent

    /// Answers the number of the first transaction that is there.
    package var first: String { "SELECT MIN(\(name("Z_PK"))) FROM \(transactions)" }

    /// Time. Answers the number of the first transaction that was made later.
    package var firstSince: String {
        "SELECT MIN(\(name("Z_PK"))) FROM \(transactions) WHERE \(name("ZTIMESTAMP")) > \(time)"
    }

    /// Time. Answers the number of the first transaction that is not older, or else the one after the last.
    package var firstNotBefore: String {
        "SELECT COALESCE((SELECT MIN(\(name("Z_PK"))) FROM \(transactions) WHERE \(name("ZTIMESTAMP")) >= \(time)), "
            + "(SELECT MAX(\(name("Z_PK"))) + 1 FROM \(transactions)))"
    }

    /// Answers a number that changes where new rows are numbered. A history's own rows are numbered by the save itself, in no commit of its own.
    package var numbering: String {
        "SELECT SUM(\(name("Z_MAX"))) FROM \(name("Z_PRIMARYKEY")) WHERE \(name("Z_ENT")) < \(HistoryTables.Table.change.rawValue)"
    }

    // MARK: Shortening

    /// Removes the values that rows had before these transactions.
    var formerValues: String { FormerValueTable(dialect).shortening }

    /// Removes what came before a transaction, whose number is parameter 1: *changes · transactions · texts that nothing names any more*
    package var shortening: [String] {
        let named = ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"].map { origin in
            "NOT EXISTS (SELECT 1 FROM \(name("ATRANSACTION")) AS t "
                + "WHERE t.\(name("Z\(origin)TS")) = \(name("ATRANSACTIONSTRING")).\(name("Z_PK")))"
        }
        return [
            "DELETE FROM \(name("ACHANGE")) WHERE \(name("ZTRANSACTIONID")) < \(number)",
            "DELETE FROM \(name("ATRANSACTION")) WHERE \(name("Z_PK")) < \(number)",
            "DELETE FROM \(name("ATRANSACTIONSTRING")) WHERE \(named.joined(separator: " AND "))",
        ]
    }
}
