// Statements that record changes of sets of rows.

import CoreDataValues

extension HistoryStatements {
    /// First number, transaction, kind, entity, mask.
    ///
    /// - Parameter keys: a SELECT in brackets whose column `k` has the numbers of the rows.
    package func addChanges(of keys: String) -> String {
        "INSERT INTO \(name("ACHANGE")) (\(names(Self.change))) \(change("ROW_NUMBER() OVER (ORDER BY k) - 1")), k FROM \(keys) AS gone"
    }

    /// The same parameters: what is to be kept of the rows is copied from them, so they must still be there.
    package func addDeletions(of keys: String, keeping columns: [String], of table: String) -> String {
        let kept = names(columns.indices.map { "ZTOMBSTONE\($0)" })
        return "INSERT INTO \(name("ACHANGE")) (\(names(Self.change)), \(kept)) "
            + "\(change("ROW_NUMBER() OVER (ORDER BY gone.k) - 1")), gone.k, "
            + columns.map { dialect.tombstone("t.\(dialect.quoted($0))") }.joined(separator: ", ")
            + " FROM \(keys) AS gone LEFT JOIN \(dialect.quoted(table)) AS t ON t.\"Z_PK\" = gone.k"
    }
}
