// How a file keeps its history.

import CoreDataValues

/// Which columns the tables have. The first versions of Core Data's history wrote out who made a transaction; later ones number these
/// texts, and have the old columns as well, empty.
package struct HistoryLayout: Sendable, Equatable {
    /// How many values of deleted rows a change has room for.
    package let tombstones: Int
    /// Whether transactions name their texts by number.
    package let hasNumbers: Bool
    /// Whether there are columns for texts that are written out.
    package let hasTexts: Bool

    package init(tombstones: Int, hasNumbers: Bool = true, hasTexts: Bool = true) {
        self.tombstones = tombstones
        self.hasNumbers = hasNumbers
        self.hasTexts = hasTexts
    }

    /// Asks a database that has a history.
    package init(_ session: any SQLReading) throws {
        let catalogue = Catalogue(session)
        let transaction = Set(
            try catalogue.columns(of: HistoryTables.Table.transaction.name).keys.map { $0.uppercased() })
        let change = try catalogue.columns(of: HistoryTables.Table.change.name).keys
        tombstones = change.count { $0.uppercased().hasPrefix("ZTOMBSTONE") }
        hasNumbers = transaction.contains("ZAUTHORTS")
        hasTexts = transaction.contains("ZAUTHOR")
    }
}
