// Statements over the columns whose values may lie in files.

import CoreDataValues
import Foundation

/// Which files rows refer to.
package struct FileStatements: Sendable {
    private let dialect: any SQLDialect
    package init(_ dialect: any SQLDialect) { self.dialect = dialect }

    /// A list of keys. Answers the names of the files that these rows refer to.
    ///
    /// - Parameter rows: instead of the list, what follows the number of a row as a condition.
    package func names(in column: String, of table: String, rows: String? = nil) -> String {
        let reference = dialect.fileReference(dialect.quoted(column))
        let keys = rows ?? dialect.isIn(SQLList(dialect.parameter(1, like: dialect.list([Int64(0)]))))
        return
            "SELECT \(reference.name) FROM \(dialect.quoted(table)) WHERE \"Z_PK\" \(keys) AND \(reference.condition)"
    }

    /// Answers the names of the files that any row refers to.
    package func allNames(in column: String, of table: String) -> String {
        let reference = dialect.fileReference(dialect.quoted(column))
        return "SELECT \(reference.name) FROM \(dialect.quoted(table)) WHERE \(reference.condition)"
    }

    /// A reference. Answers a row if there is one that has it.
    package func isReferred(in column: String, of table: String) -> String {
        let reference = dialect.parameter(1, like: .data(Data()))
        return "SELECT 1 FROM \(dialect.quoted(table)) WHERE \(dialect.quoted(column)) = \(reference) LIMIT 1"
    }
}
