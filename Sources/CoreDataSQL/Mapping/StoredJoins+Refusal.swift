// The error for a store whose join tables cannot be told.

import CoreDataValues

extension StoredJoins.Answer {
    /// - Parameter path: where the store is.
    package func refusal(at path: String, _ schema: Schema) -> StoreError {
        let first = unknown.first.map { schema[$0.join.relationship] }
        let sentences = unknown.map { join, candidates in
            let titles = [join.relationship, join.inverse].map { "\(schema[schema[$0].owner].name).\(schema[$0].name)" }
            return (join.isReflexive ? titles[0] : titles.joined(separator: " and "))
                + (candidates.isEmpty ? " (no table is left)" : " (may be \(candidates.joined(separator: ", ")))")
        }
        return StoreError(
            134020,
            "The store at \(path) does not say which table keeps the members of \(sentences.joined(separator: "; ")). "
                + "Restore the store from a copy, or rename the table's columns after the relationships.",
            path: path, entity: first.map { schema[$0.owner].name }, property: first?.name)
    }
}
