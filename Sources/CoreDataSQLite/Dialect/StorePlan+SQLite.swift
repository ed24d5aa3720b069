// Plans of stores that are SQLite files.

import CoreDataSQL
import CoreDataValues

extension StorePlan {
    /// - Parameter configuration: the configuration whose entities the stores keep, nil for all.
    package convenience init(schema: Schema, configuration: String?) throws {
        try self.init(schema: schema, configuration: configuration, dialect: SQLiteDialect())
    }
}
