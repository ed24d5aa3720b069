// The history as entities that can be asked for.

import CoreDataValues

/// Transactions and changes as a model describes them, under the names that `NSPersistentHistoryTransaction` and
/// `NSPersistentHistoryChange` have for them.
package enum HistorySchema {
    package static let transaction = "TRANSACTION"
    package static let change = "CHANGE"

    package static let draft: SchemaDraft = {
        func entity(_ name: String, _ attributes: [(String, AttributeType)]) -> EntityDraft {
            var entity = EntityDraft(name: name)
            entity.attributes = attributes.map { name, type in
                var attribute = Attribute(name: name, type: type)
                attribute.isOptional = true
                return attribute
            }
            return entity
        }
        var transactions = entity(
            HistorySchema.transaction,
            [
                ("author", .string), ("bundleID", .string), ("contextName", .string), ("processID", .string),
                ("timestamp", .date),
                ("token", .integer64), ("transactionNumber", .integer64),
            ])
        var changes = entity(
            HistorySchema.change,
            [
                ("changeID", .integer64), ("changedEntity", .integer64), ("changedID", .integer64),
                ("changedObjectID", .integer64),
                ("changeType", .integer64),
            ])
        transactions.relationships = [relationship("changes", change, inverse: "transaction", isToMany: true)]
        changes.relationships = [relationship("transaction", transaction, inverse: "changes", isToMany: false)]
        var draft = SchemaDraft()
        draft.entities = [changes, transactions]
        return draft
    }()

    private static func relationship(_ name: String, _ destination: String, inverse: String, isToMany: Bool)
        -> Relationship
    {
        var relationship = Relationship(name: name, destinationName: destination)
        relationship.inverseName = inverse
        relationship.isOptional = true
        if isToMany { relationship.maxCount = 0 }
        return relationship
    }
}
