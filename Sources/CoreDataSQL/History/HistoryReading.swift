// Statements that read a history and shorten it.

import CoreDataValues

/// Parameter 1 is the number of a transaction in each.
package struct HistoryReading: Sendable {
    private let dialect: any SQLDialect
    package init(_ dialect: any SQLDialect) { self.dialect = dialect }

    private func name(_ name: String) -> String { dialect.defined(name) }
    private var number: String { dialect.parameter(1, like: .int(0)) }

    /// What is asked of a change, from this column on: number, kind, entity, row, mask, tombstones.
    package static var firstOfChange: Int { 6 }
    package static var firstTombstone: Int { 11 }

    /// Transactions after one in their order, a row a change, with number, time, author, context name, bundle identifier and process
    /// name. The first versions of Core Data's history wrote these texts out. One without changes has nulls in their place.
    ///
    /// - Parameter tombstones: how many columns of them the file has.
    package func transactions(tombstones: Int) -> String {
        let origins = ["AUTHOR", "CONTEXTNAME", "BUNDLEID", "PROCESSID"]
        let texts = origins.enumerated().map { place, origin in
            "COALESCE(s\(place).\(name("ZNAME")), t.\(name("Z" + origin)))"
        }
        let joins = origins.enumerated().map { place, origin in
            " LEFT JOIN \(name("ATRANSACTIONSTRING")) AS s\(place) ON s\(place).\(name("Z_PK")) = t.\(name("Z\(origin)TS"))"
        }
        let kept = (0..<tombstones).map { "ZTOMBSTONE\($0)" }
        let change = (["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS"] + kept).map { "c.\(name($0))" }
        let columns = ["t.\(name("Z_PK"))", "t.\(name("ZTIMESTAMP"))"] + texts + change
        return "SELECT \(columns.joined(separator: ", ")) FROM \(name("ATRANSACTION")) AS t"
            + " LEFT JOIN \(name("ACHANGE")) AS c ON c.\(name("ZTRANSACTIONID")) = t.\(name("Z_PK"))" + joins.joined()
            + " WHERE t.\(name("Z_PK")) > \(number) ORDER BY t.\(name("Z_PK")), c.\(name("Z_PK"))"
    }

    /// Removes what came before a transaction: *changes · transactions · texts that nothing names any more*
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
