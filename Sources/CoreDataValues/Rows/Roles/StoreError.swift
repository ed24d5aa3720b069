// What a store throws.

import Foundation

/// A store said no: Core Data's error code, a sentence for people, and what is known about the cause.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    /// A code of the Cocoa error domain (134080, 134100, …).
    package var code: Int
    private let text: String
    /// By what a model does not fit the store, if that is what happened. Saying it costs the reading of models, so that the words are found
    /// when somebody reads them.
    package let mismatch: StoreMismatch?
    package var path: String?
    package var entity: String?
    package var property: String?
    /// What the database beneath the store said, if one did.
    package var engine: EngineError?
    package var sql: String?
    /// Of several objects that are at fault, or one, what each of them is.
    package var objects: [FailedObject] = []

    package init(
        _ code: Int, _ sentence: String, path: String? = nil, entity: String? = nil, property: String? = nil,
        engine: EngineError? = nil, sql: String? = nil
    ) {
        self.code = code
        text = sentence
        mismatch = nil
        self.path = path
        self.entity = entity
        self.property = property
        self.engine = engine
        self.sql = sql
    }

    /// 134100.
    package init(_ mismatch: StoreMismatch, at path: String) {
        code = 134100
        text = ""
        self.mismatch = mismatch
        self.path = path
        entity = mismatch.changed.first ?? mismatch.onlyInModel.first ?? mismatch.onlyInStore.first
    }

    /// 134100 for a store that was open when somebody else carried it over to another model.
    package init(migratedElsewhere path: String) {
        self.init(
            134100,
            "The store at \(path) was migrated elsewhere and has another model now; nothing was read or written. Open it again "
                + "with that model.", path: path)
    }

    /// What happened, to what, why, and what to do.
    package var sentence: String { mismatch?.sentence(at: path ?? "") ?? text }

    package var description: String { sentence }
}

/// An object that keeps a store from doing something.
package struct FailedObject: Sendable, Hashable {
    /// How many are named one by one.
    package static let limit = 100
    /// nil for what is said of all that are not named.
    package let uri: String?
    package let entity: String
    package let property: String?
    package let sentence: String
    /// nil for that of the error it belongs to.
    package let code: Int?

    package init(_ uri: String?, _ entity: String, _ property: String?, _ sentence: String, code: Int? = nil) {
        (self.uri, self.entity, self.property, self.sentence) = (uri, entity, property, sentence)
        self.code = code
    }
}

/// What a database's engine said of a statement, in its own words.
package struct EngineError: Sendable, Hashable {
    /// `SQLite` …
    package let name: String
    /// As the engine spells it: a number for SQLite, five characters where a standard's are used.
    package let code: String
    package let message: String

    package init(name: String, code: String, message: String) {
        self.name = name
        self.code = code
        self.message = message
    }
}
