// What a store throws.

import Foundation

/// A store said no: Core Data's error code, a sentence for people, and what is known about the cause.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    /// A code of the Cocoa error domain (134080, 134100, …).
    package var code: Int
    /// What happened, to what, why, and what to do.
    package var sentence: String
    package var path: String?
    package var entity: String?
    package var property: String?
    package var sqliteCode: Int32?
    package var sqliteMessage: String?
    package var sql: String?

    package init(
        _ code: Int, _ sentence: String, path: String? = nil, entity: String? = nil, property: String? = nil,
        sqliteCode: Int32? = nil, sqliteMessage: String? = nil, sql: String? = nil
    ) {
        self.code = code
        self.sentence = sentence
        self.path = path
        self.entity = entity
        self.property = property
        self.sqliteCode = sqliteCode
        self.sqliteMessage = sqliteMessage
        self.sql = sql
    }

    package var description: String { sentence }
}
